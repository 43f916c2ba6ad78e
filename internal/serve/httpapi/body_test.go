package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timed is a response of a connection that has deadlines.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error { w.until = at; return nil }

// slow is a body that says how it is read.
type slow struct {
	w    *timed
	text *strings.Reader
	err  error
	was  time.Time
}

func (s *slow) Read(p []byte) (int, error) {
	s.was = s.w.until
	if s.err != nil {
		return 0, s.err
	}
	return s.text.Read(p)
}

// A message has to come within a time; what comes after it does not.
func TestSlowBodies(t *testing.T) {
	for _, c := range []struct {
		length int64
		err    error
	}{{2, nil}, {-1, nil}, {5 << 20, nil}, {-1, errors.New("too late")}, {2, errors.New("too late")}} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		in := &slow{w: w, text: strings.NewReader("{}"), err: c.err}
		r := httptest.NewRequest(http.MethodPost, "/", in)
		r.ContentLength = c.length
		body, err := ReadBody(w, r, 9<<20)
		if !errors.Is(err, c.err) || c.err == nil && string(body) != "{}" {
			t.Errorf("%+v: %s, %v", c, body, err)
		}
		if left := time.Until(in.was); left <= 0 || left > readFor {
			t.Errorf("%+v: it was read with %v left", c, left)
		}
		if w.until.IsZero() != (c.err == nil) {
			t.Errorf("%+v: the deadline afterwards is %v", c, w.until)
		}
	}
}

// How a token is shown.
func TestBearer(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		want   string
		ok     bool
	}{
		"plain":      {[]string{"Bearer abc"}, "abc", true},
		"lower case": {[]string{"bearer abc"}, "abc", true},
		"spaces":     {[]string{"BEARER   abc"}, "abc", true},
		"more words": {[]string{"Bearer abc def"}, "abc def", true},
		"basic":      {[]string{"Basic abc"}, "abc", false},
		"bare":       {[]string{"abc"}, "", false},
		"empty":      {[]string{"Bearer "}, "", false},
		"two":        {[]string{"Bearer abc", "Bearer abc"}, "", false},
		"none":       {nil, "", false},
	} {
		if token, ok := Bearer(http.Header{"Authorization": c.values}); token != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", name, token, ok)
		}
	}
	for _, c := range []struct {
		shown, want string
		same        bool
	}{{"abc", "abc", true}, {"abc", "abd", false}, {"ab", "abc", false}, {"", "abc", false}, {"", "", false}, {"abc", "", false}} {
		if Same(c.shown, c.want) != c.same {
			t.Errorf("%+v", c)
		}
	}
}

// Every refusal has one shape.
func TestFail(t *testing.T) {
	for status, code := range map[int]string{
		400: "invalid", 401: "unauthorized", 403: "denied", 404: "not_found", 405: "invalid", 408: "timeout", 409: "conflict",
		413: "invalid", 415: "invalid", 429: "unavailable", 500: "internal", 501: "internal", 502: "unavailable", 503: "unavailable", 504: "timeout",
	} {
		w := httptest.NewRecorder()
		Fail(w, status, "a \"quoted\" <reason>")
		var f Failure
		if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || w.Code != status || f.Error.Code != code || f.Error.Message != `a "quoted" <reason>` || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d: %d %s, %v", status, w.Code, w.Body, err)
		}
	}
}

// TestBodiesThatNeverCome: a stranger who promises a body and sends none is answered
// all the same, and holds no connection.
func TestBodiesThatNeverCome(t *testing.T) {
	api, err := New(Config{State: t.TempDir(), Access: func() *Access { return &Access{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	api.HandlePublic("GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	srv := httptest.NewServer(api)
	defer srv.Close()
	for _, path := range []string{"/healthz", "//healthz", metadataPath, "/nothing"} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.ReadAll(conn); err != nil { // until it is closed
			t.Errorf("%s: %v", path, err)
		}
		_ = conn.Close()
	}
}
