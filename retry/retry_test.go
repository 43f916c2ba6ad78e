package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/retry"
)

func unavailable() error { return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "not now"} }

// around wraps a tool as a crib does.
func around(p retry.Policy, t toolcrib.Tool) toolcrib.Tool {
	return retry.Around(p)(toolcrib.Entry{Spec: t.Spec}, t)
}

// flaky is a tool that gives these errors in turn, and then a result.
func flaky(spec toolcrib.Spec, runs *int, errs ...error) toolcrib.Tool {
	return toolcrib.Tool{Spec: spec, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		*runs++
		if *runs <= len(errs) {
			return nil, errs[*runs-1]
		}
		return toolcrib.Text("done"), nil
	}}
}

func TestRetryOnlyWhatIsSafe(t *testing.T) {
	reads := toolcrib.Spec{Name: "look", Effects: toolcrib.Reads}
	writes := toolcrib.Spec{Name: "change", Effects: toolcrib.Writes}
	for name, c := range map[string]struct {
		spec toolcrib.Spec
		err  error
		want int // runs of a tool that fails once
	}{
		"reads, unavailable":            {reads, unavailable(), 2},
		"talks to others":               {toolcrib.Spec{Effects: toolcrib.Reads | toolcrib.Network}, unavailable(), 1}, // it may have sent something
		"talks to others, idempotent":   {toolcrib.Spec{Effects: toolcrib.Reads | toolcrib.Network, Idempotent: true}, unavailable(), 2},
		"pure, unavailable":             {toolcrib.Spec{Effects: toolcrib.Pure}, unavailable(), 2},
		"idempotent writes":             {toolcrib.Spec{Effects: toolcrib.Writes, Idempotent: true}, unavailable(), 2},
		"wrapped":                       {reads, fmt.Errorf("while asking: %w", unavailable()), 2},
		"writes, unavailable":           {writes, unavailable(), 1},
		"destroys":                      {toolcrib.Spec{Effects: toolcrib.Reads | toolcrib.Destroys}, unavailable(), 1},
		"runs":                          {toolcrib.Spec{Effects: toolcrib.Reads | toolcrib.Runs}, unavailable(), 1},
		"asks a person":                 {toolcrib.Spec{Effects: toolcrib.Reads | toolcrib.AsksPerson}, unavailable(), 1},
		"undeclared":                    {toolcrib.Spec{}, unavailable(), 1},
		"writes, unstarted":             {writes, retry.Safe(errors.New("no connection")), 2},
		"undeclared, unstarted":         {toolcrib.Spec{}, retry.Safe(unavailable()), 2},
		"unstarted inside":              {writes, fmt.Errorf("dialling: %w", retry.Safe(errors.New("refused"))), 2},
		"plain error":                   {reads, errors.New("no such page"), 1},
		"invalid":                       {reads, &toolcrib.Error{Code: toolcrib.CodeInvalid}, 1},
		"denied":                        {reads, &toolcrib.Error{Code: toolcrib.CodeDenied}, 1},
		"timeout":                       {reads, &toolcrib.Error{Code: toolcrib.CodeTimeout}, 1},
		"conflict":                      {reads, &toolcrib.Error{Code: toolcrib.CodeConflict}, 1},
		"internal":                      {reads, &toolcrib.Error{Code: toolcrib.CodeInternal}, 1},
		"not found":                     {reads, &toolcrib.Error{Code: toolcrib.CodeNotFound}, 1},
		"invalid, said to be unstarted": {writes, retry.Safe(&toolcrib.Error{Code: toolcrib.CodeInvalid}), 1},
		"denied, said to be unstarted":  {writes, retry.Safe(&toolcrib.Error{Code: toolcrib.CodeDenied}), 1},
		"nobody to ask":                 {reads, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: toolcrib.ErrNobody}, 1},
		"of a call of its own":          {reads, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: "other"}, 1},
		"deadline":                      {reads, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: context.DeadlineExceeded}, 1},
		"cancelled, unstarted":          {writes, retry.Safe(context.Canceled), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				tool := around(retry.Policy{Max: 3}, flaky(c.spec, &runs, c.err))
				_, err := tool.Run(t.Context(), nil, nil)
				if runs != c.want {
					t.Errorf("%d runs, want %d", runs, c.want)
				}
				if (err == nil) != (c.want == 2) || err != nil && !errors.Is(err, c.err) {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
	if retry.Safe(nil) != nil {
		t.Error("no error was made one")
	}
}

func TestRetryFailedResultIsFinal(t *testing.T) {
	runs := 0
	tool := around(retry.Policy{Max: 3}, toolcrib.Tool{Spec: toolcrib.Spec{Effects: toolcrib.Reads}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		runs++
		return toolcrib.Failed("no"), nil
	}})
	if r, err := tool.Run(t.Context(), nil, nil); err != nil || !r.Failed || runs != 1 {
		t.Errorf("%v, %v after %d runs", r, err, runs)
	}
}

func TestRetryBackoff(t *testing.T) {
	fail := func(n int) []error { return slices.Repeat([]error{unavailable()}, n) }
	for name, c := range map[string]struct {
		policy retry.Policy
		limit  time.Duration // of the call; 0: none
		runs   int
		took   time.Duration
	}{
		"none":           {retry.Policy{}, 0, 1, 0},
		"twice":          {retry.Policy{Max: 2, Delay: time.Second}, 0, 3, 3 * time.Second},
		"default delay":  {retry.Policy{Max: 1}, 0, 2, 200 * time.Millisecond},
		"half by jitter": {retry.Policy{Max: 2, Delay: time.Second, Jitter: func() float64 { return 0 }}, 0, 3, 1500 * time.Millisecond},
		"bad jitter":     {retry.Policy{Max: 1, Delay: time.Second, Jitter: func() float64 { return 1e9 }}, 0, 2, time.Second},
		"capped wait":    {retry.Policy{Max: 2, Delay: time.Hour}, 0, 3, time.Minute},
		"capped count":   {retry.Policy{Max: 1 << 30, Delay: 2}, 0, 11, 2046},
		"no time left":   {retry.Policy{Max: 9, Delay: time.Second}, 2 * time.Second, 2, time.Second},
		"no time at all": {retry.Policy{Max: 9, Delay: time.Second}, time.Second, 1, 0},
		"by tool":        {retry.Policy{Max: 9, For: func(s toolcrib.Entry) (int, time.Duration, bool) { return 1, time.Minute, s.Name == "x" }}, 0, 2, 30 * time.Second},
		"not by tool":    {retry.Policy{Max: 1, Delay: time.Second, For: func(toolcrib.Entry) (int, time.Duration, bool) { return 0, 0, false }}, 0, 2, time.Second},
		"off by tool":    {retry.Policy{Max: 9, For: func(toolcrib.Entry) (int, time.Duration, bool) { return 0, 0, true }}, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				if c.policy.Jitter == nil {
					c.policy.Jitter = func() float64 { return 1 }
				}
				runs, start := 0, time.Now()
				_, err := around(c.policy, flaky(toolcrib.Spec{Name: "x", Effects: toolcrib.Reads}, &runs, fail(100)...)).Run(ctx, nil, nil)
				if took := time.Since(start); runs != c.runs || took != c.took || toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
					t.Errorf("%d runs in %v, want %d in %v; %v", runs, took, c.runs, c.took, err)
				}
			})
		})
	}
}

func TestRetryStopsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		runs, start := 0, time.Now()
		_, err := around(retry.Policy{Max: 5, Delay: 20 * time.Second}, flaky(toolcrib.Spec{Effects: toolcrib.Reads}, &runs, unavailable())).Run(ctx, nil, nil)
		if runs != 1 || time.Since(start) != time.Second || !errors.Is(err, context.Canceled) {
			t.Errorf("%d runs in %v: %v", runs, time.Since(start), err)
		}
	})
}

// retrying is a crib whose one tool fails n times.
func retrying(t *testing.T, spec toolcrib.Spec, n int, run func(attempt int)) (*toolcrib.Crib, *pages, *atomic.Int32) {
	t.Helper()
	var runs atomic.Int32
	journal := &pages{}
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Effects(0).All())}, Log: slog.New(slog.DiscardHandler),
		Around: []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{retry.Around(retry.Policy{Max: 4, Delay: time.Millisecond})},
	}
	tool := toolcrib.Tool{Spec: spec, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		attempt := int(runs.Add(1))
		if run != nil {
			run(attempt)
		}
		if attempt <= n {
			return nil, unavailable()
		}
		return toolcrib.Text("done"), nil
	}}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	return c, journal, &runs
}

func TestRetryInTheRecord(t *testing.T) {
	for _, c := range []struct{ fails, attempts int }{{0, 0}, {1, 2}, {3, 4}, {9, 5}} {
		var events atomic.Int32
		crib, journal, runs := retrying(t, toolcrib.Spec{Name: "look", Effects: toolcrib.Reads}, c.fails, nil)
		crib.Emit = func(ev toolcrib.Event) {
			if ev.Kind == "retry" && ev.Tool == "look" && strings.HasPrefix(ev.Text, "attempt ") {
				events.Add(1)
			}
		}
		_, err := crib.Call(t.Context(), toolcrib.Call{Tool: "look"})
		rec := journal.only(t)
		if rec.Attempts != c.attempts || int(events.Load()) != max(0, c.attempts-1) || int(runs.Load()) != max(1, c.attempts) {
			t.Errorf("%d failures: the record says %d attempts, there were %d runs and %d events", c.fails, rec.Attempts, runs.Load(), events.Load())
		}
		if (err == nil) != (c.fails < 5) || err != nil && toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
			t.Errorf("%d failures: %v", c.fails, err)
		}
	}
}

// TestRetryKeepsTheBounds: a panic in a later attempt is a panic, a tool that
// hangs in one is left at the deadline of the call.
func TestRetryKeepsTheBounds(t *testing.T) {
	crib, journal, runs := retrying(t, toolcrib.Spec{Name: "look", Effects: toolcrib.Reads}, 9, func(attempt int) {
		if attempt == 2 {
			panic("boom")
		}
	})
	if _, err := crib.Call(t.Context(), toolcrib.Call{Tool: "look"}); toolcrib.CodeOf(err) != toolcrib.CodeInternal || runs.Load() != 2 || journal.only(t).Attempts != 2 {
		t.Errorf("panic: %v after %d runs, recorded %d", err, runs.Load(), journal.only(t).Attempts)
	}
	release := make(chan struct{})
	crib, journal, runs = retrying(t, toolcrib.Spec{Name: "look", Effects: toolcrib.Reads, Timeout: 500 * time.Millisecond}, 9, func(attempt int) {
		if attempt == 2 {
			<-release
		}
	})
	defer close(release)
	crib.Limits.Grace = time.Millisecond
	if _, err := crib.Call(t.Context(), toolcrib.Call{Tool: "look"}); toolcrib.CodeOf(err) != toolcrib.CodeTimeout || runs.Load() != 2 || journal.only(t).Outcome != toolcrib.Outcome(toolcrib.CodeTimeout) {
		t.Errorf("hanging: %v after %d runs", err, runs.Load())
	}
}

// TestRetryDoesNotMultiply: a tool that calls a tool that calls a tool that is
// not there now; only the innermost is tried again.
func TestRetryDoesNotMultiply(t *testing.T) {
	var runs [4]atomic.Int32
	var tools []toolcrib.Tool
	for i := range runs {
		tools = append(tools, toolcrib.Tool{Spec: toolcrib.Spec{Name: fmt.Sprint("level", i), Effects: toolcrib.Reads}, Run: func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			runs[i].Add(1)
			if i == len(runs)-1 {
				return nil, unavailable()
			}
			return env.Use(ctx, fmt.Sprint("level", i+1), nil)
		}})
	}
	journal := &pages{}
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Effects(0).All())}, Log: slog.New(slog.DiscardHandler),
		Around: []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{retry.Around(retry.Policy{Max: 3, Delay: time.Millisecond})},
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tools...)}}); faults != nil {
		t.Fatal(faults)
	}
	if _, err := c.Call(t.Context(), toolcrib.Call{Tool: "level0"}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Error(err)
	}
	for i, want := range []int32{1, 1, 1, 4} {
		if got := runs[i].Load(); got != want {
			t.Errorf("level %d ran %d times, want %d", i, got, want)
		}
	}
	for _, rec := range journal.records {
		if (rec.Attempts == 4) != (rec.Tool == "level3") {
			t.Errorf("%s: %d attempts", rec.Tool, rec.Attempts)
		}
	}
}

// pages is a journal that keeps what was recorded.
type pages struct {
	mu      sync.Mutex
	records []toolcrib.Record
}

func (p *pages) Begin(context.Context, *toolcrib.Record) (*toolcrib.Record, error) { return nil, nil }

func (p *pages) End(_ context.Context, r *toolcrib.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records = append(p.records, *r)
	return nil
}

func (p *pages) only(t *testing.T) toolcrib.Record {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.records) != 1 {
		t.Fatalf("%d records", len(p.records))
	}
	return p.records[0]
}
