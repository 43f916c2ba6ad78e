package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/worker"
)

// pages is a journal that can be told to fail.
type pages struct {
	mu               sync.Mutex
	records          map[string]*Record // by subject and id
	beginErr, endErr error
}

func (p *pages) Begin(_ context.Context, r *Record) (*Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beginErr != nil {
		return nil, p.beginErr
	}
	if p.records == nil {
		p.records = map[string]*Record{}
	}
	key := r.Caller.Subject + "\x00" + r.ID
	if old := p.records[key]; old != nil {
		return old, nil
	}
	kept := *r
	p.records[key] = &kept
	return nil, nil
}

func (p *pages) End(_ context.Context, r *Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := *r
	p.records[r.Caller.Subject+"\x00"+r.ID] = &kept
	return p.endErr
}

func (p *pages) only(t *testing.T) *Record {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.records) != 1 {
		t.Fatalf("%d records, want 1", len(p.records))
	}
	for _, r := range p.records {
		return r
	}
	return nil
}

type nIn struct {
	N int `json:"n" doc:"A number."`
}

func counting(name string, runs *atomic.Int64) Tool {
	return Define(Spec{Name: name, Effects: Pure}, func(_ context.Context, _ *Env, in nIn) (nIn, error) {
		runs.Add(1)
		return in, nil
	})
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestRefusedCallsAreRecorded(t *testing.T) {
	boom := plain("boom")
	boom.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { panic("boom") }
	exit := plain("exit")
	exit.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { runtime.Goexit(); return nil, nil }
	none := plain("none")
	none.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { return nil, nil }
	broken := plain("broken")
	broken.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { return nil, errors.New("no luck") }
	down := plain("down")
	down.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) {
		return nil, &Error{Code: CodeUnavailable, Message: "the server is down"}
	}
	liar := plain("liar")
	liar.Output = json.RawMessage(`{"type":"object","required":["a","b"]}`)
	liar.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) {
		return &Result{Value: json.RawMessage(`{"c":1}`)}, nil
	}
	garbage := plain("garbage")
	garbage.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) {
		return &Result{Value: json.RawMessage(`{"a":NaN}`)}, nil
	}
	mute := plain("mute")
	mute.Output = json.RawMessage(`{"type":"object"}`)
	mute.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { return Text("hi"), nil }
	huge := plain("huge")
	huge.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) {
		return Text(strings.Repeat("x", 9<<20)), nil
	}

	for _, tt := range []struct {
		tool, input string
		code        Code // empty: a result
		outcome     Outcome
		says        string
	}{
		{"nothing", `{}`, CodeNotFound, "not_found", "no such tool"},
		{"brokn", `{}`, CodeNotFound, "not_found", "did you mean broken?"},
		{"broken", `[]`, CodeInvalid, "invalid", "object"},
		{"broken", `{"a":1`, CodeInvalid, "invalid", ""},
		{"broken", `{}`, "", Broke, "no luck"},
		{"boom", `{}`, CodeInternal, "internal", "broke down"},
		{"exit", `{}`, CodeInternal, "internal", "broke down"},
		{"none", `{}`, CodeInternal, "internal", "no result"},
		{"down", `{}`, CodeUnavailable, "unavailable", "the server is down"},
		{"liar", `{}`, CodeInternal, "internal", "does not match its output schema (required)"},
		{"garbage", `{}`, CodeInternal, "internal", "not JSON"},
		{"mute", `{}`, CodeInternal, "internal", "promises"},
		{"huge", `{}`, CodeInternal, "internal", "over the limit"},
	} {
		t.Run(tt.tool+tt.input, func(t *testing.T) {
			c := testCrib(t, boom, exit, none, broken, down, liar, garbage, mute, huge)
			journal := &pages{}
			c.Journal, c.Log = journal, quiet()
			r, err := c.Call(t.Context(), Call{Tool: tt.tool, Input: json.RawMessage(tt.input)})
			if CodeOf(err) != tt.code {
				t.Fatalf("code %q, want %q: %v", CodeOf(err), tt.code, err)
			}
			text := fmt.Sprint(err)
			if err == nil {
				text = r.String()
			}
			if !strings.Contains(text, tt.says) {
				t.Errorf("%q does not say %q", text, tt.says)
			}
			if rec := journal.only(t); rec.Outcome != tt.outcome || rec.Tool != tt.tool || rec.ID == "" || rec.InputHash == "" {
				t.Errorf("record %+v", rec)
			}
		})
	}
}

// Hostile texts are answered, recorded, and never reach the tool.
func TestHostileInput(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	for name, text := range map[string]string{
		"not JSON":        `hello`,
		"two values":      `{"n":1} {"n":2}`,
		"10 MB string":    `{"n":"` + strings.Repeat("a", 10<<20) + `"}`,
		"10 MB of keys":   `{` + strings.Repeat(`"k":1,`, 2<<20) + `"n":1}`,
		"10,000 deep":     strings.Repeat(`{"n":`, 10000) + `1` + strings.Repeat(`}`, 10000),
		"NaN":             `{"n":NaN}`,
		"infinity":        `{"n":1e999999999}`,
		"lone surrogate":  `{"n":1,"x":"\ud800"}`,
		"duplicate keys":  `{"n":1,"n":2}`,
		"escaped twin":    `{"n":1,"\u006e":2}`,
		"invalid UTF-8":   "{\"n\":1,\"\xff\":2}",
		"null":            `null`,
		"wrong type":      `{"n":"1"}`,
		"unknown":         `{"n":1,"m":2}`,
		"control":         "{\"n\":1,\"a\x01\":2}",
		"nothing but [[[": strings.Repeat("[", 1<<20),
	} {
		journal := &pages{}
		c.Journal = journal
		if _, err := c.Call(t.Context(), Call{Tool: "count", Input: json.RawMessage(text)}); CodeOf(err) != CodeInvalid {
			t.Errorf("%s: %v, want invalid", name, err)
		} else if len(err.Error()) > 2000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if rec := journal.only(t); rec.Outcome != "invalid" || len(rec.Input) > 70<<10 || !json.Valid(rec.Input) {
			t.Errorf("%s: record has outcome %q and %d bytes of input", name, rec.Outcome, len(rec.Input))
		}
	}
	if n := runs.Load(); n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
}

// TestDeadlines runs in time of its own, so that a busy machine changes nothing.
func TestDeadlines(t *testing.T) { synctest.Test(t, deadlines) }

func deadlines(t *testing.T) {
	polite := plain("polite")
	polite.Timeout = 20 * time.Millisecond
	polite.Run = func(ctx context.Context, _ *Env, _ json.RawMessage) (*Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	partial := polite
	partial.Name = "partial"
	partial.Run = func(ctx context.Context, _ *Env, _ json.RawMessage) (*Result, error) {
		<-ctx.Done()
		return Text("half of it"), nil
	}
	release := make(chan struct{})
	defer close(release)
	deaf := polite
	deaf.Name = "deaf"
	deaf.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { <-release; return Text("late"), nil }
	c := testCrib(t, polite, partial, deaf)
	c.Limits.Grace, c.Log = 20*time.Millisecond, quiet()

	for name, want := range map[string]time.Duration{"polite": 20 * time.Millisecond, "deaf": 40 * time.Millisecond} {
		start := time.Now()
		_, err := c.Call(t.Context(), Call{Tool: name})
		if CodeOf(err) != CodeTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(start); d != want {
			t.Errorf("%s: took %v, want %v", name, d, want)
		}
	}
	if r, err := c.Call(t.Context(), Call{Tool: "partial"}); err != nil || r.String() != "half of it" {
		t.Errorf("what was done in time is lost: %v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := c.Call(ctx, Call{Tool: "polite"}); CodeOf(err) != CodeCancelled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := c.Call(ctx, Call{Tool: "polite"}); CodeOf(err) != CodeCancelled {
		t.Errorf("cancelled before: %v", err)
	}
	time.Sleep(3 * worker.IdleTime) // the goroutines that wait for another call end
}

func TestManyAtOnce(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	c.Journal = &pages{}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 20 {
				r, err := c.Call(t.Context(), Call{Tool: "count", Input: fmt.Appendf(nil, `{"n":%d}`, i*100+j)})
				if err != nil || string(r.Value) != fmt.Sprintf(`{"n":%d}`, i*100+j) {
					t.Errorf("%v, %v", r, err)
				}
			}
		})
	}
	wg.Wait()
	if n := runs.Load(); n != 64*20 {
		t.Errorf("%d runs", n)
	}
}

func TestReplay(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs), counting("other", &runs))
	journal := &pages{}
	c.Journal = journal
	ann := Caller{Subject: "ann"}
	call := func(caller Caller, tool, input string) (string, Code) {
		r, err := c.Call(t.Context(), Call{ID: "one", Tool: tool, Input: json.RawMessage(input), Caller: caller})
		if err != nil {
			return err.Error(), CodeOf(err)
		}
		return string(r.Value), ""
	}
	for _, tt := range []struct {
		caller      Caller
		tool, input string
		want        Code
		runs        int64
	}{
		{ann, "count", `{"n":1}`, "", 1},
		{ann, "count", ` { "n" : 1 } `, "", 1}, // the same input, written otherwise
		{ann, "count", `{"n":2}`, CodeConflict, 1},
		{ann, "other", `{"n":1}`, CodeConflict, 1},
		{Caller{Subject: "ann", Session: "later"}, "count", `{"n":1}`, "", 1},
		{Caller{Subject: "ann", Dialect: "d"}, "count", `{"n":1}`, CodeConflict, 1},
		{Caller{Subject: "bob"}, "count", `{"n":1}`, "", 2}, // another subject's "one"
	} {
		text, code := call(tt.caller, tt.tool, tt.input)
		if code != tt.want || runs.Load() != tt.runs {
			t.Errorf("%v %s %s: %s (%q), %d runs, want %q and %d", tt.caller, tt.tool, tt.input, text, code, runs.Load(), tt.want, tt.runs)
		}
	}
	rec := journal.records["ann\x00one"]
	for outcome, says := range map[Outcome]string{"": "still running", Interrupted: "interrupted", "denied": "because"} {
		rec.Outcome, rec.Message = outcome, "because"
		if text, _ := call(ann, "count", `{"n":1}`); !strings.Contains(text, says) {
			t.Errorf("%q: %s", outcome, text)
		}
	}
	rec.Outcome, rec.Cut = Done, true
	if text, code := call(ann, "count", `{"n":1}`); code != CodeConflict || !strings.Contains(text, "too large") {
		t.Errorf("cut result: %s", text)
	}
}

func TestJournalDecides(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	c.Log = quiet()
	call := func() error {
		_, err := c.Call(t.Context(), Call{Tool: "count", Input: json.RawMessage(`{"n":1}`)})
		return err
	}
	c.Journal = nil
	if err := call(); CodeOf(err) != CodeUnavailable {
		t.Errorf("no journal: %v", err)
	}
	c.Journal = &pages{beginErr: errors.New("disk full")}
	if err := call(); CodeOf(err) != CodeUnavailable || strings.Contains(err.Error(), "disk full") {
		t.Errorf("begin fails: %v (the cause is for the log)", err)
	}
	if runs.Load() != 0 {
		t.Error("ran without a record")
	}
	c.Journal = &pages{endErr: errors.New("disk full")}
	if err := call(); err != nil || runs.Load() != 1 {
		t.Errorf("end fails after the effect: %v", err)
	}
}

func TestSecretsStayOutOfTheJournal(t *testing.T) {
	echo := plain("echo")
	echo.Run = func(_ context.Context, _ *Env, in json.RawMessage) (*Result, error) { return &Result{Value: in}, nil }
	c := testCrib(t, echo)
	journal := &pages{}
	c.Journal = journal
	r, err := c.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"user":"ann","api_key":"S3CRET","x":"ghp_S3CRETS3CRETS3CRET"}`)})
	if err != nil || !strings.Contains(string(r.Value), "S3CRET") {
		t.Fatalf("the tool itself must get and give the value: %v, %v", r, err)
	}
	text, err := json.Marshal(journal.only(t))
	if err != nil || strings.Contains(string(text), "S3CRET") || !strings.Contains(string(text), "ann") {
		t.Errorf("record %s, %v", text, err)
	}
}

type guardFunc func(Review) (*Verdict, error)

func (g guardFunc) Judge(_ context.Context, r Review) (*Verdict, error) { return g(r) }

func say(d Decision, guard string, g *Grant) Guard {
	return guardFunc(func(Review) (*Verdict, error) {
		return &Verdict{Decision: d, Guard: guard, Reason: "said so", Grant: g}, nil
	})
}

func understands(e Effects) Guard {
	return guardFunc(func(Review) (*Verdict, error) {
		return &Verdict{Decision: Allow, Guard: "effects", Reason: e.String(), Effects: e}, nil
	})
}

func TestGuardOrderDoesNotMatter(t *testing.T) {
	silent := guardFunc(func(Review) (*Verdict, error) { return nil, nil })
	failing := guardFunc(func(Review) (*Verdict, error) { return nil, errors.New("broken") })
	pool := []Guard{
		say(Allow, "a", &Grant{Programs: []string{"*"}, Time: 5}), say(Allow, "b", &Grant{Programs: []string{"/bin/ls"}}),
		say(Ask, "c", nil), say(Ask, "d", &Grant{Time: 3, Programs: []string{"*"}}), say(Deny, "e", nil), silent, failing,
		understands(Reads | Runs), understands(Runs | Writes), understands(Network),
	}
	c := testCrib(t, plain("x"))
	c.Grant, c.Log = Grant{Programs: []string{"*"}}, quiet()
	judge := func() *flight {
		f := &flight{call: Call{Tool: "x"}, entry: c.Catalog.find("", "x")}
		f.decision, f.rec.Verdicts = c.verdict(t.Context(), f, nil)
		return f
	}
	for range 1000 {
		c.Guards = nil
		strictest := Allow
		for _, i := range rand.Perm(len(pool))[:rand.IntN(len(pool)+1)] {
			c.Guards = append(c.Guards, pool[i])
		}
		opinions := 0
		for _, g := range c.Guards {
			v, err := g.Judge(t.Context(), Review{})
			switch {
			case err != nil:
				strictest, opinions = Deny, opinions+1
			case v != nil:
				strictest, opinions = min(strictest, v.Decision), opinions+1
			}
		}
		if opinions == 0 {
			strictest = Deny
		}
		f := judge()
		if f.decision != strictest {
			t.Fatalf("%d guards: %v, want %v", len(c.Guards), f.decision, strictest)
		}
		rand.Shuffle(len(c.Guards), func(i, j int) { c.Guards[i], c.Guards[j] = c.Guards[j], c.Guards[i] })
		g := judge()
		if f.decision != g.decision || f.effects != g.effects || cmp.Diff(f.grant, g.grant) != "" || cmp.Diff(f.rec.Verdicts, g.rec.Verdicts) != "" {
			t.Fatalf("order matters: %v %v %v %v against %v %v %v %v", f.decision, f.effects, f.grant, f.rec.Verdicts, g.decision, g.effects, g.grant, g.rec.Verdicts)
		}
	}
}

func TestVisibleIsOneRule(t *testing.T) {
	c := testCrib(t, plain("seen"), plain("hidden"))
	c.Visible = func(caller Caller, s *Entry) bool { return caller.Agent == "root" || s.Name == "seen" }
	for _, agent := range []string{"", "root"} {
		caller := Caller{Agent: agent}
		var listed []string
		for s := range c.Tools(caller) {
			listed = append(listed, s.Name)
		}
		for _, name := range []string{"seen", "hidden"} {
			_, err := c.Call(t.Context(), Call{Tool: name, Caller: caller})
			_, shown := c.Tool(caller, name)
			if want := slices.Contains(listed, name); (err == nil) != want || shown != want {
				t.Errorf("agent %q, %s: listed %v, shown %v, call %v", agent, name, want, shown, err)
			}
		}
	}
}
