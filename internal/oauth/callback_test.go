package oauth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCallback(t *testing.T) {
	const state = "the-state"
	for _, c := range []struct {
		name, method, target, host string
		status                     int
		got                        *answer
	}{
		{"right", "GET", "/callback?code=c&state=the-state&iss=i", "127.0.0.1:9", 200, &answer{code: "c", issuer: "i"}},
		{"right by name", "GET", "/callback?code=c&state=the-state", "localhost:9", 200, &answer{code: "c"}},
		{"right by IPv6", "GET", "/callback?code=c&state=the-state", "[::1]:9", 200, &answer{code: "c"}},
		{"a no", "GET", "/callback?error=access_denied&state=the-state", "127.0.0.1:9", 200, &answer{fault: "access_denied"}},
		{"no state", "GET", "/callback?code=c", "127.0.0.1:9", 400, nil},
		{"empty state", "GET", "/callback?code=c&state=", "127.0.0.1:9", 400, nil},
		{"another state", "GET", "/callback?code=c&state=the-stat", "127.0.0.1:9", 400, nil},
		{"two states", "GET", "/callback?code=c&state=the-state&state=x", "127.0.0.1:9", 400, nil},
		{"two codes", "GET", "/callback?code=c&code=d&state=the-state", "127.0.0.1:9", 400, nil},
		{"two issuers", "GET", "/callback?code=c&state=the-state&iss=a&iss=b", "127.0.0.1:9", 400, nil},
		{"posted", "POST", "/callback?code=c&state=the-state", "127.0.0.1:9", 405, nil},
		{"head", "HEAD", "/callback?code=c&state=the-state", "127.0.0.1:9", 405, nil},
		{"another path", "GET", "/callback/x?code=c&state=the-state", "127.0.0.1:9", 404, nil},
		{"a name that was pointed here", "GET", "/callback?code=c&state=the-state", "evil.example:9", 403, nil},
		{"a name that looks like us", "GET", "/callback?code=c&state=the-state", "127.0.0.1.evil.example:9", 403, nil},
		{"no name", "GET", "/callback?code=c&state=the-state", "", 403, nil},
		{"script", "GET", "/callback?code=<script>&state=<script>&error=<script>", "127.0.0.1:9", 400, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			back := newCallback("/callback", state)
			ask := func() *httptest.ResponseRecorder {
				r := httptest.NewRequest(c.method, c.target, http.NoBody)
				r.Host = c.host
				rec := httptest.NewRecorder()
				back.ServeHTTP(rec, r)
				return rec
			}
			rec := ask()
			if rec.Code != c.status || strings.Contains(rec.Body.String(), "script>") || strings.Contains(rec.Body.String(), state) {
				t.Errorf("status %d, page %s", rec.Code, rec.Body)
			}
			if h := rec.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("the head is %v", h)
			}
			select {
			case a := <-back.first:
				if c.got == nil || a != *c.got {
					t.Errorf("the answer is %+v", a)
				}
				if again := ask(); again.Code != http.StatusConflict || len(back.first) != 0 {
					t.Errorf("a second time: status %d, %d answers", again.Code, len(back.first))
				}
			default:
				if c.got != nil {
					t.Error("there is no answer")
				}
			}
		})
	}
}
