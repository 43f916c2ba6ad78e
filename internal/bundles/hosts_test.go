package bundles

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestHosts: a private address is reached if the person named it, and neither by another
// name nor by being sent there.
func TestHosts(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		}
	}))
	defer inside.Close()
	u, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func(named []string, at string) error {
		res, err := Hosts(named)("").Get(at)
		if err == nil {
			err = res.Body.Close()
		}
		return err
	}
	for _, named := range [][]string{{inside.URL}, {"127.0.0.1"}, {"127.0.0.0/8"}, {"", "::bad://", inside.URL + "/x"}} {
		if err := get(named, inside.URL); err != nil {
			t.Errorf("%v: %v", named, err)
		}
	}
	for _, named := range [][]string{nil, {"https://registry.example"}, {"private:other"}} {
		if get(named, inside.URL) == nil {
			t.Errorf("%v: it was reached", named)
		}
	}
	if get(nil, "http://localhost:"+u.Port()) == nil {
		t.Error("a name that leads here was reached")
	}
	if err := get([]string{inside.URL}, inside.URL+"/away"); err == nil || !strings.Contains(err.Error(), "169.254.169.254") {
		t.Errorf("it was followed to the metadata address: %v", err)
	}
}

// TestReach: git, which has a client of its own, is sent to no private address that a
// stranger named, in whatever way it is written.
func TestReach(t *testing.T) {
	for _, at := range []string{
		"https://127.0.0.1/x", "http://localhost:80/x", "ssh://git@127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x", "https://169.254.169.254/x", "https://2130706433/x", "https://127.1/x", "https://0.0.0.0/x", "https://[::ffff:127.0.0.1]/x",
	} {
		if Reach(nil)(t.Context(), at) == nil {
			t.Errorf("%s: it was reached", at)
		}
	}
	for _, named := range []string{"127.0.0.1", "http://127.0.0.1:80/registry", "127.0.0.0/8"} {
		if err := Reach([]string{named})(t.Context(), "ssh://git@127.0.0.1:22/x"); err != nil {
			t.Errorf("%s: %v", named, err)
		}
	}
	if err := Reach([]string{"https://localhost"})(t.Context(), "https://LOCALHOST/x"); err != nil {
		t.Error(err)
	}
	asked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("git asked for %s", r.URL) }))
	defer asked.Close()
	b := person(t)
	if _, err := b.Fetch(t.Context(), "git+"+asked.URL+"/repo", Want{}); err == nil || !strings.Contains(err.Error(), "not public") {
		t.Error(err)
	}
	// Who was named sends git on to who was not.
	sends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, asked.URL+r.URL.String(), http.StatusFound)
	}))
	defer sends.Close()
	b.Reach = Reach([]string{sends.URL})
	if _, err := b.Fetch(t.Context(), "git+"+sends.URL+"/repo", Want{}); err == nil {
		t.Error("it was sent on")
	}
}

func TestAddresses(t *testing.T) {
	for source, want := range map[string]string{
		"https://x.example/a.zip#sha256=" + strings.Repeat("a", 64): "https://x.example/a.zip", "npm:thing@1.0.0": "", "./here": "", "npm:thing@1.0.0#registry=https://r.example": "https://r.example",
	} {
		if got := strings.Join(Addresses(source), " "); got != want {
			t.Errorf("%s: %q", source, got)
		}
	}
}
