package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nobody is a process without a person: what serves an assistant.
func nobody(_ *Config, n *Needs) { n.Open, n.Serve = nil, nil }

// TestStepUpFromAnotherProcess: the process that is refused has nobody to show a
// page to. It says what to do, and doing that helps, with what the login was good
// for before, even if the server's first refusal names less.
func TestStepUpFromAnotherProcess(t *testing.T) {
	for _, scopes := range [][]string{nil, {"read"}} {
		w := newWorld(t)
		w.scope = "read"
		with := func(c *Config, _ *Needs) { c.Scopes = scopes }
		if err := w.handler(with).Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		served := w.handler(func(c *Config, n *Needs) { with(c, n); nobody(c, n) })
		w.works(served, "read")
		for range 2 {
			_, err := w.call(t.Context(), served, "write")
			if !errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), "(scopes: write)") || !strings.Contains(err.Error(), "toolcrib hub login test") {
				t.Fatalf("the error is %v", err)
			}
		}
		w.works(served, "read") // the old login is still good for what it was
		person := w.handler(with)
		if err := person.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.works(served, "write")
		w.works(served, "read")
		if diff := cmp.Diff([]string{"read", "write"}, served.current().Granted); diff != "" {
			t.Error(diff)
		}
		if left := served.wantedScopes(); len(left) > 0 {
			t.Errorf("%v is still wanted", left)
		}
		if w.count("authorize") != 2 {
			t.Errorf("it took %v", w.counts)
		}
	}
}

// TestStepUpThatIsNotGranted: an issuer that gives less than it was asked for is
// not asked for ever.
func TestStepUpThatIsNotGranted(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	w.grants = func(scope string) string { return "read" }
	h := w.handler(nil)
	w.works(h, "read")
	for range 3 {
		_, err := w.call(t.Context(), h, "write")
		if err == nil {
			continue // it asked, and was refused again
		}
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "wants the scope write") || !strings.Contains(err.Error(), "it granted read") {
			t.Errorf("the error is %v", err)
		}
	}
	if w.count("authorize") != 2 {
		t.Errorf("it took %v", w.counts)
	}
	w.change(func() { w.grants = nil }) // a person was given the right
	if err := h.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.works(h, "write")
}

// TestStepUpWithoutNames: a server that does not say which scopes it wants gets
// those that it mentions.
func TestStepUpWithoutNames(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	w.unnamed = true
	w.resource = func(m map[string]any) { m["scopes_supported"] = []string{"read", "write"} }
	h := w.handler(nil)
	w.works(h, "read")
	w.works(h, "write")
	if _, err := w.call(t.Context(), h, "admin"); !errors.Is(err, ErrRefused) {
		t.Errorf("the error is %v", err)
	}
}

// TestAScopeThatNobodyHas: a server cannot end all logins by wanting what its
// issuer does not know.
func TestAScopeThatNobodyHas(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	w.answer = func(v url.Values) {
		for _, q := range w.codes {
			if strings.Contains(q.Get("scope"), "nonsense") {
				v.Del("code")
				v.Set("error", "invalid_scope")
			}
		}
		clear(w.codes)
		if v.Get("code") != "" {
			w.codes[v.Get("code")] = w.lastPage
		}
	}
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := w.handler(nobody)
	if _, err := w.call(t.Context(), served, "nonsense"); !errors.Is(err, ErrLogin) {
		t.Fatalf("the error is %v", err)
	}
	if err := w.handler(nil).Login(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_scope") || !strings.Contains(err.Error(), "(nonsense)") {
		t.Fatalf("the error is %v", err)
	}
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.works(served, "read")
}

// TestWantedIsBounded: a server that wants something else each time fills nothing.
func TestWantedIsBounded(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	served := w.handler(nobody)
	if err := w.handler(nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range maxScopes + 5 {
		_, err := w.call(t.Context(), served, "s"+strings.Repeat("x", i))
		if !errors.Is(err, ErrLogin) || len(err.Error()) > 3000 {
			t.Fatalf("the error is %v", err)
		}
	}
	if n := len(served.wantedScopes()); n != maxScopes {
		t.Errorf("%d scopes are wanted", n)
	}
	if status, err := w.call(t.Context(), served, "read"); status != http.StatusOK || err != nil {
		t.Errorf("status %d, error %v", status, err)
	}
}
