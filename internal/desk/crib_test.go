package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// asking is a guard that wants everything asked.
type asking struct{}

func (asking) Judge(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "test", Reason: "everything is asked"}, nil
}

// TestInTheCrib: the desk in its place in the pipeline. Each call is one
// question, and the tool runs as often as a person allowed it.
func TestInTheCrib(t *testing.T) {
	type args struct {
		Path string `json:"path"`
	}
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		var last atomic.Value
		tool := toolcrib.Define(toolcrib.Spec{Name: "touch", Description: "Touches a file.", Effects: toolcrib.Writes},
			func(_ context.Context, _ *toolcrib.Env, in args) (args, error) {
				ran.Add(1)
				last.Store(in.Path)
				return in, nil
			})
		preview := "file 1"
		tool.Preview = func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) { return preview, nil }
		d := newDesk(t, config(&desk.Memory{}))
		crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{asking{}}, Journal: toolcrib.NoJournal{}, Approver: d,
			Limits: toolcrib.Limits{Ask: time.Minute}}
		if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", tool)}}); len(faults) > 0 {
			t.Fatal(faults)
		}
		call := func() chan error {
			done := make(chan error, 1)
			go func() {
				_, err := crib.Call(t.Context(), toolcrib.Call{Tool: "touch", Input: []byte(`{"path":"a"}`), Caller: toolcrib.Caller{Subject: "alice", Session: "s"}})
				done <- err
			}()
			synctest.Wait()
			return done
		}
		expect := func(done chan error, code toolcrib.Code, text string, runs int64) {
			t.Helper()
			err := <-done
			if toolcrib.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), text) || ran.Load() != runs {
				t.Errorf("got %v, and the tool ran %d times; want %q, %q and %d", err, ran.Load(), code, text, runs)
			}
		}
		expect(call(), toolcrib.CodeUnavailable, "", 0)
		events, stop, err := d.Watch(t.Context(), desk.Screen{Buffer: 1000})
		if err != nil {
			t.Fatal(err)
		}
		done := call()
		q := theOne(t, d)
		if q.Preview != "file 1" || string(q.Input) != `{"path":"a"}` {
			t.Errorf("shown: %+v", q)
		}
		answer(t, d, q.ID, desk.Reply{Choice: desk.Deny, Message: "not this one"})
		expect(done, toolcrib.CodeDenied, "not this one", 0)

		done = call()
		time.Sleep(time.Minute)
		expect(done, toolcrib.CodeTimeout, "did not answer", 0)
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce})
		preview = "file 2"
		done = call()
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce}) // asked again: the file has changed
		expect(done, "", "", 1)

		done = call()
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.Edit, Input: []byte(`{"path":"b"}`)})
		expect(done, "", "", 2)
		if last.Load() != "b" {
			t.Errorf("it ran with %v", last.Load())
		}
		done = call()
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowSession})
		expect(done, "", "", 3)
		expect(call(), "", "", 4)
		if n := len(open(t, d)); n != 0 {
			t.Errorf("%d questions are left", n)
		}
		stop()
		for range events {
			continue
		}
		time.Sleep(10 * time.Second) // the crib's goroutines end when no call comes
	})
}

// TestOldAnswer: an answer is not used after its time even where nobody has
// cleaned up meanwhile.
func TestOldAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		cfg.Unattended = desk.Leave
		d := newDesk(t, cfg)
		if _, err := d.Approve(t.Context(), ask()); !errors.Is(err, desk.ErrPending) {
			t.Fatal(err)
		}
		answer(t, d, theOne(t, d).ID, desk.Reply{Choice: desk.AllowOnce})
		time.Sleep(time.Hour - 10*time.Second)
		other := ask()
		other.Input = []byte(`{"path":"other"}`)
		if _, err := d.Approve(t.Context(), other); !errors.Is(err, desk.ErrPending) { // cleans up
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if got, err := d.Approve(t.Context(), ask()); err == nil {
			t.Errorf("used: %+v", got)
		}
	})
}
