package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

type told struct{ holder Holder }

func (told) Close() {}

func (f told) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, f.holder.Caller.Frontend)
		if !f.holder.Anyone() {
			_, _ = io.WriteString(w, ", somebody else")
		}
	})
}

// TestRoutesSayHowCallersComeIn: what comes by one route is not recorded, and held to
// rules, as what comes by another.
func TestRoutesSayHowCallersComeIn(t *testing.T) {
	access := &Access{Open: true}
	a, err := New(Config{State: t.TempDir(), Access: func() *Access { return access }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, via := range []string{"one", "two"} {
		a.HandleEach("/"+via, via, func(h Holder) Frontend { return told{h} })
	}
	for range 2 {
		for _, via := range []string{"one", "two"} {
			got := httptest.NewRecorder()
			a.ServeHTTP(got, httptest.NewRequest(http.MethodPost, "/"+via, nil))
			if got.Body.String() != via {
				t.Errorf("/%s: %d %s", via, got.Code, got.Body)
			}
		}
	}
}
