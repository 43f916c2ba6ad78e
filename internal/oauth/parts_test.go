package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// memory is a store that can be made to fail, and that counts.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	broken error
	saves  int
}

func (m *memory) Load(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[name], nil
}

func (m *memory) Save(_ context.Context, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	if m.values == nil {
		m.values = map[string][]byte{}
	}
	m.values[name] = value
	m.saves++
	return nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}

func (m *memory) put(name, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = map[string][]byte{name: []byte(value)}
}

func (m *memory) get(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.values[name])
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// serveLoopback is Needs.Serve as a program would have it.
func serveLoopback(ctx context.Context, addr string, h http.Handler) (string, func(), error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l) // ends with Shutdown
	}()
	return l.Addr().String(), func() {
		// The browser that brought the answer still waits for its page.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
		<-ended
	}, nil
}

// follow is a person whose browser goes where it is sent.
func follow(c *http.Client) func(context.Context, string) error {
	return func(ctx context.Context, page string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return nil // the answer was faster than its page
			}
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("reading the page: %w", err)
		}
		return nil
	}
}

// must ends a test at an error that it is not about.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
