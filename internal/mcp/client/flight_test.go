package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// What a server asks and says after a call was given up may be about that one,
// for a time, and however many there were.
func TestGhosts(t *testing.T) {
	clock := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	fs := &activeCalls{now: func() time.Time { return clock }}
	begin := func(who string) *activeCall {
		return fs.begin(&Call{
			For: who, Log: func(json.RawMessage) {},
			Ask: func(context.Context, map[string]mcp.Request) (map[string]json.RawMessage, error) { return nil, nil },
		}, func(error) {})
	}
	mine := begin("ann")
	found := func(what string, want bool) {
		t.Helper()
		f, err := fs.asking()
		if (f == mine && err == nil) != want || (fs.logging() == mine) != want {
			t.Errorf("%s: %v, %v, %v", what, f == mine, err, fs.logging() == mine)
		}
	}
	found("alone", true)
	fs.end(begin("bob"))
	found("one that was answered", true)
	fs.abandon(begin("ann"))
	found("one of the same that was given up", true)
	fs.abandon(begin("bob"))
	found("one of another", false)
	clock = clock.Add(time.Minute)
	found("a minute later", false)
	clock = clock.Add(abandonedFor)
	found("long after", true)
	fs.abandon(begin(""))
	found("one of nobody known", false)
	clock = clock.Add(2 * abandonedFor)
	found("long after", true)

	gone := begin("bob")
	fs.sent(gone, json.RawMessage("7"))
	fs.abandon(gone)
	fs.answeredLate(json.RawMessage("8"))
	found("another answer", false)
	fs.answeredLate(json.RawMessage("7"))
	found("its answer", true)
	gone = begin("bob")
	fs.sent(gone, json.RawMessage("9"))
	fs.answeredLate(json.RawMessage("9")) // while it is being given up
	fs.abandon(gone)
	found("its answer came first", true)

	for i := range 10 * maxAbandoned {
		f := begin("bob")
		fs.sent(f, json.RawMessage(fmt.Sprint(100+i)))
		fs.abandon(f)
	}
	if len(fs.abandoned) > maxAbandoned {
		t.Errorf("%d are kept", len(fs.abandoned))
	}
	for i := range 10 * maxAbandoned {
		if i > 0 { // the first one is not answered
			fs.answeredLate(json.RawMessage(fmt.Sprint(100 + i)))
		}
	}
	found("one of very many", false)
	clock = clock.Add(abandonedFor + time.Second)
	found("long after", true)
}

// A server that ends the stream of an answer again and again is given up.
func TestWebResumeInVain(t *testing.T) {
	for name, every := range map[string]string{"nothing": ":\n\n", "the same event": "id: e1\ndata: \n\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gets atomic.Int32
			at := &site{legacy: true}
			at.call = func(w http.ResponseWriter, _ *http.Request, _ *mcp.Message) {
				stream(w, "id: e1\nretry: 0\ndata: \n\n")
			}
			at.get = func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Last-Event-ID") == "" {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				gets.Add(1)
				stream(w, every)
			}
			s := open(t, Config{Transport: serve(t, at)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := s.Do(ctx, Call{Method: "tools/call", Params: params("x")})
			if err == nil || !strings.Contains(err.Error(), "without anything new") || gets.Load() > maxEmptyStreams+1 {
				t.Errorf("%v after %d streams", err, gets.Load())
			}
		})
	}
}

// TestRootsAtTheStart: a server that asks for folders as soon as it is up, before there
// is a call, hears that there are none, and goes by what it was started with; a form has
// nobody to be put to.
func TestRootsAtTheStart(t *testing.T) {
	s := &Session{version: "2025-06-18", calls: activeCalls{now: time.Now}}
	if answer, err := s.answerRequest(t.Context(), nil, &mcp.Message{Method: mcp.MethodRoots}); err != nil || string(answer) != `{"roots":[]}` {
		t.Errorf("%s, %v", answer, err)
	}
	if answer, err := s.answerRequest(t.Context(), nil, &mcp.Message{Method: mcp.MethodElicit}); err == nil {
		t.Errorf("a form: %s", answer)
	}
}
