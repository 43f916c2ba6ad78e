package hostproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"sync"
)

// A server of TLS 1.3 may ask for a second ClientHello, and some go by the name in
// that one. Whether it was asked for shows in the first message of the server.

// answer is what is known of that message.
type answer struct {
	once   sync.Once
	known  chan struct{}
	second bool // a second ClientHello was asked for
}

func newAnswer() *answer { return &answer{known: make(chan struct{})} }

func (a *answer) know(second bool) {
	a.once.Do(func() {
		a.second = second
		close(a.known)
	})
}

// look passes on what the server says until it is clear what its first message is.
func (a *answer) look(from io.Reader, to io.Writer) error {
	var raw []byte
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		raw = append(raw, buf[:n]...)
		// Known before it is passed on: the program may answer at once.
		enough := a.read(raw)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil || enough {
			return err
		}
	}
}

// read goes by what has come so far, and tells whether that is enough.
func (a *answer) read(raw []byte) bool {
	var message []byte
	for len(raw) >= 5 && len(message) < 38 {
		if raw[0] != recordHandshake {
			break
		}
		n := int(binary.BigEndian.Uint16(raw[3:]))
		raw = raw[5:]
		message = append(message, raw[:min(n, len(raw))]...)
		raw = raw[min(n, len(raw)):]
	}
	switch {
	case len(message) >= 38:
		again := sha256.Sum256([]byte("HelloRetryRequest")) // by which RFC 8446 marks it
		a.know(message[0] == messageServer && bytes.Equal(message[6:38], again[:]))
	case len(message) > 0 && message[0] != messageServer, len(raw) > 0 && raw[0] != recordHandshake:
		a.know(false) // an alert, or no TLS at all
	default:
		return false
	}
	return true
}

// checkSecond passes on records of the program until no further ClientHello can come
// in the clear, and holds the one that was asked for against the host too. Old servers
// take one that nobody asked for as well, as long as nothing is encrypted.
func checkSecond(from io.Reader, to io.Writer, host string, first *answer) error {
	_, err := netip.ParseAddr(host)
	literal := err == nil
	var told messages
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(from, header); err != nil {
			return nil //nolint:nilerr // it has said all
		}
		known := header[0] == recordHandshake
		if known {
			<-first.known
		}
		select {
		case <-first.known:
			known = true
		default:
		}
		n := int64(binary.BigEndian.Uint16(header[3:]))
		switch {
		case known && !first.second && (header[0] == recordChange || header[0] == recordData):
			_, _ = to.Write(header) // a host that is gone shows when the rest is sent
			return nil
		case header[0] == recordHandshake && first.second:
			raw, message, err := readHello(io.MultiReader(bytes.NewReader(header), from))
			if err != nil {
				return errHello
			}
			h, err := parseHello(message)
			if err == nil {
				err = h.check(host, literal)
			}
			if err != nil {
				return err
			}
			_, _ = to.Write(raw)
			return nil
		case header[0] == recordHandshake:
			body, err := readRecord(from, header)
			if err != nil && !errors.Is(err, errHello) {
				return nil // it has gone
			}
			if err != nil || told.hello(body) {
				return errHello
			}
			_, _ = to.Write(append(header, body...))
			continue
		case n > maxRecord:
			return errHello
		}
		_, _ = to.Write(header)
		if _, err := io.CopyN(to, from, n); err != nil {
			return nil //nolint:nilerr // either side has gone
		}
	}
}

// messages tells the handshake messages of a program apart, wherever records cut them.
type messages struct {
	head []byte // what has come of the four bytes before a message
	left int    // of the message
}

// hello takes the next bytes, and tells whether a ClientHello begins there.
func (m *messages) hello(body []byte) bool {
	for _, b := range body {
		if m.left > 0 {
			m.left--
			continue
		}
		if len(m.head) == 0 && b == messageHello {
			return true
		}
		if m.head = append(m.head, b); len(m.head) == 4 {
			m.left = int(m.head[1])<<16 + int(m.head[2])<<8 + int(m.head[3])
			m.head = m.head[:0]
		}
	}
	return false
}
