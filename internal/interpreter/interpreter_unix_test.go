//go:build unix

package interpreter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// world is an installation of Python, a person's keys, and a project with an environment.
type world struct {
	t   *testing.T
	top string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, top}
	w.file("opt/py/lib/python3.11/os.py", "")
	w.file("opt/py/bin/python3", "\x7fELF")
	w.file("home/.ssh/known_hosts", "keys")
	w.file("proj/.env", "secret")
	w.file("envs/v/pyvenv.cfg", "home = "+w.at("opt/py/bin")+"\n")
	w.link("envs/v/bin/python3", w.at("opt/py/bin/python3"))
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.top, name) }

func (w *world) file(name, text string) {
	w.t.Helper()
	at := w.at(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o700)); err != nil { //nolint:gosec // some are programs
		w.t.Fatal(err)
	}
}

func (w *world) link(name, to string) {
	w.t.Helper()
	at := w.at(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(to, at)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) python(name string) (Interpreter, error) {
	return Finder{Home: w.at("home")}.Python(w.at(name))
}

// TestEnvironments: one is shown with its Python, and where it is a link, what the link lies in is not.
func TestEnvironments(t *testing.T) {
	w := newWorld(t)
	w.link("proj/.venv", w.at("envs/v"))
	// As version managers have them: a link beside the installation.
	w.link("opt/latest", w.at("opt/py"))
	w.file("envs/l/pyvenv.cfg", "home = "+w.at("opt/latest/bin")+"\n")
	w.link("envs/l/bin/python3", w.at("opt/latest/bin/python3"))
	for name, want := range map[string][]string{
		"envs/v": {"envs/v", "opt/py"}, "envs/v/bin/python3": {"envs/v", "opt/py"}, "proj/.venv": {"envs/v", "opt/py"}, "envs/l": {"envs/l", "opt/py", "opt"}, "opt/py/bin/python3": {"opt/py"},
	} {
		in, err := w.python(name)
		var dirs []string
		for _, dir := range in.Dirs {
			rel, rerr := filepath.Rel(w.top, dir)
			err = errors.Join(err, rerr)
			dirs = append(dirs, rel)
		}
		slices.Sort(dirs)
		slices.Sort(want)
		if err != nil || !slices.Equal(dirs, want) || !slices.ContainsFunc(in.Dirs, func(dir string) bool { return strings.HasPrefix(in.Path, dir+"/") }) {
			t.Errorf("%s: %s sees %v, %v", name, in.Path, dirs, err)
		}
	}
}

// TestHostileEnvironments: whoever can write an environment cannot have anything else shown.
func TestHostileEnvironments(t *testing.T) {
	for name, make := range map[string]func(w *world){
		"its program leads to keys": func(w *world) {
			w.file("proj/.venv/pyvenv.cfg", "home = "+w.at("opt/py/bin")+"\n")
			w.link("proj/.venv/bin/python3", w.at("home/.ssh/known_hosts"))
		},
		"its programs lie among keys": func(w *world) {
			w.file("proj/.venv/pyvenv.cfg", "home = "+w.at("opt/py/bin")+"\n")
			w.file("home/.ssh/python3", "x")
			w.link("proj/.venv/bin", w.at("home/.ssh"))
		},
		"its home is a link beside it": func(w *world) {
			w.link("proj/x", w.at("opt/py"))
			w.file("proj/.venv/pyvenv.cfg", "home = "+w.at("proj/x/bin")+"\n")
			w.link("proj/.venv/bin/python3", w.at("opt/py/bin/python3"))
		},
		"its home is behind a link": func(w *world) {
			w.link("proj/x", w.at("opt"))
			w.file("proj/.venv/pyvenv.cfg", "home = "+w.at("proj/x/py/bin")+"\n")
			w.link("proj/.venv/bin/python3", w.at("opt/py/bin/python3"))
		},
		"it is the project": func(w *world) {
			w.link("proj/.venv", ".")
			w.file("proj/pyvenv.cfg", "home = "+w.at("opt/py/bin")+"\n")
			w.link("proj/bin/python3", w.at("opt/py/bin/python3"))
		},
	} {
		w := newWorld(t)
		make(w)
		if in, err := w.python("proj/.venv"); err == nil {
			t.Errorf("%s: it sees %v", name, in.Dirs)
		}
	}
	// A home that is no Python counts for nothing.
	w := newWorld(t)
	w.file("proj/.venv/pyvenv.cfg", "home = "+w.at("home/.ssh")+"\n")
	w.link("proj/.venv/bin/python3", w.at("opt/py/bin/python3"))
	if in, err := w.python("proj/.venv"); err != nil || slices.Contains(in.Dirs, w.at("home/.ssh")) || slices.Contains(in.Dirs, w.at("home")) {
		t.Errorf("%v, %v", in.Dirs, err)
	}
}

// TestSharedPlaces: of a place that many programs are installed into, the programs are shown and not their data.
func TestSharedPlaces(t *testing.T) {
	w := newWorld(t)
	w.file("home/.local/bin/node", "\x7fELF")
	w.file("home/.local/lib/node_modules/x.js", "")
	w.file("home/.local/share/keyrings/k", "keys")
	w.file("home/.local/state/toolcrib/journal/journal.db", "all that was done")
	w.file("home/node", "\x7fELF")
	w.link("house", w.at("home"))
	for _, home := range []string{"home", "house"} {
		in, err := Finder{Home: w.at(home)}.Node(w.at("home/.local/bin/node"))
		if want := []string{w.at("home/.local/bin"), w.at("home/.local/lib")}; err != nil || !slices.Equal(in.Dirs, want) {
			t.Errorf("%s: it sees %v, %v", home, in.Dirs, err)
		}
		if in, err := (Finder{Home: w.at(home)}).Node(w.at("home/node")); err == nil {
			t.Errorf("%s: it sees %v", home, in.Dirs)
		}
	}
}
