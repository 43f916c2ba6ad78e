package bundles

import (
	"context"
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
)

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if what := os.Getenv("BUNDLES_DO"); what != "" {
		if err := doomed(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(8)
		}
		os.Exit(0)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

// at is a person's home.
func at(home string) *Bundles {
	return &Bundles{
		State: filepath.Join(home, "state"), Store: filepath.Join(home, "store"), LockFile: filepath.Join(home, "config", "toolcrib.lock"), Memory: filepath.Join(home, "state", "memory"),
		Dir: filepath.Join(home, "project"), Home: home, Now: func() time.Time { return time.Unix(0, 0) },
	}
}

// doomed does something in a home, and dies at a step of it.
func doomed(what string) error {
	b := at(os.Getenv("BUNDLES_HOME"))
	left, err := strconv.Atoi(os.Getenv("BUNDLES_DIE"))
	if err != nil {
		return err
	}
	b.reached = func(string) {
		if left--; left == 0 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				os.Exit(7)
			}
			select {} // until it is dead
		}
	}
	fmt.Println("begun")
	return do(context.Background(), b, what, os.Getenv("BUNDLES_FROM"))
}

// do changes something: it installs the second version, goes back, or removes.
func do(ctx context.Context, b *Bundles, what, from string) (err error) {
	project := strings.HasSuffix(what, " project")
	switch strings.TrimSuffix(what, " project") {
	case "rollback":
		_, err = b.Rollback(ctx, "kit", project)
	case "remove":
		_, err = b.Remove(ctx, "kit", project, false)
	default:
		c, fetchErr := b.Fetch(ctx, from, Want{Project: project})
		if fetchErr != nil {
			return fetchErr
		}
		_, err = b.Install(ctx, c)
		err = errors.Join(err, c.Close())
	}
	return err
}

// counts is what counts in a home, as one text.
func counts(b *Bundles) string {
	l := b.Load()
	var said []string
	for name, s := range l.Servers {
		said = append(said, name+"="+s.Command)
	}
	for name, a := range l.Agents {
		said = append(said, name+"="+a.Instructions)
	}
	for _, p := range l.Skills {
		text, err := os.ReadFile(filepath.Join(p.Path, "SKILL.md"))
		said = append(said, fmt.Sprintf("%s %v", text, err))
	}
	for _, f := range l.Faults {
		if !strings.Contains(f.Error(), "'toolcrib bundle sync'") { // it is not there, as before
			said = append(said, f.Error())
		}
	}
	slices.Sort(said)
	return strings.Join(said, "\n")
}

// life is what is done to homes: from a state, and how.
type life struct{ what, begin, from string }

// lives prepares a home for each thing that is done.
func lives(t *testing.T) []life {
	t.Helper()
	versions := [2]string{}
	for i := range versions {
		files := examples()["agx-bundle"].using(fmt.Sprintf("version%d", i+1))
		files["skills/one/SKILL.md"] = skillText(fmt.Sprintf("one%d", i+1))
		files["memory/flow.md"] = fmt.Sprintf("# Flow %d\n", i+1)
		versions[i] = files.folder(t)
	}
	home := func(kit int, project bool) string {
		b := at(filepath.Join(t.TempDir(), "home"))
		if err := os.MkdirAll(filepath.Join(b.Dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		install(t, b, texts{"SKILL.md": skillText("other")}.folder(t), Want{Name: "other"})
		for i := range kit {
			install(t, b, versions[i], Want{Project: project})
		}
		if err := os.CopyFS(b.Home+"-kept", os.DirFS(b.Home)); err != nil {
			t.Fatal(err)
		}
		return b.Home
	}
	return []life{
		{"install", home(0, false), versions[0]}, {"update", home(1, false), versions[1]}, {"rollback", home(2, false), ""}, {"remove", home(1, false), ""},
		{"install project", home(0, true), versions[0]}, {"update project", home(1, true), versions[1]}, {"remove project", home(2, true), ""},
	}
}

// doom runs a process that dies at a step, or is killed after a while, and reports whether
// it lived.
func doom(t *testing.T, l life, home string, step int, after time.Duration) (lived bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "BUNDLES_DO="+l.what, "BUNDLES_HOME="+home, "BUNDLES_FROM="+l.from, fmt.Sprintf("BUNDLES_DIE=%d", step))
	var told strings.Builder
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatalf("it did not begin: %v\n%s", err, told.String())
		}
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	}
	err = cmd.Wait()
	if failure, ok := errors.AsType[*exec.ExitError](err); ok && failure.ExitCode() == 8 {
		t.Fatalf("%s: %s", l.what, told.String())
	}
	return err == nil
}

// survived holds a home against the two states that it may be in, and goes on in it.
func survived(t *testing.T, l life, home, old, now string, clean map[string]string, when string) {
	t.Helper()
	b := at(home)
	state := counts(b)
	if state != old && state != now {
		t.Errorf("%s, killed %s, is neither the old nor the new state:\n%s\n--- old\n%s\n--- new\n%s", l.what, when, state, old, now)
	}
	if state == now && state != old {
		// What is left over is made up for by the next change, whatever it is.
		install(t, b, texts{"SKILL.md": skillText("third")}.folder(t), Want{Name: "third", Project: strings.Contains(l.what, "project")})
		if _, err := b.Remove(t.Context(), "third", strings.Contains(l.what, "project"), false); err != nil {
			t.Errorf("%s, killed %s: %v", l.what, when, err)
		}
		same(t, clean, snapshot(t, home))
		return
	}
	if err := do(t.Context(), b, l.what, l.from); err != nil {
		t.Errorf("%s, again after it was killed %s: %v", l.what, when, err)
		return
	}
	same(t, clean, snapshot(t, home))
}

// copyHome puts a home into the state in which it was kept. It stays in its place, since
// projects are known by theirs.
func copyHome(t *testing.T, home string) string {
	t.Helper()
	if err := removeTree(home); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(home, os.DirFS(home+"-kept")); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestKilled: whoever is killed at any step of a change leaves the old or the new state,
// and the next change works.
func TestKilled(t *testing.T) {
	for _, l := range lives(t) {
		t.Run(l.what, func(t *testing.T) {
			t.Parallel()
			whole := copyHome(t, l.begin)
			old := counts(at(whole))
			if err := do(t.Context(), at(whole), l.what, l.from); err != nil {
				t.Fatal(err)
			}
			now, clean := counts(at(whole)), snapshot(t, whole)
			if old == now || strings.Contains(old+now, "changed") {
				t.Fatalf("nothing happens:\n%s\n---\n%s", old, now)
			}
			step := 1
			for ; ; step++ {
				home := copyHome(t, l.begin)
				if doom(t, l, home, step, 0) {
					break
				}
				survived(t, l, home, old, now, clean, fmt.Sprintf("at step %d", step))
			}
			if step < 5 {
				t.Errorf("only %d steps", step)
			}
			tries := 4
			if n, err := strconv.Atoi(os.Getenv("BUNDLES_KILLS")); err == nil {
				tries = n
			}
			for range tries {
				home := copyHome(t, l.begin)
				after := time.Duration(rand.Int64N(int64(40*time.Millisecond))) + 1
				doom(t, l, home, 0, after)
				survived(t, l, home, old, now, clean, "after "+after.String())
			}
		})
	}
}
