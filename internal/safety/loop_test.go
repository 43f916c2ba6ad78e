package safety

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/policy"
)

func inSession(name string) toolcrib.Caller { return toolcrib.Caller{Subject: "ann", Session: name} }

// goes makes one call: stopped if the guard says so, with what the result says
// if it ran.
func goes(t testing.TB, l *Loop, who toolcrib.Caller, tool, input, answer string) (text string, stopped bool) {
	t.Helper()
	spec := toolcrib.Entry{Box: "box", Native: tool}
	call := toolcrib.Call{Caller: who, Input: json.RawMessage(input)}
	v, err := l.Judge(t.Context(), toolcrib.Review{Call: call, Spec: spec, Input: call.Input})
	if err != nil {
		t.Fatal(err)
	}
	if v != nil {
		return v.Reason, true
	}
	wrapped := l.Around(spec, toolcrib.Tool{Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		if answer == "error" {
			return nil, errors.New("no")
		}
		return toolcrib.Text(answer), nil
	}})
	r, err := wrapped.Run(t.Context(), &toolcrib.Env{Call: call}, call.Input)
	if err != nil {
		return err.Error(), false
	}
	return r.String(), false
}

const loopNote = "times in a row"

func TestLoopSteps(t *testing.T) {
	for name, c := range map[string]struct {
		cycle       []string // "tool input answer"; % in an answer counts
		note, stops int      // at which call, from 1; 0: never in 60
	}{
		"same":           {[]string{`a {} x`}, 5, 10},
		"keys permuted":  {[]string{`a {"p":1,"q":{"r":2,"s":[1]}} x`, `a {"q":{"s":[1],"r":2},"p":1} x`}, 5, 10},
		"blanks":         {[]string{`a {"p":1} x`, "a {\"p\":\t1} x"}, 5, 10},
		"two in turn":    {[]string{`a {} x`, `b {} y`}, 9, 19},
		"three in turn":  {[]string{`a {} x`, `b {} y`, `c {} z`}, 13, 28},
		"four in turn":   {[]string{`a {} x`, `b {} y`, `c {} z`, `d {} z`}, 0, 0},
		"other answers":  {[]string{`a {} %`}, 0, 0},
		"one of two":     {[]string{`a {} x`, `b {} %`}, 0, 0},
		"other input":    {[]string{`a {"n":%} x`}, 0, 0},
		"numbers differ": {[]string{`a {"n":1} x`, `a {"n":2} x`, `a {"n":3} x`, `a {"n":4} x`}, 0, 0},
		"errors":         {[]string{`a {} error`}, 0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Loop{Now: (&cribtest.Clock{}).Now}
			note, stops := 0, 0
			for i := 1; i <= 60 && stops == 0; i++ {
				parts := strings.SplitN(strings.ReplaceAll(c.cycle[(i-1)%len(c.cycle)], "%", fmt.Sprint(i)), " ", 3)
				text, stopped := goes(t, l, inSession("s"), parts[0], parts[1], parts[2])
				if strings.Contains(text, loopNote) && note == 0 {
					note = i
				}
				if stopped {
					stops = i
				}
			}
			if note != c.note || stops != c.stops {
				t.Errorf("it says so at %d and stops at %d, want %d and %d", note, stops, c.note, c.stops)
			}
		})
	}
}

func TestLoopEnds(t *testing.T) {
	clock := &cribtest.Clock{}
	l := &Loop{Now: clock.Now}
	stuck := func() {
		t.Helper()
		for range 9 {
			if _, stopped := goes(t, l, inSession("s"), "a", "{}", "x"); stopped {
				t.Fatal("stopped too early")
			}
		}
		first, stopped := goes(t, l, inSession("s"), "a", "{}", "x")
		again, still := goes(t, l, inSession("s"), "a", "{}", "x")
		if !stopped || !still || first != again {
			t.Fatalf("%v %v: %q, %q", stopped, still, first, again)
		}
	}
	stuck()
	if _, stopped := goes(t, l, inSession("other"), "a", "{}", "x"); stopped {
		t.Error("another session is stopped")
	}
	if _, stopped := goes(t, l, inSession("s"), "b", "{}", "x"); stopped {
		t.Error("another call is stopped")
	}
	stuck() // after something else it begins anew
	clock.Advance(31 * time.Minute)
	stuck() // and after a while
}

func TestLoopLeavesAlone(t *testing.T) {
	l := &Loop{Except: []policy.Selector{picks(t, "command_output")}}
	for name, c := range map[string]struct {
		who    toolcrib.Caller
		parent string
		tool   string
	}{
		"polling":    {inSession("s"), "", "command_output"},
		"no session": {toolcrib.Caller{Subject: "ann"}, "", "a"},
		"of a tool":  {inSession("s"), "p", "a"},
	} {
		spec := toolcrib.Entry{Box: "box", Native: c.tool}
		call := toolcrib.Call{Caller: c.who, Parent: c.parent}
		tool := l.Around(spec, toolcrib.Tool{Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text("still running"), nil
		}})
		for range 50 {
			r, err := tool.Run(t.Context(), &toolcrib.Env{Call: call}, nil)
			v, jerr := l.Judge(t.Context(), toolcrib.Review{Call: call, Spec: spec})
			if err != nil || jerr != nil || v != nil || strings.Contains(r.String(), loopNote) {
				t.Fatalf("%s: %v, %v, %v, %v", name, r, v, err, jerr)
			}
		}
	}
}

func TestLoopAsks(t *testing.T) {
	for with, want := range map[toolcrib.Decision]toolcrib.Decision{toolcrib.Deny: toolcrib.Deny, toolcrib.Ask: toolcrib.Ask, toolcrib.Allow: toolcrib.Ask} {
		l := &Loop{Stop: 3, Note: 2, With: with}
		goes(t, l, inSession("s"), "a", "{}", "x")
		goes(t, l, inSession("s"), "a", "{}", "x")
		call := toolcrib.Call{Caller: inSession("s")}
		v, err := l.Judge(t.Context(), toolcrib.Review{Call: call, Spec: toolcrib.Entry{Box: "box", Native: "a"}, Input: json.RawMessage("{}")})
		if err != nil || v == nil || v.Decision != want || strings.ContainsAny(v.Reason, "0123456789") {
			t.Errorf("%v: %+v, %v", with, v, err)
		}
	}
}

// TestLoopNoteKeepsTheResult: the value and its text stay.
func TestLoopNoteKeepsTheResult(t *testing.T) {
	r := loopNoted(&toolcrib.Result{Value: json.RawMessage(`{"a":1}`), Failed: true}, 5)
	if string(r.Value) != `{"a":1}` || !r.Failed || len(r.Content) != 2 || r.Content[0].Text != `{"a":1}` {
		t.Errorf("%+v", r)
	}
	given := toolcrib.Text("x")
	if r = loopNoted(given, 5); len(r.Content) != 2 || len(given.Content) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLoopManySessions(t *testing.T) {
	clock := &cribtest.Clock{}
	l := &Loop{Now: clock.Now}
	for i := range maxLoopSessions + 50 {
		goes(t, l, inSession(fmt.Sprint(i, strings.Repeat("x", 500))), "a", "{}", "x")
		clock.Advance(time.Millisecond)
	}
	if len(l.sessions) != maxLoopSessions {
		t.Errorf("%d sessions are remembered", len(l.sessions))
	}
	for range 500 {
		goes(t, l, inSession("long"), fmt.Sprint("tool", clock.Now()), "{}", "x")
		clock.Advance(time.Second)
	}
	for _, s := range l.sessions {
		if len(s.steps) > maxLoopSteps {
			t.Fatalf("%d steps", len(s.steps))
		}
	}
}

// TestLoopInACrib: ten identical calls through a whole crib, at once with others.
func TestLoopInACrib(t *testing.T) {
	l := &Loop{}
	tool := toolcrib.Define(toolcrib.Spec{Name: "look", Effects: toolcrib.Pure}, func(context.Context, *toolcrib.Env, struct{}) (struct{ A string }, error) {
		return struct{ A string }{"same"}, nil
	})
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow(), l},
		Around: []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{l.Around},
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	var wg sync.WaitGroup
	for s := range 8 {
		wg.Go(func() {
			for i := 1; i <= 12; i++ {
				r, err := c.Call(t.Context(), toolcrib.Call{Tool: "look", Caller: inSession(fmt.Sprint(s))})
				if (toolcrib.CodeOf(err) == toolcrib.CodeDenied) != (i >= 10) || err == nil && strings.Contains(r.String(), loopNote) != (i >= 5) {
					t.Errorf("call %d: %v, %v", i, r, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLoopProperty: calls of which no two of four are alike are never stopped,
// and the same calls give the same verdicts.
func TestLoopProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 80).Draw(t, "steps")
		verdicts := func() (list []int) {
			var history []loopStep
			for _, s := range steps {
				step := loopStep{call: [16]byte{byte(s)}}
				list = append(list, repetitions(history, step.call))
				history = append(history, step)
			}
			return list
		}
		first, second := verdicts(), verdicts()
		for i := range first {
			if first[i] != second[i] {
				t.Fatal("the same calls, other verdicts")
			}
			if n := first[i]; n > 1 {
				found := false // a circle that long must be there
				for cycle := 1; cycle <= maxLoopCycle; cycle++ {
					ok := i-(n-1)*cycle >= 0
					for k := i - 1; ok && k-cycle >= i-(n-1)*cycle; k-- {
						ok = steps[k] == steps[k-cycle]
					}
					found = found || ok && steps[i] == steps[i-cycle]
				}
				if !found {
					t.Fatalf("%v: %d repetitions at %d", steps[:i+1], n, i)
				}
			}
		}
	})
}
