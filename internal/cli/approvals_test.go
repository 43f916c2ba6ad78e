package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// office is a home with a desk in it, where calls have left their questions.
type office struct {
	t    *testing.T
	home string
	desk *desk.Desk
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, home: t.TempDir()}
	paths, _, err := o.command(nil, nil).paths()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := sqlite.OpenDesk(t.Context(), store.Config{Dir: paths.State + "/desk", Keys: paths.State + "/desk-key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	o.desk, err = desk.New(desk.Config{
		Store: kept, Project: "/srv/p", Unattended: desk.Leave,
		RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s },
		Terms: func(toolcrib.Question) desk.Terms { return desk.Terms{Rules: []string{"write_file(x *)"}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *office) command(out, errs io.Writer) *command {
	return &command{in: io.NopCloser(strings.NewReader("")), out: out, err: errs, dir: o.home,
		environ: []string{"HOME=" + o.home, "USERPROFILE=" + o.home, "TOOLCRIB_HOME=" + o.home + "/toolcrib"}}
}

// run runs a command of the group and gives what it printed and its status.
func (o *office) run(args ...string) (text string, status int) {
	o.t.Helper()
	var out bytes.Buffer
	c := o.command(&out, &out)
	if n := len(args); n > 2 && args[n-2] == "-o" {
		c.output, args = args[n-1], args[:n-2]
	}
	group := map[string]func() *cobra.Command{"approvals": c.approvalsCmd, "remembered": c.grantsCmd}[args[0]]()
	group.SilenceErrors, group.SilenceUsage = true, true
	group.SetArgs(args[1:])
	group.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	if err := group.ExecuteContext(o.t.Context()); err != nil {
		c.complain(err)
		return out.String(), exitStatus(err)
	}
	return out.String(), exitDone
}

// leave has a call leave its question, and gives its ID.
func (o *office) leave(path string) string {
	o.t.Helper()
	if _, err := o.approve(path); err == nil {
		o.t.Fatalf("%s was allowed", path)
	}
	list, err := o.desk.Questions(context.Background(), desk.Filter{State: desk.Open})
	if err != nil || len(list) == 0 {
		o.t.Fatalf("%+v, %v", list, err)
	}
	return list[len(list)-1].ID
}

func (o *office) approve(path string) (toolcrib.Answer, error) {
	q := writing()
	var err error
	if q.Input, err = json.Marshal(map[string]string{"path": path}); err != nil {
		o.t.Fatal(err)
	}
	return o.desk.Approve(context.Background(), q)
}

// leaveChanges has a command leave the question about what it has changed.
func (o *office) leaveChanges() string {
	o.t.Helper()
	q := writing()
	q.ByPath = true
	if _, err := o.desk.Approve(context.Background(), q); err == nil {
		o.t.Fatal("it was allowed")
	}
	list, err := o.desk.Questions(context.Background(), desk.Filter{State: desk.Open})
	if err != nil || len(list) != 1 {
		o.t.Fatalf("%+v, %v", list, err)
	}
	return list[0].ID
}

// TestApprovalsTakeAPart: --only takes a part of what a command has changed.
func TestApprovalsTakeAPart(t *testing.T) {
	o := newOffice(t)
	id := o.leaveChanges()
	o.expect(0, words("approvals show "+id), "has run", "You can take a part of it")
	o.expect(0, []string{"approvals", "allow", id, "--only", "a", "--only", "b c"}, "Allowed once.")
	q := writing()
	q.ByPath = true
	if a, err := o.desk.Approve(context.Background(), q); err != nil || a.Decision != toolcrib.Allow || strings.Join(a.Paths, "|") != "a|b c" {
		t.Errorf("%+v, %v", a, err)
	}
	other := o.leave("x")
	o.expect(3, []string{"approvals", "allow", other, "--only", "a"}, "only of what a command has changed")
}

// expect runs a command and looks for texts in what it prints.
func (o *office) expect(status int, args []string, texts ...string) string {
	o.t.Helper()
	out, got := o.run(args...)
	if got != status {
		o.t.Errorf("%v: status %d, want %d: %s", args, got, status, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			o.t.Errorf("%v does not say %q:\n%s", args, text, out)
		}
	}
	return out
}

func words(text string) []string { return strings.Fields(text) }

func TestApprovals(t *testing.T) {
	o := newOffice(t)
	o.expect(0, words("approvals"), "Nothing waits")
	if out := o.expect(0, words("approvals -o json")); out != "[]\n" {
		t.Errorf("%q", out)
	}
	id := o.leave("a\x1b[2J")
	o.expect(0, words("approvals list"), id, "open", "bob", `write_file {"path":"a\u001b[2J"}`)
	o.expect(0, words("approvals show "+id), "write_file, for bob, by mcp, would run", `path: a[U+001B][2J`, "+new", "toolcrib approvals allow "+id+" --project", "write_file(x *)")
	var list []desk.Question
	if err := json.Unmarshal([]byte(o.expect(0, words("approvals -o json"))), &list); err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("%+v, %v", list, err)
	}
	// A name may be short, if it means one thing.
	o.expect(0, words("approvals allow "+strings.TrimPrefix(id, "q-")[:4]), id+"  Allowed once.", "counts when the call is repeated")
	o.expect(8, words("approvals deny "+id), "already answered by")
	if a, err := o.approve("a\x1b[2J"); err != nil || a.Decision != toolcrib.Allow {
		t.Errorf("%+v, %v", a, err)
	}
	if again := o.leave("a\x1b[2J"); again == id {
		t.Error("an answer that was used is used again")
	}
	o.expect(0, words("approvals list --all"), id, "allowed")
}

func TestApprovalsAnswers(t *testing.T) {
	o := newOffice(t)
	id := o.leave("deny")
	o.expect(0, []string{"approvals", "deny", id, "-m", "not this one"}, "Denied.")
	if a, err := o.approve("deny"); err != nil || a.Decision != toolcrib.Deny || a.Message != "not this one" {
		t.Errorf("%+v, %v", a, err)
	}
	id = o.leave("edit")
	o.expect(2, []string{"approvals", "allow", id, "--edit", "nonsense"}, "not a JSON object")
	o.expect(2, []string{"approvals", "allow", id, "--edit", ""}, "not a JSON object")
	o.expect(0, []string{"approvals", "allow", id, "--edit", `{"path":"other"}`}, "as you changed them")
	if a, err := o.approve("edit"); err != nil || string(a.Input) != `{"path":"other"}` {
		t.Errorf("%+v, %v", a, err)
	}
	id = o.leave("wrong")
	for _, bad := range []string{"--once --always", "--for 2h", "--by-rule", "--session --for soon", "--always -m x"} {
		if out, status := o.run(append([]string{"approvals", "allow", id}, words(bad)...)...); status == exitDone {
			t.Errorf("%s: %s", bad, out)
		}
	}
	o.expect(2, words("approvals allow"))
	o.expect(2, words("approvals allow "+id+" -m x"), "tool's own question")
	o.expect(4, words("approvals allow nothing"), "there is no question nothing")
	o.expect(0, words("approvals allow "+id+" --project --for 2h"), "remembered as g-")
	if a, err := o.approve("wrong"); err != nil || !strings.HasPrefix(a.By, "grant g-") {
		t.Errorf("%+v, %v", a, err)
	}
}

// A tool's own question is answered with a text.
func TestApprovalsOwnQuestion(t *testing.T) {
	o := newOffice(t)
	q := toolcrib.Question{Call: toolcrib.Call{Tool: "ask_user", Caller: toolcrib.Caller{Subject: "bob"}}, Text: "Which colour?", Options: []string{"red"}}
	if _, err := o.desk.Approve(t.Context(), q); err == nil {
		t.Fatal("answered")
	}
	list, err := o.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	o.expect(0, words("approvals show "+list[0].ID), "ask_user asks, for bob", "Which colour?", "1. red", "-m 'the answer'")
	o.expect(2, words("approvals allow "+list[0].ID), "-m")
	o.expect(3, words("approvals allow --always "+list[0].ID))
	o.expect(0, words("approvals allow -m blue "+list[0].ID), "Answered.")
	if a, err := o.desk.Approve(t.Context(), q); err != nil || a.Message != "blue" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Like questions are answered together, and only those.
func TestApprovalsAlike(t *testing.T) {
	o := newOffice(t)
	first := o.leave("1")
	o.leave("2")
	o.leave("3")
	other := writing()
	other.Call.Caller.Agent = "another"
	if _, err := o.desk.Approve(t.Context(), other); err == nil {
		t.Fatal("allowed")
	}
	o.expect(2, []string{"approvals", "allow", first, "--all-alike", "--edit", "{}"}, "looked at one by one")
	o.expect(2, words("approvals allow "+first+" --all-alike --always"), "looked at one by one")
	o.expect(7, words("approvals allow "+first+" --all-alike"), "nobody is there") // others may have come: they are shown first
	if out := o.expect(0, words("approvals allow "+first+" --all-alike --yes")); strings.Count(out, "Allowed once.") != 3 {
		t.Errorf("%s", out)
	}
	for _, path := range []string{"1", "2", "3"} {
		if a, err := o.approve(path); err != nil || a.Decision != toolcrib.Allow {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
	}
	if _, err := o.desk.Approve(t.Context(), other); err == nil {
		t.Error("the question of another agent was answered too")
	}
}

// Several are answered at once: those that were shown, each with a record of its own,
// and none that has to be looked at by itself.
func TestApprovalsMany(t *testing.T) {
	o := newOffice(t)
	o.expect(4, words("approvals allow --all --yes"), "no question of this kind")
	first, second := o.leave("1"), o.leave("2")
	other := writing()
	other.Call.Tool, other.Spec.Name, other.Spec.Native, other.Spec.Box = "gh__close", "gh__close", "close", "gh"
	own := toolcrib.Question{Call: toolcrib.Call{Tool: "ask_user", Caller: toolcrib.Caller{Subject: "bob"}}, Text: "Which colour?"}
	for _, q := range []toolcrib.Question{other, own} {
		if _, err := o.desk.Approve(t.Context(), q); err == nil {
			t.Fatal("allowed")
		}
	}
	o.expect(2, words("approvals allow --all "+first), "name questions, or pick them")
	o.expect(2, words("approvals allow"), "name a question")
	o.expect(2, words("approvals allow --all --server gh"), "exclude each other")
	o.expect(2, words("approvals allow --all-alike --tool gh__close"), "exclude each other")
	o.expect(2, words("approvals allow --server gh --always"), "one by one")
	o.expect(2, []string{"approvals", "allow", "--all", "--edit", "{}"}, "one by one")
	o.expect(7, words("approvals allow --server gh"), "gh__close, for bob", "nobody is there")
	o.expect(4, words("approvals allow --server nobody --yes"), "no question of this kind")
	if out := o.expect(0, words("approvals allow --server gh --yes"), "gh__close, for bob", "Allowed once."); strings.Contains(out, first) {
		t.Errorf("wider than the server: %s", out)
	}
	out := o.expect(0, words("approvals allow --all --yes"), "is left out: it is a tool's own question", "path: 1", "And the same with", "path: 2")
	if strings.Count(out, "Allowed once.") != 2 {
		t.Errorf("%s", out)
	}
	for _, id := range []string{first, second} {
		if q, err := o.desk.Question(t.Context(), id); err != nil || q.State != desk.Allowed || q.Reply.Choice != desk.AllowOnce {
			t.Errorf("%+v, %v", q, err)
		}
	}
	o.leave("3") // what comes later was not shown, and is not answered
	o.expect(0, words("approvals deny --tool write_file -m no --yes"), "Denied.")
	if out := o.expect(0, words("approvals")); !strings.Contains(out, "ask_user") || strings.Contains(out, "write_file") {
		t.Errorf("%s", out)
	}
	o.expect(7, words("approvals deny --all"), "q-", "nobody is there to be asked; look at what is shown and say --yes")
	o.expect(0, words("approvals"), "q-")
	o.expect(0, words("approvals deny --all --yes"), "Not answered.")
	o.expect(0, words("approvals"), "Nothing waits")
}

// What is asked every time, hides more than keys, or is not shown whole is not
// allowed together with others.
func TestApprovalsAlone(t *testing.T) {
	for why, q := range map[string]desk.Question{
		"asked every time": {Floor: true}, "may be more than a key": {Unseen: true}, "too long": {Cut: true}, "own question": {Text: "?"},
	} {
		if got := alone(&q); !strings.Contains(got, why) {
			t.Errorf("%q, want %q", got, why)
		}
	}
	if got := alone(&desk.Question{}); got != "" {
		t.Errorf("%q", got)
	}
}

// Of two answers at once exactly one counts.
func TestApprovalsAtOnce(t *testing.T) {
	o := newOffice(t)
	id := o.leave("race")
	statuses := make([]int, 4)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { _, statuses[i] = o.run("approvals", []string{"allow", "deny"}[i%2], id) })
	}
	wg.Wait()
	won := 0
	for _, s := range statuses {
		switch s {
		case 0:
			won++
		case 8:
		default:
			t.Errorf("status %d", s)
		}
	}
	if won != 1 {
		t.Errorf("%d answers counted", won)
	}
}

func TestGrants(t *testing.T) {
	o := newOffice(t)
	o.expect(0, words("remembered"), "No answer is remembered.")
	o.expect(0, words("approvals allow "+o.leave("a")+" --session"), "remembered")
	o.expect(0, words("approvals allow "+o.leave("b")+" --always --by-rule"), "remembered")
	out := o.expect(0, words("remembered list"), "session s1", `write_file {"path":"a"}`, "write_file(x *)", "it is revoked", "bob")
	if a, err := o.approve("anything that the rule means"); err != nil || a.Decision != toolcrib.Allow {
		t.Errorf("%+v, %v", a, err)
	}
	var byRule string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "(x *)") {
			byRule = strings.Fields(line)[0]
		}
	}
	o.expect(0, words("remembered revoke "+byRule[:6]), byRule+"  revoked")
	o.leave("anything else that the rule means")
	if a, err := o.approve("a"); err != nil || a.Decision != toolcrib.Allow {
		t.Errorf("the other grant: %+v, %v", a, err)
	}
	// A tool that is defined otherwise now is another tool.
	q := writing()
	q.Input, q.Spec.Description = json.RawMessage(`{"path":"a"}`), "does something else now"
	if a, err := o.desk.Approve(t.Context(), q); err == nil {
		t.Errorf("the grant counts for another definition: %+v", a)
	}
	o.expect(2, words("remembered revoke"), "--all")
	o.expect(4, words("remembered revoke g-zzzzzz"), "there is no remembered answer")
	o.expect(0, words("remembered revoke --all"), "revoked")
	o.leave("a")
	o.expect(0, words("remembered"), "No answer is remembered.")
	if out := o.expect(0, words("remembered --all")); strings.Count(out, "revoked by") != 2 {
		t.Errorf("%s", out)
	}
}

// The desk is opened, and nothing else: no journal is made.
func TestApprovalsOpenOnlyTheDesk(t *testing.T) {
	o := newOffice(t)
	o.expect(0, words("approvals"))
	paths, _, err := o.command(nil, nil).paths()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(paths.State + "/journal"); err == nil {
		t.Error("there is a journal")
	}
}
