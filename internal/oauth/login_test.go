package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFirstCallLogsIn(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	h := w.handler(nil)
	w.works(h, "read")
	w.works(h, "read")
	if diff := cmp.Diff(map[string]int{"register": 1, "authorize": 1, "token": 1, "authorization_code": 1, "401": 1, "served": 2}, w.counts); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	s := must(h.Status(t.Context()))(t)
	want := Status{LoggedIn: true, Issuer: w.issuer.URL, Resource: w.server.URL + "/mcp", ClientID: w.knownClients()[0], Scopes: []string{"read"},
		Since: w.clock.Now(), Expires: w.clock.Now().Add(time.Hour), Renewable: true}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestALoginOutlivesTheProgram(t *testing.T) {
	w := newWorld(t)
	w.works(w.handler(nil), "")
	w.clock.move(2 * time.Hour) // over while nobody ran
	nobody := func(_ *Config, n *Needs) { n.Open, n.Serve = nil, nil }
	w.works(w.handler(nobody), "")
	w.works(w.handler(nobody), "")
	if w.count("authorize") != 1 || w.count("refresh_token") != 1 {
		t.Errorf("%d logins and %d renewals; want one of each", w.count("authorize"), w.count("refresh_token"))
	}
}

func TestNobodyThere(t *testing.T) {
	w := newWorld(t)
	h := w.handler(func(_ *Config, n *Needs) { n.Open = nil })
	_, err := w.call(t.Context(), h, "")
	if !errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), "toolcrib hub login test") {
		t.Errorf("the error is %v", err)
	}
	// Somebody logs in from another program, and the one that runs takes it up.
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.works(h, "")
	if w.count("authorize") != 1 || w.count("refresh_token") != 0 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestManyCallsMakeOneLogin(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if status, err := w.call(t.Context(), h, ""); status != http.StatusOK || err != nil {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
	all.Wait()
	if w.count("authorize") != 1 || w.count("token") != 1 || w.count("register") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestManyCallsShareAFailure(t *testing.T) {
	w := newWorld(t)
	waiting := make(chan struct{})
	h := w.handler(func(_ *Config, n *Needs) {
		n.Open = func(context.Context, string) error { <-waiting; return errors.New("no browser") }
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := w.call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), "no browser") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.logins) == 1 && h.flight != nil && h.flight.waiting == 20
	})
	close(waiting)
	all.Wait()
	if n := len(h.logins); n != 1 {
		t.Errorf("%d pages were shown", n)
	}
}

// eventually waits for something that is bound to happen.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func TestOneCallerLeavesAndAnotherStays(t *testing.T) {
	w := newWorld(t)
	opened, goOn := make(chan struct{}), make(chan struct{})
	h := w.handler(func(_ *Config, n *Needs) {
		open := n.Open
		n.Open = func(ctx context.Context, page string) error {
			close(opened)
			<-goOn
			return open(ctx, page)
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := w.call(ctx, h, ""); first <- err }()
	<-opened
	second := make(chan error, 1)
	go func() { _, err := w.call(t.Context(), h, ""); second <- err }()
	eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.flight.waiting == 2 })
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who left got %v", err)
	}
	close(goOn)
	if err := <-second; err != nil {
		t.Errorf("the one who stayed got %v", err)
	}
}

func TestEverybodyLeaves(t *testing.T) {
	w := newWorld(t)
	var address string
	opened := make(chan struct{})
	stopped := make(chan struct{})
	h := w.handler(func(c *Config, n *Needs) {
		c.Wait = time.Hour
		n.Open = func(ctx context.Context, _ string) error { close(opened); <-ctx.Done(); return ctx.Err() }
		n.Serve = func(ctx context.Context, addr string, hd http.Handler) (string, func(), error) {
			at, stop, err := serveLoopback(ctx, addr, hd)
			address = at
			return at, func() { stop(); close(stopped) }, err
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := w.call(ctx, h, ""); done <- err }()
	<-opened
	leave()
	<-done
	select {
	case <-stopped:
	case <-time.After(30 * time.Second):
		t.Fatal("the login goes on with nobody waiting for it")
	}
	if resp, err := http.Get("http://" + address + "/callback"); err == nil {
		resp.Body.Close()
		t.Error("the door for the answer is still open")
	}
	eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.flight == nil })
}

// TestWhoComesAfterEverybodyLeft gets work of its own, and not the cancellation
// of those who left.
func TestWhoComesAfterEverybodyLeft(t *testing.T) {
	h := newWorld(t).handler(nil)
	ctx, leave := context.WithCancel(t.Context())
	cancelled, release := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := h.joinWork(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			close(cancelled)
			<-release
			return ctx.Err()
		})
		first <- err
	}()
	eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.flight != nil })
	leave()
	<-first
	<-cancelled
	type outcome struct {
		mine bool
		err  error
	}
	second := make(chan outcome, 1)
	late := &asking{Context: t.Context(), asked: make(chan struct{})}
	go func() {
		mine, err := h.joinWork(late, func(context.Context) error { return nil })
		second <- outcome{mine, err}
	}()
	<-late.asked // it waits for something by now
	close(release)
	if got := <-second; !got.mine || got.err != nil {
		t.Errorf("mine %t, error %v", got.mine, got.err)
	}
}

// asking is a context that tells when somebody waits for it.
type asking struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (a *asking) Done() <-chan struct{} {
	a.once.Do(func() { close(a.asked) })
	return a.Context.Done()
}

func TestARegisteredClientComesBackToItsPort(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	for range 2 {
		if err := h.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if w.count("register") != 1 || w.count("authorize") != 2 {
		t.Errorf("it took %v", w.counts)
	}
	redirect := must(url.Parse(h.current().Client.Redirect))(t)
	_, stop, err := serveLoopback(t.Context(), redirect.Host, http.NotFoundHandler())
	if err != nil {
		return // another program took the port in the meantime, which is what this would have shown
	}
	defer stop()
	if err := h.Login(t.Context()); err != nil { // the port is taken: another one, and another client
		t.Fatal(err)
	}
	if w.count("register") != 2 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestLoginOfAServerThatWantsNone(t *testing.T) {
	w := newWorld(t)
	free := http.NewServeMux()
	free.HandleFunc("/open", func(http.ResponseWriter, *http.Request) {})
	w.server.Config.Handler = free
	h := w.handler(func(c *Config, _ *Needs) { c.URL = w.server.URL + "/open" })
	if err := h.Login(t.Context()); err == nil || !strings.Contains(err.Error(), "asks for no login") {
		t.Errorf("the error is %v", err)
	}
}

func TestLogoutForgetsHereAndThere(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	if err := h.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	token := must(h.Token(t.Context()))(t)
	s := must(h.Status(t.Context()))(t)
	if token != "" || s.LoggedIn || w.store.get(h.name) != "" || len(w.tokens)+len(w.renewal) != 0 {
		t.Errorf("something is left: token %t, status %+v, store %t, issuer %d", token != "", s, w.store.get(h.name) != "", len(w.tokens)+len(w.renewal))
	}
	w.works(h, "")
	w.issuer.Close()
	if err := h.Logout(t.Context()); err == nil || w.store.get(h.name) != "" {
		t.Errorf("the issuer is gone: error %v, kept %t", err, w.store.get(h.name) != "")
	}
}

func TestAPersonSaysNo(t *testing.T) {
	w := newWorld(t)
	w.answer = func(v url.Values) {
		v.Del("code")
		v.Set("error", "access_denied")
		v.Set("error_description", "<script>alert(1)</script>")
	}
	if _, err := w.call(t.Context(), w.handler(nil), ""); err == nil || !strings.Contains(err.Error(), "said no") || strings.Contains(err.Error(), "script") {
		t.Errorf("the error is %v", err)
	}
	if w.count("token") != 0 {
		t.Error("a token was asked for")
	}
}

func TestStepUp(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	h := w.handler(nil)
	w.works(h, "read")
	w.works(h, "write")
	w.works(h, "read") // the first right is still there
	if w.count("authorize") != 2 || w.count("register") != 1 {
		t.Errorf("it took %v", w.counts)
	}
	if diff := cmp.Diff([]string{"read", "write"}, h.current().Granted); diff != "" {
		t.Error(diff)
	}
}

func TestConfiguredScopes(t *testing.T) {
	w := newWorld(t)
	w.scope = "read write admin"
	w.meta = func(m map[string]any) { m["scopes_supported"] = []string{"offline_access"} }
	h := w.handler(func(c *Config, _ *Needs) { c.Scopes = []string{"read"} })
	w.works(h, "read")
	if diff := cmp.Diff([]string{"read"}, h.current().Granted); diff != "" {
		t.Error(diff)
	}
}
