package layer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// undoScript changes something in every way that a step knows.
const undoScript = `echo more >> a; rm -r src; mkdir src; echo y > src/y; mkdir -p n/m; echo 1 > n/m/1; chmod 700 tool; rmdir empty; ln -sfn b link; mv conf/.env c`

// TestUndoRefusesWhatWasChangedSince: if one path is no longer as it was applied, all
// stay as they are, and the path is named.
func TestUndoRefusesWhatWasChangedSince(t *testing.T) {
	for name, c := range map[string]struct{ person, path string }{
		"edited":                   {`echo theirs >> a`, "a"},
		"edited with the old time": {`touch -r a t; printf 'ENO\nmore\n' > a; touch -r t a; rm t`, "a"},
		"replaced":                 {`echo theirs > t; mv t a`, "a"},
		"removed":                  {`rm a`, "a"},
		"removed what was made":    {`rm n/m/1`, "n"},
		"added to what was made":   {`echo theirs > n/m/2`, "n"},
		"edited what was made":     {`echo theirs >> n/m/1`, "n"},
		"made what was deleted":    {`mkdir empty`, "empty"},
		"another link":             {`ln -sfn tool link`, "link"},
		"permissions":              {`chmod 600 a`, "a"},
		"permissions back":         {`chmod 755 tool`, "tool"},
		"moved away":               {`mv c d`, "c"},
		"a directory to a link":    {`mv src away; ln -s away src`, "src"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, project)
			g.apply(g.run(undoScript))
			g.now() // so that the person comes a tick later
			g.live(c.person)
			before := listing(t, g.tree.Root)
			err := g.undo()
			refusedFor(t, err, filepath.Join(g.tree.Root, c.path), false)
			if now := listing(t, g.tree.Root); now != before {
				t.Errorf("now:\n%s\nthe person left:\n%s", now, before)
			}
		})
	}
}

// TestUndoneMeanwhile: somebody who changes a path while the others are taken back loses
// nothing, and finds everything as it was applied.
func TestUndoneMeanwhile(t *testing.T) {
	for name, person := range map[string]string{
		"edited":   `echo theirs >> a`,
		"replaced": `echo theirs > t; mv t a`,
		"added to": `test ! -d n || echo theirs > n/m/2`,
	} {
		for at := range 8 {
			t.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
				g := newGround(t, project)
				g.apply(g.run(undoScript))
				g.now()
				a, err := ReadApplied(g.record())
				if err != nil {
					t.Fatal(err)
				}
				left, theirs := at, ""
				err = a.undo(t.Context(), func(string) {
					if left--; left == 0 {
						g.live(person)
						text, _ := os.ReadFile(filepath.Join(g.tree.Root, "a"))
						theirs = string(text)
					}
				})
				text, errRead := os.ReadFile(filepath.Join(g.tree.Root, "a"))
				if errRead != nil || strings.Contains(theirs, "theirs") && !strings.Contains(string(text), "theirs") {
					t.Errorf("what the person wrote is lost: %q, %v", text, errRead)
				}
				if err == nil {
					return
				}
				conflict, ok := errors.AsType[*ConflictError](err)
				if !ok || len(conflict.Paths) != 1 || errors.Is(err, ErrStuck) {
					t.Fatalf("%v", err)
				}
				if text, err := os.ReadFile(filepath.Join(g.tree.Root, "src", "y")); err != nil || string(text) != "y\n" {
					t.Errorf("the others are not as they were applied: %q, %v", text, err)
				}
				if _, err := ReadApplied(g.record()); err != nil {
					t.Errorf("it cannot be tried again: %v", err)
				}
			})
		}
	}
}

// TestUndoneOnce: what was taken back cannot be taken back again.
func TestUndoneOnce(t *testing.T) {
	g := newGround(t, project)
	g.apply(g.run(undoScript))
	if err := g.undo(); err != nil {
		t.Fatal(err)
	}
	if err := g.undo(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

// dieUndoing takes a layer back and ends in the middle of it.
func dieUndoing() {
	at, err := strconv.Atoi(os.Getenv("LAYER_UNDO_DIE_AT"))
	if err == nil {
		var a *Applied
		if a, err = ReadApplied(os.Getenv("LAYER_RECORD")); err == nil {
			err = a.undo(context.Background(), func(string) {
				if at--; at < 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					time.Sleep(time.Minute)
				}
			})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(8)
	}
	os.Exit(0)
}

// TestKilledWhileUndoing: whoever is killed at any point leaves what was applied or what
// was there before, once somebody has recovered.
func TestKilledWhileUndoing(t *testing.T) {
	t.Run("beside", func(t *testing.T) { killUndoing(t, false) })
	t.Run("on another file system", func(t *testing.T) { killUndoing(t, true) })
}

func killUndoing(t *testing.T, elsewhere bool) {
	ended := false
	points := 0
	for at := 0; !ended; at++ {
		g := newGround(t, project)
		if elsewhere {
			g.elsewhere()
		}
		before := listing(t, g.tree.Root)
		g.apply(g.run(undoScript))
		after, persons := listing(t, g.tree.Root), g.personsStage()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "LAYER_UNDO_DIE_AT="+strconv.Itoa(at), "LAYER_RECORD="+g.record())
		out, err := cmd.CombinedOutput()
		if exit, died := errors.AsType[*exec.ExitError](err); err == nil {
			ended = true
		} else if !died || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("point %d: %v\n%s", at, err, out)
		}
		points++
		if _, err := Recover(g.record()); err != nil {
			t.Fatalf("point %d: %v", at, err)
		}
		g.onlyPersonsStage(at, persons)
		switch now := listing(t, g.tree.Root); {
		case now == before:
		case now == after && !ended && (at == 0 || elsewhere && at <= 2): // nothing was taken back yet
			if err := g.undo(); err != nil {
				t.Errorf("point %d: it cannot be tried again: %v", at, err)
			}
		default:
			t.Errorf("point %d: half of it:\n%s", at, now)
		}
	}
	if points < 10 {
		t.Errorf("only %d points", points)
	}
}

// TestRandomUndo: of commands one after the other, those that are taken back in the
// reverse order leave what was there before each of them, and any other order is refused
// where it would lose something.
func TestRandomUndo(t *testing.T) {
	seeds := uint64(200)
	if os.Getenv("LAYER_FEW") != "" { // all of them were tried by the user who started this
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // the same for each run
		g := newGround(t, randomProject)
		var was []string // before each command
		var records []string
		for i := range 3 {
			g.tree.Dir = filepath.Join(g.dir, "layer"+strconv.Itoa(i))
			for _, dir := range []string{g.tree.Upper(), g.tree.Work()} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			before := listing(t, g.tree.Root)
			s := g.run("umask 022; " + randomScript(r.Uint64()))
			for _, c := range s.Changes { // a file that was moved, edited and made again looks like one that somebody removed
				if c.Conflict {
					s.Overwrite(c.Path)
				}
			}
			record := filepath.Join(g.dir, "record"+strconv.Itoa(i))
			if err := s.Apply(t.Context(), Options{Record: record}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !s.Empty() {
				was, records = append(was, before), append(records, record)
			}
		}
		undo := func(i int) error {
			a, err := ReadApplied(records[i])
			if err != nil {
				return err
			}
			return a.Undo(t.Context())
		}
		if len(records) > 1 && r.IntN(2) == 0 { // an earlier one first
			now := listing(t, g.tree.Root)
			i := r.IntN(len(records) - 1)
			switch err := undo(i); {
			case err == nil: // nothing later was about the same
				continue
			case listing(t, g.tree.Root) != now:
				t.Fatalf("seed %d: refused, and changed something: %v", seed, err)
			}
		}
		for i := range slices.Backward(records) {
			if err := undo(i); err != nil {
				t.Fatalf("seed %d: %d: %v", seed, i, err)
			}
			if now := listing(t, g.tree.Root); now != was[i] {
				t.Fatalf("seed %d: %d:\n%s\nbefore:\n%s", seed, i, now, was[i])
			}
		}
	}
}

// TestUndoIsShown: a person sees what taking back would do, which is what it does.
func TestUndoIsShown(t *testing.T) {
	g := newGround(t, project)
	g.apply(g.run(undoScript))
	a, err := ReadApplied(g.record())
	if err != nil {
		t.Fatal(err)
	}
	shown, err := shownUndo(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"created " + filepath.Join(g.tree.Root, "empty"), "deleted " + g.tree.Root + "/n/m/1", "changed " + filepath.Join(g.tree.Root, "a"), "-more\n", "created " + g.tree.Root + "/src/deep/file", "(permissions -rwxr-xr-x, before -rwx------)"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not in\n%s", part, shown)
		}
	}
}

func shownUndo(a *Applied) (string, error) {
	s, err := a.Changes()
	if err != nil {
		return "", err
	}
	return s.ShowUndo(func(Change) bool { return false }), nil
}

// TestWhatIsLeftStays: what was made in a directory that was there is left when the rest is
// taken back, also by a crash in the middle, and nothing else is.
func TestWhatIsLeftStays(t *testing.T) {
	for at := -1; at < 12; at += 2 {
		g := newGround(t, project)
		g.apply(g.run(undoScript + `; mkdir src/left new; echo 1 > src/left/1; echo 2 > left; echo 3 > new/left; ln a conf/left`))
		a, err := ReadApplied(g.record())
		if err != nil {
			t.Fatal(err)
		}
		a.Leave(func(path string) bool { return strings.Contains(filepath.Base(path), "left") })
		g.live(`echo more >> left`) // it is not looked at
		left := at
		func() {
			defer func() { _ = recover() }()
			err = a.undo(t.Context(), func(string) {
				if left--; left == -1 {
					panic("killed")
				}
			})
		}()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(g.record()); err != nil {
			t.Fatal(err)
		}
		if at == 0 {
			continue // nothing was written down yet
		}
		for name, want := range map[string]string{"left": "2\nmore\n", "conf/left": "one\nmore\n", "a": "one\n", "src/left/1": "1\n", "src/y": "", "new/left": ""} {
			text, err := os.ReadFile(filepath.Join(g.tree.Root, name))
			if string(text) != want || (err != nil) != (want == "") {
				t.Errorf("point %d: %s holds %q, %v", at, name, text, err)
			}
		}
	}
}

// elsewhere has the layer and its record lie on another file system than the tree.
func (g *ground) elsewhere() {
	g.t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "layer")
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = removeAll(dir) })
	if same, err := sameMount(dir, g.tree.Root); err != nil || same {
		g.t.Fatalf("/dev/shm is no other file system: %v", err)
	}
	g.at = filepath.Join(dir, "one")
	g.tree.Dir = filepath.Join(g.at, "0")
	for _, dir := range []string{g.tree.Upper(), g.tree.Work()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			g.t.Fatal(err)
		}
	}
}

// TestUndoOnAnotherFileSystem: where the layer lies on another file system, a copy of
// what was there is kept, and taken back.
func TestUndoOnAnotherFileSystem(t *testing.T) {
	g := newGround(t, project)
	g.elsewhere()
	before := listing(t, g.tree.Root)
	s := g.run(undoScript)
	if why := s.Unkept(func(Change) bool { return true }); why != "" {
		t.Error(why)
	}
	g.apply(s)
	if left, _ := filepath.Glob(filepath.Join(g.dir, ".toolcrib-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	a, err := ReadApplied(g.record())
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := shownUndo(a); err != nil || !strings.Contains(shown, "-more\n") {
		t.Errorf("%s, %v", shown, err)
	}
	g.now()
	g.live(`echo theirs >> a`)
	refusedFor(t, a.Undo(t.Context()), filepath.Join(g.tree.Root, "a"), false)
	g.live(`printf 'one\nmore\n' > a`)
	refusedFor(t, a.Unchanged(), filepath.Join(g.tree.Root, "a"), false) // equal, and not as it was applied
	if left, _ := filepath.Glob(filepath.Join(g.dir, ".toolcrib-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	a.written = time.Now().Add(time.Hour)
	a.rec.Steps = slices.Clone(a.rec.Steps)
	for i := range a.rec.Steps { // and as if it were
		if st := &a.rec.Steps[i]; st.Live == "a" {
			e, err := place{unix.AT_FDCWD, filepath.Join(g.tree.Root, "a")}.entry()
			if err != nil {
				t.Fatal(err)
			}
			st.NewTime = e.mtime.UnixNano()
		}
	}
	if err := a.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := listing(t, g.tree.Root); now != before {
		t.Errorf("undone:\n%s\nbefore\n%s", now, before)
	}
	if left, _ := filepath.Glob(filepath.Join(g.dir, ".toolcrib-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestUnkeptIsSaid: what is too large to be copied is said in the question, and when
// somebody wants it back.
func TestUnkeptIsSaid(t *testing.T) {
	if why := tooMuch(maxKeptFiles, maxKeptBytes); why != "" {
		t.Error(why)
	}
	for _, c := range []struct {
		files int
		size  int64
	}{{maxKeptFiles + 1, 0}, {1, maxKeptBytes + 1}} {
		if tooMuch(c.files, c.size) == "" {
			t.Errorf("%+v is kept", c)
		}
	}
	g := newGround(t, project)
	g.apply(g.run(`rm a`))
	a, err := ReadApplied(g.record())
	if err != nil {
		t.Fatal(err)
	}
	a.rec.Trees[0].NotKept = "it was too large"
	before := listing(t, g.tree.Root)
	if err := a.Undo(t.Context()); err == nil || !strings.Contains(err.Error(), "it was too large") || listing(t, g.tree.Root) != before {
		t.Errorf("%v", err)
	}
}
