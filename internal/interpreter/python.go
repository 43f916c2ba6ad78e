package interpreter

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/text"
)

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
	return "", remedy.With(fmt.Errorf("%s is no virtual environment: it has no %s", dir, names[0]), "python3 -m venv "+text.ShellWord(dir))
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
