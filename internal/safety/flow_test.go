package safety

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/policy"
)

func newFlow(t testing.TB) *Flow {
	return &Flow{Labels: labelTable(t, policy.LabelOptions{Offline: true}), Private: isAllow, Untrusted: isAllow, Both: isAsk}
}

// call is one use of a tool in a session.
func call(spec toolcrib.Entry, session, id string) toolcrib.Review {
	return toolcrib.Review{Spec: spec, Input: json.RawMessage(`{}`),
		Call: toolcrib.Call{ID: id, Tool: spec.Name, Caller: toolcrib.Caller{Subject: "ann", Session: session}}}
}

func readFile() toolcrib.Entry { return tool("files", "read_file", "fs", reads) }
func fetch() toolcrib.Entry    { return tool("web", "fetch", "web", network) }
func datetime() toolcrib.Entry { return tool("clock", "get_current_datetime", "clock", reads) }

func judgement(t testing.TB, g toolcrib.Guard, r toolcrib.Review) *toolcrib.Verdict {
	t.Helper()
	v, err := g.Judge(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFlowMatrix: every order in which labels are brought, every setting.
func TestFlowMatrix(t *testing.T) {
	both := tool("web", "mailbox", "mail", network) // private, untrusted and public by itself
	for _, c := range []struct {
		name string
		done []toolcrib.Entry
		rule string
	}{
		{"nothing", nil, ""},
		{"harmless", []toolcrib.Entry{datetime()}, ""},
		{"private", []toolcrib.Entry{readFile(), datetime()}, "private+public"},
		{"untrusted", []toolcrib.Entry{fetch()}, "untrusted+public"},
		{"private, untrusted", []toolcrib.Entry{readFile(), fetch()}, "private+untrusted+public"},
		{"untrusted, private", []toolcrib.Entry{fetch(), datetime(), readFile()}, "private+untrusted+public"},
		{"both at once", []toolcrib.Entry{both}, "private+untrusted+public"},
		{"a stranger", []toolcrib.Entry{tool("github", "get_issue", "mcp", toolcrib.Pure)}, "untrusted+public"},
		{"a stranger with mail", []toolcrib.Entry{tool("post", "get_mail", "mail", toolcrib.Pure)}, "private+untrusted+public"},
	} {
		for _, private := range []toolcrib.Decision{isAllow, isAsk, isDeny} {
			for _, untrusted := range []toolcrib.Decision{isAllow, isAsk, isDeny} {
				for _, three := range []toolcrib.Decision{isAllow, isAsk, isDeny} {
					f := newFlow(t)
					f.Private, f.Untrusted, f.Both = private, untrusted, three
					for i, spec := range c.done {
						vet(t, f, call(spec, "s", fmt.Sprint("c", i)), toolcrib.Text("x"))
					}
					want := map[string]toolcrib.Decision{"private+public": private, "untrusted+public": untrusted,
						FlowBoth: min(private, untrusted, three, isAsk)}
					got := judgement(t, f, call(fetch(), "s", "last"))
					if c.rule == "" {
						if got != nil {
							t.Fatalf("%s: %+v", c.name, got)
						}
						continue
					}
					if got == nil || got.Rule != c.rule || got.Decision != want[c.rule] || got.Note != (got.Decision == isAllow) || got.Guard != "flow" {
						t.Fatalf("%s with %v, %v, %v: %+v", c.name, private, untrusted, three, got)
					}
					for _, quiet := range []toolcrib.Entry{readFile(), datetime(), tool("shell", "run_command", "exec", command)} {
						if v := judgement(t, f, call(quiet, "s", "q")); v != nil {
							t.Fatalf("%s: %s cannot send anything: %+v", c.name, quiet.Native, v)
						}
					}
				}
			}
		}
	}
	var zero Flow
	vet(t, &zero, call(readFile(), "s", "1"), toolcrib.Text(""))
	if v := judgement(t, &zero, call(fetch(), "s", "2")); v == nil || v.Decision != isDeny {
		t.Errorf("the zero value: %+v", v)
	}
}

func TestFlowReason(t *testing.T) {
	f := newFlow(t)
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Now = func() time.Time { clock = clock.Add(time.Minute); return clock }
	vet(t, f, call(readFile(), "s", "c-1) is fine.\u202e"), toolcrib.Text(""))
	vet(t, f, call(fetch(), "s", "c-2"), toolcrib.Text(""))
	first := judgement(t, f, call(fetch(), "s", "c-3"))
	want := `private data was read by files/read_file (call "c-1) is fine.\u202e") and content from outside by web/fetch (call "c-2"), ` +
		`and what web/fetch is given can leave this machine; whoever wrote that content may be the one who wants it sent`
	if first.Reason != want {
		t.Errorf("%s", first.Reason)
	}
	// More of the same, and asking again, changes no word: answers are bound to it.
	for i := range 50 {
		vet(t, f, call(readFile(), "s", fmt.Sprint(i)), toolcrib.Text(""))
		if again := judgement(t, f, call(fetch(), "s", fmt.Sprint("x", i))); !cmp.Equal(again, first) {
			t.Fatalf("%+v", again)
		}
	}
	had, private, untrusted := f.Session(toolcrib.Caller{Subject: "ann", Session: "s"})
	if had != policy.LabelsLasting || private.Tool != "files/read_file" || untrusted.Call != "c-2" || !untrusted.Time.Equal(time.Date(2026, 1, 1, 0, 2, 0, 0, time.UTC)) {
		t.Errorf("%v %v %v", had, private, untrusted)
	}
}

// TestFlowSessions: who shares what was read.
func TestFlowSessions(t *testing.T) {
	reader := toolcrib.Caller{Organisation: "o", Subject: "ann", Agent: "coder", Session: "s", Frontend: "mcp", Token: "t"}
	for _, c := range []struct {
		name   string
		change func(*toolcrib.Caller)
		shares bool
	}{
		{"the same", func(*toolcrib.Caller) {}, true},
		{"another agent of the conversation", func(c *toolcrib.Caller) { c.Agent = "mailer" }, true},
		{"another frontend and dialect", func(c *toolcrib.Caller) { c.Frontend, c.Dialect, c.Token = "cli", "ovos", "" }, true},
		{"another session", func(c *toolcrib.Caller) { c.Session = "s2" }, false},
		{"no session", func(c *toolcrib.Caller) { c.Session = "" }, false},
		{"another subject", func(c *toolcrib.Caller) { c.Subject = "bob" }, false},
		{"another organisation", func(c *toolcrib.Caller) { c.Organisation = "p" }, false},
		{"words moved over a border", func(c *toolcrib.Caller) { c.Subject, c.Session = "anns", "" }, false},
	} {
		f := newFlow(t)
		r := call(readFile(), "", "1")
		r.Call.Caller = reader
		vet(t, f, r, toolcrib.Text(""))
		r = call(fetch(), "", "2")
		r.Call.Caller = reader
		c.change(&r.Call.Caller)
		if got := judgement(t, f, r) != nil; got != c.shares {
			t.Errorf("%s: shares %v", c.name, got)
		}
	}
	f := newFlow(t)
	vet(t, f, call(readFile(), "", "1"), toolcrib.Text(""))
	if judgement(t, f, call(fetch(), "", "2")) == nil {
		t.Error("calls without a session are no conversation")
	}
}

// TestFlowForgetsNoLabel: however many conversations there are, none loses one.
func TestFlowForgetsNoLabel(t *testing.T) {
	f := newFlow(t)
	f.Sessions, f.memory.faint = 4, 8
	for i := range 40 {
		vet(t, f, call(readFile(), fmt.Sprint("s", i), "1"), toolcrib.Text(""))
	}
	for i := range 40 {
		v := judgement(t, f, call(fetch(), fmt.Sprint("s", i), "2"))
		if v == nil || v.Rule != "private+public" {
			t.Fatalf("session %d: %+v", i, v)
		}
		if forgotten := strings.Contains(v.Reason, "no longer remembered"); forgotten != (i < 36) {
			t.Errorf("session %d: %s", i, v.Reason)
		}
	}
	if n := len(f.memory.recent) + len(f.memory.faded); n != 12 || f.memory.order.Len() != 4 {
		t.Errorf("%d conversations are kept", n)
	}
	vet(t, f, call(fetch(), "s0", "3"), toolcrib.Text(""))
	if v := judgement(t, f, call(fetch(), "s0", "4")); v == nil || v.Decision != isAsk {
		t.Errorf("a faded conversation that goes on: %+v", v)
	}
}

// TestMoreLabelsAreNeverLooser: whatever was read and whatever a tool is, one
// label more gives no milder verdict.
func TestMoreLabelsAreNeverLooser(t *testing.T) {
	weight := func(v *toolcrib.Verdict) int {
		switch {
		case v == nil:
			return 3
		case v.Note:
			return 2
		}
		return int(v.Decision)
	}
	decision := rapid.SampledFrom([]toolcrib.Decision{isAllow, isAsk, isDeny})
	rapid.Check(t, func(t *rapid.T) {
		f := &Flow{Private: decision.Draw(t, "private"), Untrusted: decision.Draw(t, "untrusted"), Both: decision.Draw(t, "both")}
		verdict := func(had, sink policy.Labels, nested bool) *toolcrib.Verdict {
			own := func(l policy.Labels) *policy.LabelTable {
				table, err := policy.NewLabelTable(policy.LabelOptions{Set: map[string][]string{"box": strings.Split(l.String(), "+")}})
				if err != nil {
					t.Fatal(err)
				}
				return table
			}
			g := &Flow{Private: f.Private, Untrusted: f.Untrusted, Both: f.Both, Labels: own(had)}
			r := call(tool("box", "x", "mcp", 0), "s", "1")
			vetted, err := g.Vet(context.Background(), r, toolcrib.Text(""))
			if err != nil || vetted == nil {
				t.Fatal(err)
			}
			g.Labels = own(sink)
			r.Call.ID = "2"
			if nested {
				defer g.begin(r, policy.LabelPublic)()
				r.Call.ID, r.Call.Parent = "3", "2"
			}
			v, err := g.Judge(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		labels := rapid.Uint8Range(0, 7)
		had, sink := policy.Labels(labels.Draw(t, "had")), policy.Labels(labels.Draw(t, "sink"))
		moreHad, moreSink := had|policy.Labels(labels.Draw(t, "more had")), sink|policy.Labels(labels.Draw(t, "more sink"))
		nested := rapid.Bool().Draw(t, "nested")
		before, after := verdict(had, sink, nested), verdict(moreHad, moreSink, nested)
		if weight(after) > weight(before) {
			t.Fatalf("%v before %v: %+v; %v before %v: %+v", had, sink, before, moreHad, moreSink, after)
		}
		if (moreHad&policy.LabelsLasting == policy.LabelsLasting) && moreSink&policy.LabelPublic != 0 && (after == nil || after.Note || after.Decision > isAsk) {
			t.Fatalf("the three together: %+v", after)
		}
	})
}

// TestFlowInACrib runs real calls: labels count before the caller has a result,
// nested calls belong to their conversation, and guards come in any order.
func TestFlowInACrib(t *testing.T) {
	table, err := policy.NewLabelTable(policy.LabelOptions{Own: []string{"box"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &Flow{Labels: table, Private: isAllow, Untrusted: isAllow, Both: isAsk}
	j := &Inject{Labels: table}
	started, goOn := make(chan struct{}), make(chan struct{})
	text := func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return toolcrib.Text("x"), nil
	}
	box := func(name, group string, e toolcrib.Effects, run func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)) toolcrib.Tool {
		return toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Description: "d", Group: group, Effects: e}, Run: run}
	}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Vetters: []toolcrib.Vetter{f, j},
		Around: []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{f.Around, j.Around},
	}
	guards := []toolcrib.Guard{toolcrib.AllowEffects(reads | network | toolcrib.Pure), f}
	rand.Shuffle(len(guards), func(i, j int) { guards[i], guards[j] = guards[j], guards[i] })
	crib.Guards = guards
	_, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box",
		box("read", "fs", reads, text), box("fetch", "web", network, text), box("plain", "math", toolcrib.Pure, text),
		box("slow", "fs", reads, func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			close(started)
			<-goOn
			return toolcrib.Text("secret"), nil
		}),
		box("inner", "math", toolcrib.Pure, func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			return env.Use(ctx, "read", nil)
		}),
		box("outer", "web", network, func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			return env.Use(ctx, "inner", nil)
		}),
	)}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	use := func(session, name string) string {
		r, err := crib.Call(t.Context(), toolcrib.Call{Tool: name, Caller: toolcrib.Caller{Subject: "ann", Session: session}})
		if err != nil {
			return err.Error()
		}
		return r.String()
	}
	nobody := "a person has to approve this"
	for _, c := range []struct {
		session string
		calls   []string
		want    []string
	}{
		{"a", []string{"fetch", "fetch", "plain"}, []string{"[untrusted: ", "[untrusted: ", "x"}},
		{"b", []string{"read", "fetch", "read", "fetch"}, []string{"x", "[untrusted: ", "x", nobody}},
		{"c", []string{"fetch", "inner", "fetch"}, []string{"[untrusted: ", "x", nobody}},
		// The outer tool brings what is untrusted by being run; what it reads
		// through a third one would be private, and it can send it.
		{"d", []string{"outer", "plain", "read"}, []string{nobody, "x", "x"}},
	} {
		for i, name := range c.calls {
			if got := use(c.session, name); !strings.Contains(got, c.want[i]) {
				t.Errorf("%s: %s: %s", c.session, name, got)
			}
		}
	}
	// A read that has begun counts for what is sent beside it.
	use("e", "fetch")
	var wait sync.WaitGroup
	wait.Go(func() { use("e", "slow") })
	<-started
	if got := use("e", "fetch"); !strings.Contains(got, nobody) {
		t.Errorf("beside a read: %s", got)
	}
	close(goOn)
	wait.Wait()
	if len(f.running) != 0 {
		t.Errorf("%d tools are still at work", len(f.running))
	}
}

// TestFlowAtOnce is for the race detector.
func TestFlowAtOnce(t *testing.T) {
	f := newFlow(t)
	f.Sessions, f.memory.faint = 3, 3
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := range 200 {
				r := call([]toolcrib.Entry{readFile(), fetch()}[n%2], fmt.Sprint("s", (i+n)%9), fmt.Sprint(i, n))
				end := f.begin(r, policy.LabelAll)
				vet(t, f, r, toolcrib.Text(""))
				judgement(t, f, r)
				end()
			}
		})
	}
	wait.Wait()
	if v := judgement(t, f, call(fetch(), "new", "1")); v == nil || v.Decision != isAsk {
		t.Errorf("%+v", v)
	}
}

func BenchmarkFlow(b *testing.B) {
	f := newFlow(b)
	vet(b, f, call(readFile(), "s", "1"), toolcrib.Text(""))
	vet(b, f, call(fetch(), "s", "2"), toolcrib.Text(""))
	r := call(fetch(), "s", "3")
	for b.Loop() {
		judgement(b, f, r)
	}
}

// TestFlowInAnyOrder: the verdict of several guards does not depend on their
// order, and a question by flow is not lifted by an allow beside it.
func TestFlowInAnyOrder(t *testing.T) {
	f := newFlow(t)
	vet(t, f, call(readFile(), "s", "1"), toolcrib.Text(""))
	vet(t, f, call(fetch(), "s", "2"), toolcrib.Text(""))
	guards := []toolcrib.Guard{
		f, toolcrib.AllowEffects(reads | network), &Hook{Name: "a", Run: answers(`{"decision":"allow"}`)},
		&Hook{Name: "b", Run: answers(`{"decision":"ask","reason":"r"}`)},
	}
	verdicts := func() (toolcrib.Decision, []toolcrib.Verdict) {
		var list []toolcrib.Verdict
		for _, g := range guards {
			if v := judgement(t, g, call(fetch(), "s", "3")); v != nil {
				list = append(list, *v)
			}
		}
		return cribtest.Decide(list)
	}
	decision, reasons := verdicts()
	if decision != isAsk || len(reasons) != 4 {
		t.Fatalf("%v %+v", decision, reasons)
	}
	for range 1000 {
		rand.Shuffle(len(guards), func(i, j int) { guards[i], guards[j] = guards[j], guards[i] })
		if d, list := verdicts(); d != decision || !cmp.Equal(list, reasons) {
			t.Fatalf("%v %+v", d, list)
		}
	}
}
