// Package interpreter finds the interpreters of other languages on this machine, and the directories that one has to see to
// run in a sandbox. It starts nothing: what an interpreter is made of is read from its files.
//
// It stands on the ground floor, since the hosts of functions and the toolbox that runs code find the same ones.
package interpreter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/remedy"
)

// Interpreter is a program that runs code of people, and what it needs to see.
type Interpreter struct {
	Path  string
	Flags []string
	Dirs  []string // its own directories, as far as they are not those of the system
	Site  []string // where packages are installed
}

// Finder knows where to look.
type Finder struct {
	Home      string                       // the person's
	Look      func(string) (string, error) // finds a program by its name
	Directory func(string) (string, error) // a directory as people write it
}

// Node finds a Node.js: a name or a path; empty: node.
func (f Finder) Node(text string) (Interpreter, error) {
	var in Interpreter
	path, err := f.program(text, "node")
	if err != nil {
		return in, err
	}
	if in.Path, err = filepath.EvalSymlinks(path); err != nil {
		return in, err
	}
	if in.Dirs, err = f.shown("", []string{prefixOf(in.Path)}); err != nil {
		return in, err
	}
	return in, plain(in.Path)
}

// program finds a program: as it is written, or the first of these names.
func (f Finder) program(text string, names ...string) (string, error) {
	if text != "" {
		if rest, tilde := strings.CutPrefix(text, "~/"); tilde && f.Home != "" {
			return filepath.Join(f.Home, rest), nil
		}
		if filepath.IsAbs(text) {
			return filepath.Clean(text), nil
		}
		if strings.ContainsAny(text, `/\`) { // a directory, or a file in one
			dir, err := f.Directory(filepath.Dir(text))
			return filepath.Join(dir, filepath.Base(text)), err
		}
		names = []string{text}
	}
	var errs []error
	for _, name := range names {
		path, err := f.Look(name)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			path, err = behindShim(path, name)
		}
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	err := fmt.Errorf("there is no %s: install it, or name it (%w)", strings.Join(names, " and no "), errors.Join(errs...))
	return "", remedy.With(err, remedy.Install(names[0], f.Look, os.Geteuid() == 0))
}

// shown are the directories of an interpreter that a program has to see, without those
// of the system, which every program sees. One that would show far more than an
// interpreter is refused, and so is one that would show what an environment lies in.
func (f Finder) shown(environment string, prefixes []string) ([]string, error) {
	var out []string
	add := func(dir string) error {
		if ofSystem(dir) || slices.Contains(out, dir) {
			return nil
		}
		if f.shared(dir, ".local", "share") && !f.shared(dir) {
			for _, name := range []string{"bin", "lib", "lib64", "libexec"} {
				if part, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil && part == filepath.Join(dir, name) && !slices.Contains(out, part) {
					out = append(out, part)
				}
			}
			return nil
		}
		if dir == filepath.Dir(dir) || f.shared(dir) {
			return fmt.Errorf("the interpreter lies in %s, and a program would see all of that: make a virtual environment (python3 -m venv ~/venv) and name that", dir)
		}
		out = append(out, dir)
		return nil
	}
	for _, dir := range prefixes {
		target, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, err
		}
		if err := add(target); err != nil {
			return nil, err
		}
		if target != dir { // the link has to be seen as well
			beside := filepath.Dir(dir)
			if straight, err := filepath.EvalSymlinks(beside); err != nil || straight != beside || environment != "" && linked.Within(environment, beside) {
				return nil, fmt.Errorf("the interpreter lies behind the link %s, and a program would see all of %s: make the environment anew with the Python that the link leads to (%s)", dir, beside, target)
			}
			if err := add(beside); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// shared: it holds the person's home directory, or this place in it, under any of its names. What many programs are
// installed into, such as ~/.local, has their data too, and what this program itself keeps.
func (f Finder) shared(dir string, place ...string) bool {
	if f.Home == "" {
		return false
	}
	names := []string{filepath.Join(append([]string{f.Home}, place...)...)}
	if home, err := filepath.EvalSymlinks(f.Home); err == nil {
		names = append(names, filepath.Join(append([]string{home}, place...)...))
	}
	return slices.ContainsFunc(names, func(name string) bool { return linked.Within(name, dir) })
}

// Holds tells whether a file that packages name is one that they can have brought: what
// they say is said by code in a sandbox, which must not have us read elsewhere for it.
// Where that code can write it could put a link later.
func (in Interpreter) Holds(path string, declared []files.Dir) bool {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	dirs := slices.Concat(in.Dirs, in.Site)
	for _, d := range declared {
		if there, err := filepath.EvalSymlinks(d.Path); err == nil && !d.Write {
			dirs = append(dirs, there)
		}
	}
	written := slices.ContainsFunc(declared, func(d files.Dir) bool { return d.Write && linked.Within(path, d.Path) })
	return !written && (ofSystem(target) || slices.ContainsFunc(dirs, func(dir string) bool { return linked.Within(target, dir) }))
}

// ofSystem: every program in a sandbox sees it.
func ofSystem(dir string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"}, func(top string) bool { return linked.Within(dir, top) })
}

// Marks tells whether something was installed, updated or removed since.
func (in Interpreter) Marks() string {
	var b strings.Builder
	for _, path := range append([]string{in.Path}, in.Site...) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, dir := range in.Site {
		entries, err := plainfile.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			switch filepath.Ext(e.Name()) {
			case ".dist-info", ".egg-info", ".egg-link", ".pth":
				for _, name := range []string{e.Name(), filepath.Join(e.Name(), "entry_points.txt")} {
					if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
						fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
					}
				}
			}
		}
	}
	return b.String()
}

// plain refuses a path that settings would read as a reference to a secret or a variable.
func plain(text string) error {
	if strings.Contains(text, "${") {
		return fmt.Errorf("%q cannot be used: it has ${ in it", text)
	}
	return nil
}
