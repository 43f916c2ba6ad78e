package layer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/cribtest"
)

// dieApplying applies a layer and ends in the middle of it, as a process does that
// is killed.
func dieApplying() {
	at, err := strconv.Atoi(os.Getenv("LAYER_DIE_AT"))
	since, errSince := strconv.ParseInt(os.Getenv("LAYER_SINCE"), 10, 64)
	tree := Tree{Root: os.Getenv("LAYER_LIVE"), Dir: os.Getenv("LAYER_DIR")}
	if err = errors.Join(err, errSince); err == nil {
		var s *Set
		if s, err = Read(context.Background(), []Tree{tree}, time.Unix(0, since)); err == nil {
			if os.Getenv("LAYER_SAY") != "" {
				fmt.Println("now")
			}
			err = s.Apply(context.Background(), Options{Record: os.Getenv("LAYER_RECORD"), at: func(string) {
				if at--; at < 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					time.Sleep(time.Minute)
				}
			}})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(8)
	}
	os.Exit(0)
}

// dieAt applies what is on the layer in a process that is killed at a point; ended: there
// is no such point any more.
func (g *ground) dieAt(at int, since time.Time) (ended bool) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "LAYER_DIE_AT="+strconv.Itoa(at), "LAYER_SINCE="+strconv.FormatInt(since.UnixNano(), 10), "LAYER_LIVE="+g.tree.Root, "LAYER_DIR="+g.tree.Dir, "LAYER_RECORD="+g.record())
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	if exit, died := errors.AsType[*exec.ExitError](err); !died || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		g.t.Fatalf("point %d: %v\n%s", at, err, out)
	}
	return false
}

// personsStage makes a directory of a person beside the granted one, which has a name as
// those from which changes are applied.
func (g *ground) personsStage() string {
	g.t.Helper()
	path := filepath.Join(g.dir, stagePrefix+"NOTES", "text")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("mine"), 0o600)); err != nil {
		g.t.Fatal(err)
	}
	return path
}

// onlyPersonsStage wants that a crash has left no other.
func (g *ground) onlyPersonsStage(at int, persons string) {
	g.t.Helper()
	if text, err := os.ReadFile(persons); err != nil || string(text) != "mine" {
		g.t.Errorf("point %d: the file of the person has %q, %v", at, text, err)
	}
	if left, err := filepath.Glob(filepath.Join(g.dir, stagePrefix+"*")); err != nil || len(left) != 1 {
		g.t.Errorf("point %d: left: %q, %v", at, left, err)
	}
	if left, err := filepath.Glob(g.record() + ".*"); err != nil || len(left) != 0 {
		g.t.Errorf("point %d: left: %q, %v", at, left, err)
	}
}

// TestStageOfSomebodyElse: what a person has put in the place of a directory from which
// changes were applied is left alone.
func TestStageOfSomebodyElse(t *testing.T) {
	g := newGround(t, project)
	made, err := readStages(g.record())
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for range 4 {
		dir, err := made.beside(g.tree.Root)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	made.list[1].Inode = 0 // Toolcrib was killed before it was written down
	if err := made.write(); err != nil {
		t.Fatal(err)
	}
	mine := func(path string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(dirs[0], filepath.Join(g.dir, "away")); err != nil { // so that its number stays in use
		t.Fatal(err)
	}
	mine(filepath.Join(dirs[0], "text"))
	mine(filepath.Join(dirs[1], "text"))
	mine(filepath.Join(dirs[3], "what", "was", "copied"))
	if err := errors.Join(os.Remove(dirs[2]), os.Symlink(g.tree.Root, dirs[2])); err != nil {
		t.Fatal(err)
	}
	before := listing(t, g.tree.Root)
	if _, err := Recover(g.record()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs[:2] {
		if text, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || string(text) != "mine" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if _, err := os.Lstat(dirs[2]); err != nil || listing(t, g.tree.Root) != before {
		t.Errorf("%v\n%s", err, listing(t, g.tree.Root))
	}
	if _, err := os.Lstat(dirs[3]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", dirs[3], err)
	}
}

// TestKilledWhileApplying: whoever is killed at any point leaves all of the changes
// or none of them behind, once somebody has recovered.
func TestKilledWhileApplying(t *testing.T) {
	const script = `echo more >> a; rm -r src; mkdir src; echo y > src/y; mkdir -p n/m; echo 1 > n/m/1; chmod 700 tool; rmdir empty; ln -sfn b link; mv conf/.env c`
	direct := newGround(t, project)
	before := listing(t, direct.tree.Root)
	direct.live(script)
	after := listing(t, direct.tree.Root)
	t.Run("beside", func(t *testing.T) { killApplying(t, script, before, after, func(*ground) {}) })
	t.Run("on another file system", func(t *testing.T) { killApplying(t, script, before, after, (*ground).elsewhere) })
	t.Run("on several file systems", func(t *testing.T) { killApplying(t, script, before, after, (*ground).onSeveral) })
}

// onSeveral makes the tree an overlay over two file systems, where files have another
// number of a device than the directories around them.
func (g *ground) onSeveral() {
	g.t.Helper()
	if os.Getuid() != 0 {
		g.t.Skip("only root mounts")
	}
	g.elsewhere()
	upper, work := filepath.Join(g.at, "upper"), filepath.Join(g.at, "work")
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		g.t.Fatal(err)
	}
	if err := unix.Mount("overlay", g.tree.Root, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,xino=off", g.tree.Root, upper, work)); err != nil {
		g.t.Skipf("no overlay can be mounted here: %v", err)
	}
	g.t.Cleanup(func() {
		if err := unix.Unmount(g.tree.Root, unix.MNT_DETACH); err != nil {
			g.t.Error(err)
		}
	})
}

func killApplying(t *testing.T, script, before, after string, where func(*ground)) {
	ended := false
	for at := 0; !ended; at++ {
		g := newGround(t, "")
		where(g)
		g.live(project)
		since := g.now()
		g.on(script)
		persons := g.personsStage()
		ended = g.dieAt(at, since)
		if _, err := Recover(g.record()); err != nil {
			t.Fatalf("point %d: %v", at, err)
		}
		switch now := listing(t, g.tree.Root); {
		case now == after:
		case now == before && !ended:
		default:
			t.Errorf("point %d: half of it:\n%s", at, now)
		}
		if again, err := Recover(g.record()); again || err != nil {
			t.Errorf("point %d: recovered twice: %v", at, err)
		}
		g.onlyPersonsStage(at, persons)
	}
}

// TestLayersAsNobody runs the other tests once more as an unprivileged user.
func TestLayersAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return // they have run as one
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = removeAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	cribtest.Program(t, binary, self)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "LAYER_FEW=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestKilledWhileApplying") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestNobodysChangesAreLost(t *testing.T) {
	for name, c := range map[string]struct{ command, person, path string }{
		"edited":               {`echo mine >> a`, `echo theirs >> a`, "a"},
		"edited in its place":  {`echo mine >> a`, `printf ENO > a`, "a"},
		"replaced":             {`echo mine >> a`, `echo theirs > t; mv t a`, "a"},
		"replaced by an old":   {`echo mine >> a`, `mv b a`, "a"},
		"deleted by a person":  {`echo mine >> a`, `rm a`, "a"},
		"deleted by a command": {`rm a`, `echo theirs >> a`, "a"},
		"both made it":         {`echo mine > n`, `echo theirs > n`, "n"},
		"new in a deleted":     {`rm -r src`, `echo theirs > src/theirs`, "src/theirs"},
		"edited in a deleted":  {`rm -r src`, `echo theirs >> src/deep/file`, "src/deep/file"},
		"renamed directory":    {`echo mine >> src/x`, `mv src lib`, "src/x"},
		"directory to a link":  {`echo mine > src/n`, `mv src lib; ln -s /tmp src`, "src/n"},
		"swapped directories":  {`echo mine >> src/x`, `cp -rp src src.new; mv src src.old; mv src.new src`, "src/x"},
		"mode":                 {`chmod 700 tool`, `chmod 711 tool`, "tool"},
	} {
		t.Run(name+" meanwhile", func(t *testing.T) {
			g := newGround(t, project)
			since := g.now()
			g.on(c.command)
			g.live(c.person)
			before := listing(t, g.tree.Root)
			s, err := Read(t.Context(), []Tree{g.tree}, since)
			if err == nil {
				err = s.Apply(t.Context(), Options{Record: g.record()})
			}
			refusedFor(t, err, filepath.Join(g.tree.Root, c.path), name == "directory to a link" || name == "renamed directory")
			if now := listing(t, g.tree.Root); now != before {
				t.Errorf("now:\n%s\nthe person left:\n%s", now, before)
			}
		})
		t.Run(name+" while it was judged", func(t *testing.T) {
			g := newGround(t, project)
			s := g.run(c.command)
			g.live(c.person)
			before := listing(t, g.tree.Root)
			err := s.Apply(t.Context(), Options{Record: g.record()})
			refusedFor(t, err, filepath.Join(g.tree.Root, c.path), true)
			if now := listing(t, g.tree.Root); now != before {
				t.Errorf("now:\n%s\nthe person left:\n%s", now, before)
			}
		})
		t.Run(name+" while it was applied", func(t *testing.T) {
			g := newGround(t, project)
			s := g.run(c.command)
			before := ""
			err := s.Apply(t.Context(), Options{Record: g.record(), at: func(point string) {
				if point == "recorded" {
					g.live(c.person)
					before = listing(t, g.tree.Root)
				}
			}})
			refusedFor(t, err, filepath.Join(g.tree.Root, c.path), true)
			if now := listing(t, g.tree.Root); now != before {
				t.Errorf("now:\n%s\nthe person left:\n%s", now, before)
			}
		})
	}
}

// TestNothingIsLostInBetween: somebody who puts another file in the place of one that was
// taken out of the tree, and is not looked at yet, loses neither that nor what they had
// written before, also after a recovery.
func TestNothingIsLostInBetween(t *testing.T) {
	for name, c := range map[string]struct{ command, first, second string }{
		"replaced": {`echo mine > a`, `echo first >> a`, `echo second > t; mv t a`},
		"removed":  {`echo mine > a`, `echo first >> a`, `rm a`},
		"made":     {`rm a`, `echo first >> a`, `echo second > a`},
		"other":    {`rm a`, `echo first > t; mv t a`, `echo second > a`},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, project)
			s := g.run(c.command)
			taken := false
			err := s.Apply(t.Context(), Options{Record: g.record(), at: func(point string) {
				if point == "recorded" {
					g.live(c.first)
				}
			}, taken: func() {
				if !taken {
					taken = true
					g.live(c.second)
				}
			}})
			if !taken || !errors.Is(err, ErrStuck) {
				t.Errorf("%v", err)
			}
			for range 2 {
				if c.second != "rm a" {
					if text, err := os.ReadFile(filepath.Join(g.tree.Root, "a")); err != nil || string(text) != "second\n" {
						t.Errorf("the second file is %q, %v", text, err)
					}
				}
				// The kernel leaves a directory that only root can look into, which grep tells.
				if out, err := exec.CommandContext(t.Context(), "grep", "-rl", "first", g.tree.Root, g.tree.Dir).Output(); len(out) == 0 {
					t.Errorf("the first file is lost: %v", err)
				}
				if _, err := Recover(g.record()); err == nil {
					t.Error("it counts as recovered")
				}
			}
		})
	}
}

// refusedFor wants a conflict that names the path; elsewhere lets it be told of what
// is above it, or as an error of another kind.
func refusedFor(t *testing.T, err error, path string, elsewhere bool) {
	t.Helper()
	conflict, ok := errors.AsType[*ConflictError](err)
	switch {
	case err == nil:
		t.Error("it was applied")
	case elsewhere:
	case !ok || !strings.Contains(strings.Join(conflict.Paths, "\n"), path):
		t.Errorf("%v does not name %s", err, path)
	}
}
