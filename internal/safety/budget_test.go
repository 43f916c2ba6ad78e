package safety

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/policy"
)

func newBudget(t testing.TB, clock *cribtest.Clock, limits []BudgetLimit, prices ...BudgetPrice) *Budget {
	t.Helper()
	b, err := NewBudget(limits, prices, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func picks(t testing.TB, text string) policy.Selector {
	t.Helper()
	s, err := policy.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spends makes a call through the wrapper, and checks that the guard says the
// same ahead.
func spends(t testing.TB, b *Budget, who toolcrib.Caller, spec toolcrib.Entry, run func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)) error {
	t.Helper()
	if spec.Native == "" {
		spec.Native, spec.Box = "tool", "box"
	}
	if run == nil {
		run = func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text(""), nil
		}
	}
	call := toolcrib.Call{Caller: who}
	ahead, err := b.Judge(t.Context(), toolcrib.Review{Call: call, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Around(spec, toolcrib.Tool{Run: run}).Run(t.Context(), &toolcrib.Env{Call: call}, nil)
	if denied := toolcrib.CodeOf(err) == toolcrib.CodeDenied; denied != (ahead != nil) || denied && ahead.Decision != toolcrib.Deny {
		t.Errorf("the guard says %+v, the wrapper %v", ahead, err)
	}
	return err
}

// fits counts how many of n calls have room.
func fits(t testing.TB, b *Budget, who toolcrib.Caller, spec toolcrib.Entry, n int) (ran int) {
	t.Helper()
	for range n {
		if spends(t, b, who, spec, nil) == nil {
			ran++
		}
	}
	return ran
}

func TestBudgetParallel(t *testing.T) {
	var ran atomic.Int32
	b, err := NewBudget([]BudgetLimit{{Name: "all", Per: time.Hour, Calls: 50}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: "look", Effects: toolcrib.Pure}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		ran.Add(1)
		return toolcrib.Text(""), nil
	}}
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow(), b},
		Around: []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{b.Around},
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	var wg sync.WaitGroup
	var done, denied atomic.Int32
	for range 200 {
		wg.Go(func() {
			_, err := c.Call(t.Context(), toolcrib.Call{Tool: "look", Caller: toolcrib.Caller{Subject: "ann"}})
			switch {
			case err == nil:
				done.Add(1)
			case toolcrib.CodeOf(err) == toolcrib.CodeDenied && strings.Contains(err.Error(), "try again in "):
				denied.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ran.Load() != 50 || done.Load() != 50 || denied.Load() != 150 {
		t.Errorf("%d ran, %d are done and %d denied, of 200 with a budget of 50", ran.Load(), done.Load(), denied.Load())
	}
}

func TestBudgetWindow(t *testing.T) {
	clock := &cribtest.Clock{}
	b := newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Calls: 3}})
	ann, spec := toolcrib.Caller{Subject: "ann"}, toolcrib.Entry{}
	if got := fits(t, b, ann, spec, 5); got != 3 {
		t.Errorf("%d calls, want 3", got)
	}
	clock.Advance(time.Hour - time.Second)
	if fits(t, b, ann, spec, 1) != 0 {
		t.Error("forgotten within the hour")
	}
	clock.Advance(3 * time.Minute) // a slot more
	if got := fits(t, b, ann, spec, 5); got != 3 {
		t.Errorf("%d calls after the hour, want 3", got)
	}
	clock.Advance(-10 * time.Hour)
	if fits(t, b, ann, spec, 1) != 0 {
		t.Error("a clock that is set back gives calls")
	}
	clock.Advance(12 * time.Hour)
	if got := fits(t, b, ann, spec, 5); got != 3 {
		t.Errorf("%d calls later, want 3", got)
	}
	err := spends(t, b, ann, spec, nil)
	if err == nil || !strings.Contains(err.Error(), "try again in 1h") {
		t.Errorf("when to try again: %v", err)
	}
}

func TestBudgetRate(t *testing.T) {
	clock := &cribtest.Clock{}
	b := newBudget(t, clock, []BudgetLimit{{Rate: 60, Burst: 5}})
	for i, c := range []struct {
		wait time.Duration
		want int
	}{{0, 5}, {0, 0}, {time.Second, 1}, {500 * time.Millisecond, 0}, {500 * time.Millisecond, 1}, {time.Hour, 5}, {-time.Hour, 0}, {time.Hour, 0}, {2 * time.Second, 2}} {
		clock.Advance(c.wait)
		if got := fits(t, b, toolcrib.Caller{}, toolcrib.Entry{}, 9); got != c.want {
			t.Errorf("step %d, after %v: %d calls, want %d", i, c.wait, got, c.want)
		}
	}
	if err := spends(t, b, toolcrib.Caller{}, toolcrib.Entry{}, nil); err == nil || !strings.Contains(err.Error(), "60 calls a minute; try again in ") {
		t.Error(err)
	}
}

func TestBudgetMoneyTimeBytes(t *testing.T) {
	clock := &cribtest.Clock{}
	dear := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web"}, Native: "paint", Box: "web"}
	b := newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Money: 1}}, BudgetPrice{picks(t, "group:web"), 0.05}, BudgetPrice{picks(t, "web/paint"), 0.1})
	if got := fits(t, b, toolcrib.Caller{}, dear, 30); got != 10 {
		t.Errorf("%d calls at 0.1 of 1", got)
	}
	if got := fits(t, b, toolcrib.Caller{}, toolcrib.Entry{}, 30); got != 30 {
		t.Errorf("%d calls that cost nothing", got)
	}
	b = newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Money: 1}}, BudgetPrice{picks(t, "*"), 2})
	if err := spends(t, b, toolcrib.Caller{}, dear, nil); err == nil || !strings.Contains(err.Error(), "one call alone is more than that") {
		t.Error(err)
	}

	b = newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Seconds: 10, Bytes: 100}})
	slow := func(took time.Duration, size int) func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			clock.Advance(took)
			return toolcrib.Text(strings.Repeat("x", size)), nil
		}
	}
	for i, c := range []struct {
		run  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)
		fits bool
	}{{slow(4*time.Second, 1), true}, {slow(7*time.Second, 1), true}, {slow(0, 0), false}} {
		if err := spends(t, b, toolcrib.Caller{}, dear, c.run); (err == nil) != c.fits {
			t.Errorf("call %d: %v", i, err)
		}
	}
	clock.Advance(2 * time.Hour)
	for i, c := range []struct {
		run  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)
		fits bool
	}{{slow(0, 99), true}, {slow(0, 1000), true}, {slow(0, 0), false}} {
		if err := spends(t, b, toolcrib.Caller{}, dear, c.run); (err == nil) != c.fits {
			t.Errorf("call %d: %v", i, err)
		}
	}
	clock.Advance(2 * time.Hour)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = spends(t, b, toolcrib.Caller{}, dear, func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			clock.Advance(time.Minute)
			panic("boom")
		})
	}()
	if spends(t, b, toolcrib.Caller{}, dear, nil) == nil {
		t.Error("the time of a tool that panicked does not count")
	}
}

func TestBudgetWhoAndWhat(t *testing.T) {
	clock := &cribtest.Clock{}
	ann, bob := toolcrib.Caller{Subject: "ann", Agent: "coder", Session: "1"}, toolcrib.Caller{Subject: "bob", Agent: "coder", Session: "2"}
	fetch := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web"}, Native: "web_fetch", Box: "web"}
	find := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web"}, Native: "web_find", Box: "web"}
	read := toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs"}, Native: "read_file", Box: "files"}
	type use struct {
		who  toolcrib.Caller
		spec toolcrib.Entry
		want int // of 5
	}
	for name, c := range map[string]struct {
		limit BudgetLimit
		uses  []use
	}{
		"together":         {BudgetLimit{}, []use{{ann, fetch, 3}, {bob, read, 0}}},
		"each subject":     {BudgetLimit{Each: []string{"subject"}}, []use{{ann, fetch, 3}, {ann, read, 0}, {bob, read, 3}}},
		"each tool":        {BudgetLimit{Each: []string{"tool"}}, []use{{ann, fetch, 3}, {bob, fetch, 0}, {bob, find, 3}}},
		"each session":     {BudgetLimit{Each: []string{"session"}}, []use{{ann, fetch, 3}, {bob, fetch, 3}}},
		"each agent":       {BudgetLimit{Each: []string{"agent"}}, []use{{ann, fetch, 3}, {bob, fetch, 0}}},
		"one subject":      {BudgetLimit{Subject: "a*"}, []use{{ann, fetch, 3}, {bob, fetch, 5}}},
		"one agent":        {BudgetLimit{Agent: "writer"}, []use{{ann, fetch, 5}}},
		"one organisation": {BudgetLimit{Organisation: "acme"}, []use{{ann, fetch, 5}, {toolcrib.Caller{Organisation: "acme"}, fetch, 3}}},
		"by pattern":       {BudgetLimit{Tools: []policy.Selector{picks(t, "web_*")}}, []use{{ann, fetch, 3}, {ann, find, 0}, {ann, read, 5}}},
		"by group":         {BudgetLimit{Tools: []policy.Selector{picks(t, "group:web")}, Each: []string{"subject", "tool"}}, []use{{ann, fetch, 3}, {ann, find, 3}, {bob, find, 3}, {ann, read, 5}}},
	} {
		c.limit.Per, c.limit.Calls = time.Hour, 3
		b := newBudget(t, clock, []BudgetLimit{c.limit})
		for i, u := range c.uses {
			if got := fits(t, b, u.who, u.spec, 5); got != u.want {
				t.Errorf("%s, %d: %d of 5 calls, want %d", name, i, got, u.want)
			}
		}
	}
	// Of two limits the stricter counts, and a refused call is taken from none.
	b := newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Calls: 4}, {Per: time.Minute, Calls: 2, Subject: "ann"}})
	if a, bb := fits(t, b, ann, fetch, 9), fits(t, b, bob, fetch, 9); a != 2 || bb != 2 {
		t.Errorf("%d and %d calls", a, bb)
	}
}

// TestBudgetCrowd: very many callers share what memory there is, and nobody
// gets a second budget by making others come and go.
func TestBudgetCrowd(t *testing.T) {
	clock := &cribtest.Clock{}
	b := newBudget(t, clock, []BudgetLimit{{Per: time.Hour, Calls: 2, Each: []string{"subject"}}})
	for i := range maxBudgetCounters {
		if fits(t, b, toolcrib.Caller{Subject: fmt.Sprint("crowd", i)}, toolcrib.Entry{}, 1) != 1 {
			t.Fatal("no room too early")
		}
	}
	late, later := toolcrib.Caller{Subject: strings.Repeat("late", 1000)}, toolcrib.Caller{Subject: "later"}
	if got := fits(t, b, late, toolcrib.Entry{}, 5) + fits(t, b, later, toolcrib.Entry{}, 5); got != 2 {
		t.Errorf("those without a counter made %d calls together, want 2", got)
	}
	clock.Advance(40 * time.Minute)
	fits(t, b, late, toolcrib.Entry{}, 1)
	clock.Advance(25 * time.Minute) // the crowd is forgotten; so is the shared counter
	if len(b.counters) > maxBudgetCounters {
		t.Errorf("%d counters", len(b.counters))
	}
	if got := fits(t, b, late, toolcrib.Entry{}, 5); got != 2 {
		t.Errorf("%d calls in the next hour, want 2", got)
	}
	if len(b.counters) > 10 {
		t.Errorf("%d counters are kept for nobody", len(b.counters))
	}
}

// TestBudgetProperty: whatever the steps, no stretch of Per holds more calls
// or money than allowed, whoever makes them and whatever the clock does.
func TestBudgetProperty(t *testing.T) {
	every := picks(t, "*")
	rapid.Check(t, func(t *rapid.T) {
		clock := &cribtest.Clock{}
		per := time.Duration(rapid.IntRange(1, 5000).Draw(t, "per")) * time.Second
		calls := rapid.Int64Range(1, 20).Draw(t, "calls")
		money := float64(rapid.IntRange(1, 50).Draw(t, "money")) / 10
		price := float64(rapid.IntRange(0, 10).Draw(t, "price")) / 10
		b, err := NewBudget([]BudgetLimit{{Per: per, Calls: calls, Money: money}}, []BudgetPrice{{every, price}}, clock.Now)
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Duration // of the calls that ran, by a clock that never goes back
		begin, latest := clock.Now(), time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			clock.Advance(time.Duration(rapid.Int64Range(-int64(per)/4, int64(per)/4).Draw(t, "advance")))
			latest = max(latest, clock.Now().Sub(begin))
			if _, err := b.reserve(&toolcrib.Caller{}, &toolcrib.Entry{}, budgetUse{}); err == nil {
				at = append(at, latest)
			}
		}
		for i, from := range at {
			n := 0
			for _, a := range at[i:] {
				if a-from < per {
					n++
				}
			}
			if int64(n) > calls || float64(n)*price > money+1e-9 {
				t.Fatalf("%d calls at %v within %v, allowed %d and %v", n, price, per, calls, money)
			}
		}
	})
}

func TestBudgetRecall(t *testing.T) {
	clock := &cribtest.Clock{}
	b := newBudget(t, clock, []BudgetLimit{{Per: 24 * time.Hour, Calls: 5, Each: []string{"subject"}}})
	ann, spec := toolcrib.Caller{Subject: "ann"}, toolcrib.Entry{Native: "tool", Box: "box"}
	for i, r := range []toolcrib.Record{
		{Outcome: toolcrib.Done, Start: clock.Now().Add(-23 * time.Hour)},
		{Outcome: toolcrib.Broke, Start: clock.Now().Add(-time.Hour)},
		{Outcome: toolcrib.Outcome(toolcrib.CodeUnavailable), Attempts: 2, Start: clock.Now().Add(-time.Minute)},
		{Outcome: toolcrib.Outcome(toolcrib.CodeDenied), Start: clock.Now(), Verdicts: []toolcrib.Verdict{{Decision: toolcrib.Deny}}},
		{Outcome: toolcrib.Outcome(toolcrib.CodeUnavailable), Start: clock.Now(), Verdicts: []toolcrib.Verdict{{Decision: toolcrib.Ask}}},
		{Outcome: toolcrib.Outcome(toolcrib.CodeInvalid), Start: clock.Now(), Verdicts: []toolcrib.Verdict{{Decision: toolcrib.Allow, Note: true}}},
		{Start: clock.Now()},
		{Outcome: toolcrib.Done, Start: clock.Now().Add(-25 * time.Hour)},
	} {
		r.Caller, r.ID = ann, fmt.Sprint(i)
		if r.Verdicts == nil {
			r.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Allow}}
		}
		b.Recall(&r, &spec)
	}
	if got := fits(t, b, ann, spec, 5); got != 1 || b.Longest() != 24*time.Hour {
		t.Errorf("%d calls are left of 5 after four attempts, within %v", got, b.Longest())
	}
	// A tool that ran may refuse by itself, with whatever code.
	own := toolcrib.Record{Outcome: toolcrib.Outcome(toolcrib.CodeDenied), Start: clock.Now(), Caller: toolcrib.Caller{Subject: "bob"}, Verdicts: []toolcrib.Verdict{{Decision: toolcrib.Ask}}, ApprovedBy: "ann"}
	b.Recall(&own, &spec)
	if got := fits(t, b, own.Caller, spec, 5); got != 4 {
		t.Errorf("%d calls are left of 5 after one that the tool refused", got)
	}
	clock.Advance(2 * time.Hour) // the first is forgotten
	if got := fits(t, b, ann, spec, 5); got != 1 {
		t.Errorf("%d calls later, want 1", got)
	}
}

func TestBudgetMistakes(t *testing.T) {
	for name, l := range map[string]BudgetLimit{
		"nothing":   {Per: time.Hour},
		"no time":   {Calls: 5},
		"too short": {Calls: 5, Per: time.Millisecond},
		"negative":  {Calls: -1, Per: time.Hour},
		"each":      {Calls: 5, Per: time.Hour, Each: []string{"person"}},
		"burst":     {Calls: 5, Per: time.Hour, Burst: 4},
		"much":      {Money: 1e300, Per: time.Hour},
	} {
		if _, err := NewBudget([]BudgetLimit{l}, nil, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := NewBudget(nil, []BudgetPrice{{picks(t, "*"), -1}}, nil); err == nil {
		t.Error("a price below zero was taken")
	}
}

func BenchmarkBudget(b *testing.B) {
	var limits []BudgetLimit
	for range 10 {
		limits = append(limits, BudgetLimit{Per: time.Hour, Calls: 1 << 40, Each: []string{"subject"}})
	}
	budget, err := NewBudget(limits, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	r := toolcrib.Review{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann"}}}
	for b.Loop() {
		if v, err := budget.Judge(b.Context(), r); v != nil || err != nil {
			b.Fatal(v, err)
		}
	}
}
