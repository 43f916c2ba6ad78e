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
)

func TestManyCallsMakeOneRenewal(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	for round := 1; round <= 3; round++ { // the refresh token is another one each time
		w.clock.move(2 * time.Hour)
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				if status, err := w.call(t.Context(), h, ""); status != http.StatusOK || err != nil {
					t.Errorf("status %d, error %v", status, err)
				}
			})
		}
		all.Wait()
		if w.count("refresh_token") != round || w.count("authorize") != 1 {
			t.Fatalf("after round %d it took %v", round, w.counts)
		}
	}
}

func TestATokenIsRenewedBeforeItsEnd(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.clock.move(time.Hour - 20*time.Second)
	w.works(h, "")
	if w.count("refresh_token") != 1 || w.count("401") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestATokenOfAFewSeconds(t *testing.T) {
	w := newWorld(t)
	w.life = 8
	h := w.handler(nil)
	w.works(h, "")
	w.clock.move(5 * time.Second)
	w.works(h, "") // still good: a fixed margin would make it over from the start
	if w.count("refresh_token") != 0 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestAVoidTokenIsRenewedQuietly(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.voidTokens()
	w.works(h, "")
	if w.count("refresh_token") != 1 || w.count("authorize") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestARevokedRefreshTokenMeansANewLogin(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.change(func() { clear(w.renewal) })
	w.clock.move(2 * time.Hour)
	w.works(h, "")
	if w.count("authorize") != 2 || w.count("refresh_token") != 1 || w.count("register") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestARevokedRefreshTokenAndNobodyThere(t *testing.T) {
	w := newWorld(t)
	w.works(w.handler(nil), "")
	h := w.handler(func(_ *Config, n *Needs) { n.Open = nil })
	w.change(func() { clear(w.renewal) })
	w.clock.move(2 * time.Hour)
	for range 5 {
		if _, err := w.call(t.Context(), h, ""); !errors.Is(err, ErrLogin) {
			t.Fatalf("the error is %v", err)
		}
	}
	if w.count("refresh_token") != 1 {
		t.Errorf("a token that is known to be void was sent %d times", w.count("refresh_token"))
	}
}

// TestAnIssuerThatIsDown: nobody is bothered with a page because of it, and the
// refresh token is kept for when it is back.
func TestAnIssuerThatIsDown(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.clock.move(2 * time.Hour)
	w.change(func() {
		w.token = func(rw http.ResponseWriter, _ url.Values) bool {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
	})
	if _, err := w.call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("the error is %v", err)
	}
	w.change(func() { w.token = nil })
	w.works(h, "")
	if w.count("authorize") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestTwoProgramsShareALogin(t *testing.T) {
	w := newWorld(t)
	a := w.handler(nil)
	w.works(a, "")
	b := w.handler(func(_ *Config, n *Needs) { n.Open = nil })
	w.works(b, "")
	for _, next := range []*Handler{a, b, b, a} { // each has the refresh token of before in memory
		w.clock.move(2 * time.Hour)
		w.works(next, "")
	}
	if w.count("authorize") != 1 || w.count("refresh_token") != 4 {
		t.Errorf("it took %v", w.counts)
	}
}

// lagging shows what was written before until it is told to catch up: the other
// program has used the refresh token and not yet written the next one.
type lagging struct {
	*memory
	old   []byte
	loads int
}

func (l *lagging) Load(ctx context.Context, name string) ([]byte, error) {
	if l.loads++; l.loads == 1 {
		return l.old, nil
	}
	return l.memory.Load(ctx, name)
}

func TestTwoProgramsRaceForARenewal(t *testing.T) {
	w := newWorld(t)
	a := w.handler(nil)
	w.works(a, "")
	old := []byte(w.store.get(a.name))
	w.clock.move(2 * time.Hour)
	w.works(a, "")
	b := w.handler(func(_ *Config, n *Needs) { n.Open, n.Store = nil, &lagging{memory: w.store, old: old} })
	w.works(b, "")
	if w.count("refresh_token") != 2 || w.count("authorize") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

func TestAStoreThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.store.fail(errors.New("disk full"))
	w.clock.move(2 * time.Hour)
	w.works(h, "") // renewed, and not kept
	if !strings.Contains(w.logs.String(), "disk full") {
		t.Error("nobody was told")
	}
	w.clock.move(2 * time.Hour)
	w.works(h, "") // with the refresh token in memory, not the void one in the store
	w.store.fail(nil)
	w.clock.move(2 * time.Hour)
	w.works(h, "")
	w.clock.move(2 * time.Hour)
	w.works(w.handler(func(_ *Config, n *Needs) { n.Open = nil }), "") // and now it is kept
	if w.count("authorize") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestARenewalIsFinishedWithoutItsCaller: the issuer has given the next refresh
// token when the caller leaves.
func TestARenewalIsFinishedWithoutItsCaller(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.clock.move(2 * time.Hour)
	ctx, leave := context.WithCancel(t.Context())
	w.change(func() { w.token = func(http.ResponseWriter, url.Values) bool { leave(); return false } })
	if _, err := h.Token(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.change(func() { w.token = nil })
	w.works(h, "")
	if w.count("authorize") != 1 || w.count("refresh_token") != 1 {
		t.Errorf("it took %v", w.counts)
	}
}

// TestABadTokenFromARenewal: a server that refuses what was just renewed is not
// asked in circles.
func TestABadTokenFromARenewal(t *testing.T) {
	w := newWorld(t)
	h := w.handler(nil)
	w.works(h, "")
	w.change(func() { w.refuse = true })
	for range 10 {
		if status, err := w.call(t.Context(), h, ""); status == http.StatusOK || status == 0 {
			t.Fatalf("status %d, error %v", status, err)
		}
	}
	if w.count("authorize") > 1+maxLogins || w.count("token") > 12 {
		t.Errorf("it took %v", w.counts)
	}
}
