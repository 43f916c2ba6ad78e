package conformance

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// visit is a person with a browser: the suite's login page sends everybody on
// to where the answer is waited for.
func visit(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode >= 500 {
		err = fmt.Errorf("the login page: %s: %s", resp.Status, text)
	}
	return err
}

// serveLoopback answers on a loopback address until stop is called.
func serveLoopback(ctx context.Context, addr string, h http.Handler) (at string, stop func(), err error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	var all sync.WaitGroup
	all.Go(func() { _ = srv.Serve(ln) }) // ends by stop
	return ln.Addr().String(), func() {
		_ = srv.Close() // nobody is served any more
		all.Wait()
	}, nil
}

// tokens keeps logins for as long as the process lives.
type tokens struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (t *tokens) Load(_ context.Context, name string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept[name], nil
}

func (t *tokens) Save(_ context.Context, name string, value []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = map[string][]byte{}
	}
	t.kept[name] = value
	return nil
}

func (t *tokens) Delete(_ context.Context, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.kept, name)
	return nil
}
