package host_test

import (
	"bufio"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait of these tests; none of them waits that long
// unless something is broken.
const patience = time.Minute

// socket is a client that knows websockets and JSON and nothing of Toolcrib.
type socket struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// frame is a message as such a client sees it.
type frame struct {
	Type    string         `json:"type"`
	Data    map[string]any `json:"data"`
	Context map[string]any `json:"context"`
}

func connect(t testing.TB, bus string) *socket {
	t.Helper()
	s, err := dial(t, bus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	return s
}

func dial(t testing.TB, bus string) (*socket, error) {
	u, err := url.Parse(bus)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "wss" {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	key := make([]byte, 16)
	_, _ = rand.Read(key)
	req := "GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.StdEncoding.EncodeToString(key) + "\r\n\r\n"
	if _, err := io.WriteString(conn, req); err != nil {
		return nil, err
	}
	s := &socket{t, conn, bufio.NewReader(conn)}
	resp, err := http.ReadResponse(s.in, nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer resp.Body.Close() // it has none
	if resp.StatusCode != http.StatusSwitchingProtocols {
		conn.Close()
		return nil, errors.New(resp.Status)
	}
	return s, nil
}

// write sends one frame of an opcode.
func (s *socket) write(opcode byte, payload []byte) error {
	head := []byte{0x80 | opcode}
	switch n := len(payload); {
	case n < 126:
		head = append(head, 0x80|byte(n))
	case n <= 0xffff:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(n))
	}
	head = append(head, 0, 0, 0, 0) // a mask of zeros changes nothing
	_, err := s.conn.Write(append(head, payload...))
	return err
}

func (s *socket) send(text string) {
	s.t.Helper()
	if err := s.write(1, []byte(text)); err != nil {
		s.t.Fatalf("sending: %v", err)
	}
}

// read gives the next text.
func (s *socket) read() ([]byte, error) { return s.readWithin(patience) }

func (s *socket) readWithin(d time.Duration) ([]byte, error) {
	if err := s.conn.SetDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	var text []byte
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return nil, err
		}
		n := uint64(head[1] & 0x7f)
		switch n {
		case 126:
			var b [2]byte
			if _, err := io.ReadFull(s.in, b[:]); err != nil {
				return nil, err
			}
			n = uint64(binary.BigEndian.Uint16(b[:]))
		case 127:
			var b [8]byte
			if _, err := io.ReadFull(s.in, b[:]); err != nil {
				return nil, err
			}
			n = binary.BigEndian.Uint64(b[:])
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(s.in, payload); err != nil {
			return nil, err
		}
		switch head[0] & 0x0f {
		case 9:
			if err := s.write(10, payload); err != nil {
				return nil, err
			}
		case 8:
			return nil, io.EOF
		case 0, 1:
			if text = append(text, payload...); head[0]&0x80 != 0 {
				return text, nil
			}
		}
	}
}

// next reads until a message of a type comes whose context has a mark, if one
// is given.
func (s *socket) next(typ, mark string) frame {
	s.t.Helper()
	f, err := s.tryNext(typ, mark)
	if err != nil {
		s.t.Fatalf("waiting for %s: %v", typ, err)
	}
	return f
}

func (s *socket) tryNext(typ, mark string) (frame, error) {
	for {
		text, err := s.read()
		if err != nil {
			return frame{}, err
		}
		var f frame
		if json.Unmarshal(text, &f) != nil {
			continue // somebody else's mistake, passed on
		}
		if f.Type == typ && (mark == "" || f.Context["mark"] == mark) {
			return f, nil
		}
	}
}

// ask sends a request as the Python client does and waits for the answer.
func (s *socket) ask(typ, data string) frame {
	s.t.Helper()
	mark := rand.Text()
	s.send(`{"type":"` + typ + `","data":` + data + `,"context":{"mark":"` + mark + `","session":{"session_id":"default"}}}`)
	return s.next(typ+".response", mark)
}

// silent sends a request and makes sure that no answer comes to it: what is
// asked after it is answered, and so are three more that go the same way.
func (s *socket) silent(typ, data string) {
	s.t.Helper()
	mark, after := rand.Text(), rand.Text()
	s.send(`{"type":"` + typ + `","data":` + data + `,"context":{"mark":"` + mark + `"}}`)
	for range 3 {
		s.ask("ovos.tools.invoke", `{"name":"get_current_datetime"}`)
	}
	s.send(`{"type":"ovos.tools.list","context":{"mark":"` + after + `"}}`)
	for {
		text, err := s.read()
		if err != nil {
			s.t.Fatal(err)
		}
		if strings.Contains(string(text), mark) && strings.Contains(string(text), ".response") {
			s.t.Errorf("%s %s was answered: %s", typ, data, text)
		}
		if strings.Contains(string(text), after) && strings.Contains(string(text), ".response") {
			return
		}
	}
}
