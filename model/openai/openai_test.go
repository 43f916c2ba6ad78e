package openai

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/suite"
)

func open(t *testing.T, s *modeltest.Server, change ...func(*model.Endpoint)) *Model {
	t.Helper()
	e := model.Endpoint{BaseURL: s.Base("openai"), Model: "scripted", Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	for _, f := range change {
		f(&e)
	}
	m, err := New(e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAsk(t *testing.T) {
	turn := modeltest.Turn{
		Text: "Grüße aus 東京 👋 done", Thought: "hm, 日本",
		Calls: []modeltest.Call{{Name: "a", Arguments: `{"x":"ä","y":[1,2]}`}, {Name: "b"}},
		Usage: modeltest.Usage{Input: 100, Output: 20, CacheRead: 64},
	}
	for name, change := range map[string]func(*modeltest.Turn){
		"plain":       func(*modeltest.Turn) {},
		"bytes":       func(t *modeltest.Turn) { t.Chunk = 1 },
		"threes":      func(t *modeltest.Turn) { t.Chunk, t.Piece = 3, 1 },
		"no done":     func(t *modeltest.Turn) { t.Quirks.NoDone = true },
		"no id":       func(t *modeltest.Turn) { t.Quirks.NoID = true },
		"no index":    func(t *modeltest.Turn) { t.Quirks.NoIndex = true },
		"neither":     func(t *modeltest.Turn) { t.Quirks.NoIndex, t.Quirks.NoID = true, true },
		"object":      func(t *modeltest.Turn) { t.Quirks.ArgumentsObject = true },
		"no space":    func(t *modeltest.Turn) { t.Quirks.NoSpace = true },
		"comments":    func(t *modeltest.Turn) { t.Quirks.Comments = true },
		"reasoning":   func(t *modeltest.Turn) { t.Quirks.Reasoning = true },
		"stop":        func(t *modeltest.Turn) { t.Quirks.StopWithCalls = true },
		"whole calls": func(t *modeltest.Turn) { t.Quirks.WholeCalls = true },
	} {
		for _, whole := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				turn := turn
				change(&turn)
				m := open(t, modeltest.New(t, turn), func(e *model.Endpoint) { e.NoStream = whole })
				var text, thought string
				var calls []string
				a, err := m.Ask(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "hi")}}, func(d model.Delta) {
					text, thought = text+d.Text, thought+d.Thought
					if d.Call != "" {
						calls = append(calls, d.Call)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if text != turn.Text || thought != turn.Thought || a.Message.Said() != turn.Text || !cmp.Equal(calls, []string{"a", "b"}) {
					t.Errorf("said %q, thought %q, called %v, answer %+v", text, thought, calls, a)
				}
				if a.Stop != model.StopCalls || a.Usage != (model.Usage{Input: 100, Output: 20, CacheRead: 64}) || a.Model != "scripted" {
					t.Errorf("%+v", a)
				}
				got := a.Message.Calls
				if len(got) != 2 || got[0].Name != "a" || string(got[0].Arguments) != turn.Calls[0].Arguments || string(got[1].Arguments) != "{}" || got[0].ID == "" || got[0].ID == got[1].ID {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

func TestCutStreamIsAnError(t *testing.T) {
	for cut := 1; cut < 6; cut++ {
		for _, turn := range []modeltest.Turn{{Text: "one two three four five six", Cut: cut}, {Text: "one two three four five six", End: min(cut, 4)}} {
			s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn { return turn })
			a, err := open(t, s).Ask(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "hi")}}, nil)
			var e *model.Error
			if turn.Cut == 5 && err == nil {
				continue // all of it had arrived
			}
			if !errors.As(err, &e) || e.Kind != model.Broken {
				t.Errorf("cut %d, end %d: %+v, %v", turn.Cut, turn.End, a, err)
			}
		}
	}
}

func TestSuite(t *testing.T) {
	suite.Adapter{API: "openai", New: func(e model.Endpoint) (model.Model, error) { return New(e) }}.Run(t)
}

// TestRefusedParts: what a service does not take is left out from then on, and everything
// else is sent.
func TestRefusedParts(t *testing.T) {
	s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		for _, word := range []string{"stream_options", `"max_tokens"`, "temperature"} {
			if strings.Contains(string(r.Body), word) {
				return modeltest.Turn{Status: 400, Body: `{"error":{"message":"Unsupported parameter: ` + strings.Trim(word, `"`) + `","type":"invalid_request_error"}}`}
			}
		}
		return modeltest.Turn{Text: "ok"}
	})
	m := open(t, s)
	half := 0.5
	for range 2 {
		if _, err := m.Ask(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "hi")}, MaxTokens: 77, Temperature: &half}, nil); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Requests()
	if last := string(all[len(all)-1].Body); len(all) != 5 || !strings.Contains(last, `"max_completion_tokens":77`) {
		t.Errorf("%d requests, the last %s", len(all), last)
	}
}

// TestErrorWith200: some services say so what went wrong.
func TestErrorWith200(t *testing.T) {
	for _, fail := range []string{modeltest.TooLong, modeltest.BadKey} {
		s := modeltest.New(t, modeltest.Turn{Fail: fail, Quirks: modeltest.Quirks{FailWith200: true}})
		_, err := open(t, s).Ask(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "hi")}}, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != map[string]string{modeltest.TooLong: model.TooLong, modeltest.BadKey: model.BadKey}[fail] {
			t.Errorf("%s: %v", fail, err)
		}
	}
}
