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
	floor   []string
	content string
	over    []string // base names
	applied []string // base names
	dropped bool
	all     bool   // with what earlier ones left
	kept    bool   // for an answer
	earlier string // the name of what they left
	others  bool   // it is of other commands
	inOne   bool   // nothing of it can be left out
	unkept  error
}

func (h *heldChanges) ID() string            { return "layer-1" }
func (h *heldChanges) List() []Change        { return h.list }
func (h *heldChanges) Floor() []string       { return h.floor }
func (h *heldChanges) Overwrite(path string) { h.over = append(h.over, filepath.Base(path)) }
func (h *heldChanges) Read(_ string, from, most int64) ([]byte, error) {
	return []byte(h.content[min(from, int64(len(h.content))):min(from+most, int64(len(h.content)))]), nil
}
func (h *heldChanges) Show(accept func(string) bool) string {
	return "shown: " + strings.Join(h.accepted(accept), " ")
}
func (h *heldChanges) Drop() error { h.dropped = true; return nil }
func (h *heldChanges) DropAll(context.Context) error {
	h.dropped, h.all, h.earlier = true, true, ""
	return nil
}
func (h *heldChanges) Others() bool    { return h.others }
func (h *heldChanges) Whole() bool     { return h.inOne }
func (h *heldChanges) Earlier() string { return h.earlier }
func (h *heldChanges) Keep(context.Context) (name string, err error) {
	if h.unkept != nil {
		return "", h.unkept
	}
	h.kept = true
	return "abc", nil
}
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
	known := func(n string, d Decision) Change {
		return Change{Path: filepath.Join(dir, n), After: file, Git: &Verdict{Decision: d, Guard: "git", Reason: "it is known"}}
	}
	carried := func(n, text string) Change {
		c := known(n, Allow)
		c.Carried = func(most int64) ([]byte, error) {
			if text == "cannot" {
				return nil, errors.New("no")
			}
			return []byte(text), nil
		}
		return c
	}
	moved := func(from, to string) []Change {
		return []Change{gone(from), {Path: filepath.Join(dir, to), After: file, From: filepath.Join(dir, from)}}
	}
	for name, tt := range map[string]struct {
		list    []Change
		answer  Decision // of the person
		nobody  bool
		fail    error
		floor   []string
		paths   []string // that the person takes
		version string   // the answer about a conflict
		applied string
		over    string
		told    string
	}{
		"all allowed":            {list: made("a", "b"), applied: "a b"},
		"deleted":                {list: []Change{gone("a")}, applied: "a"},
		"asked, yes":             {list: made("asked", "b"), answer: Allow, applied: "asked b"},
		"asked, no":              {list: made("asked", "b"), told: "a person said no"},
		"asked, nobody":          {list: made("asked", "b"), nobody: true, told: "nobody is there to be asked: words: it is asked"},
		"new and denied":         {list: made("denied", "b"), applied: "b", told: "These new files were not kept: " + filepath.Join(dir, "denied") + ": words: it is denied"},
		"changed and denied":     {list: append(made("b"), changed("denied")), told: "Nothing that the command changed was applied: " + filepath.Join(dir, "denied")},
		"deleted and denied":     {list: append(made("b"), gone("denied")), told: "Nothing that the command changed was applied: " + filepath.Join(dir, "denied")},
		"moved from denied":      {list: moved("denied", "b"), told: "Nothing"},
		"moved to denied":        {list: moved("a", "denied"), told: "Nothing"},
		"moved":                  {list: moved("a", "b"), applied: "a b"},
		"protected":              {list: made(".env", "b"), applied: "b", told: ".env"},
		"outside":                {list: append(made("b"), Change{Path: "/etc/passwd", Before: file, After: file}), told: "Nothing"},
		"conflict":               {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}), answer: Allow, version: "drop everything the command changed", told: "a person dropped its changes"},
		"conflict, nobody":       {list: []Change{{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}}, nobody: true, told: "somebody else changed this while the command ran: " + filepath.Join(dir, "a")},
		"conflict, theirs":       {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}), answer: Allow, version: "keep what is there now", applied: "b", told: "These were not applied: " + filepath.Join(dir, "a")},
		"conflict, mine":         {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}), answer: Allow, version: "take what the command wrote", applied: "b a", over: "a"},
		"conflict, no":           {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), Before: file, After: file, Conflict: true}), told: "a person said no"},
		"conflict and denied":    {list: []Change{{Path: filepath.Join(dir, "denied"), Before: file, After: file, Conflict: true}}, told: "applied: " + filepath.Join(dir, "denied")},
		"a part":                 {list: made("asked", "b", "c"), answer: Allow, paths: []string{"b", filepath.Join(dir, "asked")}, applied: "asked b", told: "These were not applied: " + filepath.Join(dir, "c")},
		"a part, and denied":     {list: made("asked", "b", "denied"), answer: Allow, paths: []string{"b", "denied"}, applied: "b", told: "it is denied. A person took a part of the changes. These were not applied: "},
		"a part that is none":    {list: made("asked", "b"), answer: Allow, paths: []string{"x"}, told: "a person wanted a part of it that there is not"},
		"a part of a move":       {list: append(moved("asked", "b"), made("c")...), answer: Allow, paths: []string{"b"}, applied: "asked b", told: "These were not applied: "},
		"the floor, nobody":      {list: made("a"), floor: []string{"it deletes most of it"}, nobody: true, told: "layer: it deletes most of it"},
		"the floor, no":          {list: made("a"), floor: []string{"it deletes most of it"}, told: "a person said no"},
		"the floor, yes":         {list: made("a"), floor: []string{"it deletes most of it"}, answer: Allow, applied: "a"},
		"device":                 {list: append(made("b"), Change{Path: filepath.Join(dir, "a"), After: stateOf{fs.ModeDevice}}), applied: "b", told: "it is a device"},
		"further names":          {list: []Change{{Path: filepath.Join(dir, "a"), Before: file, After: file, Linked: true}}, nobody: true, told: "further names"},
		"further names, yes":     {list: []Change{{Path: filepath.Join(dir, "a"), Before: file, After: file, Linked: true}}, answer: Allow, applied: "a"},
		"cannot be applied":      {list: made("a"), fail: errors.New("the disk is full"), told: "the disk is full"},
		"denied, and no asking":  {list: append(made("asked"), changed("denied")), answer: Allow, told: "Nothing"},
		"in a repository":        {list: []Change{known(".env", Allow)}, applied: ".env"},
		"in one, denied":         {list: append(made("b"), known("x", Deny)), told: "Nothing that the command changed was applied: " + filepath.Join(dir, "x")},
		"in one, asked":          {list: append(made("b"), known("x", Ask)), nobody: true, told: "git: it is known"},
		"in one, asked, yes":     {list: append(made("b"), known("x", Ask)), answer: Allow, applied: "b x"},
		"in one, by a guard":     {list: append(made("b"), known("denied", Allow)), told: "Nothing"},
		"in a commit":            {list: append(made("c"), carried("b", "content")), applied: "c"},
		"protected, in a commit": {list: append(made("b"), carried(".env", "")), told: "Nothing"},
		"denied, in a commit":    {list: append(made("b"), carried("denied", "")), told: "Nothing"},
		"unread, in a commit":    {list: append(made("b"), carried("x", "cannot")), told: "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			held := &heldChanges{list: tt.list, fail: tt.fail, floor: tt.floor, content: "content"}
			asked := 0
			c, vouched := layerCrib(t, dir, held)
			if !tt.nobody {
				c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
					if q.Text != "" {
						if !strings.Contains(q.Text, "shown: a") || strings.HasSuffix(q.Text, " b") || len(q.Options) != 3 {
							t.Errorf("asked %q, %q", q.Text, q.Options)
						}
						return Answer{Decision: tt.answer, By: "test", Message: tt.version}, nil
					}
					if asked++; asked == 1 != strings.HasPrefix(q.Preview, "shown: ") || !q.ByPath {
						t.Errorf("the person is shown %q", q.Preview)
					}
					return Answer{Decision: tt.answer, By: "test", Paths: tt.paths}, nil
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
			if got := strings.Join(held.over, " "); got != tt.over {
				t.Errorf("overwrites %q, want %q", got, tt.over)
			}
			if asked > 1 && name != "a part that is none" {
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

// turnGuard denies what turns, and only after a person was asked.
type turnGuard struct{ asked *bool }

func (g turnGuard) Judge(_ context.Context, r Review) (*Verdict, error) {
	input := string(r.Input)
	if strings.Contains(input, "before") && !*g.asked || strings.Contains(input, "after") && *g.asked {
		return &Verdict{Decision: Deny, Guard: "turns"}, nil
	}
	return nil, nil
}

// TestRulesOfMeanwhileCountForWhatIsApplied: a new file that is refused only after a
// person has said yes is not applied, also if another one is refused no more.
func TestRulesOfMeanwhileCountForWhatIsApplied(t *testing.T) {
	dir := t.TempDir()
	held := &heldChanges{}
	for _, name := range []string{"asked", "before", "after"} {
		held.list = append(held.list, Change{Path: filepath.Join(dir, name), After: stateOf{0o644}})
	}
	c, _ := layerCrib(t, dir, held)
	asked := false
	c.Guards = append(c.Guards, turnGuard{&asked})
	c.Approver = approverFunc(func(context.Context, Question) (Answer, error) {
		asked = true
		return Answer{Decision: Allow, By: "test"}, nil
	})
	r, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)})
	if err != nil || !asked {
		t.Fatal(asked, err)
	}
	if len(held.applied) > 0 || !strings.Contains(r.String(), "refused meanwhile: ") {
		t.Errorf("applied %q, told %s", held.applied, r)
	}
}

// TestNoApprovalStandsForSetuid: what would run with other rights, and what has further
// names, is told also where another guard asks anyway, and an approval that is remembered
// is none of the first.
func TestNoApprovalStandsForSetuid(t *testing.T) {
	dir := t.TempDir()
	held := &heldChanges{list: []Change{
		{Path: filepath.Join(dir, "asked"), After: stateOf{0o755 | fs.ModeSetuid}},
		{Path: filepath.Join(dir, "asked too"), Before: stateOf{0o644}, After: stateOf{0o644}, Linked: true},
		{Path: filepath.Join(dir, "both"), Before: stateOf{0o644}, After: stateOf{0o755 | fs.ModeSetuid}, Linked: true},
	}, content: "x"}
	c, _ := layerCrib(t, dir, held)
	var reasons []string
	c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
		for _, v := range q.Reasons {
			if v.Guard == "files" && v.Decision == Ask {
				reasons = append(reasons, v.Rule+" "+v.Reason)
			}
		}
		return Answer{Decision: Deny, By: "test"}, nil
	})
	if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(reasons, "\n")
	if len(reasons) != 3 || strings.Count(got, "floor "+dir) != 2 || !strings.Contains(got, "asked too: it has further names") {
		t.Errorf("the person is told:\n%s", got)
	}
}

// layerCrib has a tool that runs a program on a layer, and one that writes files.
func layerCrib(t *testing.T, dir string, held *heldChanges, more ...Tool) (*Crib, *[]bool) {
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
	c := testCrib(t, append(more, run, write)...)
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

// TestLargeContentIsJudgedWhole: guards see all of a large content, in parts that have
// something in common, and a person is asked about what is too large even for that.
func TestLargeContentIsJudgedWhole(t *testing.T) {
	dir := t.TempDir()
	const input, most = 200_000, 2_200_000 // of which each part but the first has 65,536 of the one before
	for name, tt := range map[string]struct {
		size, at int // of the word that is denied; -1: there is none
		told     string
	}{
		"small":                   {1000, 10, "it is denied"},
		"none":                    {1_000_000, -1, ""},
		"at the end":              {1_000_000, 999_990, "it is denied"},
		"across the end of one":   {1_000_000, input - 3, "it is denied"},
		"across the second":       {1_000_000, 2*input - 65_536 - 3, "it is denied"},
		"more than is looked at":  {3_000_000, -1, "were looked at"},
		"in what is looked at":    {3_000_000, most - 100_000, "it is denied"},
		"exactly one":             {input, input - 6, "it is denied"},
		"behind what fits by one": {input + 1, input - 5, "it is denied"},
	} {
		t.Run(name, func(t *testing.T) {
			content := []byte(strings.Repeat("x", tt.size))
			if tt.at >= 0 {
				copy(content[tt.at:], "denied")
			}
			held := &heldChanges{list: []Change{{Path: filepath.Join(dir, "a"), After: sized{stateOf{0o644}, int64(tt.size)}}}, content: string(content)}
			c, _ := layerCrib(t, dir, held)
			longest := 0
			c.Limits.Input = input
			c.AsCall = func(change Change, content []byte) (string, string, json.RawMessage, error) {
				longest = max(longest, len(content))
				input, err := json.Marshal(map[string]string{"path": change.Path, "content": string(content)})
				return "test", "write", input, err
			}
			r, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)})
			if err != nil {
				t.Fatal(err)
			}
			told := ""
			for _, content := range r.Content {
				told += content.Text
			}
			if (tt.told == "") != (len(held.applied) == 1) || tt.told != "" && !strings.Contains(told, tt.told) {
				t.Errorf("applied %q, told %.300q", held.applied, told)
			}
			if longest > input {
				t.Errorf("%d bytes were read at once", longest)
			}
		})
	}
}

// sized is a file with a size.
type sized struct {
	stateOf
	size int64
}

func (s sized) Size() int64 { return s.size }

// TestAppliedIsNamedInTheJournal: the record names the layer, under which the changes can
// be taken back.
func TestAppliedIsNamedInTheJournal(t *testing.T) {
	dir := t.TempDir()
	for _, fail := range []error{nil, errors.New("the disk is full")} {
		held := &heldChanges{list: []Change{{Path: filepath.Join(dir, "a"), After: stateOf{0o644}}}, content: "x", fail: fail}
		c, _ := layerCrib(t, dir, held)
		var rec Record
		c.OnEnd = append(c.OnEnd, func(_ context.Context, r *Record) { rec = *r })
		if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)}); err != nil {
			t.Fatal(err)
		}
		var named []string
		for _, v := range rec.Verdicts {
			if v.Guard == "layer" && v.Note && v.Rule == "layer-1" {
				named = append(named, v.Decision.String())
			}
		}
		want := "allow"
		if fail != nil {
			want = "allow deny"
		}
		if got := strings.Join(named, " "); got != want {
			t.Errorf("%q, want %q: %+v", got, want, rec.Verdicts)
		}
	}
}

// TestWholeIsNotLeftOut: of changes that are one no part is offered, a new file that is
// denied keeps all of them away, and a call that did nothing has failed.
func TestWholeIsNotLeftOut(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]struct{ applied, outcome string }{"asked": {"asked b", "done"}, "denied": {"", "failed"}} {
		var list []Change
		for _, n := range []string{name, "b"} {
			list = append(list, Change{Path: filepath.Join(dir, n), After: stateOf{0o644}})
		}
		held := &heldChanges{list: list, content: "x", inOne: true}
		c, _ := layerCrib(t, dir, held)
		c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
			if q.ByPath {
				t.Errorf("%s: a part is offered", name)
			}
			return Answer{Decision: Allow, By: "test"}, nil
		})
		var rec Record
		c.OnEnd = append(c.OnEnd, func(_ context.Context, r *Record) { rec = *r })
		if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(held.applied, " "); got != want.applied || string(rec.Outcome) != want.outcome {
			t.Errorf("%s: applied %q, %s (%s)", name, got, rec.Outcome, rec.Message)
		}
	}
}
