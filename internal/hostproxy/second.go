package hostproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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

// checkSecond passes on records of the program until no second ClientHello can come
// any more, and holds that one against the host too.
func checkSecond(from io.Reader, to io.Writer, host string, first *answer) error {
	_, err := netip.ParseAddr(host)
	literal := err == nil
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(from, header); err != nil {
			return nil //nolint:nilerr // it has said all
		}
		if header[0] == recordHandshake {
			<-first.known
		}
		select {
		case <-first.known:
			if !first.second {
				_, _ = to.Write(header) // a host that is gone shows when the rest is sent
				return nil
			}
		default:
		}
		if header[0] == recordHandshake {
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
		}
		n := int64(binary.BigEndian.Uint16(header[3:]))
		if n > maxRecord {
			return errHello
		}
		_, _ = to.Write(header)
		if _, err := io.CopyN(to, from, n); err != nil {
			return nil //nolint:nilerr // either side has gone
		}
	}
}
