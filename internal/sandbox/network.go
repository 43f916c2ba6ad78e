package sandbox

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/hostproxy"
	"github.com/toolcrib/toolcrib/internal/registries"
)

// NetworkWatch is told of the connections of a program to granted hosts. Both are
// called by many at once.
type NetworkWatch struct {
	Begin func(host, port string) error // before anything is sent; an error refuses the connection
	Ended func(hostproxy.Connection)
}

type watchKey struct{}

// WithWatch has somebody told of the connections that programs make.
func WithWatch(ctx context.Context, w NetworkWatch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

// WatchOf gives who wants to be told.
func WatchOf(ctx context.Context) (NetworkWatch, bool) {
	w, ok := ctx.Value(watchKey{}).(NetworkWatch)
	return w, ok
}

// proxyNames are the variables by which programs find a proxy.
func proxyNames() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"}
}

// ProxyEnv is the environment of a program that reaches hosts by a proxy, and its own
// loopback without one, unless that of this machine was granted. A proxy that is named
// already cannot be reached from inside.
func ProxyEnv(env []string, address string, hosts []string) []string {
	direct := strings.Join(ownLoopback(hosts), ",")
	set := []string{"NO_PROXY=" + direct, "no_proxy=" + direct, "NODE_USE_ENV_PROXY=1"}
	for _, name := range proxyNames() {
		set = append(set, name+"=http://"+address)
	}
	ours := func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.EqualFold(name, "ALL_PROXY") || slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	}
	return append(slices.DeleteFunc(slices.Clone(env), ours), set...)
}

// ownLoopback are the names of its loopback that mean a program's own: a granted one
// means this machine, which only the proxy reaches.
func ownLoopback(hosts []string) []string {
	granted := func(name string) bool {
		return slices.ContainsFunc(hosts, func(h string) bool {
			addr, err := netip.ParseAddr(name)
			within, werr := netip.ParsePrefix(h)
			return strings.EqualFold(h, name) || err == nil && werr == nil && within.Contains(addr)
		})
	}
	return slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, granted)
}

// NetworkLog keeps what a person is told of the connections of one program.
type NetworkLog struct {
	// Key is the setting that gives the program its hosts. Empty: grant.hosts.
	Key string
	// Held: it has none of them only because nobody was asked.
	Held bool

	mu      sync.Mutex
	refused []hostproxy.Connection // one for each host
	more    int
}

// maxRefused bounds how many hosts are named.
const maxRefused = 20

// Add takes a connection.
func (l *NetworkLog) Add(c hostproxy.Connection) {
	if c.Refused == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(o hostproxy.Connection) bool { return o.Host == c.Host && o.Refused == c.Refused }
	switch {
	case slices.ContainsFunc(l.refused, same):
	case len(l.refused) < maxRefused:
		l.refused = append(l.refused, c)
	default:
		l.more++
	}
}

// Notes names what was refused, and what would allow it.
func (l *NetworkLog) Notes() (notes []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.refused {
		switch {
		case c.NotListed:
			notes = append(notes, c.Host+" was refused: "+l.notListed(c.Host))
		case c.Host == "":
			notes = append(notes, "a connection was refused: "+c.Refused)
		default:
			notes = append(notes, c.Host+" was refused: "+c.Refused)
		}
	}
	if l.more > 0 {
		notes = append(notes, fmt.Sprintf("%d further connections were refused", l.more))
	}
	return notes
}

// notListed says what a person would write to allow a host. Words for registries are
// for grant.hosts alone.
func (l *NetworkLog) notListed(host string) string {
	if l.Key != "" {
		return l.Key + " does not list it; to allow it, add it there"
	}
	if word := registries.WordFor(host); word != "" {
		return "grant.hosts does not list it; grant.hosts: [" + word + "] gives the registries of " + word
	}
	return "grant.hosts does not list it; to allow it, add it there"
}
