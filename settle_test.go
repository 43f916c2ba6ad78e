package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/files"
)

// heldChanges is a layer that remembers what became of it.
type heldChanges struct {
	list    []Change
	fail    error
	applied []string // base names
	dropped bool
}

func (h *heldChanges) List() []Change                     { return h.list }
func (h *heldChanges) Read(string, int64) ([]byte, error) { return []byte("content"), nil }
func (h *heldChanges) Show(accept func(string) bool) string {
	return "shown: " + strings.Join(h.accepted(accept), " ")
}
func (h *heldChanges) Drop() error { h.dropped = true; return nil }
func (h *heldChanges) accepted(accept func(string) bool) (out []string) {
	for _, c := range h.list {
		if accept(c.Path) {
			out = append(out, filepath.Base(c.Path))
		}
	}
	return out
}

func (h *heldChanges) Apply(_ context.Context, accept func(string) bool) error {
	if h.fail != nil {
		return h.fail
	}
	h.applied = h.accepted(accept)
	return nil
}

// layerSandbox runs everything on one layer.
type layerSandbox struct{ changes *heldChanges }

func (layerSandbox) Enforces() Bounds { return 0 }
func (s layerSandbox) Run(context.Context, Cmd, Grant) (Exit, error) {
	return Exit{Changes: s.changes}, nil
}

// stateOf is what is known of a file.
type stateOf struct{ mode fs.FileMode }

func (stateOf) Name() string        { return "" }
func (stateOf) Size() int64         { return 1 }
func (s stateOf) Mode() fs.FileMode { return s.mode }
func (stateOf) ModTime() time.Time  { return time.Time{} }
func (s stateOf) IsDir() bool       { return s.mode.IsDir() }
func (stateOf) Sys() any            { return nil }

// wordGuard denies and asks by a word in the path of a change.
type wordGuard struct{ vouched *[]bool }

func (g wordGuard) Judge(_ context.Context, r Review) (*Verdict, error) {
	if r.Spec.Native == "run" {
		return &Verdict{Decision: Allow, Guard: "words", ChangesUnjudged: strings.Contains(string(r.Input), "line")}, nil
	}
	*g.vouched = append(*g.vouched, r.ProgramAllowed)
	for word, d := range map[string]Decision{"denied": Deny, "asked": Ask} {
		if strings.Contains(string(r.Input), word) {
			return &Verdict{Decision: d, Guard: "words", Reason: "it is " + word}, nil
		}
	}
	return &Verdict{Decision: Allow, Guard: "words"}, nil
}

func TestChangesAreSettled(t *testing.T) {
	dir := t.TempDir()
	file := stateOf{0o644}
	made := func(names ...string) (out []Change) {
		for _, n := range names {
			out = append(out, Change{Path: filepath.Join(dir, n), After: file})
		}
		return out
	}
	gone := func(n string) Change { return Change{Path: filepath.Join(dir, n), Before: file} }
	changed := func(n string) Change { return Change{Path: filepath.Join(dir, n), Before: file, After: file} }
	moved := func(from, to string) []Change {
		return []Change{gone(from), {Path: filepath.Join(dir, to), After: file, From: filepath.Join(dir, from)}}
	}
	for name, tt := range map[string]struct {
		list    []Change
		answer  Decision // of the person
		nobody  bool
		fail    error
		applied string
		told    string
	}{
		"all allowed":           {list: made("a", "b"), applied: "a b"},
		"deleted":               {list: []Change{gone("a")}, applied: "a"},
		"asked, yes":            {list: made("asked", "b"), answer: Allow, applied: "asked b"},
		"asked, no":             {list: made("asked", "b"), told: "a person said no"},
		"asked, nobody":         {list: made("asked", "b"), nobody: true, told: "nobody is there to be asked: words: it is asked"},
		"new and denied":        {list: made("denied", "b"), applied: "b", told: "These new files were not kept: " + filepath.Join(dir, "denied") + ": words: it is denied"},
		"changed and denied":    {list: append(made("b"), changed("denied")), told: "Nothing that the command changed was applied. Refused: "},
		"deleted and denied":    {list: append(made("b"), gone("denied")), told: "Nothing that the command changed was applied. Refused: "},
		"moved from denied":     {list: moved("denied", "b"), told: "Nothing"},
		"moved to denied":       {list: moved("a", "denied"), told: "Nothing"},
		"moved":                 {list: moved("a", "b"), applied: "a b"},
		"protected":             {list: made(".env", "b"), applied: "b", told: ".env"},
		"outside":               {list: append(made("b"), Change{Path: "/etc/passwd", Before: file, After: file}), told: "Nothing"},
		"conflict":              {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}), told: "somebody else changed it"},
		"device":                {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), After: stateOf{fs.ModeDevice}}), applied: "b", told: "it is a device"},
		"further names":         {list: []Change{{Path: filepath.Join(dir, "a"), Before: file, After: file, Linked: true}}, nobody: true, told: "further names"},
		"further names, yes":    {list: []Change{{Path: filepath.Join(dir, "a"), Before: file, After: file, Linked: true}}, answer: Allow, applied: "a"},
		"cannot be applied":     {list: made("a"), fail: errors.New("the disk is full"), told: "the disk is full"},
		"denied, and no asking": {list: append(made("asked"), changed("denied")), answer: Allow, told: "Nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			held := &heldChanges{list: tt.list, fail: tt.fail}
			asked := 0
			c, vouched := layerCrib(t, dir, held)
			if !tt.nobody {
				c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
					asked++
					if !strings.HasPrefix(q.Preview, "shown: ") {
						t.Errorf("the person is shown %q", q.Preview)
					}
					return Answer{Decision: tt.answer, By: "test"}, nil
				})
			}
			r, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)})
			if err != nil {
				t.Fatal(err)
			}
			told := ""
			for _, content := range r.Content {
				if content.Notice {
					told += content.Text
				}
			}
			if !held.dropped {
				t.Error("the layer was not dropped")
			}
			if got := strings.Join(held.applied, " "); got != tt.applied {
				t.Errorf("applied %q, want %q (told %q)", got, tt.applied, told)
			}
			if (tt.told == "") != (told == "") || !strings.Contains(told, tt.told) {
				t.Errorf("told %q, want %q", told, tt.told)
			}
			if asked > 1 {
				t.Errorf("asked %d times", asked)
			}
			if slices.Contains(*vouched, true) {
				t.Error("changes of a line that nobody allowed by name count as allowed")
			}
		})
	}
}

// TestAllowedProgramsVouchForTheirChanges: guards learn that the program was allowed
// by its name, and changes of a call that failed are dropped.
func TestAllowedProgramsVouchForTheirChanges(t *testing.T) {
	dir := t.TempDir()
	held := &heldChanges{list: []Change{{Path: filepath.Join(dir, "a"), After: stateOf{0o644}}}}
	c, vouched := layerCrib(t, dir, held)
	if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"name":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	if len(*vouched) != 1 || !(*vouched)[0] || len(held.applied) != 1 {
		t.Errorf("vouched %v, applied %v", *vouched, held.applied)
	}
	held = &heldChanges{list: held.list}
	c, _ = layerCrib(t, dir, held)
	if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"fail":"x"}`)}); err == nil {
		t.Fatal("it did not fail")
	}
	if !held.dropped || held.applied != nil {
		t.Errorf("after a failed call: dropped %v, applied %v", held.dropped, held.applied)
	}
}

// layerCrib has a tool that runs a program on a layer, and one that writes files.
func layerCrib(t *testing.T, dir string, held *heldChanges) (*Crib, *[]bool) {
	t.Helper()
	type runIn struct {
		Line string `json:"line,omitempty"`
		Name string `json:"name,omitempty"`
		Fail string `json:"fail,omitempty"`
	}
	type writeIn struct {
		Path    string `json:"path"`
		Content string `json:"content,omitempty"`
	}
	run := Define(Spec{Name: "run", Effects: Reads | Writes | Runs}, func(ctx context.Context, env *Env, in runIn) (runIn, error) {
		_, err := env.Exec(ctx, Cmd{Path: "/bin/true", OnLayer: true})
		if in.Fail != "" {
			err = &Error{Code: CodeDenied, Message: "no"}
		}
		return in, err
	})
	write := Define(Spec{Name: "write", Effects: Reads | Writes}, func(context.Context, *Env, writeIn) (writeIn, error) { return writeIn{}, nil })
	var vouched []bool
	c := testCrib(t, run, write)
	protection, err := files.NewProtection("", ".env")
	if err != nil {
		t.Fatal(err)
	}
	c.Guards, c.Sandbox = []Guard{wordGuard{&vouched}}, layerSandbox{held}
	c.Grant, c.Files = Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Programs: []string{"*"}}, files.Options{Protected: protection}
	c.AsCall = func(change Change, _ []byte) (string, string, json.RawMessage, error) {
		input, err := json.Marshal(writeIn{Path: change.Path})
		return "test", "write", input, err
	}
	return c, &vouched
}
