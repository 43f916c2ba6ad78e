package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestAskedOf: what a person said counts wherever they said it, and no other answer
// does.
func TestAskedOf(t *testing.T) {
	t.Parallel()
	now := time.Now()
	me := toolcrib.Caller{Subject: "me"}
	ask := toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "mode"}
	rec := func(id string, change func(*toolcrib.Record)) toolcrib.Record {
		r := toolcrib.Record{ID: id, Caller: me, Tool: "x", Input: json.RawMessage(`{}`), Verdicts: []toolcrib.Verdict{ask}}
		if change != nil {
			change(&r)
		}
		return r
	}
	question := func(call string, state desk.State, g *desk.Given) desk.Question {
		return desk.Question{Call: call, Caller: me, Tool: "x", State: state, Asked: now, Reply: g, Input: json.RawMessage(`{}`)}
	}
	past, others := askedOf([]toolcrib.Record{
		rec("unasked", func(r *toolcrib.Record) { r.Verdicts[0].Decision = toolcrib.Allow }),
		rec("a note", func(r *toolcrib.Record) { r.Verdicts[0].Note = true }),
		rec("refused", func(r *toolcrib.Record) {
			r.Verdicts = append(r.Verdicts, toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "rules"})
		}),
		rec("remembered", func(r *toolcrib.Record) { r.ApprovedBy = "grant g-1 by me" }),
		rec("repeated", func(r *toolcrib.Record) { r.ApprovedBy, r.Replay = "me", "yes" }),
		rec("another", func(r *toolcrib.Record) { r.Caller.Subject = "you" }),
		rec("an agent", func(r *toolcrib.Record) { r.Caller.Agent = "a" }),
		rec("yes", func(r *toolcrib.Record) { r.ApprovedBy = "me" }),
		rec("no", func(r *toolcrib.Record) {
			r.Verdicts = append(r.Verdicts, toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "person"})
		}),
		rec("edited", func(r *toolcrib.Record) { r.ApprovedBy, r.Edited = "me", json.RawMessage(`{"a":1}`) }),
		rec("left", nil), rec("left, yes", nil), rec("left, yes, used", nil), rec("left, no", nil),
		rec("hidden", func(r *toolcrib.Record) {
			r.ApprovedBy, r.Input = "me", json.RawMessage(`{"a":"Bearer [redacted]"}`)
		}),
		rec("long", func(r *toolcrib.Record) {
			r.ApprovedBy, r.Input = "me", json.RawMessage(`{"unrecorded":{"bytes":99999}}`)
		}),
	}, []desk.Question{
		question("left, yes", desk.Allowed, &desk.Given{Choice: desk.AllowOnce, Left: 1}),
		question("left, yes, used", desk.Allowed, &desk.Given{Choice: desk.AllowOnce}),
		question("left, no", desk.Denied, &desk.Given{Choice: desk.Deny}),
		question("no", desk.Allowed, &desk.Given{Choice: desk.AllowOnce, Left: 1}), // a no stays one
		question("pruned, no", desk.Denied, &desk.Given{Choice: desk.Deny}),
		question("pruned, edited", desk.Allowed, &desk.Given{Choice: desk.Edit, Left: 1}),
		question("open", desk.Open, nil),
	}, now.Add(-time.Hour), me)
	got := map[string]string{}
	for _, p := range past {
		word := string(p.Answer)
		if p.Hidden {
			word += ", hidden"
		}
		got[p.ID] = word
	}
	want := map[string]string{
		"yes": "approved", "no": "declined", "edited": "declined", "left": "unanswered", "left, yes": "approved", "left, no": "declined",
		"hidden": "approved, hidden", "long": "approved, hidden", "pruned, no": "declined", "pruned, edited": "declined",
	}
	if diff := cmp.Diff(want, got); diff != "" || others != 2 {
		t.Errorf("%d of others; %s", others, diff)
	}
}

// TestPolicyChangesAtOnce: rules that are written at the same time are all there, and
// all can be taken back.
func TestPolicyChangesAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte("# mine\nmode: default\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := []string{"write_file(./a/**)", "write_file(./b/**)", "write_file(./c/**)", "write_file(./d/**)"}
	var all sync.WaitGroup
	for _, r := range rules {
		all.Go(func() {
			if _, errs, status := runCLI(t, home, "policy", "allow", r); status != 0 {
				t.Errorf("%s: %s", r, errs)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if strings.Count(string(text), "- "+r+"\n") != 1 {
			t.Errorf("%s: %s", r, text)
		}
	}
	for range rules {
		if _, errs, status := runCLI(t, home, "policy", "undo"); status != 0 {
			t.Error(errs)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "# mine\nmode: default\n" {
		t.Errorf("%v: %s", err, text)
	}
}

// TestUndoBelievesNoOther: a list of changes that somebody else wrote is not gone by:
// with it the next undo would write whatever it says.
func TestUndoBelievesNoOther(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if out, errs, status := runCLI(t, home, "policy", "deny", "write_file(./a/**)"); status != 0 {
		t.Fatal(out, errs)
	}
	var state string
	err := filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "policy-changes.json" {
			state = filepath.Dir(path)
		}
		return err
	})
	if err != nil || state == "" {
		t.Fatal("no list of changes", err)
	}
	forged, err := json.Marshal([]policyChanged{{File: filepath.Join(home, "config.yaml"), Path: []string{"permissions", "deny"}, Rule: "write_file(./a/**)", Before: []byte("mode: yolo\n"), After: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(changesFile(state), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, status := runCLI(t, home, "policy", "undo"); status == 0 {
		t.Errorf("it was believed: %s", out)
	}
	if text, err := os.ReadFile(filepath.Join(home, "config.yaml")); err != nil || !strings.Contains(string(text), "write_file(./a/**)") {
		t.Errorf("%v: %s", err, text)
	}
}
