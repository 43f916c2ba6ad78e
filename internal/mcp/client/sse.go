package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// connectSSE connects over HTTP with SSE, the transport of 2024-11-05: answers
// come on one stream, and requests go to an address that it begins with.
func connectSSE(ctx context.Context, s *Session, d *endpoint) error {
	limit, cancel := context.WithTimeout(ctx, s.config.Handshake/2)
	defer cancel()
	st, err := openSSE(limit, s, d)
	if err != nil {
		return err
	}
	p := newSharedLink(s, st, nil)
	if err := s.initialize(ctx, p); err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

// sseStream is the stream of HTTP with SSE.
type sseStream struct {
	endpoint *endpoint
	to       *url.URL
	in       *events
	resp     *http.Response
	cancel   context.CancelFunc
	once     sync.Once
}

func openSSE(ctx context.Context, s *Session, d *endpoint) (*sseStream, error) {
	flow, cancel := context.WithCancel(s.ctx)
	unhook := context.AfterFunc(ctx, cancel)
	defer unhook()
	resp, err := d.roundTrip(flow, http.MethodGet, d.url, nil, nil, nil) //nolint:bodyclose // Close does
	if err != nil {
		cancel()
		return nil, err
	}
	m := &sseStream{endpoint: d, resp: resp, cancel: cancel}
	switch k := contentType(resp); {
	case resp.StatusCode != http.StatusOK:
		err = d.status(resp)
	case k != "text/event-stream":
		err = fmt.Errorf("%w: its content type is %q", errAnswer, printable(k))
	default:
		m.in = readEvents(resp.Body, s.config.Most)
		m.to, err = m.address()
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// address reads where requests go. It is of the same server: another one has
// no business with them or with the credential they carry.
func (m *sseStream) address() (*url.URL, error) {
	for range 16 {
		ev, err := m.in.next()
		if err != nil {
			return nil, fmt.Errorf("%w: no address for requests came: %w", errAnswer, err)
		}
		if ev.name != "endpoint" {
			continue
		}
		to, err := m.endpoint.url.Parse(string(ev.data))
		if err != nil {
			return nil, fmt.Errorf("%w: the address for requests: %w", errAnswer, err)
		}
		if !sameOrigin(to, m.endpoint.url) {
			return nil, fmt.Errorf("the server sends requests to another one (%s)", printable(to.Host))
		}
		return to, nil
	}
	return nil, fmt.Errorf("%w: no address for requests came", errAnswer)
}

func (m *sseStream) Read() ([]byte, error) {
	for {
		ev, err := m.in.next()
		if err != nil {
			return nil, m.fatal(err)
		}
		if ev.isMessage() {
			return ev.data, nil
		}
	}
}

// fatal keeps a stream from being read on behind an event that was too long.
func (m *sseStream) fatal(err error) error {
	if errors.Is(err, mcp.ErrTooLong) {
		return fmt.Errorf("the server sent a message of more than %d bytes", m.endpoint.most)
	}
	return err
}

func (m *sseStream) Write(ctx context.Context, message []byte) error {
	resp, err := m.endpoint.roundTrip(ctx, http.MethodPost, m.to, message, nil, nil)
	if err != nil {
		return err
	}
	defer discardBody(resp)
	if resp.StatusCode/100 != 2 {
		err := m.endpoint.status(resp)
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
			return fmt.Errorf("%w: %w", mcp.ErrClosed, err)
		}
		return err
	}
	return nil
}

func (m *sseStream) Close() error {
	m.once.Do(func() {
		m.cancel()
		_ = m.resp.Body.Close() // nothing more is wanted of it
	})
	return nil
}
