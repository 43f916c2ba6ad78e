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
func connectSSE(ctx context.Context, s *Session, d *door) error {
	limit, cancel := context.WithTimeout(ctx, s.config.Handshake/2)
	defer cancel()
	st, err := openSSE(limit, s, d)
	if err != nil {
		return err
	}
	p := newPipe(s, st, nil)
	if err := s.initialize(ctx, p); err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

// mailbox is the stream of HTTP with SSE.
type mailbox struct {
	door   *door
	to     *url.URL
	in     *events
	resp   *http.Response
	cancel context.CancelFunc
	once   sync.Once
}

func openSSE(ctx context.Context, s *Session, d *door) (*mailbox, error) {
	flow, cancel := context.WithCancel(s.ctx)
	unhook := context.AfterFunc(ctx, cancel)
	defer unhook()
	resp, err := d.knock(flow, http.MethodGet, d.url, nil, nil, nil) //nolint:bodyclose // Close does
	if err != nil {
		cancel()
		return nil, err
	}
	m := &mailbox{door: d, resp: resp, cancel: cancel}
	switch k := kind(resp); {
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
func (m *mailbox) address() (*url.URL, error) {
	for range 16 {
		ev, err := m.in.next()
		if err != nil {
			return nil, fmt.Errorf("%w: no address for requests came: %w", errAnswer, err)
		}
		if ev.name != "endpoint" {
			continue
		}
		to, err := m.door.url.Parse(string(ev.data))
		if err != nil {
			return nil, fmt.Errorf("%w: the address for requests: %w", errAnswer, err)
		}
		if !sameOrigin(to, m.door.url) {
			return nil, fmt.Errorf("the server sends requests to another one (%s)", printable(to.Host))
		}
		return to, nil
	}
	return nil, fmt.Errorf("%w: no address for requests came", errAnswer)
}

func (m *mailbox) Read() ([]byte, error) {
	for {
		ev, err := m.in.next()
		if err != nil {
			return nil, m.fatal(err)
		}
		if len(ev.data) > 0 && (ev.name == "" || ev.name == "message") {
			return ev.data, nil
		}
	}
}

// fatal keeps a stream from being read on behind an event that was too long.
func (m *mailbox) fatal(err error) error {
	if errors.Is(err, mcp.ErrTooLong) {
		return fmt.Errorf("the server sent a message of more than %d bytes", m.door.most)
	}
	return err
}

func (m *mailbox) Write(ctx context.Context, message []byte) error {
	resp, err := m.door.knock(ctx, http.MethodPost, m.to, message, nil, nil)
	if err != nil {
		return err
	}
	defer shut(resp)
	if resp.StatusCode/100 != 2 {
		err := m.door.status(resp)
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
			return fmt.Errorf("%w: %w", mcp.ErrClosed, err)
		}
		return err
	}
	return nil
}

func (m *mailbox) Close() error {
	m.once.Do(func() {
		m.cancel()
		_ = m.resp.Body.Close() // nothing more is wanted of it
	})
	return nil
}
