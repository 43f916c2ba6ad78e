package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// openError is that of an Approver whose question waits.
type openError struct{ waits bool }

func (openError) Error() string { return "nobody now" }
func (openError) Unwrap() error { return ErrNobody }
func (e openError) Waits() bool { return e.waits }

// TestUnansweredChangesWait: what nobody has answered for is kept if somebody could
// still do so, and what earlier programs left is lost only to who has seen it.
func TestUnansweredChangesWait(t *testing.T) {
	dir := t.TempDir()
	file := stateOf{0o644}
	asked, denied := Change{Path: filepath.Join(dir, "asked"), After: file}, Change{Path: filepath.Join(dir, "denied"), Before: file, After: file}
	for name, tt := range map[string]struct {
		list    []Change
		err     error // of who is asked
		answer  Decision
		earlier string
		session string
		unkept  error
		fail    error // of applying
		kept    bool
		all     bool
		told    []string
		not     string
	}{
		"nobody answered":          {list: []Change{asked}, err: context.DeadlineExceeded, kept: true, told: []string{"did not answer", "layer abc", "layers apply abc"}, not: "next command"},
		"in a session":             {list: []Change{asked}, err: context.DeadlineExceeded, session: "s", kept: true, told: []string{"The next command of this session sees them"}},
		"the question waits":       {list: []Change{asked}, err: openError{true}, kept: true, told: []string{"layer abc"}},
		"nobody will answer":       {list: []Change{asked}, err: openError{false}, told: []string{"nobody"}, not: "layer"},
		"nobody at all":            {list: []Change{asked}, err: ErrNobody, told: []string{"nobody"}, not: "layer"},
		"it cannot be kept":        {list: []Change{asked}, err: context.DeadlineExceeded, unkept: errors.New("too many"), told: []string{"too many"}, not: "layer"},
		"nor beside earlier":       {list: []Change{asked}, err: context.DeadlineExceeded, unkept: errors.New("too many"), earlier: "old", told: []string{"too many", "Layer old still waits"}},
		"denied beside earlier":    {list: []Change{denied}, earlier: "old", told: []string{"was applied: " + denied.Path, "Layer old still waits"}},
		"a person says no":         {list: []Change{asked}, answer: Deny, all: true, told: []string{"said no"}, not: "layer"},
		"to earlier ones as well":  {list: []Change{asked}, answer: Deny, earlier: "old", all: true, told: []string{"said no", "layer old", "dropped as well"}},
		"it cannot be applied":     {list: []Change{asked}, answer: Allow, fail: errors.New("full"), earlier: "old", told: []string{"full", "Layer old still waits"}},
		"applied with the earlier": {list: []Change{asked}, answer: Allow, earlier: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			held := &heldChanges{list: tt.list, earlier: tt.earlier, unkept: tt.unkept, fail: tt.fail}
			c, _ := layerCrib(t, dir, held)
			c.Approver = approverFunc(func(context.Context, Question) (Answer, error) {
				return Answer{Decision: tt.answer, By: "test"}, tt.err
			})
			r, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`), Caller: Caller{Session: tt.session}})
			if err != nil {
				t.Fatal(err)
			}
			told := ""
			for _, content := range r.Content {
				if content.Notice {
					told += content.Text
				}
			}
			for _, part := range tt.told {
				if !strings.Contains(told, part) {
					t.Errorf("told %q, not %q", told, part)
				}
			}
			if tt.not != "" && strings.Contains(told, tt.not) || len(tt.told) == 0 && told != "" {
				t.Errorf("told %q", told)
			}
			if held.kept != tt.kept || held.all != tt.all || (len(held.applied) > 0) != (len(tt.told) == 0) {
				t.Errorf("kept %v, all dropped %v, applied %v", held.kept, held.all, held.applied)
			}
		})
	}
}

// TestNoCommandVouchesForOthers: that a command is allowed by its name says nothing of
// what others have left, and no remembered answer about it does.
func TestNoCommandVouchesForOthers(t *testing.T) {
	dir := t.TempDir()
	for _, others := range []bool{false, true} {
		held := &heldChanges{list: []Change{{Path: filepath.Join(dir, "asked"), After: stateOf{0o644}}}, earlier: "old", others: others}
		c, vouched := layerCrib(t, dir, held)
		floor := false
		c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
			for _, v := range q.Reasons {
				floor = floor || v.Rule == "floor" && v.Decision == Ask && !v.Note
			}
			return Answer{Decision: Allow, By: "test"}, nil
		})
		if _, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"name":"x"}`)}); err != nil {
			t.Fatal(err)
		}
		if len(*vouched) == 0 || (*vouched)[0] == others || floor != others {
			t.Errorf("others %v: vouched %v, asked every time %v", others, *vouched, floor)
		}
	}
}

// endJournal keeps what was recorded.
type endJournal struct{ ended chan Record }

func (endJournal) Begin(context.Context, *Record) (*Record, error) { return nil, nil }
func (j endJournal) End(_ context.Context, r *Record) error        { j.ended <- *r; return nil }

// TestProgramsThatOutliveTheirCall: what they changed is judged under the rights of
// that call, recorded as what it did, and dropped if they were cut off.
func TestProgramsThatOutliveTheirCall(t *testing.T) {
	dir := t.TempDir()
	file := stateOf{0o644}
	for name, tt := range map[string]struct {
		path    string
		cut     bool
		applied bool
		told    string
	}{
		"allowed": {path: "a", applied: true},
		"denied":  {path: "denied", told: "These new files were not kept"},
		"cut off": {path: "a", cut: true, told: "was cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			held := &heldChanges{list: []Change{{Path: filepath.Join(dir, tt.path), After: file}}}
			later := &laterSandbox{changes: held, begun: make(chan struct{}), over: make(chan struct{})}
			notes := make(chan []string, 1)
			type in struct{}
			start := Define(Spec{Name: "start", Effects: Reads | Writes | Runs}, func(_ context.Context, env *Env, _ in) (in, error) {
				live, stop := context.WithCancel(context.Background())
				go func() {
					defer stop()
					exit, _ := env.Exec(live, Cmd{Path: "/bin/true", OnLayer: true, Ended: func() context.Context {
						if tt.cut {
							stop()
						}
						return live
					}})
					notes <- exit.Notes
				}()
				<-later.begun
				return in{}, nil
			})
			c, _ := layerCrib(t, dir, held, start)
			j := endJournal{make(chan Record, 4)}
			c.Journal, c.Sandbox = j, later
			if _, err := c.Call(t.Context(), Call{ID: "first", Tool: "start"}); err != nil {
				t.Fatal(err)
			}
			<-j.ended
			close(later.over)
			told := strings.Join(<-notes, "\n")
			if !strings.Contains(told, tt.told) || tt.told == "" && told != "" {
				t.Errorf("told %q", told)
			}
			if (len(held.applied) > 0) != tt.applied || !held.dropped {
				t.Errorf("applied %v, dropped %v", held.applied, held.dropped)
			}
			if tt.cut {
				return
			}
			if r := <-j.ended; r.Parent != "first" || r.Tool != "start" || r.Outcome != Done || tt.told != "" && !strings.Contains(string(r.Result), tt.told) {
				t.Errorf("recorded %+v", r)
			}
		})
	}
}

// laterSandbox runs until the call is over.
type laterSandbox struct {
	changes     *heldChanges
	begun, over chan struct{}
}

func (*laterSandbox) Enforces() Bounds { return 0 }
func (s *laterSandbox) Run(context.Context, Cmd, Grant) (Exit, error) {
	close(s.begun)
	<-s.over
	return Exit{Changes: s.changes}, nil
}
