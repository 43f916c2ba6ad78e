package reach

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// TestCopiesAreNotSwapped: a program that may write ~/.cache does not write there what
// others run, also if nothing lies there yet.
func TestCopiesAreNotSwapped(t *testing.T) {
	tools, box, home, _ := place(t)
	cache := filepath.Join(home, ".cache")
	kept := []string{filepath.Join(cache, "toolcrib-shown"), filepath.Join(cache, "toolcrib")}
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"~/.cache", "~"} {
		if err := run(t, tools, toolfile.File{Write: []string{text}}); err != nil {
			t.Fatal(err)
		}
		if !box.grant.Dirs[0].Write || !slices.Equal(box.grant.Fixed, kept) {
			t.Errorf("%s: %+v", text, box.grant)
		}
	}
	for _, dir := range kept {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s can be made by the program: %v", dir, err)
		}
	}
	if err := os.Mkdir(filepath.Join(kept[1], "hosts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"~/.cache/toolcrib", "~/.cache/toolcrib/hosts", "~/.cache/toolcrib-shown"} {
		if err := run(t, tools, toolfile.File{Write: []string{text}}); err != nil || box.grant.Dirs[0].Write {
			t.Errorf("%s: %+v %v", text, box.grant, err)
		}
	}
	if err := run(t, tools, toolfile.File{Read: []string{"~/.cache"}, Write: []string{"data"}}); err != nil || len(box.grant.Fixed) > 0 {
		t.Errorf("%+v %v", box.grant, err)
	}

	// A link that was put there before leads to where it could be written.
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, kept[0]); err != nil {
		t.Fatal(err)
	}
	if err := run(t, tools, toolfile.File{Write: []string{"~/.cache"}}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link is followed: %v", err)
	}
	if _, _, err := CopiesIn(home).Put(&toolfile.File{Path: "x.sh", Content: []byte("x"), Hash: "abc"}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a script is put where a link leads: %v", err)
	}
}

// TestInterpreterInTheProject: what lies in granted directories is shown as they are,
// without what is protected there, and does not run on the host.
func TestInterpreterInTheProject(t *testing.T) {
	box := noting{ran: make(chan ranIn, 1)}
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{{Name: sandbox.Linux, Open: func(context.Context) (toolcrib.Sandbox, error) {
		return box, nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(dir, "env")
	if err := os.MkdirAll(filepath.Join(env, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{
		Chooser: chooser, Dir: dir, Home: t.TempDir(), Env: func(string) (string, bool) { return "", false },
		Grant:   toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}},
		Outside: Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return linked.Within(path, dir) }}, Dir: dir},
	}
	for _, inner := range []string{env, dir, filepath.Dir(dir)} {
		p, err := l.Start(t.Context(), mcphub.Launch{Server: "mine", Command: filepath.Join(env, "bin", "python3"), Grant: &toolcrib.Grant{}, Tools: []string{"/opt/python", inner}})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done
		got := <-box.ran
		if !slices.Equal(got.tools, []string{"/opt/python"}) || !slices.Equal(got.grant.Dirs, []files.Dir{{Path: inner}}) || got.cmd.Dir != scratch {
			t.Errorf("%s: it sees %q as they are, and %v without what is protected, in %s", inner, got.tools, got.grant.Dirs, got.cmd.Dir)
		}
	}
	for name, launch := range map[string]mcphub.Launch{
		"the interpreter":  {Command: filepath.Join(env, "bin", "python3")},
		"its packages":     {Command: "/usr/bin/python3", Tools: []string{env}},
		"by a variable":    {Command: "/usr/bin/python3", Env: map[string]string{"PYTHONPATH": dir}},
		"a loaded library": {Command: "/usr/bin/python3", Env: map[string]string{"LD_PRELOAD": filepath.Join(dir, "x.so")}},
	} {
		launch.Server, launch.Sandbox, launch.Grant = "mine", sandbox.Host, &toolcrib.Grant{}
		if p, err := l.Start(t.Context(), launch); err == nil || !strings.Contains(err.Error(), "where commands can write") {
			if err == nil {
				p.Kill()
				<-p.Done
			}
			t.Errorf("%s of the project runs on the host: %v", name, err)
		}
	}
}

// TestEverybodysTools: a folder or a file that all people of the machine can write has no
// tools of this one.
func TestEverybodysTools(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has lists for that
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a.py": 0o644, "b.py": 0o666} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the mask takes away
			t.Fatal(err)
		}
	}
	folder := Reach{}.Safe(toolfile.Folder{Dir: dir})
	list, err := folder.Read()
	if err != nil || len(list) != 2 || list[0].Err != nil || list[1].Err == nil {
		t.Errorf("%+v %v", list, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if list, err := folder.Read(); err == nil || len(list) > 0 {
		t.Errorf("a folder of everybody has %+v", list)
	}
}
