package guards

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
)

// ends is a journal that has what it was told at the end of calls.
type ends struct {
	mu   sync.Mutex
	list []toolcrib.Record
}

func (*ends) Begin(context.Context, *toolcrib.Record) (*toolcrib.Record, error) { return nil, nil }

func (e *ends) End(_ context.Context, r *toolcrib.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	own := *r
	own.Verdicts = append([]toolcrib.Verdict(nil), r.Verdicts...)
	e.list = append(e.list, own)
	return nil
}

// notes is what hooks said of the newest call.
func (e *ends) notes() (list []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.list[len(e.list)-1].Verdicts {
		if strings.HasPrefix(v.Guard, "hook ") {
			if !v.Note || v.Decision != toolcrib.Allow {
				list = append(list, "it decides something")
			}
			list = append(list, v.Guard+" "+v.Rule+": "+v.Reason)
		}
	}
	return list
}

// stated is a crib whose calls are asked about by these hooks.
func stated(t *testing.T, log *slog.Logger, hooks ...*safety.Hook) (*toolcrib.Crib, *ends) {
	t.Helper()
	j := &ends{}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads)}, Log: log}
	c.Journal = States{Journal: j, Hooks: hooks, Entry: c.Tool, Log: log, Redact: func(text json.RawMessage) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[redacted]"))
	}}.Open()
	fails := answering("fails", func() (string, error) { return "", errors.New("no luck") })
	writes := answering("writes", func() (string, error) { return "", nil })
	writes.Effects = toolcrib.Writes
	talk := answering("talk", func() (string, error) { return "fine", nil })
	talk.Input = json.RawMessage(`{"type":"object"}`)
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{
		toolcrib.NewBox("test", talk, fails, writes),
	}}); faults != nil {
		t.Fatal(faults)
	}
	return c, j
}

func saying(name, text string) *safety.Hook {
	return &safety.Hook{Name: name, Run: func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }}
}

// TestStates: what hooks say is kept beside the record, and nothing else becomes of it.
func TestStates(t *testing.T) {
	var asked safety.HookRequest
	first := &safety.Hook{Name: "a", Run: func(_ context.Context, request []byte) ([]byte, error) {
		if err := json.Unmarshal(request, &asked); err != nil {
			return nil, err
		}
		return []byte(`{"state": {"open": [1, 2]}}`), nil
	}}
	only, err := policy.ParseSelectors([]string{"test/fails"})
	if err != nil {
		t.Fatal(err)
	}
	picky := saying("c", `{"state":"of a failure"}`)
	picky.Tools = only
	c, j := stated(t, slog.New(slog.DiscardHandler), first, saying("b", `{"state":null}`), picky)
	ann := toolcrib.Caller{Subject: "ann", Session: "s"}
	if got, err := callAs(t, c, ann, "talk", `{"x":1}`); err != nil || got != "fine" {
		t.Errorf("%q, %v", got, err)
	}
	if got := strings.Join(j.notes(), "|"); got != `hook a state: {"open":[1,2]}` {
		t.Error(got)
	}
	if asked.Phase != "state" || asked.Call.Tool != "talk" || asked.Call.Caller != ann || asked.Outcome != toolcrib.Done || string(asked.Input) != `{"x":1}` || !strings.Contains(string(asked.Result), "fine") {
		t.Errorf("%+v", asked)
	}
	if got, err := callAs(t, c, ann, "fails", `{}`); err != nil || got != "no luck" {
		t.Errorf("%q, %v", got, err)
	}
	if got := strings.Join(j.notes(), "|"); got != `hook a state: {"open":[1,2]}|hook c state: "of a failure"` || asked.Outcome != toolcrib.Broke {
		t.Error(got, asked.Outcome)
	}
	// Where nothing ran there is no state.
	asked = safety.HookRequest{}
	if _, err := callAs(t, c, ann, "writes", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied || asked.Phase != "" || len(j.notes()) > 0 {
		t.Errorf("%v, %v, %v", err, asked, j.notes())
	}
}

// TestStatesChangeNothing: a hook that is slow, broken, too long, or wants to say more
// than a state leaves the answer as it is; the record and the log say that it failed.
func TestStatesChangeNothing(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for name, run := range map[string]func(ctx context.Context, request []byte) ([]byte, error){
		"slow":   func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
		"never":  func(context.Context, []byte) ([]byte, error) { <-hang; return nil, nil },
		"fails":  func(context.Context, []byte) ([]byte, error) { return nil, errors.New("exit status 3") },
		"panics": func(context.Context, []byte) ([]byte, error) { panic("hunter2") },
		"huge": func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"state":"` + strings.Repeat("x", safety.MaxState) + `"}`), nil
		},
		"vast":        func(context.Context, []byte) ([]byte, error) { return make([]byte, 1<<20), nil },
		"not json":    func(context.Context, []byte) ([]byte, error) { return []byte(`state: 1`), nil },
		"empty":       func(context.Context, []byte) ([]byte, error) { return nil, nil },
		"no state":    func(context.Context, []byte) ([]byte, error) { return []byte(`{}`), nil },
		"two":         func(context.Context, []byte) ([]byte, error) { return []byte(`{"state":1,"state":2}`), nil },
		"two answers": func(context.Context, []byte) ([]byte, error) { return []byte(`{"state":1}{"state":2}`), nil },
		"a result": func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"state":1,"result":{"content":[{"type":"text","text":"mine"}]}}`), nil
		},
		"a decision": func(context.Context, []byte) ([]byte, error) { return []byte(`{"state":1,"decision":"deny"}`), nil },
		"scribbles": func(_ context.Context, request []byte) ([]byte, error) {
			clear(request)
			return []byte(`{"State":1}`), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c, j := stated(t, slog.New(slog.NewTextHandler(&log, nil)), &safety.Hook{Name: "h", Run: run, Timeout: 50 * time.Millisecond})
			got, err := callAs(t, c, toolcrib.Caller{Subject: "ann"}, "talk", `{"x":"hunter2"}`)
			if err != nil || got != "fine" {
				t.Errorf("%q, %v", got, err)
			}
			if notes := strings.Join(j.notes(), "|"); notes != "hook h failed: the hook gave no usable state; the log says why" {
				t.Error(notes)
			}
			if r := j.list[0]; r.Outcome != toolcrib.Done || string(r.Result) != `{"content":[{"type":"text","text":"fine"}]}` || string(r.Input) != `{"x":"hunter2"}` {
				t.Errorf("%+v", r)
			}
			if !strings.Contains(log.String(), "a hook gave no state") {
				t.Error(log.String())
			}
		})
	}
}

// TestStatesKeepNoSecrets: a state is redacted as everything that is recorded, and
// where secrets are not known because the vault is locked, none is kept.
func TestStatesKeepNoSecrets(t *testing.T) {
	hook := saying("h", `{"state":{"token":"hunter2","note":"the word is hunter2"}}`)
	c, j := stated(t, nil, hook)
	if _, err := callAs(t, c, toolcrib.Caller{}, "talk", `{}`); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(j.notes(), "|"); strings.Contains(got, "hunter2") || !strings.Contains(got, "[redacted]") {
		t.Error(got)
	}
	s, ok := c.Journal.(*States)
	if !ok {
		t.Fatalf("%T", c.Journal)
	}
	s.Locked = func() error { return errors.New("locked") }
	if _, err := callAs(t, c, toolcrib.Caller{}, "talk", `{}`); err != nil || len(j.notes()) > 0 {
		t.Errorf("%v, %v", j.notes(), err)
	}
	// A redactor that breaks down lets nothing through.
	s.Locked, s.Redact = nil, func(json.RawMessage) json.RawMessage { panic("hunter2") }
	if _, err := callAs(t, c, toolcrib.Caller{}, "talk", `{}`); err != nil || strings.Contains(strings.Join(j.notes(), "|"), "hunter2") || len(j.notes()) != 1 {
		t.Errorf("%v, %v", j.notes(), err)
	}
}

// TestStatesAreAskedAtOnce: a call waits for the slowest hook, not for their sum.
func TestStatesAreAskedAtOnce(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	meet := func(context.Context, []byte) ([]byte, error) {
		all.Done()
		all.Wait() // each waits for the others
		return []byte(`{"state":1}`), nil
	}
	c, j := stated(t, nil, &safety.Hook{Name: "a", Run: meet, Timeout: time.Minute}, &safety.Hook{Name: "b", Run: meet, Timeout: time.Minute}, &safety.Hook{Name: "c", Run: meet, Timeout: time.Minute})
	if _, err := callAs(t, c, toolcrib.Caller{}, "talk", `{}`); err != nil || len(j.notes()) != 3 {
		t.Errorf("%v, %v", j.notes(), err)
	}
}
