package sandbox

import (
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/registries"
)

// AskedNames answers questions about names on the loopback of a program that has no
// name server: there is no such host. So a program fails at once instead of waiting,
// and we know what it looked for.
type AskedNames struct {
	mu    sync.Mutex
	names []string
}

// maxAsked bounds how many names are remembered.
const maxAsked = 10

// Answer answers until the connection is closed.
func (a *AskedNames) Answer(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		name, reply := noSuchName(buf[:n])
		if reply == nil {
			continue
		}
		a.mu.Lock()
		if name != "" && len(a.names) < maxAsked && !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
		}
		a.mu.Unlock()
		_, _ = conn.WriteTo(reply, from) // who asked may be gone
	}
}

// noSuchName reads one question (RFC 1035) and answers that there is no such name.
// Nil: it is no question.
func noSuchName(q []byte) (name string, reply []byte) {
	if len(q) < 12 || q[2]&0x80 != 0 || q[4] != 0 || q[5] != 1 {
		return "", nil
	}
	at := 12
	var labels []string
	for {
		if at >= len(q) {
			return "", nil
		}
		n := int(q[at])
		at++
		if n == 0 {
			break
		}
		if n > 63 || at+n > len(q) {
			return "", nil
		}
		labels = append(labels, string(q[at:at+n]))
		at += n
	}
	if at += 4; at > len(q) {
		return "", nil
	}
	reply = slices.Clone(q[:at])
	reply[2] = 0x80 | q[2]&0x79 // an answer to this kind of question
	reply[3] = 0x80 | 3         // there is no such name
	copy(reply[6:12], make([]byte, 6))
	name = strings.ToLower(strings.Join(labels, "."))
	if strings.Trim(name, "-._0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		name = "" // nothing that a person could grant
	}
	return name, reply
}

// Notes say what a program looked for in vain. With a proxy it did not go by that.
// The log knows what gives the program its hosts.
func (a *AskedNames) Notes(proxy bool, address string, log *NetworkLog) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.names) == 0 {
		return nil
	}
	looked := strings.Join(a.names, ", ")
	if proxy {
		return []string{"this command looked for " + looked + " by itself, which leads nowhere: programs reach the granted hosts only by the proxy " + address + ", which HTTPS_PROXY and HTTP_PROXY name"}
	}
	if log.Key != "" {
		return []string{"this program has no network, and looked for " + looked + ": names in " + log.Key + " give it those hosts"}
	}
	if log.Held {
		return []string{"this command ran without network, since no rule allows it, and looked for " + looked + ": run it again with network: true, and a person is asked whether it gets the hosts of grant.hosts"}
	}
	give := "names in grant.hosts give commands those hosts"
	for _, name := range a.names {
		if word := registries.WordFor(name); word != "" {
			give = "grant.hosts: [" + word + "] gives commands the registries of " + word
			break
		}
	}
	return []string{"this command has no network, and looked for " + looked + ": " + give}
}
