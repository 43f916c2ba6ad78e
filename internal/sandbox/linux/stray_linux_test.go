//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestMovedOut: a program that stands in what a person moves out of what was
// granted, or has it open, is ended. One that has nothing of it goes on.
func TestMovedOut(t *testing.T) {
	const out = "../out/x"
	mapping := `python3 -c 'import mmap, time; f = open("dist/run", "r+"); m = mmap.mmap(f.fileno(), 0); f.close(); open("ready", "w"); time.sleep(600)' & while [ ! -e ready ]; do sleep 0.01; done`
	for _, c := range []struct {
		name, script, from, to string
		named                  string // in what is said; empty if the program goes on
	}{
		{"it stands in it", "cd dist", "dist", out, "/dist was moved out"},
		{"it stands below it", "cd dist/sub", "dist", out, "/dist/sub was moved out"},
		{"it stands in it, deep down", "cd src/a/b", "src/a/b", out, "/src/a/b was moved out"},
		{"another process stands in it", "(cd dist; exec sleep 600) & while [ \"$(readlink /proc/$!/cwd)\" != $TOP/dist ]; do sleep 0.01; done", "dist", out, "/dist was moved out"},
		{"a directory that is open", "exec 9<dist", "dist", out, "/dist was moved out"},
		{"a file that is open", "exec 9>>dist/run", "dist/run", out, "/dist/run was moved out"},
		{"a file that is open for reading", "exec 9<top", "top", out, "/top was moved out"},
		{"a file in it is open", "exec 9>>dist/run", "dist", out, "/dist/run was moved out"},
		{"a file in it is mapped", mapping, "dist", out, "was moved out"},
		{"it is run", "cp $(command -v sleep) dist/sleep; dist/sleep 600 & while [ \"$(readlink /proc/$!/exe)\" != $TOP/dist/sleep ]; do sleep 0.01; done", "dist", out, "/dist/sleep was moved out"},
		{"something in it is protected", "cd conf", "conf", out, "/conf was moved out"},
		{"it stands beside what is protected", "cd conf/sub", "conf/sub", out, "/conf/sub was moved out"},
		{"the file that is open gets two names", "exec 9>>conf/a; ln conf/a conf/b", "conf/a", out, "was moved out"},

		{"nothing", ":", "dist", out, ""},
		{"it stands elsewhere", "cd src; exec 9>>top", "dist", out, ""},
		{"it stays", "cd dist; exec 9>>run", "dist", "src/dist", ""},
		{"it stays, and leaves a directory with something protected", "cd conf/sub; exec 9>>../a", "conf/sub", "src/sub", ""},
		{"a file stays, and leaves such a directory", "exec 9>>conf/a", "conf/a", "src/c", ""},
		{"it is removed", "cd dist; exec 9>>run; rm -r ../dist", "src", "src2", ""},
		{"it stands at the root", "cd /; exec 9</", "dist", out, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsPython(t, c.script)
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			around := tempProject(t)
			root := filepath.Join(around, "proj")
			put(t, root, map[string]string{"dist/run": "old\n", "dist/sub/x": "", "src/a/b/c": "", "top": "", "conf/.env": "TOKEN=x", "conf/sub/x": "", "conf/a": ""})
			put(t, around, map[string]string{"out/y": ""})
			said, end := longJob(t, s, root, "TOP="+root+"; cd $TOP; "+c.script+"; while :; do echo on; sleep 0.01; done")
			said.rounds(t, "on")
			run := runIn(t, s)
			if run.stray() { // and from now on it is known how things were called
				t.Fatal("it has something outside already")
			}
			if err := unix.Rename(filepath.Join(root, c.from), filepath.Join(root, c.to)); err != nil {
				t.Fatal(err)
			}
			endsOrNot(t, run, said, end, c.named)
		})
	}
}

// endsOrNot: a program was ended, and the note has a text; without one it goes on.
func endsOrNot(t *testing.T, run *run, said *speech, end func() toolcrib.Exit, named string) {
	t.Helper()
	if named == "" {
		if run.stray() {
			t.Error("it has something outside")
		}
		said.rounds(t, "on")
	} else {
		select {
		case <-said.over:
		case <-time.After(time.Minute):
			t.Error("it goes on")
		}
	}
	exit := end()
	ended := slices.ContainsFunc(exit.Notes, func(n string) bool {
		return strings.Contains(n, "The program was ended") && strings.Contains(n, named)
	})
	if ended != (named != "") {
		t.Errorf("%+v", exit)
	}
}

// TestMovedBetweenGrants: what a person moves from one granted directory to another
// one is still within what was granted.
func TestMovedBetweenGrants(t *testing.T) {
	for _, c := range []struct{ name, script, from, to, named string }{
		{"a file", "exec 9>>a/x/f", "a/x/f", "b/f", ""},
		{"a directory", "cd a/x", "a/x", "b/y", ""},
		{"a file in it", "exec 9<a/x/f", "a/x", "b/y", ""},
		{"out of an inner one", "exec 9>>a/sub/s", "a/sub/s", "a/s", ""},
		{"into an inner one", "exec 9>>a/x/f", "a/x/f", "a/sub/f", ""},
		{"out of all", "exec 9>>a/x/f", "a/x/f", "out/f", "/a/x/f was moved out"},
		{"out of the inner one, and of all", "cd a/sub/d", "a/sub/d", "out/d", "/a/sub/d was moved out"},
		{"to where it may not write", "exec 9>>a/x/f", "a/x/f", "fixed/f", "/a/x/f was moved out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			root := tempProject(t)
			put(t, root, map[string]string{"a/x/f": "", "a/sub/s": "", "a/sub/d/y": "", "b/.env": "TOKEN=x", "fixed/y": "", "out/y": ""})
			var grant toolcrib.Grant
			for _, name := range []string{"a", "a/sub", "b", "fixed"} {
				grant.Dirs = append(grant.Dirs, files.Dir{Path: filepath.Join(root, name), Write: name != "fixed"})
			}
			said, end := longJobIn(t, s, grant, "cd "+root+"; "+c.script+"; while :; do echo on; sleep 0.01; done")
			said.rounds(t, "on")
			run := runIn(t, s)
			if run.stray() { // and from now on it is known how things were called
				t.Fatal("it has something outside already")
			}
			if err := unix.Rename(filepath.Join(root, c.from), filepath.Join(root, c.to)); err != nil {
				t.Fatal(err)
			}
			endsOrNot(t, run, said, end, c.named)
		})
	}
}

// TestHiddenRebuilt: a program that has open what hides a place, or stands there, has
// nothing of what a person puts in that place anew.
func TestHiddenRebuilt(t *testing.T) {
	const path = `python3 -c 'import os, time; os.open(".env", os.O_PATH); open("ready", "w"); time.sleep(600)' & while [ ! -e ready ]; do sleep 0.01; done`
	for _, c := range []struct{ name, script string }{
		{"a denied directory is open", "exec 9<dist"},
		{"it stands in a denied directory", "cd dist"},
		{"it holds a hidden file", path},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsPython(t, c.script)
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			root := tempProject(t)
			put(t, root, map[string]string{"dist/run": "old\n", ".env": "TOKEN=x", "next": "TOKEN=y"})
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/dist/**", root + "/dist"}}
			said, end := longJobIn(t, s, grant, "cd "+root+"; "+c.script+"; while :; do echo on; sleep 0.01; done")
			said.rounds(t, "on")
			run := runIn(t, s)
			if err := os.RemoveAll(filepath.Join(root, "dist")); err != nil {
				t.Fatal(err)
			}
			put(t, root, map[string]string{"dist/run": "new\n"})
			if err := os.Rename(filepath.Join(root, "next"), filepath.Join(root, ".env")); err != nil {
				t.Fatal(err)
			}
			endsOrNot(t, run, said, end, "")
		})
	}
}

// runIn gives the program that runs.
func runIn(t *testing.T, s *Sandbox) *run {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.moves.mu.Lock()
		for _, guards := range s.moves.watches {
			for g := range guards {
				s.moves.mu.Unlock()
				return g.run
			}
		}
		s.moves.mu.Unlock()
	}
	t.Fatal("nothing is watched")
	return nil
}

// TestMovedOutOfAPlainGrant: so it is where nothing is covered.
func TestMovedOutOfAPlainGrant(t *testing.T) {
	s := open(t, Config{})
	around := tempProject(t)
	put(t, around, map[string]string{"proj/dist/run": "x"})
	said, end := longJob(t, s, filepath.Join(around, "proj"), "cd dist; while :; do echo on; sleep 0.01; done")
	said.rounds(t, "on")
	if err := os.Rename(filepath.Join(around, "proj", "dist"), filepath.Join(around, "dist")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-said.over:
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
	if exit := end(); !slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "was moved out") }) {
		t.Errorf("%+v", exit)
	}
}

// TestSearchWithoutEnd: what is not found for lack of time, or because there is too
// much, may lie in what was granted. What a program shut hides nothing.
func TestSearchWithoutEnd(t *testing.T) {
	root, out := tempProject(t), tempProject(t)
	put(t, root, map[string]string{"a/b/f": "", "g": ""})
	put(t, out, map[string]string{"f": ""})
	inside, outside := filepath.Join(root, "a", "b", "f"), filepath.Join(out, "f")
	over := make(chan struct{})
	close(over)
	for _, c := range []struct {
		name, path string
		bound      func(s *treeSearch)
		ended      chan struct{}
		decided    bool
		left       int
	}{
		{"inside", inside, func(*treeSearch) {}, nil, true, 0},
		{"outside", outside, func(*treeSearch) {}, nil, true, 1},
		{"few entries", inside, func(s *treeSearch) { s.left = 1 }, nil, false, 1},
		{"no entries", outside, func(s *treeSearch) { s.left = 0 }, nil, false, 1},
		{"no time", inside, func(s *treeSearch) { s.until = time.Now().Add(-1) }, nil, false, 1},
		{"the program has ended", outside, func(*treeSearch) {}, over, false, 1},
	} {
		r := &run{job: &job{binds: []bind{{source: root, target: root, write: true, strict: true}}}}
		links, s := map[sandbox.FileID]string{idAt(c.path): "x"}, newSearch()
		c.bound(s)
		if decided := r.keeps(links, s, c.ended); decided != c.decided || len(links) != c.left {
			t.Errorf("%s: %v, %v", c.name, decided, links)
		}
	}

	r := &run{job: &job{binds: []bind{{source: root, target: root, write: true, strict: true}}}}
	links := map[sandbox.FileID]string{idAt(outside): "x"}
	if r.sought(links, over); r.strays.grown != 1 || !r.strays.later.After(time.Time{}) {
		t.Errorf("the next search gets no more: %d", r.strays.grown)
	}
	r.strays.later = time.Now().Add(time.Hour)
	if r.sought(links, make(chan struct{})) || r.strays.grown != 1 {
		t.Error("it was searched too early")
	}
	r.strays.later = time.Time{}
	if !r.sought(links, make(chan struct{})) || len(links) != 1 {
		t.Error("it is not known to lie outside")
	}
	if err := os.Chmod(filepath.Join(root, "a"), 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Join(root, "a"), 0o700) }() // so that it can be removed
	if !r.sought(links, nil) || len(links) != 1 {
		t.Error("a directory that was shut hides it")
	}
}

// TestMappedStray: a mapping of what has no name is known by its number, with the
// device where that can be compared.
func TestMappedStray(t *testing.T) {
	const maps = "7f85cec00000-7f85cec01000 rw-s 00000000 fe:00 10683326                   /\n" +
		"7f85cec01000-7f85cec02000 rw-s 00000000 00:2a 257 /\n" +
		"7f85cec02000-7f85cec03000 r--p 00027000 fe:00 325835                     /usr/lib/ld.so\n" +
		"7f85cec03000-7f85cec04000 r--p 00027000 fe:00 4 /x /\n" +
		"7f85cec04000-7f85cec05000 rw-p 00000000 00:00 0 \n"
	want := []sandbox.FileID{{Device: unix.Mkdev(0xfe, 0), Inode: 10683326}, {Inode: 257}}
	if got := mappedStray([]byte(maps)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestMappedWithoutADevice: where file systems have no device of their own, as on
// btrfs, the one of a mapping is not that of the file, and its name may be gone.
func TestMappedWithoutADevice(t *testing.T) {
	file := func(major, minor uint32) *openLook {
		id := sandbox.FileID{Device: unix.Mkdev(major, minor), Inode: 257}
		return &openLook{fresh: map[sandbox.FileID]sandbox.Cover{id: {Path: "/p/.mcp.json", ID: id, Kind: sandbox.Fix}}, numbers: map[uint64][]sandbox.FileID{257: {id}}}
	}
	for _, c := range []struct {
		name, line string
		look       *openLook
		found      bool
	}{
		{"another device, as btrfs has it", "7f0-7f1 rw-s 00000000 00:2a 257 /p/x/h (deleted)", file(0, 0x31), true},
		{"another number", "7f0-7f1 rw-s 00000000 00:2a 258 /p/x/h (deleted)", file(0, 0x31), false},
		{"memory", "7f0-7f1 rw-s 00000000 00:2a 257 /memfd:x (deleted)", file(0, 0x31), false},
		{"only read", "7f0-7f1 r--p 00000000 00:2a 257 /p/x/h (deleted)", file(0, 0x31), false},
		{"the same device", "7f0-7f1 rw-s 00000000 fe:01 257 /p/x/h (deleted)", file(0xfe, 1), true},
		{"another disk", "7f0-7f1 rw-s 00000000 fe:02 257 /p/x/h (deleted)", file(0xfe, 1), false},
		{"a disk, and a file without", "7f0-7f1 rw-s 00000000 fe:02 257 /p/x/h (deleted)", file(0, 0x31), false},
	} {
		if err := c.look.mapped([]byte(c.line + "\n")); (err != nil) != c.found {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
