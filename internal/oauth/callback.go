package oauth

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"sync/atomic"
)

// answer is what the login page sent back.
type answer struct{ code, issuer, fault string }

// callback takes the answer of one login: the first request that knows the
// state. All others are turned away and change nothing, so a page that sends a
// browser here can neither put in a code of its own nor end the login.
type callback struct {
	path    string // as the login page was told
	state   string
	first   chan answer // of one
	taken   atomic.Bool
	refused atomic.Int32
}

func newCallback(path, state string) *callback {
	return &callback{path: path, state: state, first: make(chan answer, 1)}
}

// ServeHTTP shows nothing of what it was sent.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer") // the code stands in the address
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	show := func(status int, text string) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<!doctype html><title>Toolcrib</title><p>" + text + "</p>\n")) // the browser may be gone
	}
	switch {
	case r.URL.Path != c.path:
		show(http.StatusNotFound, "There is nothing here.")
		return
	case r.Method != http.MethodGet:
		head.Set("Allow", http.MethodGet)
		show(http.StatusMethodNotAllowed, "There is nothing to send here.")
		return
	case kindOf(hostName(r.Host)) != loopback:
		show(http.StatusForbidden, "This address is not reached by that name.") // a name that was pointed here
		return
	}
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 || len(q["state"]) != 1 || len(q["code"]) > 1 || len(q["iss"]) > 1 {
		c.refused.Add(1)
		show(http.StatusBadRequest, "This answer belongs to no login that is under way.")
		return
	}
	if !c.taken.CompareAndSwap(false, true) {
		show(http.StatusConflict, "This login was already answered.")
		return
	}
	a := answer{code: q.Get("code"), issuer: q.Get("iss"), fault: q.Get("error")}
	c.first <- a
	if a.code == "" || a.fault != "" {
		show(http.StatusOK, "There was no login. You can close this page.")
		return
	}
	show(http.StatusOK, "Thank you. You can close this page and go on in Toolcrib.")
}

// hostName is a Host header without its port.
func hostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.Trim(host, "[]")
}
