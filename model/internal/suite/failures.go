package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// cut: wherever a stream breaks off, there is no answer.
func (a Adapter) cut(t *testing.T) {
	turn := modeltest.Turn{Text: "one two three four", Calls: []modeltest.Call{{Name: "now", Arguments: `{"zone":"utc and so on"}`}}}
	for n := 1; n < 40; n++ {
		for _, clean := range []bool{false, true} {
			turn.Cut, turn.End = n, 0
			if clean {
				turn.Cut, turn.End = 0, n
			}
			s := always(t, turn)
			got, err := a.open(t, s).Ask(t.Context(), hello(), nil)
			if err == nil {
				if got.Message.Said() != turn.Text || len(got.Message.Calls) != 1 || string(got.Message.Calls[0].Arguments) != turn.Calls[0].Arguments || got.Stop != model.StopCalls {
					t.Fatalf("after %d events (%v) it is taken for whole: %+v", n, clean, got)
				}
				if n < 4 {
					t.Errorf("whole after %d events?", n)
				}
				continue
			}
			if kind(err) != model.Broken {
				t.Errorf("after %d events: %v", n, err)
			}
		}
	}
}

func (a Adapter) failures(t *testing.T) {
	for fail, want := range map[string]string{
		modeltest.RateLimit: model.Busy, modeltest.Overloaded: model.Busy, modeltest.Internal: model.Broken,
		modeltest.BadKey: model.BadKey, modeltest.BadRequest: model.BadRequest, modeltest.TooLong: model.TooLong, modeltest.NoModel: model.BadRequest,
	} {
		for _, stream := range []bool{true, false} {
			s := always(t, modeltest.Turn{Fail: fail})
			_, err := a.open(t, s, func(e *model.Endpoint) { e.NoStream = !stream }).Ask(t.Context(), hello(), nil)
			if kind(err) != want {
				t.Errorf("%s is %q: %v", fail, kind(err), err)
			}
			n, most := len(s.Requests()), 1
			if want == model.Busy || want == model.Broken {
				most = 4
			}
			if n != most {
				t.Errorf("%s was sent %d times, want %d", fail, n, most)
			}
			if e, ok := errors.AsType[*model.Error](err); ok && fail == modeltest.RateLimit && e.Wait != 7*time.Second {
				t.Errorf("wait %v", e.Wait)
			}
		}
	}
}

// attempts: it works as soon as the service works.
func (a Adapter) attempts(t *testing.T) {
	for _, bad := range []modeltest.Turn{{Fail: modeltest.Internal}, {Fail: modeltest.Overloaded}, {Fail: modeltest.RateLimit}, {Drop: true}, {Status: 502, Body: "<html>Bad Gateway</html>"}, {Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: ": nothing\n\n"}} {
		s := modeltest.New(t, bad, bad, modeltest.Turn{Text: "at last"})
		got, err := a.open(t, s).Ask(t.Context(), hello(), nil)
		if err != nil || got.Message.Said() != "at last" {
			t.Errorf("%+v: %+v, %v", bad, got, err)
		}
	}
}

// waits: pauses grow, with chance in them, and are what the service asked for, up to a
// bound.
func (a Adapter) waits(t *testing.T) {
	var waited []time.Duration
	note := func(e *model.Endpoint) {
		e.Pause = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	}
	ask := func(turn modeltest.Turn) error {
		waited = nil
		_, err := a.open(t, always(t, turn), note).Ask(t.Context(), hello(), nil)
		return err
	}
	_ = ask(modeltest.Turn{Fail: modeltest.Internal})
	for i, d := range waited {
		if full := 500 * time.Millisecond << i; d < full/2 || d > full {
			t.Errorf("pause %d is %v", i, d)
		}
	}
	if len(waited) != 3 {
		t.Errorf("%d pauses", len(waited))
	}
	_ = ask(modeltest.Turn{Fail: modeltest.RateLimit})
	if len(waited) != 3 || waited[0] != 7*time.Second {
		t.Errorf("waited %v, the service asked for 7 s", waited)
	}
	err := ask(modeltest.Turn{Fail: modeltest.RateLimit, Header: http.Header{"Retry-After": {"3600"}}})
	if e, ok := errors.AsType[*model.Error](err); len(waited) != 0 || !ok || e.Wait != time.Hour {
		t.Errorf("waited %v, %v", waited, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := a.open(t, always(t, modeltest.Turn{Fail: modeltest.Internal}), func(e *model.Endpoint) {
		e.Pause = func(ctx context.Context, _ time.Duration) error { cancel(); <-ctx.Done(); return ctx.Err() }
	})
	if _, err := m.Ask(ctx, hello(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a pause: %v", err)
	}
}

// late: what fails after something was told is not tried again.
func (a Adapter) late(t *testing.T) {
	for fail, want := range map[string]string{modeltest.Overloaded: model.Busy, modeltest.Internal: model.Broken, modeltest.RateLimit: model.Busy} {
		s := always(t, modeltest.Turn{Text: "one two three", FailLate: fail})
		h := &heard{}
		_, err := a.open(t, s).Ask(t.Context(), hello(), h.emit)
		if kind(err) != want || h.text != "one two three" || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %q, sent %d times", fail, err, h.text, len(s.Requests()))
		}
		s = always(t, modeltest.Turn{FailLate: fail})
		if _, err = a.open(t, s).Ask(t.Context(), hello(), nil); kind(err) != want || len(s.Requests()) != 4 {
			t.Errorf("%s before anything was told: %v, sent %d times", fail, err, len(s.Requests()))
		}
	}
}

// cancelled: at once, wherever it is, and the service is let go.
func (a Adapter) cancelled(t *testing.T) {
	for _, stream := range []bool{true, false} {
		s := always(t, modeltest.Turn{Text: strings.Repeat("word ", 50), Hang: 5})
		ctx, cancel := context.WithCancel(t.Context())
		emit := func(model.Delta) { cancel() }
		if !stream {
			emit = nil
			go func() {
				for len(s.Requests()) == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		_, err := a.open(t, s, func(e *model.Endpoint) { e.NoStream = !stream }).Ask(ctx, hello(), emit)
		if !errors.Is(err, context.Canceled) || len(s.Requests()) != 1 {
			t.Errorf("%v after %d requests", err, len(s.Requests()))
		}
		select {
		case <-s.Requests()[0].Ended:
		case <-time.After(20 * time.Second):
			t.Error("the service is still being read")
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := modeltest.New(t)
	if _, err := a.open(t, s).Ask(ctx, hello(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func (a Adapter) idle(t *testing.T) {
	for _, turn := range []modeltest.Turn{{Text: "one two three four five six seven eight", Hang: 3}, {Wait: make(chan struct{})}} {
		s := always(t, turn)
		_, err := a.open(t, s, func(e *model.Endpoint) { e.Idle = 100 * time.Millisecond }).Ask(t.Context(), hello(), nil)
		if kind(err) != model.Broken || !strings.Contains(err.Error(), "sent nothing for 100ms") {
			t.Errorf("%v", err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("sent %d times", n)
		}
	}
}

func (a Adapter) unreached(t *testing.T) {
	m, err := a.New(model.Endpoint{BaseURL: "http://127.0.0.1:1/v1", Model: "x", Pause: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), hello(), nil)
	if kind(err) != model.Away || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v", err)
	}
}

// bounds: whatever a service sends, it ends.
func (a Adapter) bounds(t *testing.T) {
	for name, flood := range map[string]string{
		"one line":    strings.Repeat("x", 1<<16),
		"one event":   "data: " + strings.Repeat("x", 1<<16) + "\n",
		"comments":    ": " + strings.Repeat("x", 1<<16) + "\n\n",
		"empty lines": strings.Repeat("\n", 1<<16),
	} {
		s := always(t, modeltest.Turn{Flood: flood})
		_, err := a.open(t, s).Ask(t.Context(), hello(), nil)
		if kind(err) != model.Broken || len(s.Requests()) != 1 {
			t.Errorf("%s: %v, sent %d times", name, err, len(s.Requests()))
		}
	}
	s := always(t, modeltest.Turn{Status: 200, Body: strings.Repeat("[", 1<<20)})
	if _, err := a.open(t, s).Ask(t.Context(), hello(), nil); kind(err) != model.Broken {
		t.Errorf("deep JSON: %v", err)
	}
}

// nonsense: what is no answer is an error that says so, in few words.
func (a Adapter) nonsense(t *testing.T) {
	stream := http.Header{"Content-Type": {"text/event-stream"}}
	for _, turn := range []modeltest.Turn{
		{Status: 200, Body: "<html>Log in to the network</html>"},
		{Status: 200, Body: "null"}, {Status: 200, Body: "{}"}, {Status: 200, Body: `"hello"`}, {Status: 200, Body: "[]"}, {Status: 200, Body: "[1]"},
		{Status: 200, Header: stream, Body: "data: {\n\n"}, {Status: 200, Header: stream, Body: "data: []\n\n"}, {Status: 200, Header: stream, Body: "data: null\n\n"}, {Status: 200, Header: stream, Body: "\n\n"},
		{Status: 200, Body: `{"error":"model is loading"}`}, {Status: 200, Body: `{"error":{"message":"out of memory","code":500}}`},
		{Status: 200, Header: stream, Body: "data: {\"error\":{\"message\":\"out of memory\",\"code\":502}}\n\n"},
		{Status: 500, Body: strings.Repeat("long ", 100_000)}, {Status: 204}, {Status: 500, Body: "\x1b[31mred\x00"},
	} {
		_, err := a.open(t, always(t, turn)).Ask(t.Context(), hello(), nil)
		if kind(err) != model.Broken {
			t.Errorf("%d %.60q: %v", turn.Status, turn.Body, err)
			continue
		}
		if len(err.Error()) > 800 || strings.ContainsAny(err.Error(), "\x1b\x00\n") {
			t.Errorf("%.60q is told as %q", turn.Body, err)
		}
	}
	_, err := a.open(t, always(t, modeltest.Turn{Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}})).Ask(t.Context(), hello(), nil)
	if kind(err) != model.BadRequest {
		t.Errorf("sent elsewhere: %v", err)
	}
}

// key: it is sent in a header, asked for each time, and in no text of an error.
func (a Adapter) key(t *testing.T) {
	const key = "sk-very-secret-1234567890"
	asked := 0
	withKey := func(e *model.Endpoint) {
		e.Key = func(context.Context) (string, error) { asked++; return key, nil }
		e.Header = http.Header{"X-Title": {"toolcrib"}}
	}
	s := modeltest.New(t, modeltest.Turn{Text: "ok"}, modeltest.Turn{Status: 401, Body: fmt.Sprintf(`{"error":{"message":"bad key %s","type":"authentication_error"}}`, key)},
		modeltest.Turn{Status: 200, Body: "what is " + key})
	m := a.open(t, s, withKey, func(e *model.Endpoint) { e.Attempts = 1 })
	if _, err := m.Ask(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	found := 0
	for _, values := range r.Header {
		found += strings.Count(strings.Join(values, " "), key)
	}
	if found != 1 || strings.Contains(r.Path+r.Query+string(r.Body), key) || r.Header.Get("X-Title") != "toolcrib" {
		t.Errorf("the key is in %d headers; %s %s", found, r.Path, r.Body)
	}
	for range 2 {
		_, err := m.Ask(t.Context(), hello(), nil)
		if err == nil {
			t.Fatal("no error")
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e), key) {
				t.Errorf("the key is in %v", e)
			}
		}
	}
	if asked != 3 {
		t.Errorf("asked for the key %d times", asked)
	}
	locked := a.open(t, modeltest.New(t), func(e *model.Endpoint) {
		e.Key = func(context.Context) (string, error) { return "", errors.New("the vault is locked") }
	})
	if _, err := locked.Ask(t.Context(), hello(), nil); kind(err) != model.BadKey || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v", err)
	}
}

func (a Adapter) addresses(t *testing.T) {
	for _, base := range []string{"host/v1", "ftp://host", "http://", "https://user:pass@host/v1", "https://host/v1?key=1", "https://host/#x", "http://[::1"} {
		if _, err := a.New(model.Endpoint{BaseURL: base, Model: "x"}); err == nil {
			t.Errorf("%s is taken", base)
		} else if strings.Contains(err.Error(), "pass") && strings.Contains(err.Error(), "user:pass") {
			t.Errorf("told: %v", err)
		}
	}
	if _, err := a.New(model.Endpoint{BaseURL: "http://host"}); err == nil {
		t.Error("no model is taken")
	}
}
