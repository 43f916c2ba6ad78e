package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// recipe is work that programs do on a directory.
type recipe struct {
	name  string
	needs string // programs, by spaces
	ready string // a line that makes what there is before, run directly
	line  string
	// lost are facts about paths that a layer does not keep, by a part of what would be said.
	lost []string
}

// grove is where a recipe is carried out: each time in the same directory, so that
// paths in files agree.
type grove struct {
	t    *testing.T
	app  *App
	base string // with work, and what became of it
	env  []string
}

// newGrove makes one with its projects in TMPDIR, and the state of Toolcrib in
// TOOLCRIB_TREES_STATE if that is set: file systems differ.
func newGrove(t *testing.T) *grove {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	if elsewhere := os.Getenv("TOOLCRIB_TREES_STATE"); elsewhere != "" {
		if state, err = os.MkdirTemp(elsewhere, "state"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(state) })
	}
	g := &grove{t: t, base: base}
	for _, dir := range []string{"work", "home"} {
		if err := os.Mkdir(g.at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cfg := settings.Defaults()
	cfg.Toolboxes.Shell.AllowShell, cfg.Mode, cfg.Sandbox.Layers = true, "auto-edit", true
	cfg.Toolboxes.Shell.MaxTimeout = 10 * time.Minute
	if g.app, err = Open(t.Context(), cfg, Needs{State: state, Dir: g.at("work"), Home: g.at("home"), Private: []string{state}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if e := g.app.Sandbox.Explain(t.Context(), "run_command", 0); e.Refusal != "" && os.Getenv("CI") == "" {
		t.Skipf("no sandbox works on this machine: %s", e.Refusal)
	}
	g.app.Crib.Approver = &asker{answer: toolcrib.Allow} // others obey what git sessions and npm change
	out, err := runCommand(t.Context(), g.app, `env`, 30)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.Stdout) {
		g.env = append(g.env, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "/var/cache/build", g.at("cache")))
	}
	return g
}

func (g *grove) at(name string) string { return filepath.Join(g.base, name) }

// directly runs a line without Toolcrib.
func (g *grove) directly(line string, network bool) (string, int) {
	g.t.Helper()
	c := exec.CommandContext(g.t.Context(), "/bin/sh", "-c", line)
	c.Dir, c.Env = g.at("work"), g.env
	if network { // where packages come from may be set for this machine
		c.Env = append(os.Environ(), g.env...)
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		g.t.Fatal(err)
	}
	if code := c.ProcessState.ExitCode(); code != 0 {
		g.t.Logf("%.200s: exit %d: %.2000s", line, code, stderr.String())
	}
	return stdout.String(), c.ProcessState.ExitCode()
}

// run does what a recipe says in a new copy, and gives what came of it.
func (g *grove) run(how func() (string, int)) (tree map[string]facts, took time.Duration) {
	g.t.Helper()
	g.must("rm", "-rf", g.at("work"))
	g.must("cp", "-a", g.at("before"), g.at("work"))
	began := time.Now()
	stdout, code := how()
	took = time.Since(began)
	tree = factsOf(g.t, g.at("work"))
	tree["the command"] = facts{"stdout": stdout}
	if code != 0 {
		g.t.Fatalf("exit %d", code)
	}
	return tree, took
}

func (g *grove) must(args ...string) {
	g.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		g.t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// onLayer runs a line as a command, and says what the caller is told of it.
func (g *grove) onLayer(line string) (string, int) {
	g.t.Helper()
	input, err := json.Marshal(map[string]any{"command": line, "timeout": 600})
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := g.app.Crib.Call(g.t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}})
	if err != nil {
		g.t.Fatal(err)
	}
	for _, c := range r.Content {
		if c.Notice {
			g.t.Errorf("told: %s", c.Text)
		}
	}
	var out ran
	if err := json.Unmarshal(r.Value, &out); err != nil {
		g.t.Fatal(err)
	}
	if out.ExitCode != 0 || out.TimedOut {
		g.t.Logf("%.200s: %+v", line, out)
	}
	return out.Stdout, out.ExitCode
}

// grow carries out a recipe three times, and compares.
func (g *grove) grow(r recipe) {
	g.t.Helper()
	for program := range strings.FieldsSeq(r.needs) {
		if out, code := g.directly("command -v "+program, false); code != 0 || out == "" {
			g.t.Skipf("there is no %s", program)
		}
	}
	if _, code := g.directly(r.ready, true); code != 0 {
		g.t.Skip("it cannot be made ready")
	}
	g.must("mv", g.at("work"), g.at("before"))
	one, took1 := g.run(func() (string, int) { return g.directly(r.line, false) })
	two, took2 := g.run(func() (string, int) { return g.directly(r.line, false) })
	three, took := g.run(func() (string, int) { return g.onLayer(r.line) })
	list, agreed := differences(one, two, three)
	g.t.Logf("%d facts about %d paths agree; directly %v and %v, on a layer %v", agreed, len(one), took1.Round(time.Millisecond), took2.Round(time.Millisecond), took.Round(time.Millisecond))
	shown := 0
	for _, said := range list {
		if r.losing(said) {
			continue
		}
		if shown++; shown > 30 {
			g.t.Errorf("and others, %d in all", len(list))
			break
		}
		g.t.Error(said)
	}
}

func (r recipe) losing(said string) bool {
	for _, lost := range r.lost {
		if strings.Contains(said, lost) {
			return true
		}
	}
	return false
}

// TestTreesAreLikeDirectRuns: what a command leaves on a layer and is applied is what it
// leaves without one. With TOOLCRIB_TREES=1 also for what takes minutes and packages from
// the network. TMPDIR says on which file system.
func TestTreesAreLikeDirectRuns(t *testing.T) {
	all := recipes()
	if os.Getenv("TOOLCRIB_TREES") != "" {
		all = append(all, bigRecipes()...)
	}
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) { newGrove(t).grow(r) })
	}
}

// TestFileThatMakesAWorkTree: the .git file of a new work tree is asked about if it leads
// into a repository that was there and is used, and refused if it leads anywhere else.
func TestFileThatMakesAWorkTree(t *testing.T) {
	g := newGrove(t)
	if _, code := g.directly(gitReady+` && mkdir -p .git/modules/m evil/modules/m && cp -r .git/objects .git/refs .git/HEAD evil`, false); code != 0 {
		t.Fatal("no repository")
	}
	s := &asker{answer: toolcrib.Allow}
	g.app.Crib.Approver = s
	for target, made := range map[string]bool{
		"../.git/modules/m": true, g.at("work") + "/.git/modules/m": true, "../evil": false, "../.git": false, "../.git/modules/../../evil/modules/m": false, "../.git/modules/m/../../../evil": false, "../.GIT/modules/m": false, "/etc": false, "": false,
	} {
		s.seen = nil
		out, _, err := lineOn(t, g.app, `git tag t$(date +%s%N); mkdir s; printf 'gitdir: %s\n' '`+target+`' > s/.git; echo x > s/x`)
		if err != nil || out.ExitCode != 0 {
			t.Fatal(out, err)
		}
		_, err = os.Lstat(g.at("work") + "/s/.git")
		if (err == nil) != made || made && len(s.seen) == 0 {
			t.Errorf("%q: made %v, asked %d times", target, err == nil, len(s.seen))
		}
		g.must("rm", "-rf", g.at("work")+"/s")
	}
}

// TestPartOfAClosedDirectory: what is left out of a new directory does not keep the rest
// out, also where the command took the rights away to write in it or to read it.
func TestPartOfAClosedDirectory(t *testing.T) {
	g := newGrove(t)
	out, told, err := lineOn(t, g.app, `mkdir -p n/m/k; echo 1 > n/m/ok; echo 2 > n/m/k/two; echo x > n/m/.env.local; chmod 0 n/m/k/two; chmod 500 n/m/k n/m; chmod 300 n`)
	if err != nil || out.ExitCode != 0 || !strings.HasPrefix(told, "These new files were not kept: ") || strings.Contains(told, "two") {
		t.Fatalf("%+v, told %q, %v", out, told, err)
	}
	for name, want := range map[string]os.FileMode{"n": os.ModeDir | 0o300, "n/m": os.ModeDir | 0o500, "n/m/k": os.ModeDir | 0o500, "n/m/ok": 0o644, "n/m/k/two": 0} {
		if info, err := os.Lstat(g.at("work/" + name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := os.Lstat(g.at("work/n/m/.env.local")); !os.IsNotExist(err) {
		t.Errorf("a denied file was kept: %v", err)
	}
	g.must("chmod", "-R", "u+rwX", g.at("work"))
}
