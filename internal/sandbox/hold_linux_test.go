package sandbox_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// listing is all that lies below a directory.
func listing(t testing.TB, root string) []string {
	t.Helper()
	out := []string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if path != root && err == nil {
			rel, _ := filepath.Rel(root, path)
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func placesIn(top string, names ...string) []sandbox.Place {
	var out []sandbox.Place
	for _, name := range names {
		name, link := strings.CutPrefix(name, "link ")
		out = append(out, sandbox.Place{Path: filepath.Join(top, name), Link: link})
	}
	return out
}

func TestHold(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "file", "there/x")
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	places := placesIn(top, ".vscode", ".github/workflows", ".github/actions", "there/.idea", "link inc", "gone/../nothing")
	before := listing(t, top)
	first, covers, err := holds.Make(top, places)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range covers {
		rel, _ := filepath.Rel(top, c.Path)
		got = append(got, []string{"hide", "fix", "pin"}[c.Kind]+" "+rel)
	}
	if diff := cmp.Diff([]string{"fix .vscode", "pin .github", "fix .github/workflows", "fix .github/actions", "fix there/.idea", "pin inc", "fix nothing"}, got); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
	second, again, err := holds.Make(top, places)
	if err != nil || len(again) != len(covers) {
		t.Errorf("the second gets %d covers of %d, error %v", len(again), len(covers), err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(top, ".vscode")); err != nil {
		t.Errorf("it went while it was in use: %v", err)
	}
	// What a person makes there meanwhile stays.
	if err := os.WriteFile(filepath.Join(top, ".vscode", "settings.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(top, "there", ".idea")); err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "there/.idea")
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	want := append([]string{".vscode", ".vscode/settings.json"}, before...)
	want = append(want, "there/.idea")
	got = listing(t, top)
	if len(got) != len(want) {
		t.Errorf("afterwards there are %q, want %q", got, want)
	}
	if info, err := os.Lstat(filepath.Join(top, ".vscode")); err != nil || info.Mode()&os.ModeSticky != 0 {
		t.Errorf("a person's directory is %v, error %v", info.Mode(), err)
	}
	if left := listing(t, holds.Dir); len(left) > 0 {
		t.Errorf("lists stay: %q", left)
	}
}

// TestHoldLinks: a link on the way leads nowhere else.
func TestHoldLinks(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(top, "outside")
	project := filepath.Join(top, "project")
	plantTree(t, top, "outside/file", "project/file")
	if err := os.Symlink(outside, filepath.Join(project, ".github")); err != nil {
		t.Fatal(err)
	}
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	if _, _, err := holds.Make(project, placesIn(project, ".github/workflows")); err == nil {
		t.Error("a place behind a link was held")
	}
	if got := listing(t, outside); len(got) != 1 {
		t.Errorf("outside there are %q", got)
	}
	if left := listing(t, holds.Dir); len(left) > 0 {
		t.Errorf("lists stay: %q", left)
	}
}

// TestHoldKilled: whenever a process is killed, the next one removes what it
// left; and many at once neither lose a placeholder nor leave one.
func TestHoldKilled(t *testing.T) {
	if dir := os.Getenv("HOLD_TEST_TOP"); dir != "" {
		holds := &sandbox.Holds{Dir: os.Getenv("HOLD_TEST_DIR")}
		for {
			hold, covers, err := holds.Make(dir, placesIn(dir, ".a", ".b/c", ".d", "link e"))
			if err != nil || len(covers) != 5 {
				t.Fatal(covers, err)
			}
			for _, c := range covers {
				if _, err := os.Lstat(c.Path); err != nil {
					t.Fatal(err)
				}
			}
			if err := hold.Release(); err != nil {
				t.Fatal(err)
			}
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 6 {
				var out strings.Builder
				c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestHoldKilled$")
				c.Env = append(os.Environ(), "HOLD_TEST_TOP="+top, "HOLD_TEST_DIR="+holds.Dir)
				c.Stdout = &out
				if err := c.Start(); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
				_ = c.Process.Kill()
				_ = c.Wait()
				if strings.Contains(out.String(), "FAIL") {
					t.Errorf("one failed: %s", out.String())
				}
			}
		})
	}
	wait.Wait()
	if used, err := holds.Sweep(); err != nil || used > 0 {
		t.Errorf("%d lists are in use, error %v", used, err)
	}
	if left := append(listing(t, top), listing(t, holds.Dir)...); len(left) > 0 {
		t.Errorf("these stay: %q", left)
	}
	if _, err := (&sandbox.Holds{Dir: filepath.Join(top, "none")}).Sweep(); err != nil {
		t.Error(err)
	}
}

// TestHoldInEachOther: a place may lie in two granted directories. Who ends does
// not remove it while the other has a use for it, and it goes in the end.
func TestHoldInEachOther(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "sub/file")
	before := listing(t, top)
	sub := filepath.Join(top, "sub")
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	hold := func(top, name string) *sandbox.Hold {
		t.Helper()
		made, covers, err := holds.Make(top, placesIn(top, name, filepath.Join(filepath.Dir(name), ".github", "workflows")))
		if err != nil || len(covers) != 3 {
			t.Fatalf("%v, error %v", covers, err)
		}
		return made
	}
	for i := range 2 {
		both := []*sandbox.Hold{hold(top, "sub/.vscode"), hold(sub, ".vscode")}
		if err := both[i].Release(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{".vscode", ".github", ".github/workflows"} {
			if _, err := os.Lstat(filepath.Join(sub, name)); err != nil {
				t.Errorf("it went while it was in use: %v", err)
			}
		}
		if err := both[1-i].Release(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, listing(t, top)); diff != "" {
			t.Errorf("afterwards (-want +got):\n%s", diff)
		}
	}
	if left := listing(t, holds.Dir); len(left) > 0 {
		t.Errorf("lists stay: %q", left)
	}
}

// TestOpenStraight: no link leads us out of what was granted, wherever it lies.
func TestOpenStraight(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "outside/repo/file", "in/dir/file")
	for link, to := range map[string]string{"in/end": "../outside", "in/dir/on": "../../outside"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, good := range map[string]bool{"in/dir": true, "in/end": false, "in/end/repo": false, "in/dir/on/repo": false, "in/dir/file": false, "in/none": false} {
		root, err := sandbox.OpenStraight(filepath.Join(top, name))
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if _, err := root.Lstat("file"); err != nil {
				t.Error(err)
			}
			_ = root.Close()
		}
	}
}

// TestPlaceholderIsNotRemembered: what was a placeholder may be filled, and the
// directory that it lies in does not tell.
func TestPlaceholderIsNotRemembered(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.NewShield("", []string{".env"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "pkg", "deep", ".vscode")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // so that what is seen is remembered
	look := func() (found []string) {
		t.Helper()
		covers, err := s.Covers([]files.Dir{{Path: root, Write: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range covers {
			found = append(found, c.Path)
		}
		return found
	}
	look()
	plantTree(t, dir, ".env")
	if found := look(); !slices.Contains(found, dir) || !slices.Contains(found, filepath.Join(dir, ".env")) {
		t.Errorf("what is covered is %q", found)
	}
}

// TestPlaceholdersByTwoNames: a directory that is mounted at a second place has
// its placeholders as long as somebody needs them by either name.
func TestPlaceholdersByTwoNames(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "--bind", one, two).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", two).Run() })
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	first, _, err := holds.Make(one, placesIn(one, ".vscode", "link inc"))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := holds.Make(two, placesIn(two, ".vscode", "link inc"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".vscode", "inc"}, listing(t, one)); diff != "" {
		t.Errorf("the other one removed what is still needed:\n%s", diff)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if left := listing(t, one); len(left) > 0 {
		t.Errorf("%q stays", left)
	}
}

// TestPlaceholderIsRemovedWhateverIsInTheWay: the name under which a link is
// taken away may be taken.
func TestPlaceholderIsRemovedWhateverIsInTheWay(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holds := &sandbox.Holds{Dir: filepath.Join(t.TempDir(), "holds")}
	hold, _, err := holds.Make(top, placesIn(top, "link inc"))
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "inc.held-by-toolcrib")
	if err := hold.Release(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"inc.held-by-toolcrib"}, listing(t, top)); diff != "" {
		t.Error(diff)
	}
}

// TestMadeInALongRun: what was made beside a program that runs all day is more
// likely to be the person's, and is told instead of being set aside.
func TestMadeInALongRun(t *testing.T) {
	for _, ran := range []time.Duration{0, time.Hour} {
		root := t.TempDir()
		s := shield(t, "", []string{".env"}, nil)
		var err error
		if s.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
			t.Fatal(err)
		}
		s.Holds = &sandbox.Holds{Dir: t.TempDir()}
		found, err := s.Look([]files.Dir{{Path: root, Write: true}})
		if err != nil {
			t.Fatal(err)
		}
		found.BeganBefore(ran)
		file := filepath.Join(root, ".npmrc")
		if err := os.WriteFile(file, []byte("script-shell=x"), 0o644); err != nil {
			t.Fatal(err)
		}
		notes := found.Sweep()
		_, err = os.Lstat(file)
		if stays := err == nil; stays != (ran > 0) || len(notes) != 1 || !strings.Contains(notes[0], ".npmrc") {
			t.Errorf("after %v: it stays: %v, %q", ran, stays, notes)
		}
	}
}
