// Package interpreter finds the interpreters of other languages on this machine, and the directories that one has to see to
// run in a sandbox. It starts nothing: what an interpreter is made of is read from its files.
//
// It stands on the ground floor, since the hosts of functions and the toolbox that runs code find the same ones.
package interpreter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
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

// Python finds a Python: a name, a path, or the directory of a virtual
// environment. Nothing is run for it: what it is made of is read from its files.
func (f Finder) Python(text string) (Interpreter, error) {
	in := Interpreter{Flags: []string{"-I", "-X", "utf8"}}
	path, err := f.program(text, "python3", "python")
	if err != nil {
		return in, err
	}
	if info, err := os.Stat(path); err != nil {
		return in, err
	} else if info.IsDir() {
		if path, err = pythonIn(path); err != nil {
			return in, err
		}
	}
	if root := filepath.Dir(filepath.Dir(path)); isEnvironment(root) {
		return f.inEnvironment(in, path)
	}
	if in.Path, err = filepath.EvalSymlinks(path); err != nil {
		return in, err
	}
	in.Site = sites(prefixOf(in.Path))
	if in.Dirs, err = f.shown("", []string{prefixOf(in.Path)}); err != nil {
		return in, err
	}
	return in, plain(in.Path)
}

// inEnvironment is the Python of a virtual environment. What an environment says of itself, by its file or by a link,
// shows nothing but a Python: whoever writes there could name the directory of a person's keys, or have the whole project
// shown that it lies in.
func (f Finder) inEnvironment(in Interpreter, path string) (Interpreter, error) {
	// Where it is a link itself, the link need not be seen, nor what it lies in.
	named := filepath.Dir(filepath.Dir(path))
	root, err := filepath.EvalSymlinks(named)
	if err != nil {
		return in, err
	}
	if around, err := filepath.EvalSymlinks(filepath.Dir(named)); err != nil || linked.Within(around, root) {
		return in, fmt.Errorf("the environment %s is a link to what it lies in, and a program would see all of %s: make the environment anew (python3 -m venv)", named, root)
	}
	in.Path = filepath.Join(root, filepath.Base(filepath.Dir(path)), filepath.Base(path))
	program, err := filepath.EvalSymlinks(in.Path)
	if err != nil {
		return in, err
	}
	own := prefixOf(program)
	if !linked.Within(own, root) && !isInstallation(own) {
		return in, fmt.Errorf("the environment %s leads to %s, and there is no Python: make the environment anew (python3 -m venv)", root, program)
	}
	prefixes := []string{root}
	in.Site = sites(root)
	home, system := environment(root)
	if base := prefixOf(filepath.Join(home, "python3")); filepath.IsAbs(home) && isInstallation(base) {
		prefixes = append(prefixes, base)
		if system {
			in.Site = append(in.Site, sites(base)...)
		}
	}
	if in.Site == nil {
		in.Site = sites(own)
	}
	if in.Dirs, err = f.shown(root, append(prefixes, own)); err != nil {
		return in, err
	}
	return in, plain(in.Path)
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
	return "", fmt.Errorf("there is no %s: install it, or name it (%w)", strings.Join(names, " and no "), errors.Join(errs...))
}

// behindShim gives the program that a script of a version manager would start: in a
// sandbox there is no version manager.
func behindShim(path, name string) (string, error) {
	if !isScript(path) {
		return path, nil
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "shims" { // pyenv and its like
		root := filepath.Dir(dir)
		text, err := plainfile.Begin(filepath.Join(root, "version"), 256)
		if version := strings.Fields(string(text)); err == nil && len(version) > 0 && !strings.ContainsAny(version[0], `/\\*?[`) {
			for _, pattern := range []string{version[0], version[0] + ".*"} {
				found, err := filepath.Glob(filepath.Join(root, "versions", pattern, "bin", name))
				if err == nil && len(found) > 0 {
					return found[len(found)-1], nil
				}
			}
		}
	}
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"} {
		program := filepath.Join(dir, name)
		if _, err := os.Stat(program); err == nil && !isScript(program) {
			return program, nil
		}
	}
	return "", fmt.Errorf("%s is a script that starts another program, and which one is not known: name the interpreter itself, or a virtual environment", path)
}

// isScript: a program that another one reads. One that cannot be read is none: what is
// wrong with it is told when it is started.
func isScript(path string) bool {
	begin, err := plainfile.Begin(path, 2)
	return err == nil && strings.HasPrefix(string(begin), "#!")
}

// pythonIn is the interpreter in the directory of a virtual environment.
func pythonIn(dir string) (string, error) {
	names := []string{filepath.Join("bin", "python3"), filepath.Join("bin", "python")}
	if runtime.GOOS == "windows" {
		names = []string{filepath.Join("Scripts", "python.exe"), "python.exe"}
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("%s is no virtual environment: it has no %s", dir, names[0])
}

func isEnvironment(root string) bool {
	_, err := os.Stat(filepath.Join(root, "pyvenv.cfg"))
	return err == nil
}

// isInstallation: the standard library lies there.
func isInstallation(prefix string) bool {
	for _, pattern := range []string{"lib/python3*/os.py", "lib64/python3*/os.py", "lib/pypy3*/os.py", "Lib/os.py"} {
		if found, err := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern))); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// environment reads where the interpreter of a virtual environment is, and whether its
// packages are there too.
func environment(root string) (home string, system bool) {
	text, err := plainfile.Read(filepath.Join(root, "pyvenv.cfg"), 64<<10)
	if err != nil {
		return "", false
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(key)) {
		case "home":
			home = filepath.Clean(value)
		case "include-system-site-packages":
			system = strings.EqualFold(value, "true")
		}
	}
	return home, system
}

// prefixOf is the directory that a program was installed into.
func prefixOf(program string) string {
	dir := filepath.Dir(program)
	if base := filepath.Base(dir); base == "bin" || base == "Scripts" {
		return filepath.Dir(dir)
	}
	return dir
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

// sites are the directories that packages are installed into.
func sites(prefix string) (dirs []string) {
	for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages", "Lib/site-packages"} {
		found, err := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		if err == nil { // a pattern of ours
			dirs = append(dirs, found...)
		}
	}
	return dirs
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
