package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	dialTimeout    = 10 * time.Second
	goodbyeTimeout = time.Second
)

// link is one connection to the bus.
type link struct {
	conn *websocket.Conn
	raw  net.Conn // to break it off: the library's own ways all wait for something
}

// dial connects once.
func (c *Client) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var raw atomic.Pointer[net.Conn]
	transport := &http.Transport{ // no proxy: a bus is near
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, addr)
			if err == nil {
				raw.Store(&conn)
			}
			return conn, err
		},
	}
	if c.cfg.TLS != nil {
		transport.TLSClientConfig = c.cfg.TLS.Clone()
	} else {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	header := http.Header{}
	if c.cfg.Token != "" {
		header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	conn, response, err := websocket.Dial(ctx, c.url.String(), &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPHeader: header,
		HTTPClient: &http.Client{
			Transport: transport,
			// A bus that sends us elsewhere would get the token there.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	})
	if err != nil {
		transport.CloseIdleConnections()
		return nil, dialError(response, err)
	}
	if raw.Load() == nil {
		return nil, errors.Join(errors.New("connecting to the bus: no socket"), conn.CloseNow())
	}
	conn.SetReadLimit(-1) // read applies its own, and survives it
	return &link{conn: conn, raw: *raw.Load()}, nil
}

// dialError says what a person needs to know: the library's own text names the
// whole URL, which may have a token in it.
func dialError(response *http.Response, err error) error {
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		why, readErr := io.ReadAll(io.LimitReader(response.Body, 200))
		if readErr != nil {
			why = nil
		}
		return fmt.Errorf("connecting to the bus: refused with %s: %q", response.Status, why)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("connecting to the bus: %w", op)
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return fmt.Errorf("connecting to the bus: %w", err)
}

// serve reads a connection until it breaks or the client closes.
func (c *Client) serve(l *link) error {
	ended := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		defer close(ended)
		read <- c.read(l)
	}()
	c.pingLink(l, ended)
	_ = l.raw.Close() // it may be closed already
	err := <-read
	_ = l.conn.CloseNow() // frees what the library holds
	return err
}

// pingLink pings a connection and, when the client closes, says goodbye first:
// a socket that is closed with unread frames in it loses what was sent last.
func (c *Client) pingLink(l *link, ended <-chan struct{}) {
	tick := time.NewTicker(c.cfg.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-c.ctx.Done():
			left := make(chan struct{})
			go func() {
				defer close(left)
				_ = l.conn.Close(websocket.StatusNormalClosure, "") // the bus may be gone
			}()
			select {
			case <-ended:
			case <-time.After(goodbyeTimeout):
			}
			_ = l.raw.Close()
			<-left
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(c.ctx, c.cfg.PingEvery)
			err := l.conn.Ping(ctx)
			cancel()
			if err != nil && c.ctx.Err() == nil {
				return // a bus that does not answer for so long is gone
			}
		}
	}
}

// read takes frames in and passes them to whoever subscribed. Most frames on a
// bus are for others, so one piece of memory serves until somebody wants one.
func (c *Client) read(l *link) error {
	scratch := make([]byte, 0, 4<<10)
	for {
		_, r, err := l.conn.Reader(context.Background())
		if err != nil {
			return fmt.Errorf("reading from the bus: %w", err)
		}
		frame, err := c.readFrame(r, scratch[:0])
		if err != nil {
			return fmt.Errorf("reading from the bus: %w", err)
		}
		if frame == nil {
			continue
		}
		if err := c.dispatch(frame); err != nil {
			c.log.Debug("bad frame on the bus ignored", "cause", err)
		}
		if cap(frame) <= smallFrame {
			scratch = frame
		}
	}
}

// readFrame reads one frame. One over the limit is read to its end and forgotten:
// it is another program's mistake, not a reason to leave. It returns nil then.
func (c *Client) readFrame(r io.Reader, buf []byte) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		case len(buf) > c.cfg.MaxFrame:
			_, err := io.Copy(io.Discard, r)
			c.log.Warn("frame over the size limit ignored", "limit", c.cfg.MaxFrame)
			return nil, err
		}
	}
}
