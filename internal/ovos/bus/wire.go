package bus

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	headroom   = 10        // the longest header of a frame that a server writes
	batchBytes = 32 << 10  // small frames are written together up to this
	pieceBytes = 256 << 10 // large ones in pieces, each with its own deadline
	socketSend = 256 << 10 // what the kernel may hold for one client
)

// sealFrame writes the websocket header of a text message before a payload
// that begins at headroom, and returns header and payload. What a server sends
// is not masked, so the same bytes serve every client.
func sealFrame(buf []byte) []byte {
	const finText = 0x81
	switch n := len(buf) - headroom; {
	case n <= 125:
		buf[headroom-2], buf[headroom-1] = finText, byte(n)
		return buf[headroom-2:]
	case n <= 0xFFFF:
		buf[headroom-4], buf[headroom-3] = finText, 126
		binary.BigEndian.PutUint16(buf[headroom-2:], uint16(n))
		return buf[headroom-4:]
	default:
		buf[0], buf[1] = finText, 127
		binary.BigEndian.PutUint64(buf[2:], uint64(n))
		return buf
	}
}

// wireConn is the socket of a client. The websocket library reads from it and
// answers pings and closing; data frames go past the library, many in one
// write, because each has the same bytes for all. The lock keeps both whole.
type wireConn struct {
	net.Conn // nil until the handshake is done
	mu       sync.Mutex
	timeout  time.Duration // how long a piece may take to be written

	state   sync.Mutex // guards Conn until it is set, and dropped
	dropped bool
}

// adopt gives it the socket.
func (w *wireConn) adopt(conn net.Conn) {
	w.state.Lock()
	defer w.state.Unlock()
	w.Conn = conn
	if w.dropped {
		_ = conn.Close() // see drop
	}
}

// Write is for the library, which hands over each control frame in one piece.
func (w *wireConn) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// writeFrames writes frames in order; scratch has room for a batch.
func (w *wireConn) writeFrames(frames []*frame, scratch []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(frames) == 1 {
		return w.writePieces(frames[0].wire)
	}
	batch := scratch[:0]
	for _, fr := range frames {
		if len(batch)+len(fr.wire) > cap(batch) {
			if err := w.writePieces(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if len(fr.wire) > cap(batch) {
			if err := w.writePieces(fr.wire); err != nil {
				return err
			}
			continue
		}
		batch = append(batch, fr.wire...)
	}
	return w.writePieces(batch)
}

// writePiece writes one frame.
func (w *wireConn) writePiece(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writePieces(b)
}

// writePieces gives each piece its own deadline: a large frame on a slow line
// is fine as long as it moves.
func (w *wireConn) writePieces(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), pieceBytes)
		if err := w.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
			return err
		}
		if _, err := w.Conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// drop ends the connection without a closing handshake: Python clients come
// back after a broken connection, but not after a polite goodbye. A reset
// throws away what the kernel still holds for the client.
func (w *wireConn) drop(reset bool) {
	w.state.Lock()
	conn := w.Conn
	w.dropped = true
	w.state.Unlock()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // no alert: it could block
	}
	if conn == nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // without it the connection closes all the same
	}
	_ = conn.Close() // nothing is left to do about a socket that does not close
}

// boundSocket limits what the kernel buffers for one client, for the same
// reason that the feed is bounded.
func boundSocket(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(socketSend) // a kernel that refuses keeps its own bound
	}
}

// hijackWriter gives the websocket library our wireConn as the socket.
type hijackWriter struct {
	http.ResponseWriter
	wire *wireConn
	join func() // called before the client learns that it is connected
}

// Hijack is called once by the library, when the handshake has been agreed.
func (h *hijackWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.join()
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack() // sends the answer
	if err != nil {
		return nil, nil, err
	}
	boundSocket(conn)
	h.wire.adopt(conn)
	return h.wire, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(h.wire, 512)), nil
}
