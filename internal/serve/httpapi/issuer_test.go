package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/toolcrib/toolcrib"
)

// TestMetadataIsWhereItIsAnnounced: a client finds the issuer at the place that the
// refusal of its request names.
func TestMetadataIsWhereItIsAnnounced(t *testing.T) {
	for _, resource := range []string{"", "https://tools.example", "https://tools.example/mcp", "https://tools.example/crib/mcp", "https://tools.example/a%20b/mcp/"} {
		access := &Access{Issuer: &Issuer{URL: "https://login.example", Resource: resource}}
		a, err := New(Config{State: t.TempDir(), Access: func() *Access { return access }})
		if err != nil {
			t.Fatal(err)
		}
		a.Handle("/mcp", http.NotFoundHandler())
		refused := httptest.NewRecorder()
		a.ServeHTTP(refused, httptest.NewRequest(http.MethodPost, "http://tools.example/mcp", strings.NewReader("{}")))
		_, at, _ := strings.Cut(refused.Header().Get("WWW-Authenticate"), `resource_metadata="`)
		at, _, _ = strings.Cut(at, `"`)
		announced, err := url.Parse(at)
		if err != nil || at == "" {
			t.Fatal(refused.Header(), err)
		}
		for path, want := range map[string]int{
			announced.EscapedPath(): http.StatusOK, metadataPath: http.StatusOK, metadataPath + "/mcp": http.StatusOK,
			metadataPath + "/other": http.StatusNotFound, metadataPath + "/mcp/more": http.StatusNotFound,
		} {
			got := httptest.NewRecorder()
			a.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "http://tools.example"+path, nil))
			if got.Code != want {
				t.Errorf("%q: %s is answered with %d", resource, path, got.Code)
			}
		}
		a.Close()
	}
}

// TestListenersEndWithTheirToken: a call may finish, what only listens ends, by
// whatever method it came.
func TestListenersEndWithTheirToken(t *testing.T) {
	until := time.Now().Add(time.Hour)
	for method, want := range map[string]time.Time{http.MethodGet: until.Add(listenFor), http.MethodPost: until.Add(finishFor)} {
		v := &visit{door: &door{ctx: t.Context()}, until: until}
		v.serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if end, ok := r.Context().Deadline(); !ok || !end.Equal(want) {
				t.Errorf("%s ends at %s, want %s", method, end, want)
			}
			ctx, done := Listens(r.Context())
			defer done()
			if end, ok := ctx.Deadline(); !ok || !end.Equal(until.Add(listenFor)) {
				t.Errorf("%s that listens ends at %s", method, end)
			}
		}), httptest.NewRecorder(), httptest.NewRequest(method, "/mcp", nil))
	}
	v := &visit{door: &door{ctx: t.Context()}} // its token does not expire
	v.serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx, done := Listens(r.Context())
		defer done()
		if end, ok := ctx.Deadline(); ok {
			t.Errorf("it ends at %s", end)
		}
	}), httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/mcp", nil))
}

// saidClaims are the claims of a token in a test; one that is "true" says yes.
type saidClaims map[string]string

func (c saidClaims) Text(name string) (string, bool) { text, ok := c[name]; return text, ok }
func (c saidClaims) Words(name string) []string      { return strings.Fields(c[name]) }
func (c saidClaims) True(name string) bool           { return c[name] == "true" }

// TestUnverifiedAddress: whose e-mail address nobody has verified is nobody.
func TestUnverifiedAddress(t *testing.T) {
	for _, c := range []struct {
		person string
		said   saidClaims
		want   string // of the subject; else of the error
	}{
		{"email", saidClaims{"email": "ann@example.com", "email_verified": "true"}, "oidc:ann@example.com"},
		{"email", saidClaims{"email": "ann@example.com", "email_verified": "false"}, "email_verified"},
		{"email", saidClaims{"email": "ann@example.com"}, "serve.oidc.person"},
		{"email", saidClaims{"sub": "ann"}, "claim email is missing"},
		{"sub", saidClaims{"sub": "ann", "email_verified": "false"}, "oidc:ann"},
	} {
		i := &Issuer{Person: c.person, Claim: "scope", Entries: []Entry{{Has: "*"}}}
		h, err := i.holder(c.said)
		switch {
		case err == nil && h.Caller.Subject != c.want:
			t.Errorf("%v is %q", c.said, h.Caller.Subject)
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%v: %v", c.said, err)
		}
	}
}

// FuzzHolder: whatever a good token says, its holder is the person whom it names and
// nobody of ours, with what the first entry gives that the token has, or is refused.
func FuzzHolder(f *testing.F) {
	f.Add("ann", "read write", "", "true")
	f.Add("token:ci", "", "write", "false")
	f.Add("a\u200bnn", "*", "admin", "")
	f.Add(" ", "read\twrite", "read", "true")
	f.Fuzz(func(t *testing.T, person, scope, scp, verified string) {
		for _, claim := range []string{"sub", "email"} {
			i := &Issuer{Person: claim, Claim: "scope", ID: "id", Entries: []Entry{
				{Has: "write", Holder: Holder{Caller: toolcrib.Caller{Token: "w"}, Approves: "once"}}, {Has: "read", Holder: Holder{Caller: toolcrib.Caller{Token: "r"}}},
			}}
			h, err := i.holder(saidClaims{claim: person, "scope": scope, "scp": scp, "email_verified": verified})
			if err != nil {
				if h != (Holder{}) {
					t.Errorf("%+v is given beside %v", h, err)
				}
				continue
			}
			if claim == "email" && verified != "true" {
				t.Errorf("%q is taken without being verified", person)
			}
			name, ours := strings.CutPrefix(h.Caller.Subject, "oidc:")
			if !ours || name != person || strings.TrimSpace(name) == "" || len(name) > maxPerson || h.Own() || h.Anyone() || h.issuer != "id" {
				t.Errorf("%q is %+v", person, h)
			}
			for _, r := range name {
				if !unicode.IsPrint(r) {
					t.Errorf("%q has letters that cannot be seen", name)
				}
			}
			has := strings.Fields(scope)
			if len(has) == 0 {
				has = strings.Fields(scp)
			}
			want := "r"
			if slices.Contains(has, "write") {
				want = "w"
			} else if !slices.Contains(has, "read") {
				want = "nothing"
			}
			if h.Caller.Token != want || (h.Approves != "") != (want == "w") {
				t.Errorf("%q gives %+v, want %s", has, h, want)
			}
		}
	})
}
