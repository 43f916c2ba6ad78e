package httpclient

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// nameServer is a name server on loopback that lies as it is told.
type nameServer struct {
	conn net.PacketConn

	mu    sync.Mutex
	names map[string][][]string // name: the answers to the first question, the second…; the last one stays
	asked map[string]int
}

func newNameServer(t testing.TB, names map[string][][]string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // there is nothing to wait for
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, names: names, asked: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve()
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s
}

// fixed are answers that stay.
func fixed(names map[string]string) map[string][][]string {
	all := map[string][][]string{}
	for name, addrs := range names {
		all[name] = [][]string{strings.Fields(addrs)}
	}
	return all
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := s.reply(slices.Clone(buf[:n])); reply != nil {
			if _, err := s.conn.WriteTo(reply, from); err != nil {
				return
			}
		}
	}
}

// reply answers one question for A or AAAA records. Both count as one asking:
// the resolver puts them side by side.
func (s *nameServer) reply(q []byte) []byte {
	if len(q) < 12 {
		return nil
	}
	var labels []string
	i := 12
	for i < len(q) && q[i] != 0 {
		end := i + 1 + int(q[i])
		if end >= len(q) {
			return nil
		}
		labels = append(labels, strings.ToLower(string(q[i+1:end])))
		i = end
	}
	if i+5 > len(q) {
		return nil
	}
	kind := binary.BigEndian.Uint16(q[i+1:])
	name := strings.Join(labels, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := s.names[name]
	r := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:i+5]...)
	if len(answers) == 0 {
		r[3] |= 3 // no such name
		return r
	}
	turn := min(s.asked[name], len(answers)-1)
	if kind == 28 {
		turn = min(s.asked[name+" AAAA"], len(answers)-1)
		s.asked[name+" AAAA"]++
	} else {
		s.asked[name]++
	}
	for _, text := range answers[turn] {
		a := netip.MustParseAddr(text)
		if a.Is4() != (kind == 1) {
			continue
		}
		r[7]++
		r = append(r, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(a.BitLen()/8))
		r = append(r, a.AsSlice()...)
	}
	return r
}
