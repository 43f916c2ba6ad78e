package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
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
