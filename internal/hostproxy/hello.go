package hostproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The records and messages of TLS (RFC 8446) that matter here.
const (
	recordChange    = 20 // what follows is encrypted
	recordHandshake = 22
	recordData      = 23
	messageHello    = 1
	messageServer   = 2
	maxRecord       = 16<<10 + 256 // what a plain record may have, and an encrypted one besides
	maxHello        = 64 << 10

	extensionName = 0
	extensionECH  = 0xfe0d // and its drafts of old
	extensionESNI = 0xffce
)

var errHello = errors.New("what follows CONNECT is not the beginning of a TLS connection")

// hello is what a ClientHello says that matters here.
type hello struct {
	name   string // of the server; empty: none
	hidden bool   // it may name another one that only the server can read
}

// readHello reads a ClientHello, which may be cut into records and must end one, and
// gives it with the bytes as they came.
func readHello(r io.Reader) (raw, message []byte, err error) {
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(r, header); err != nil {
			return raw, nil, err
		}
		raw = append(raw, header...)
		body, err := readRecord(r, header)
		if err != nil {
			return raw, nil, err
		}
		raw, message = append(raw, body...), append(message, body...)
		if whole, err := wholeHello(message); err != nil || whole {
			return raw, message, err
		}
		if len(raw) > maxHello {
			return raw, nil, errHello
		}
	}
}

// readRecord reads the rest of a handshake record in the clear.
func readRecord(r io.Reader, header []byte) ([]byte, error) {
	n := int(binary.BigEndian.Uint16(header[3:]))
	if header[0] != recordHandshake || header[1] != 3 || n == 0 || n > 16<<10 {
		return nil, errHello
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return body, err
}

// wholeHello tells whether a message is there as a whole. Nothing may follow it: it
// could be a second one.
func wholeHello(message []byte) (bool, error) {
	if message[0] != messageHello {
		return false, errHello
	}
	if len(message) < 4 {
		return false, nil
	}
	n := 4 + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
	if n > maxHello || len(message) > n {
		return false, errHello
	}
	return len(message) == n, nil
}

// cursor takes a message apart; what is too short shows in ok.
type cursor struct {
	rest []byte
	ok   bool
}

func (c *cursor) take(n int) []byte {
	if !c.ok || n > len(c.rest) {
		c.ok = false
		return nil
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) number(size int) (n int) {
	for _, b := range c.take(size) {
		n = n<<8 | int(b)
	}
	return n
}

// sized takes a part that its length stands before, in so many bytes.
func (c *cursor) sized(size int) []byte { return c.take(c.number(size)) }

// parseHello takes a ClientHello apart, strictly: two readers of it must not find two
// different names.
func parseHello(message []byte) (hello, error) {
	var h hello
	if len(message) == 0 {
		return h, errHello
	}
	if whole, err := wholeHello(message); err != nil || !whole {
		return h, errHello
	}
	c := &cursor{rest: message[4:], ok: true}
	c.take(2 + 32) // version and random
	c.sized(1)     // session
	c.sized(2)     // ciphers
	c.sized(1)     // compressions
	if !c.ok {
		return h, errHello
	}
	if len(c.rest) == 0 {
		return h, nil
	}
	list := &cursor{rest: c.sized(2), ok: true}
	if !c.ok || len(c.rest) > 0 {
		return h, errHello
	}
	seen := map[int]bool{}
	for len(list.rest) > 0 {
		kind, data := list.number(2), list.sized(2)
		if !list.ok || seen[kind] {
			return h, errHello
		}
		seen[kind] = true
		switch kind {
		case extensionName:
			name, ok := serverName(data)
			if !ok {
				return h, errHello
			}
			h.name = name
		case extensionESNI, extensionECH, 0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c:
			h.hidden = true
		}
	}
	return h, nil
}

// serverName reads the one name of the extension.
func serverName(data []byte) (string, bool) {
	outer := &cursor{rest: data, ok: true}
	list := &cursor{rest: outer.sized(2), ok: true}
	kind, name := list.number(1), list.sized(2)
	return string(name), outer.ok && len(outer.rest) == 0 && list.ok && len(list.rest) == 0 && kind == 0 && len(name) > 0
}

// check holds a ClientHello against the host of its tunnel.
func (h hello) check(host string, literal bool) error {
	switch {
	case h.hidden:
		return errors.New("the TLS connection hides the name of its server (ECH), so that nobody here can tell whom it is for: switch that off in the program")
	case h.name == "" && !literal:
		return errors.New("the TLS connection does not name its server (SNI), so that nobody here can tell whom it is for")
	case h.name != "" && strings.Trim(h.name, "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:") != "":
		return errHello
	case h.name != "" && !strings.EqualFold(h.name, host):
		return fmt.Errorf("the TLS connection is for %.253s and the tunnel for %s", h.name, host)
	}
	return nil
}
