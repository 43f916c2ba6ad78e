package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// absent is a desk at which nobody answers until somebody does.
type absent struct {
	mu     sync.Mutex
	answer toolcrib.Decision // zero: nobody is there
	said   bool
	seen   []toolcrib.Question
	asked  chan struct{} // a word for each question, if somebody listens
	wait   chan struct{} // answers only when it is closed; nil: at once
	free   int           // how many questions are answered at once nevertheless
}

func (s *absent) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	s.mu.Lock()
	s.seen = append(s.seen, q)
	answer, said, wait := s.answer, s.said, s.wait
	if len(s.seen) <= s.free {
		wait = nil
	}
	s.mu.Unlock()
	if s.asked != nil {
		s.asked <- struct{}{}
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return toolcrib.Answer{}, ctx.Err()
		}
	}
	if !said {
		return toolcrib.Answer{}, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "nobody answered in time"}
	}
	return toolcrib.Answer{Decision: answer, By: "test"}, nil
}

func (s *absent) says(d toolcrib.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.said = d, true
}

func (s *absent) questions() []toolcrib.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// keepProject is a project with layers, and somebody who does not answer.
func keepProject(t *testing.T, change func(*settings.Config)) (*App, string, *absent) {
	t.Helper()
	a, dir := layerProject(t, change)
	s := &absent{}
	a.Crib.Approver = s
	return a, dir, s
}

// inSession makes a call of a session, and gives what the caller is told.
func inSession(t *testing.T, a *App, session, tool string, input map[string]any, out any) string {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: raw, Caller: toolcrib.Caller{Subject: "test", Session: session}})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, raw, err)
	}
	told := ""
	for _, c := range r.Content {
		if c.Notice {
			told += c.Text
		}
	}
	if out != nil {
		if err := json.Unmarshal(r.Value, out); err != nil {
			t.Fatal(err)
		}
	}
	return told
}

// sees runs a line and wants it to print something.
func sees(t *testing.T, a *App, session, line, want string) (told string) {
	t.Helper()
	var out ran
	told = inSession(t, a, session, "run_command", map[string]any{"command": line, "timeout": 60}, &out)
	if out.Stdout != want {
		t.Errorf("%q printed %q, %s; want %q; told %q", line, out.Stdout, out.Stderr, want, told)
	}
	return told
}

// waits wants one layer to wait, and gives it.
func waits(t *testing.T, dir string, n int) WaitingLayer {
	t.Helper()
	list := Layers(filepath.Join(filepath.Dir(dir), "state")).Waiting()
	if len(list) != n {
		t.Fatalf("%d layers wait, not %d: %+v", len(list), n, list)
	}
	if n == 0 {
		return WaitingLayer{}
	}
	return list[0]
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

// TestNextCommandSeesWhatWaits: what nobody answers for is kept, the session's next
// commands see it, a read-only one as well, nobody else does, and an answer to the sum
// applies all of it.
func TestNextCommandSeesWhatWaits(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	before := inventory(t, dir)
	told := sees(t, a, "one", `echo two > a; mkdir n; echo 1 > n/1; rm src/x.go`, "")
	id := waits(t, dir, 1).ID
	if !strings.Contains(told, "as layer "+id) || !strings.Contains(told, "toolcrib layers apply "+id) {
		t.Errorf("told %q", told)
	}
	if now := inventory(t, dir); now != before {
		t.Fatalf("the project was changed:\n%s", now)
	}
	if told := sees(t, a, "one", `cat a n/1; ls src`, "two\n1\n"); told != "" {
		t.Errorf("told %q of a command that changed nothing", told)
	}
	if told := sees(t, a, "one", `true | cat a`, "two\n"); told != "" {
		t.Errorf("told %q of a command that only reads", told)
	}
	sees(t, a, "two", `cat a; ls src`, "one\nx.go\n")
	sees(t, a, "", `cat a`, "one\n")
	if len(desk.questions()) != 1 {
		t.Errorf("asked %d times about one change", len(desk.questions()))
	}
	sees(t, a, "two", `echo other > b`, "")
	waits(t, dir, 2)
	sees(t, a, "one", `echo three >> a; echo 2 >> n/1; cat b 2>/dev/null`, "")
	waits(t, dir, 2)
	desk.says(toolcrib.Allow)
	if told := sees(t, a, "one", `mkdir src; echo new > src/x.go; mv n m; cat m/1`, "1\n2\n"); told != "" {
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, "a"), "two\nthree\n")
	holds(t, filepath.Join(dir, "m", "1"), "1\n2\n")
	holds(t, filepath.Join(dir, "src", "x.go"), "new\n")
	if q := desk.questions(); !strings.Contains(q[len(q)-1].Preview, "+three") {
		t.Errorf("the last question does not show the sum:\n%s", q[len(q)-1].Preview)
	}
	if left := waits(t, dir, 1); left.Caller.Session != "two" {
		t.Errorf("%+v waits", left)
	}
}

// TestDeniedCommandKeepsWhatWaited: a guard that refuses what a command did leaves
// what earlier ones left as it was; a person who refuses has seen all of it.
func TestDeniedCommandKeepsWhatWaited(t *testing.T) {
	a, dir, desk := keepProject(t, func(c *settings.Config) {
		c.Permissions.Deny = []string{"write_file(./src/**)", "delete_file(./src/**)"}
	})
	sees(t, a, "one", `echo two > a; mkdir n; echo 1 > n/1`, "")
	id := waits(t, dir, 1).ID
	for _, line := range []string{`echo x > src/x.go; rm a; rm -r n`, `rm -rf src a n; echo 1 > other`, `mv src n/src`} {
		if err := os.WriteFile(filepath.Join(dir, "do.sh"), []byte(line), 0o644); err != nil { // it is not judged by what it says
			t.Fatal(err)
		}
		told := sees(t, a, "one", `sh do.sh`, "")
		if !strings.HasPrefix(told, "Nothing") || !strings.Contains(told, "Layer "+id+" still waits") {
			t.Errorf("%q: told %q", line, told)
		}
		sees(t, a, "one", `cat a n/1 src/x.go; ls`, "two\n1\npackage x\na\nconf\ndo.sh\nn\nsrc\n")
	}
	before := inventory(t, dir)
	desk.says(toolcrib.Deny)
	if told := sees(t, a, "one", `echo more >> a`, ""); !strings.Contains(told, "a person said no") || !strings.Contains(told, "layer "+id) {
		t.Errorf("told %q", told)
	}
	waits(t, dir, 0)
	sees(t, a, "one", `cat a`, "one\n")
	if now := inventory(t, dir); now != before {
		t.Errorf("the project was changed:\n%s", now)
	}
}

// TestAllowedCommandDoesNotVouch: a command that a rule allows does not carry along what
// an unasked one has left.
func TestAllowedCommandDoesNotVouch(t *testing.T) {
	a, dir, desk := keepProject(t, func(c *settings.Config) { c.Permissions.Allow = []string{"run_command(sh do.sh)"} })
	if err := os.WriteFile(filepath.Join(dir, "do.sh"), []byte("echo built > out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if told := sees(t, a, "two", `sh do.sh`, ""); told != "" { // alone it is applied
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, "out"), "built\n")
	sees(t, a, "one", `echo two > a`, "")
	if err := os.WriteFile(filepath.Join(dir, "do.sh"), []byte("echo again > out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if told := sees(t, a, "one", `sh do.sh; true`, ""); !strings.Contains(told, "as layer "+waits(t, dir, 1).ID) {
		t.Errorf("told %q", told)
	}
	sees(t, a, "one", `sh do.sh`, "")
	holds(t, filepath.Join(dir, "a"), "one\n")
	holds(t, filepath.Join(dir, "out"), "built\n")
	if q := desk.questions(); len(q) < 2 {
		t.Errorf("asked %d times", len(q))
	}
}

// TestPersonWorksMeanwhile: what a person changes below what waits is never lost. What
// only a later command touches is no conflict.
func TestPersonWorksMeanwhile(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	sees(t, a, "one", `echo mine >> a`, "")
	waits(t, dir, 1)
	for path, text := range map[string]string{"a": "theirs\n", "new": "theirs\n"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if told := sees(t, a, "one", `cat a new; echo 1 > n`, "one\nmine\ntheirs\n"); !strings.Contains(told, "as layer "+waits(t, dir, 1).ID) {
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, "a"), "theirs\n")
	desk.says(toolcrib.Allow) // a yes without a version keeps what the person wrote
	if told := sees(t, a, "one", `cat a; echo more >> new`, "one\nmine\n"); !strings.Contains(told, "These were not applied: "+filepath.Join(dir, "a")) {
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, "a"), "theirs\n")
	holds(t, filepath.Join(dir, "new"), "theirs\nmore\n")
	holds(t, filepath.Join(dir, "n"), "1\n")
	waits(t, dir, 0)
}

// TestCommandsBesideEachOther: commands of a session that run at once all see what
// waits. Of two that nobody answers for, one is kept, and the other is told.
func TestCommandsBesideEachOther(t *testing.T) {
	a, dir, _ := keepProject(t, nil)
	sees(t, a, "one", `echo two > a`, "")
	var wg sync.WaitGroup
	told := make([]string, 3)
	for i := range told {
		wg.Go(func() {
			var out ran
			raw, _ := json.Marshal(map[string]any{"command": "cat a; sleep 0.5; echo x > n" + string(rune('0'+i)), "timeout": 60})
			r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: raw, Caller: toolcrib.Caller{Subject: "test", Session: "one"}})
			if err == nil {
				err = json.Unmarshal(r.Value, &out)
			}
			if err != nil || out.Stdout != "two\n" {
				t.Errorf("%v, %+v", err, out)
				return
			}
			for _, c := range r.Content {
				if c.Notice {
					told[i] += c.Text
				}
			}
		})
	}
	wg.Wait()
	waits(t, dir, 1)
	kept := 0
	for _, text := range told {
		switch {
		case strings.Contains(text, "The changes wait for an answer"):
			kept++
		case !strings.Contains(text, "run it again"):
			t.Errorf("told %q", text)
		}
	}
	if kept == 0 {
		t.Error("none was kept")
	}
	sees(t, a, "one", `cat a`, "two\n")
}

// TestRepeatedCommandAsksAgain: who answers late is heard when the same command is run
// again, which may change nothing by then.
func TestRepeatedCommandAsksAgain(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	line := `test -d n || mkdir n; test -f n/1 || echo 1 > n/1`
	sees(t, a, "one", line, "")
	sees(t, a, "one", line, "")
	q := desk.questions()
	if len(q) != 2 || q[0].Preview != q[1].Preview {
		t.Fatalf("asked %+v", q)
	}
	desk.says(toolcrib.Allow)
	if told := sees(t, a, "one", line, ""); told != "" {
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, "n", "1"), "1\n")
	waits(t, dir, 0)
}

// TestWaitingSurvives: another Toolcrib on the same state leaves what waits alone, and
// a caller of it with the same session sees it.
func TestWaitingSurvives(t *testing.T) {
	a, dir, _ := keepProject(t, nil)
	sees(t, a, "one", `echo two > a; rm -rf conf/nothing`, "")
	want := waits(t, dir, 1)
	base := filepath.Dir(dir)
	cfg := settings.Defaults()
	cfg.Toolboxes.Shell.AllowShell, cfg.Sandbox.Layers = true, true
	b, err := Open(t.Context(), cfg, Needs{State: filepath.Join(base, "state"), Dir: dir, Home: filepath.Join(base, "home"), Private: []string{filepath.Join(base, "state")}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	b.Crib.Approver = &absent{}
	sees(t, b, "one", `cat a`, "two\n")
	if now := waits(t, dir, 1); now.ID != want.ID || !now.At.Equal(want.At) {
		t.Errorf("%+v waits, before %+v", now, want)
	}
}

// inBackground starts a line and gives its job.
func inBackground(t *testing.T, a *App, line string) string {
	t.Helper()
	var out struct {
		Job string `json:"job"`
	}
	inSession(t, a, "one", "start_command", map[string]any{"command": line, "wait": 0}, &out)
	return out.Job
}

type jobState struct {
	Running bool     `json:"running"`
	Text    string   `json:"text"`
	Notes   []string `json:"notes"`
}

// jobEnds waits for the end of a job and gives what is said of it then.
func jobEnds(t *testing.T, a *App, job string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var out jobState
		inSession(t, a, "one", "command_output", map[string]any{"job": job}, &out)
		if !out.Running {
			return strings.Join(out.Notes, "\n")
		}
	}
	t.Fatal("the job does not end")
	return ""
}

// printed waits until a job has printed something.
func printed(t *testing.T, a *App, job, want string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var out jobState
		if inSession(t, a, "one", "command_output", map[string]any{"job": job}, &out); out.Text == want {
			return
		}
	}
	t.Fatalf("the job does not print %q", want)
}

// TestBackgroundCommandsOnLayers: what a command in the background changes is asked
// about when it has ended, and it sees what waits.
func TestBackgroundCommandsOnLayers(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	sees(t, a, "one", `echo 0 > before`, "")
	desk.says(toolcrib.Allow)
	before := inventory(t, dir)
	desk.asked, desk.wait, desk.free = make(chan struct{}, 8), make(chan struct{}), len(desk.questions())+1
	job := inBackground(t, a, `cat before; read x; echo two > a`)
	printed(t, a, job, "0\n")
	inSession(t, a, "one", "command_input", map[string]any{"job": job, "text": "go"}, nil)
	<-desk.asked // about what was typed
	<-desk.asked
	var out jobState
	inSession(t, a, "one", "command_output", map[string]any{"job": job}, &out)
	if !out.Running || !strings.Contains(strings.Join(out.Notes, ""), "a person may be asked") {
		t.Errorf("while the person thinks: %+v", out)
	}
	if now := inventory(t, dir); now != before {
		t.Fatalf("the project was changed:\n%s", now)
	}
	close(desk.wait)
	if notes := jobEnds(t, a, job); strings.Contains(notes, "Nothing that the command changed") {
		t.Errorf("told %q", notes)
	}
	holds(t, filepath.Join(dir, "a"), "two\n")
	holds(t, filepath.Join(dir, "before"), "0\n")
	waits(t, dir, 0)
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "state", "layers", "*", "lock")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v are left, not what was applied", left, err)
	}
}

// TestStoppedCommandIsJudged: what a command did until its caller stopped it counts.
func TestStoppedCommandIsJudged(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	desk.says(toolcrib.Allow)
	job := inBackground(t, a, `echo two > a; echo ready; sleep 600`)
	printed(t, a, job, "ready\n")
	inSession(t, a, "one", "stop_command", map[string]any{"job": job}, nil)
	if notes := jobEnds(t, a, job); strings.Contains(notes, "Nothing that the command changed") {
		t.Errorf("told %q", notes)
	}
	holds(t, filepath.Join(dir, "a"), "two\n")
	if q := desk.questions(); len(q) != 1 || !strings.Contains(q[0].Preview, "+two") {
		t.Errorf("asked %+v", q)
	}
}

// TestBackgroundChangesWait: a command in the background whose changes nobody answers
// for leaves them to the session.
func TestBackgroundChangesWait(t *testing.T) {
	a, dir, _ := keepProject(t, nil)
	before := inventory(t, dir)
	job := inBackground(t, a, `echo two > a; echo ready; sleep 600`)
	printed(t, a, job, "ready\n")
	inSession(t, a, "one", "stop_command", map[string]any{"job": job}, nil)
	if notes := jobEnds(t, a, job); !strings.Contains(notes, "as layer "+waits(t, dir, 1).ID) {
		t.Errorf("told %q", notes)
	}
	sees(t, a, "one", `cat a`, "two\n")
	if now := inventory(t, dir); now != before {
		t.Errorf("the project was changed:\n%s", now)
	}
}

// TestCutOffCommandsChangeNothing: neither the time limit nor the end of Toolcrib has
// half of something applied or kept.
func TestCutOffCommandsChangeNothing(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	desk.says(toolcrib.Allow)
	before := inventory(t, dir)
	var out struct {
		TimedOut bool     `json:"timed_out"`
		Notes    []string `json:"notes"`
	}
	inSession(t, a, "one", "run_command", map[string]any{"command": `echo two > a; sleep 600`, "timeout": 2}, &out)
	if !out.TimedOut || !strings.Contains(strings.Join(out.Notes, ""), "nothing that it changed was applied") {
		t.Errorf("%+v", out)
	}
	job := inBackground(t, a, `echo two > a; echo ready; sleep 600`)
	printed(t, a, job, "ready\n")
	if err := a.shell.Close(); err != nil { // as at the end of Toolcrib
		t.Error(err)
	}
	if now := inventory(t, dir); now != before {
		t.Errorf("the project was changed:\n%s", now)
	}
	waits(t, dir, 0)
	if len(desk.questions()) != 0 {
		t.Errorf("asked %+v", desk.questions())
	}
}

// TestTakingBackWhatWaitsIsJudged: a command after which nothing is left of what earlier
// ones of its session left has changed what waits, and needs the same rights and answers
// for it as for other files.
func TestTakingBackWhatWaitsIsJudged(t *testing.T) {
	const takeBack = `rm -r n; echo one > a; mkdir -p src; echo "package x" > src/x.go`
	a, dir, desk := keepProject(t, nil)
	before := inventory(t, dir)
	leave := func() string {
		t.Helper()
		sees(t, a, "one", `echo two > a; mkdir n; echo 1 > n/1; rm src/x.go`, "")
		return waits(t, dir, 1).ID
	}
	id := leave()
	stillWaits := func(told, why string) {
		t.Helper()
		if !strings.Contains(told, why) || !strings.Contains(told, "Layer "+id+" still waits") || waits(t, dir, 1).ID != id {
			t.Errorf("told %q, not %q", told, why)
		}
		sees(t, a, "one", `cat a n/1; ls src`, "two\n1\n")
	}
	stillWaits(sees(t, a, "one", takeBack, ""), "Nothing that the command changed was applied") // nobody answers
	desk.says(toolcrib.Deny)
	stillWaits(sees(t, a, "one", takeBack, ""), "a person said no")
	q := desk.questions()
	if last := q[len(q)-1].Preview; !strings.Contains(last, "left as layer "+id) || !strings.Contains(last, "+two") {
		t.Errorf("asked\n%s", last)
	}
	desk.says(toolcrib.Allow)
	if told := sees(t, a, "one", takeBack, ""); told != "" {
		t.Errorf("told %q", told)
	}
	waits(t, dir, 0)
	sees(t, a, "one", `cat a; ls`, "one\na\nconf\nsrc\n")
	if now := inventory(t, dir); now != before {
		t.Errorf("the project was changed:\n%s", now)
	}
}

// TestTakingBackARepositoryThatWaits: also of what may not be applied in a repository.
func TestTakingBackARepositoryThatWaits(t *testing.T) {
	a, dir, desk := keepProject(t, nil)
	before := inventory(t, dir)
	sees(t, a, "one", `git init -q sub; echo two > a`, "")
	id := waits(t, dir, 1).ID
	const takeBack = `rm -rf sub; echo one > a`
	if told := sees(t, a, "one", takeBack, ""); !strings.Contains(told, "Layer "+id+" still waits") {
		t.Errorf("nobody answers: told %q", told)
	}
	desk.says(toolcrib.Allow)
	if told := sees(t, a, "one", takeBack, ""); told != "" {
		t.Errorf("told %q", told)
	}
	waits(t, dir, 0)
	if now := inventory(t, dir); now != before {
		t.Errorf("the project was changed:\n%s", now)
	}
}

// TestPlanLeavesWhatWaits: in the mode plan no command drops what commands in another mode
// left waiting, and neither does one against a rule.
func TestPlanLeavesWhatWaits(t *testing.T) {
	for name, change := range map[string]func(*settings.Config){
		"plan": func(c *settings.Config) { c.Mode = "plan" },
		"rule": func(c *settings.Config) { c.Permissions.Deny, c.Mode = []string{"delete_file(./n)"}, "yolo" },
		"none": func(c *settings.Config) { c.Mode = "yolo" },
	} {
		t.Run(name, func(t *testing.T) {
			var cfg settings.Config
			a, dir, _ := keepProject(t, func(c *settings.Config) { cfg = *c })
			sees(t, a, "one", `mkdir n`, "")
			id := waits(t, dir, 1).ID
			change(&cfg)
			base := filepath.Dir(dir)
			state := filepath.Join(base, "state")
			b, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: filepath.Join(base, "home"), Private: []string{state}})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close(context.Background())
			told := sees(t, b, "one", `x=rm; "$x"dir n`, "")
			if name == "none" {
				waits(t, dir, 0)
				return
			}
			if !strings.Contains(told, "Layer "+id+" still waits") || waits(t, dir, 1).ID != id {
				t.Errorf("told %q", told)
			}
			sees(t, b, "one", `ls -d n`, "n\n")
		})
	}
}
