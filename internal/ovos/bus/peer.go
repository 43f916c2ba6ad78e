package bus

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/coder/websocket"
)

const (
	smallFrame   = 64 << 10         // what a client may have unfinished for nothing
	frameTimeout = 60 * time.Second // for a frame larger than that to arrive
	batchFrames  = 256
)

var (
	errTooLarge = errors.New("the frame is over the size limit")
	errCrowded  = errors.New("too many large frames are arriving at once")
)

// peer is one client of the server: a goroutine that reads and one that
// writes.
type peer struct {
	server  *Server
	conn    *websocket.Conn
	wire    *wireConn
	addr    string
	at      *queuePlace
	scratch []byte // headroom and the frame that is arriving
	charged int64  // of the server's budget for large frames
	warned  bool   // about poison; once is enough for a log
}

// run serves the client until it leaves or is dropped.
func (p *peer) run() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
	}()
	err := p.read()
	// The library answers a closing handshake by itself. Everything else ends
	// by dropping; a client that broke the rules may not keep kernel memory.
	p.server.feed.leaveQueue(p)
	p.wire.drop(errors.Is(err, errTooLarge) || errors.Is(err, errCrowded))
	<-written
	_ = p.conn.CloseNow() // frees what the library holds; the socket is closed
	p.charge(-p.charged)
	p.server.log.Debug("bus client left", "addr", p.addr, "cause", err)
}

// read publishes every frame of the client.
func (p *peer) read() error {
	for {
		// No deadline and no context: clients may be silent for days, and
		// dropping the socket ends the read.
		_, r, err := p.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		buf, err := p.assemble(r)
		if err != nil {
			return err
		}
		p.server.stats.received.Add(1)
		if !p.server.cfg.RelayPoison {
			if err := CheckFrame(buf[headroom:]); err != nil {
				p.poison(err)
				p.forget()
				continue
			}
		}
		p.publish(buf)
	}
}

func (p *peer) poison(err error) {
	p.server.stats.poison.Add(1)
	if !p.warned {
		p.warned = true
		p.server.log.Warn("bus client sends frames that would disconnect others; they are dropped", "addr", p.addr, "cause", err)
	}
}

// publish hands a frame to the feed. A small one is copied out of the scratch
// memory, a large one takes the memory along.
func (p *peer) publish(buf []byte) {
	if cap(buf) <= smallFrame {
		buf = append(make([]byte, 0, len(buf)), buf...)
	}
	p.forget() // a large one counts in the feed from here on
	for _, slow := range p.server.feed.publish(sealFrame(buf)) {
		slow.dropSlow()
	}
	p.server.feed.pace(p.at)
}

func (p *peer) dropSlow() {
	p.server.stats.slow.Add(1)
	p.server.log.Warn("bus client does not keep up; it is dropped", "addr", p.addr)
	p.wire.drop(true)
}

// forget lets go of scratch memory that a large frame has taken.
func (p *peer) forget() {
	if cap(p.scratch) > smallFrame {
		p.scratch = nil
		p.charge(-p.charged)
	}
}

// assemble reads one frame, of whatever pieces, behind headroom.
func (p *peer) assemble(r io.Reader) ([]byte, error) {
	if p.scratch == nil {
		p.scratch = make([]byte, headroom, 1<<10)
	}
	buf := p.scratch[:headroom]
	limit := headroom + p.server.cfg.MaxFrame
	for {
		if len(buf) == cap(buf) {
			grown, err := p.grow(buf, limit)
			if err != nil {
				return nil, err
			}
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return nil, errTooLarge
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	p.scratch = buf
	if p.charged > 0 {
		return buf, p.wire.SetReadDeadline(time.Time{})
	}
	return buf, nil
}

// grow doubles the room for a frame. Beyond the size that everyone has for
// nothing it has to fit into the server's budget and arrive in time.
func (p *peer) grow(buf []byte, limit int) ([]byte, error) {
	size := min(2*cap(buf), limit+1) // one more, to see that it is too large
	if size > smallFrame {
		if p.charged == 0 {
			if err := p.wire.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
				return nil, err
			}
		}
		if !p.charge(int64(size) - p.charged) {
			return nil, errCrowded
		}
	}
	return append(make([]byte, 0, size), buf...), nil
}

// charge takes from the budget for large frames that are arriving, or gives
// back; it reports whether there was enough.
func (p *peer) charge(n int64) bool {
	if n == 0 {
		return true
	}
	if total := p.server.arriving.Add(n); n > 0 && total > p.server.budget() {
		p.server.arriving.Add(-n)
		return false
	}
	p.charged += n
	return true
}

// write sends the greeting and then whatever is published, until the client
// is gone.
func (p *peer) write() {
	defer p.wire.drop(false)
	greeting := sealFrame(append(make([]byte, headroom), Greeting...))
	if err := p.wire.writePiece(greeting); err != nil {
		return
	}
	frames := make([]*frame, 0, batchFrames)
	for {
		frames = p.server.feed.peek(p.at, frames, batchBytes)
		if frames == nil {
			return
		}
		scratch := p.server.scratch.Get().(*[]byte)
		err := p.wire.writeFrames(frames, *scratch)
		p.server.scratch.Put(scratch)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				p.dropSlow()
			}
			return
		}
		p.server.stats.sent.Add(uint64(len(frames)))
		p.server.feed.done(p.at, len(frames))
	}
}
