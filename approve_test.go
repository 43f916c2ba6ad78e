package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type approverFunc func(context.Context, Question) (Answer, error)

func (a approverFunc) Approve(ctx context.Context, q Question) (Answer, error) { return a(ctx, q) }

func TestThreeWaysNotToBeApproved(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	c.Guards = append(c.Guards, say(Ask, "mode", nil))
	for _, tt := range []struct {
		name string
		a    Approver
		code Code
		says string
	}{
		{"nobody", nil, CodeUnavailable, "nobody is there"},
		{"broken", approverFunc(func(context.Context, Question) (Answer, error) { return Answer{}, errors.New("x") }), CodeUnavailable, "nobody could be asked"},
		{"deaf", approverFunc(func(context.Context, Question) (Answer, error) { select {} }), CodeTimeout, "did not answer"},
		{"gone", approverFunc(func(context.Context, Question) (Answer, error) { runtime.Goexit(); return Answer{}, nil }), CodeUnavailable, "nobody could be asked"},
		{"silence", approverFunc(func(ctx context.Context, _ Question) (Answer, error) { <-ctx.Done(); return Answer{}, ctx.Err() }), CodeTimeout, "did not answer"},
		{"no", approverFunc(func(context.Context, Question) (Answer, error) { return Answer{Message: "not today"}, nil }), CodeDenied, "not today"},
		{"shrug", approverFunc(func(context.Context, Question) (Answer, error) { return Answer{Decision: Ask}, nil }), CodeDenied, "said no"},
	} {
		c.Approver, c.Limits.Ask = tt.a, time.Minute
		if tt.code == CodeTimeout {
			c.Limits.Ask = 10 * time.Millisecond
		}
		_, err := c.Call(t.Context(), Call{Tool: "count", Input: json.RawMessage(`{"n":1}`)})
		if CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if runs.Load() != 0 {
		t.Error("ran unapproved")
	}
}

func TestApprovedAndEdited(t *testing.T) {
	var runs atomic.Int64
	c := testCrib(t, counting("count", &runs))
	journal := &pages{}
	c.Journal = journal
	noSeven := guardFunc(func(r Review) (*Verdict, error) {
		if strings.Contains(string(r.Input), "7") {
			return &Verdict{Decision: Deny, Guard: "seven", Reason: "no sevens"}, nil
		}
		return nil, nil
	})
	c.Guards = append(c.Guards, say(Ask, "mode", nil), noSeven)
	var edit string
	c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
		if string(q.Input) != `{"n":1}` || q.Spec.Native != "count" || len(q.Reasons) != 2 {
			t.Errorf("question %+v", q)
		}
		a := Answer{Decision: Allow, By: "ann"}
		if edit != "" {
			a.Input = json.RawMessage(edit)
		}
		return a, nil
	})
	for _, tt := range []struct {
		edit, want string
		code       Code
	}{
		{"", `{"n":1}`, ""}, {` { "n": 1 } `, `{"n":1}`, ""}, {`{"n":2}`, `{"n":2}`, ""}, {`{"n":7}`, "", CodeDenied}, {`{"n":"x"}`, "", CodeInvalid},
	} {
		edit = tt.edit
		journal.records = nil
		r, err := c.Call(t.Context(), Call{Tool: "count", Input: json.RawMessage(`{"n":1}`)})
		if CodeOf(err) != tt.code || (err == nil && string(r.Value) != tt.want) {
			t.Errorf("edit %s: %v, %v", tt.edit, r, err)
		}
		// The model is told that these were not its arguments, if they were not, beside the
		// value and not in place of it, and not what they were: that may be a password.
		changed := tt.want != `{"n":1}`
		if err == nil && changed == (r.String() == tt.want) || err == nil && changed && (len(r.Content) != 2 || r.Content[0].Text != tt.want || !strings.Contains(r.Content[1].Text, "A person changed the arguments") || strings.Contains(r.Content[1].Text, "2")) {
			t.Errorf("edit %s: the model reads %s", tt.edit, r)
		}
		if rec := journal.only(t); rec.ApprovedBy != "ann" || err == nil && (rec.Edited != nil) != changed {
			t.Errorf("edit %s: record %+v", tt.edit, rec)
		}
	}
}

func TestUseIsACallOfItsOwn(t *testing.T) {
	var runs atomic.Int64
	outer := plain("outer")
	outer.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		return env.Use(ctx, "count", map[string]int{"n": 4})
	}
	loop := plain("loop")
	loop.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		return env.Use(ctx, "loop", nil)
	}
	c := testCrib(t, counting("count", &runs), outer, loop)
	journal := &pages{}
	c.Journal = journal
	r, err := c.Call(t.Context(), Call{ID: "top", Tool: "outer", Caller: Caller{Subject: "ann", Dialect: "d"}})
	if err != nil || string(r.Value) != `{"n":4}` || len(journal.records) != 2 {
		t.Fatalf("%v, %v, %d records", r, err, len(journal.records))
	}
	for _, rec := range journal.records {
		if rec.Tool == "count" && (rec.Parent != "top" || rec.Caller.Subject != "ann" || rec.Caller.Dialect != "") {
			t.Errorf("inner record %+v", rec)
		}
	}
	if _, err := c.Call(t.Context(), Call{Tool: "loop"}); CodeOf(err) != CodeDenied || !strings.Contains(err.Error(), "deep") {
		t.Errorf("a circle of tools: %v", err)
	}
}

type fakeSandbox struct{ bounds Bounds }

func (s fakeSandbox) Enforces() Bounds { return s.bounds }
func (s fakeSandbox) Run(_ context.Context, cmd Cmd, _ Grant) (Exit, error) {
	_, err := io.WriteString(cmd.Stdout, "ran "+cmd.Path)
	return Exit{}, err
}

func TestExecNeedsGrantAndSandbox(t *testing.T) {
	run := plain("run")
	run.Effects = Runs
	run.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		if env.Exec == nil {
			return Text("no handle"), nil
		}
		var out strings.Builder
		if _, err := env.Exec(ctx, Cmd{Path: "/bin/sh", Stdout: &out}); err != nil {
			return nil, err
		}
		return Text(out.String()), nil
	}
	c := testCrib(t, run)
	for _, tt := range []struct {
		name    string
		grant   Grant
		sandbox Sandbox
		want    string
	}{
		{"no grant", Grant{}, fakeSandbox{^Bounds(0)}, "no handle"},
		{"no sandbox", Grant{Programs: []string{"*"}}, nil, "unavailable"},
		{"weak sandbox", Grant{Programs: []string{"*"}, Bounds: BoundNetwork | BoundTime}, fakeSandbox{BoundTime}, "unavailable"},
		{"other program", Grant{Programs: []string{"/bin/ls"}}, fakeSandbox{}, "denied"},
		{"granted", Grant{Programs: []string{"/bin/sh"}, Bounds: BoundTime}, fakeSandbox{BoundTime}, "ran /bin/sh"},
	} {
		c.Grant, c.Sandbox = tt.grant, tt.sandbox
		r, err := c.Call(t.Context(), Call{Tool: "run"})
		got := string(CodeOf(err))
		if err == nil {
			got = r.String()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s (%v)", tt.name, got, tt.want, err)
		}
	}
}

func TestAdapterSeesItsOwnSideOnly(t *testing.T) {
	var reviewed []Review
	c := testCrib(t)
	c.Guards = append(c.Guards, guardFunc(func(r Review) (*Verdict, error) { reviewed = append(reviewed, r); return nil, nil }))
	var runs atomic.Int64
	journal := &pages{}
	c.Journal = journal
	_, faults := c.Catalog.Load(t.Context(), Contents{
		Boxes: []Toolbox{NewBox("box", counting("count", &runs))},
		Adapters: []Adapter{{
			Spec: Spec{Name: "tally", Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}, Dialect: "d", Box: "box", Native: "count",
			In: func(in json.RawMessage) (json.RawMessage, error) {
				var v struct{ Text string }
				if err := json.Unmarshal(in, &v); err != nil {
					return nil, err
				}
				if v.Text == "" {
					return nil, errors.New("text is empty")
				}
				return json.RawMessage(`{"n":` + v.Text + `}`), nil
			},
			Out: func(in json.RawMessage, r *Result) (*Result, error) {
				return Text(string(in) + " " + string(r.Value)), nil
			},
		}},
	})
	if faults != nil {
		t.Fatal(faults)
	}
	caller := Caller{Dialect: "d"}
	call := func(input string) (string, Code) {
		r, err := c.Call(t.Context(), Call{Tool: "tally", Input: json.RawMessage(input), Caller: caller})
		if err != nil {
			return err.Error(), CodeOf(err)
		}
		return r.String(), ""
	}
	if text, code := call(`{"text":"5"}`); code != "" || text != `{"text":"5"} {"n":5}` {
		t.Errorf("%s %s", text, code)
	}
	for _, bad := range []string{`{"text":5}`, `{"text":""}`, `{"text":"\"x\""}`, `{"text":"}"}`, `{"text":"1","more":2}`} {
		if text, code := call(bad); code != CodeInvalid {
			t.Errorf("%s: %s", bad, text)
		}
	}
	if len(reviewed) != 1 || reviewed[0].Spec.Name != "count" || string(reviewed[0].Input) != `{"n":5}` {
		t.Errorf("guards saw %+v", reviewed)
	}
	if _, err := c.Call(t.Context(), Call{Tool: "count", Caller: caller}); CodeOf(err) != CodeNotFound {
		t.Errorf("the adapted tool is still there under its native name: %v", err)
	}
}

// What breaks down in the pipeline refuses the call and closes its record.
func TestPartsThatBreakDown(t *testing.T) {
	boom := func() { panic("boom in /etc/secret-place") }
	for name, spoil := range map[string]func(*Crib){
		"guard": func(c *Crib) {
			c.Guards = []Guard{guardFunc(func(Review) (*Verdict, error) { boom(); return nil, nil })}
		},
		"visible":  func(c *Crib) { c.Visible = func(Caller, *Entry) bool { boom(); return true } },
		"around":   func(c *Crib) { c.Around = []func(Entry, Tool) Tool{func(Entry, Tool) Tool { boom(); return Tool{} }} },
		"redactor": func(c *Crib) { c.Redact = func(json.RawMessage) json.RawMessage { boom(); return nil } },
		"approver": func(c *Crib) {
			c.Guards = append(c.Guards, say(Ask, "mode", nil))
			c.Approver = approverFunc(func(context.Context, Question) (Answer, error) { boom(); return Answer{}, nil })
		},
	} {
		var runs atomic.Int64
		c := testCrib(t, counting("count", &runs))
		journal := &pages{}
		c.Journal, c.Log = journal, quiet()
		spoil(c)
		_, err := c.Call(t.Context(), Call{Tool: "count", Input: json.RawMessage(`{"n":1}`)})
		rec := journal.only(t)
		if rec.Outcome == "" {
			t.Errorf("%s: the record is left open", name)
		}
		if name == "redactor" { // the call itself is fine; nothing of it may be kept
			if err != nil || strings.Contains(string(rec.Input)+string(rec.Result), `"n"`) {
				t.Errorf("redactor: %v, record %s %s", err, rec.Input, rec.Result)
			}
			continue
		}
		if code := CodeOf(err); (code != CodeInternal && code != CodeDenied && code != CodeUnavailable) || runs.Load() != 0 || strings.Contains(err.Error(), "secret-place") {
			t.Errorf("%s: %v after %d runs", name, err, runs.Load())
		}
	}
}

// What a guard failed on is for the log: nobody else could find out why every call
// is denied.
func TestFailedGuardIsLogged(t *testing.T) {
	c := testCrib(t, plain("x"))
	var log strings.Builder
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	c.Guards = append(c.Guards, guardFunc(func(Review) (*Verdict, error) { return nil, errors.New("its disk is full") }))
	_, err := c.Call(t.Context(), Call{Tool: "x", ID: "the-call"})
	if CodeOf(err) != CodeDenied || strings.Contains(err.Error(), "disk") || !strings.Contains(log.String(), "its disk is full") || !strings.Contains(log.String(), "the-call") {
		t.Errorf("%v, log %s", err, log.String())
	}
}

// A result with nothing in it is recorded as JSON like every other.
func TestEmptyResultIsRecorded(t *testing.T) {
	silent := plain("silent")
	silent.Run = func(context.Context, *Env, json.RawMessage) (*Result, error) { return &Result{}, nil }
	c, journal := testCrib(t, silent), &pages{}
	c.Journal = journal
	if _, err := c.Call(t.Context(), Call{Tool: "silent"}); err != nil {
		t.Fatal(err)
	}
	if rec := journal.only(t); !json.Valid(rec.Result) {
		t.Errorf("the record says %s", rec.Result)
	}
}

// A tool that runs past its deadline keeps its handles, but they are dead.
func TestHandlesEndWithTheCall(t *testing.T) {
	var runs atomic.Int64
	late, ended := make(chan error, 3), make(chan struct{})
	slow := plain("slow")
	slow.Timeout, slow.Effects = time.Millisecond, Runs
	slow.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		<-ended
		ctx := context.Background()
		_, err := env.Use(ctx, "count", map[string]int{"n": 1})
		late <- err
		_, err = env.Ask(ctx, Question{})
		late <- err
		_, err = env.Exec(ctx, Cmd{Path: "/bin/sh"})
		late <- err
		return Text("late"), nil
	}
	c := testCrib(t, slow, counting("count", &runs))
	c.Limits.Grace, c.Log = time.Millisecond, quiet()
	c.Grant, c.Sandbox = Grant{Programs: []string{"*"}}, fakeSandbox{}
	c.Approver = approverFunc(func(context.Context, Question) (Answer, error) { return Answer{Decision: Allow}, nil })
	_, err := c.Call(t.Context(), Call{Tool: "slow"})
	close(ended)
	if CodeOf(err) != CodeTimeout {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-late; CodeOf(err) != CodeDenied || !strings.Contains(err.Error(), "is over") {
			t.Errorf("a dead handle answered %v", err)
		}
	}
	if runs.Load() != 0 {
		t.Error("a call was made in the name of one that had ended")
	}
}

// A guard that ends the goroutine ends the caller's; the record is closed on
// the way out.
func TestGuardEndsTheGoroutine(t *testing.T) {
	c := testCrib(t, plain("x"))
	journal := &pages{}
	c.Journal, c.Log = journal, quiet()
	c.Guards = []Guard{guardFunc(func(Review) (*Verdict, error) { runtime.Goexit(); return nil, nil })}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Call(t.Context(), Call{Tool: "x"}) })
	wg.Wait()
	if rec := journal.only(t); rec.Outcome != "internal" {
		t.Errorf("record %+v", rec)
	}
}
