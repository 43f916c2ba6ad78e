// Package hostpath finds the programs that Toolcrib itself starts outside of
// every sandbox: MCP servers, container engines, the command that gives a key,
// an editor, a browser.
//
// The PATH of a person often has directories of the project in it, such as
// .venv/bin or node_modules/.bin. A command in a sandbox may write there, so what
// lies there must not be found by its name. It imports nothing of ours, so that
// everyone who starts a program can use it.
package hostpath

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Finder finds programs.
type Finder struct {
	// Writable tells whether commands can write a path. Nil: none.
	Writable func(path string) bool
	// PATH is where programs are looked for. Empty: the variable of this process.
	PATH string
}

// ErrWritable is the error of a program that was found only where commands can
// write.
var ErrWritable = errors.New("it lies where commands can write")

// Writes tells whether commands can write what a path names, or what its links
// lead to.
func (f Finder) Writes(path string) bool {
	if f.Writable == nil {
		return false
	}
	if f.Writable(path) {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target != path && f.Writable(target)
}

// Path gives a PATH without the directories that commands can write. Relative
// ones are left out too: they mean another directory wherever a program starts.
func (f Finder) Path(value string) string {
	dirs := filepath.SplitList(value)
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) || f.Writes(dir) })
	return strings.Join(dirs, string(os.PathListSeparator))
}

// Environ gives variables with such a PATH.
func (f Finder) Environ(vars []string) []string {
	vars = slices.Clone(vars)
	for i, v := range vars {
		if name, value, _ := strings.Cut(v, "="); name == "PATH" || os.PathSeparator == '\\' && strings.EqualFold(name, "PATH") {
			vars[i] = name + "=" + f.Path(value)
		}
	}
	return vars
}

// Misleads tells whether a variable has programs take up code from where commands
// can write: modules of a language, a library, a script that a shell reads first.
func (f Finder) Misleads(name, value string) bool {
	if !Leads(name) {
		return false
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == os.PathListSeparator || strings.ContainsRune(" \t\n=,;\"'", r) }) {
		if i := strings.IndexByte(part, '/'); i > 0 && part[0] == '-' { // -I/lib
			part = part[i:]
		}
		if filepath.IsAbs(part) && f.Writes(part) {
			return true
		}
	}
	return false
}

// Leads knows the variables by which programs find code.
func Leads(name string) bool {
	for _, begin := range []string{"LD_", "DYLD_", "GIT_", "PYTHON", "NODE_", "PERL", "RUBY", "LUA_", "GEM_", "BUNDLE_", "JAVA_", "DOCKER_", "CONTAINERS_"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return slices.Contains([]string{"BASH_ENV", "ENV", "ZDOTDIR", "CLASSPATH", "PHPRC", "PHP_INI_SCAN_DIR", "VIMINIT", "EXINIT", "EMACSLOADPATH", "JDK_JAVA_OPTIONS", "GIO_EXTRA_MODULES", "GTK_MODULES", "GTK_PATH", "QT_PLUGIN_PATH"}, name)
}

// Look finds a program by its name in PATH. A name with a separator in it is taken
// as it is.
func (f Finder) Look(name string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(name)
	}
	left := ""
	for _, dir := range filepath.SplitList(cmp.Or(f.PATH, os.Getenv("PATH"))) {
		full, err := filepath.Abs(filepath.Join(dir, name)) // an empty one means here
		if err != nil {
			continue
		}
		path, err := exec.LookPath(full)
		if err != nil {
			continue
		}
		if filepath.IsAbs(dir) && !f.Writes(dir) && !f.Writes(path) {
			return path, nil
		}
		if left == "" {
			left = path
		}
	}
	if left != "" {
		return "", fmt.Errorf("the program %q was found only as %s: %w, so it is not started by its name; name it by its whole path if it is the one you mean", name, left, ErrWritable)
	}
	return exec.LookPath(name) // for the error that people know
}
