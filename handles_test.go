package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFilesOfACall: a tool has the granted directories for as long as its call
// lasts, and not a moment longer.
func TestFilesOfACall(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	var kept *Files
	tool := plain("reader")
	tool.Effects = Reads
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		if env.Files == nil {
			return Text("none"), nil
		}
		kept = env.Files
		env.Files = nil // what a tool does to its Env is its own affair
		text, _, err := kept.ReadFile("a", 100)
		return Text(string(text)), err
	}
	c := testCrib(t, tool)
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "none" {
		t.Errorf("without a grant: %v, %v", r, err)
	}
	c.Grant.Dirs = []Dir{{Path: dir}}
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "hello" {
		t.Errorf("%v, %v", r, err)
	}
	if _, _, err := kept.ReadFile("a", 100); err == nil {
		t.Error("the handle still works after the call")
	}
	c.Guards = append(c.Guards, say(Allow, "narrow", &Grant{}))
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "none" {
		t.Errorf("narrowed to nothing: %v, %v", r, err)
	}
	// A tool that says it is pure is held to that, and one that says it reads.
	c.Guards = c.Guards[:1]
	for i, effects := range []Effects{Pure, Network, Runs, Reads} {
		want := []string{"none", "none", "hello", "hello"}[i]
		tool.Effects = effects
		if _, faults := c.Catalog.Load(t.Context(), Shelving{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != want {
			t.Errorf("%s: %v, %v", effects, r, err)
		}
	}
	c.Grant.Dirs = []Dir{{Path: "relative"}}
	if _, err := c.Call(t.Context(), Call{Tool: "reader"}); CodeOf(err) != Unavailable {
		t.Errorf("a grant that is none: %v", err)
	}
}

// TestPreview: the person sees what would change; a tool that cannot tell is
// refused before anybody is asked.
func TestPreview(t *testing.T) {
	dir := t.TempDir()
	var asked []Question
	tool := plain("writer")
	tool.Effects = Writes
	c := testCrib(t)
	c.Log = quiet()
	c.Guards, c.Grant.Dirs = []Guard{say(Ask, "careful", nil)}, []Dir{{Path: dir, Write: true}}
	c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
		asked = append(asked, q)
		return Answer{Decision: Allow}, nil
	})
	c.Limits.Timeout = 200 * time.Millisecond
	for _, p := range []struct {
		name string
		show func(context.Context, *Env, json.RawMessage) (string, error)
		want Code
		text string
	}{
		{"shown", func(_ context.Context, env *Env, input json.RawMessage) (string, error) {
			if env.Use != nil || env.Exec != nil || env.Ask != nil {
				t.Error("a preview has handles to act with")
			}
			if err := env.Files.WriteFile("x", nil, nil); err == nil {
				t.Error("a preview can write")
			}
			if string(input) != string(env.Call.Input) {
				t.Errorf("%s against %s", input, env.Call.Input)
			}
			return "+" + string(input), nil
		}, "", `+{"n":1}`},
		{"failing", func(context.Context, *Env, json.RawMessage) (string, error) { return "", errors.New("no such text") }, "failed", "no such text"},
		{"refusing", func(context.Context, *Env, json.RawMessage) (string, error) {
			return "", &Error{Code: Denied, Message: "outside"}
		}, Denied, "outside"},
		{"panicking", func(context.Context, *Env, json.RawMessage) (string, error) { panic("oops") }, Internal, "broke down"},
		{"hanging", func(ctx context.Context, _ *Env, _ json.RawMessage) (string, error) { select {} }, Timeout, "what it would change"},
	} {
		asked = nil
		tool.Preview = p.show
		if _, faults := c.Catalog.Load(t.Context(), Shelving{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		r, err := c.Call(t.Context(), Call{Tool: "writer", Input: json.RawMessage(`{"n":1}`)})
		switch {
		case p.want == "failed":
			if err != nil || !r.Failed || r.String() != p.text || len(asked) > 0 {
				t.Errorf("%s: %v, %v, asked %v", p.name, r, err, asked)
			}
		case CodeOf(err) != p.want:
			t.Errorf("%s: %v", p.name, err)
		case p.want == "" && (len(asked) != 1 || asked[0].Preview != p.text || asked[0].Effects != Writes):
			t.Errorf("%s: asked %+v", p.name, asked)
		case p.want != "" && (len(asked) > 0 || !strings.Contains(err.Error(), p.text)):
			t.Errorf("%s: %v, asked %v", p.name, err, asked)
		}
	}
}

// TestCmdSaysForWhom: the crib, and not the tool, tells the sandbox for whom a
// program runs and what it can do.
func TestCmdSaysForWhom(t *testing.T) {
	box := &recordingSandbox{}
	tool := plain("runner")
	tool.Effects = Runs | Writes | Destroys
	tool.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		_, err := env.Exec(ctx, Cmd{Path: "/bin/true", Tool: "innocent", Effects: Pure})
		return Text("ran"), err
	}
	c := testCrib(t, tool)
	c.Sandbox, c.Grant.Programs, c.Grant.Dirs = box, []string{"/bin/true"}, []Dir{{Path: t.TempDir(), Write: true}}
	for _, s := range []struct {
		guards []Guard
		want   Effects
	}{
		{nil, Runs | Writes | Destroys},
		{[]Guard{understands(Runs | Reads)}, Runs},
		{[]Guard{understands(Runs | Writes), understands(Runs | Destroys)}, Runs},
		{[]Guard{understands(Network)}, 0}, // it says what cannot be: it counts as all
	} {
		c.Guards = append([]Guard{AllowEffects(allEffects)}, s.guards...)
		if _, err := c.Call(t.Context(), Call{Tool: "runner"}); err != nil {
			t.Fatal(err)
		}
		if box.cmd.Tool != "runner" || box.cmd.Effects != s.want {
			t.Errorf("%s %s, want %s", box.cmd.Tool, box.cmd.Effects, s.want)
		}
		if write := s.want&Writes != 0 || s.want == 0; box.grant.Dirs[0].Write != write {
			t.Errorf("%s: the sandbox lets it write: %v", s.want, box.grant.Dirs[0].Write)
		}
	}
}

type recordingSandbox struct {
	cmd   Cmd
	grant Grant
}

func (*recordingSandbox) Enforces() Bounds { return 0 }

func (s *recordingSandbox) Run(_ context.Context, cmd Cmd, grant Grant) (Exit, error) {
	s.cmd, s.grant = cmd, grant
	return Exit{}, nil
}

// TestRefusedInADialect: a caller who looks for refusals in results finds them
// there; the record tells the truth.
func TestRefusedInADialect(t *testing.T) {
	c := testCrib(t)
	c.Log = quiet()
	c.Guards = []Guard{say(Deny, "strict", nil)}
	adapter := Adapter{Spec: Spec{Name: "x", Dialect: "d", Box: "box", Native: "x", Input: json.RawMessage(`{"type":"object","required":["a"]}`)}}
	caller := Caller{Dialect: "d"}
	for _, s := range []struct {
		input   string
		refused func(json.RawMessage, *Error) *Result
		want    string // of the result; empty: the refusal stays one
		code    Code
	}{
		{`{"a":1}`, func(in json.RawMessage, e *Error) *Result { return Text(string(in) + " " + string(e.Code)) }, `{"a":1} denied`, Denied},
		{`{"a":1}`, func(json.RawMessage, *Error) *Result { return nil }, "", Denied},
		{`{"a":1}`, func(json.RawMessage, *Error) *Result { panic("oops") }, "", Denied},
		{`{}`, func(json.RawMessage, *Error) *Result { return Text("never") }, "", Invalid}, // it never was a call of the dialect
	} {
		journal := &pages{}
		c.Journal, adapter.Refused = journal, s.refused
		if _, faults := c.Catalog.Load(t.Context(), Shelving{Boxes: []Toolbox{NewBox("box", plain("x"))}, Adapters: []Adapter{adapter}}); faults != nil {
			t.Fatal(faults)
		}
		r, err := c.Call(t.Context(), Call{Tool: "x", Caller: caller, Input: json.RawMessage(s.input)})
		if s.want == "" && CodeOf(err) != s.code || s.want != "" && (err != nil || r.String() != s.want) {
			t.Errorf("%s: %v, %v", s.input, r, err)
		}
		if rec := journal.only(t); rec.Outcome != Outcome(s.code) {
			t.Errorf("recorded as %s", rec.Outcome)
		}
	}
}
