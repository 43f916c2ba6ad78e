//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// inSession runs a line of a session on a layer over a project.
func inSession(t *testing.T, s *Sandbox, project, line string) (toolcrib.Exit, string) {
	t.Helper()
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}}
	var out strings.Builder
	cmd := toolcrib.Cmd{
		Path: "/bin/sh", Args: []string{"-c", line}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out, OnLayer: true,
		Call: toolcrib.Call{ID: "call", Input: []byte(strconv.Quote(line)), Caller: toolcrib.Caller{Subject: "test", Session: "one"}}, Tool: "run_command",
	}
	exit, err := s.Run(t.Context(), cmd, grant)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return exit, out.String()
}

// keepOf has what a program changed wait.
func keepOf(t *testing.T, exit toolcrib.Exit) string {
	t.Helper()
	if exit.Changes == nil {
		t.Fatal("there are no changes")
	}
	id, err := exit.Changes.Keep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := exit.Changes.Drop(); err != nil {
		t.Fatal(err)
	}
	return id
}

// keptProject is a directory with something to hide and to delete.
func keptProject(t *testing.T) (project, layers string) {
	t.Helper()
	dir := t.TempDir()
	project, layers = filepath.Join(dir, "project"), filepath.Join(dir, "layers")
	for name, text := range map[string]string{"a": "0\n", "gone/x": "x\n", "gone/y": "y\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(project, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return project, layers
}

// untilKilled starts this test once more as the process that dies, waits until it has
// written a number of marks and some time more, and kills it. It gives the marks.
func untilKilled(t *testing.T, project, layers string, marks int, more time.Duration) int {
	t.Helper()
	acks := filepath.Join(filepath.Dir(project), "acks")
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), "LINUX_TEST_KEEP="+project)
	if err := os.WriteFile(acks, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		text, err := os.ReadFile(acks)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	for end := time.Now().Add(time.Minute); count() < marks && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	time.Sleep(more)
	_ = c.Process.Kill() // it may have ended
	_ = c.Wait()
	return count()
}

func mark(t *testing.T, project string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(project), "acks"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("done\n")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWhileKeeping: what was told to wait does so, whenever its process dies, and
// the session's next command sees that or what came after it.
func TestKilledWhileKeeping(t *testing.T) {
	if project := os.Getenv("LINUX_TEST_KEEP"); project != "" {
		s := open(t, Config{Layers: filepath.Join(filepath.Dir(project), "layers")})
		for i := 1; ; i++ {
			exit, _ := inSession(t, s, project, `n=$(cat a); echo $((n+1)) > a; rm -rf gone; mkdir gone; echo $n > gone/$n`)
			keepOf(t, exit)
			mark(t, project)
		}
	}
	open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	project, layers := keptProject(t)
	seen := 0
	for range 12 {
		acked := untilKilled(t, project, layers, 1+rand.IntN(2), time.Duration(rand.IntN(60))*time.Millisecond)
		s := open(t, Config{Layers: layers})
		_, out := inSession(t, s, project, `cat a; ls gone`)
		var n, last int
		if _, err := fmt.Sscanf(out, "%d\n%d\n", &n, &last); err != nil || last != n-1 || strings.Count(out, "\n") != 2 || n < seen+acked || n > seen+acked+1 {
			t.Fatalf("%d were told to wait of %d, and the next command sees %q, %v", acked, seen, out, err)
		}
		seen = n
		if list := ListKept(layers); len(list) != 1 {
			t.Fatalf("%d layers wait: %+v", len(list), list)
		}
	}
	if text, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(text) != "0\n" {
		t.Errorf("the live file is %q, %v", text, err)
	}
}

// TestKilledWhileKeptIsApplied: all of a kept layer is applied, or nothing, and then it
// waits as before.
func TestKilledWhileKeptIsApplied(t *testing.T) {
	const many = 400
	if project := os.Getenv("LINUX_TEST_KEEP"); project != "" {
		layers := filepath.Join(filepath.Dir(project), "layers")
		list := ListKept(layers)
		changes, _, err := OpenKept(t.Context(), layers, list[0].ID, list[0].Dir)
		if err != nil {
			t.Fatal(err)
		}
		mark(t, project)
		if err := changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		return
	}
	open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	waited := 0
	for range 16 {
		project, layers := keptProject(t)
		s := open(t, Config{Layers: layers})
		exit, _ := inSession(t, s, project, fmt.Sprintf(`i=0; while [ $i -lt %d ]; do echo $i > f$i; i=$((i+1)); done; rm -r gone; mkdir gone; echo 1 > gone/z`, many))
		keepOf(t, exit)
		exit, _ = inSession(t, s, project, `echo 1 > a; rm f0`)
		id := keepOf(t, exit)
		untilKilled(t, project, layers, 1, time.Duration(rand.IntN(40_000))*time.Microsecond)
		s = open(t, Config{Layers: layers})
		made, err := filepath.Glob(filepath.Join(project, "f*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(made) == 0 {
			waited++
			if text, err := os.ReadFile(filepath.Join(project, "gone", "x")); err != nil || string(text) != "x\n" {
				t.Fatalf("half of it was applied: %q, %v", text, err)
			}
			if _, out := inSession(t, s, project, `cat a; ls gone; ls | wc -l`); strings.Fields(out)[0] != "1" || strings.Fields(out)[1] != "z" || strings.Fields(out)[2] != strconv.Itoa(many+1) {
				t.Fatalf("it does not wait as before: %q", out)
			}
			list := ListKept(layers)
			if len(list) != 1 || list[0].ID != id {
				t.Fatalf("%+v waits, not %s", list, id)
			}
			changes, _, err := OpenKept(t.Context(), layers, id, list[0].Dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
				t.Fatal(err)
			}
		}
		made, err = filepath.Glob(filepath.Join(project, "f*"))
		left, errLeft := os.ReadDir(filepath.Join(project, "gone"))
		text, errRead := os.ReadFile(filepath.Join(project, "a"))
		if err := errors.Join(err, errLeft, errRead); err != nil || len(made) != many-1 || len(left) != 1 || left[0].Name() != "z" || string(text) != "1\n" {
			t.Fatalf("%d files, %v, %q, %v", len(made), left, text, err)
		}
		if list := ListKept(layers); len(list) != 0 {
			t.Fatalf("%+v still waits", list)
		}
	}
	t.Logf("%d of 16 were killed before the end", waited)
}

// TestKeptEnds: what waits goes after its time, and the record of a layer that cannot be
// understood is left alone.
func TestKeptEnds(t *testing.T) {
	project, layers := keptProject(t)
	s := open(t, Config{Layers: layers})
	exit, _ := inSession(t, s, project, `echo 1 > a`)
	keepOf(t, exit)
	record := filepath.Join(layers, ListKept(layers)[0].Dir, keptName)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	k, err := readKept(filepath.Dir(record))
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(text), k.rec.At.Format(`"at":"2006-01-02`), k.rec.At.Add(-keepWaiting-24*time.Hour).Format(`"at":"2006-01-02`), 1)
	for _, c := range []struct {
		text string
		left bool
	}{{string(text), true}, {`{"version":99}`, true}, {`{`, true}, {old, false}} {
		if err := os.WriteFile(record, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		open(t, Config{Layers: layers})
		if _, err := os.Stat(record); (err == nil) != c.left {
			t.Errorf("%.60s: %v", c.text, err)
		}
	}
}

// TestKeptShowsNothingHidden: covers of what an earlier command removed are no
// obstacle, and the others hold.
func TestKeptShowsNothingHidden(t *testing.T) {
	project, layers := keptProject(t)
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ".env"), []byte("PASSWORD=swordfish\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Layers: layers, Shield: shield})
	exit, _ := inSession(t, s, project, `rm -r gone`)
	keepOf(t, exit)
	if err := os.WriteFile(filepath.Join(project, "gone", ".env"), []byte("PASSWORD=swordfish\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	exit, out := inSession(t, s, project, `cat .env gone/.env; cp .env x; cat x; ls gone`)
	if strings.Contains(out, "swordfish") {
		t.Errorf("a protected text was read: %s", out)
	}
	if exit.Changes != nil {
		if err := exit.Changes.Drop(); err != nil {
			t.Error(err)
		}
	}
}

// TestKeptKnowsWhatIsLedTo: what others obey because links lead there is asked about when
// the changes are applied later, too; and all of it, if that was not known.
func TestKeptKnowsWhatIsLedTo(t *testing.T) {
	project, layers := keptProject(t)
	put(t, project, map[string]string{"sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/config": "", "sub/.git/objects/x": "", "sub/.git/refs/x": "", "hooks/pre-commit": "x"})
	link(t, project, map[string]string{"sub/.git/hooks": "../../hooks"})
	s := open(t, Config{Layers: layers, Shield: obeyedShield(t)})
	ledTo := func(list []toolcrib.Change) (led []string) {
		for _, c := range list {
			if c.Led != nil {
				led = append(led, filepath.Base(c.Path))
			}
		}
		return led
	}
	exit, _ := inSession(t, s, project, `echo evil > hooks/pre-commit; echo 1 > a`)
	if led := ledTo(exit.Changes.List()); !slices.Equal(led, []string{"pre-commit"}) {
		t.Errorf("at once: %q", led)
	}
	id := keepOf(t, exit)
	again := func() []string {
		t.Helper()
		changes, _, err := OpenKept(t.Context(), layers, id, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = changes.Drop() }() // it waits further on
		return ledTo(changes.List())
	}
	if led := again(); !slices.Equal(led, []string{"pre-commit"}) {
		t.Errorf("later: %q", led)
	}
	k, err := readKept(filepath.Join(layers, ListKept(layers)[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	k.rec.Led, k.rec.Unled = nil, "nobody knows"
	if err := k.write(); err != nil {
		t.Fatal(err)
	}
	if led := again(); len(led) != 2 {
		t.Errorf("not known: %q", led)
	}
}

// TestKeptIsNotChangedByLooking: a directory that its owner cannot look into is opened to
// be read, and shut again.
func TestKeptIsNotChangedByLooking(t *testing.T) {
	project, layers := keptProject(t)
	s := open(t, Config{Layers: layers})
	t.Cleanup(func() { _ = layer.Remove(layers) })
	exit, _ := inSession(t, s, project, `mkdir n; echo 1 > n/1; chmod 0 n`)
	id := keepOf(t, exit)
	changes, k, err := OpenKept(t.Context(), layers, id, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := changes.Drop(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(layers, k.Dir, "*", layer.UpperName, "n"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("it has the mode %v, %v", info.Mode(), err)
	}
}

// TestKeptThatIsStuckIsTold: whoever wants to settle a layer that cannot be put in order
// is told so, and not that there is none.
func TestKeptThatIsStuckIsTold(t *testing.T) {
	project, layers := keptProject(t)
	s := open(t, Config{Layers: layers})
	exit, _ := inSession(t, s, project, `echo 1 > a`)
	id := keepOf(t, exit)
	listed := ListKept(layers)[0]
	dir := listed.Dir
	if err := os.WriteFile(filepath.Join(layers, dir, marksName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := OpenKept(t.Context(), layers, id, dir)
	for _, err := range []error{err, DropKept(t.Context(), layers, listed)} {
		if err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "cannot be put in order") {
			t.Errorf("told %v", err)
		}
	}
}

// FuzzKeptRecord: a record is read, or refused.
func FuzzKeptRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"l-a","trees":[{"root":"L3A=","dir":"0","later":[{"path":"YQ==","at":"2026-11-19T00:00:00Z"}]}]}`))
	f.Add([]byte(`{"version":1,"trees":[{"dir":"../x"}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, keptName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := readKept(dir)
		if err != nil {
			return
		}
		for _, tree := range k.trees {
			if filepath.Dir(tree.Dir) != dir {
				t.Errorf("a tree lies in %s", tree.Dir)
			}
		}
	})
}
