package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// SystemDirs are the directories whose programs are trusted unless told
// otherwise: on a sane machine only root can write there.
func SystemDirs() []string {
	return []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/usr/local/go/bin"}
}

// systemTrees is where the links in those directories may lead.
func systemTrees() []string {
	return []string{"/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/go"}
}

// SystemOptions looks at the real machine: programs are found in the
// directories of SystemDirs, in that order, whatever PATH says.
func SystemOptions(dir string) Options {
	return Options{Dir: dir, Look: LookIn(SystemDirs()...), EvalSymlinks: filepath.EvalSymlinks, Stat: os.Stat, Lstat: os.Lstat}
}

func (o *Options) isLink(file string) (bool, error) {
	if o.Lstat == nil {
		return false, errors.New("nothing tells links from files")
	}
	info, err := o.Lstat(file)
	if err != nil {
		return false, err
	}
	return info.Mode()&fs.ModeSymlink != 0, nil
}

// LookIn finds programs in the given directories. The shell that runs the line
// must be given the same PATH.
func LookIn(dirs ...string) func(name string) (string, error) {
	return func(name string) (string, error) {
		for _, d := range dirs {
			p := path.Join(d, name)
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return p, nil
			}
		}
		return "", fmt.Errorf("finding %s: %w", name, fs.ErrNotExist)
	}
}

// resolve finds the binary behind a program's name and says why it cannot be
// trusted to be what the name says.
func (o *Options) resolve(name string) (binary string, err error) {
	switch {
	case strings.HasPrefix(name, "/"):
		binary = name
	case strings.Contains(name, "/"):
		return "", fmt.Errorf("%s is a file of the working directory, not a program of the system", Quote(name))
	case o.Look == nil:
		return "", errors.New("nothing says which binary it is")
	default:
		if binary, err = o.Look(name); err != nil || !path.IsAbs(binary) {
			return "", fmt.Errorf("no program %s is found", Quote(name))
		}
	}
	return binary, o.trust(binary)
}

// trust checks the place of a binary, where its links lead, and that not
// everyone can replace it.
func (o *Options) trust(binary string) error {
	trusted := o.Trusted
	if trusted == nil {
		trusted = SystemDirs()
	}
	if path.Clean(binary) != binary || !slices.Contains(trusted, path.Dir(binary)) {
		return fmt.Errorf("%s is not in a trusted directory", Quote(binary))
	}
	if o.EvalSymlinks == nil || o.Stat == nil {
		return errors.New("nothing says whether the binary can be trusted")
	}
	resolved, err := o.EvalSymlinks(binary)
	if err != nil {
		return fmt.Errorf("%s cannot be resolved", Quote(binary))
	}
	if !pathglob.Within(resolved, trusted) && !pathglob.Within(resolved, systemTrees()) && !pathglob.Within(resolved, o.Trees) {
		return fmt.Errorf("%s is a link to %s, which is not in a trusted place", Quote(binary), Quote(resolved))
	}
	if err := o.unwritable(binary, resolved); err != nil {
		return err
	}
	if !sameProgram(path.Base(binary), path.Base(resolved)) {
		return fmt.Errorf("%s is really %s", Quote(binary), Quote(resolved))
	}
	return nil
}

// unwritable says who but its owner could put something else in the place of a
// program.
func (o *Options) unwritable(binary, resolved string) error {
	writable := o.Writable
	if writable == nil && o.Dir != "" {
		writable = []string{o.Dir}
	}
	if pathglob.Within(resolved, writable) || pathglob.Within(binary, writable) {
		return fmt.Errorf("%s is in a directory that the agent can write to", Quote(binary))
	}
	info, err := o.Stat(resolved)
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a program", Quote(binary))
	}
	if info.Mode()&0o002 != 0 {
		return fmt.Errorf("everyone can write to %s", Quote(resolved))
	}
	if dir, err := o.Stat(path.Dir(resolved)); err != nil || dir.Mode()&0o002 != 0 {
		return fmt.Errorf("everyone can write to the directory of %s", Quote(resolved))
	}
	return nil
}

// sameProgram: what a link may lead to and still be the program of that name.
func sameProgram(name, resolved string) bool {
	switch resolved {
	case name, "busybox", "toybox", "coreutils", "g" + name, "bsd" + name:
		return true
	}
	if strings.HasPrefix(resolved, name+".") || strings.HasPrefix(resolved, name+"-") {
		return true // which.debianutils, npm-cli.js
	}
	if startsToolchain(name, resolved) {
		return true
	}
	// x86_64-linux-gnu-gcc-12 is the gcc that /etc/alternatives or a package chose.
	if of, ok := withoutTarget(resolved); ok {
		switch of {
		case name:
			return true
		case "gcc":
			return name == "cc"
		case "g++":
			return name == "c++"
		}
	}
	switch name {
	case "cc", "c++":
		return resolved == "gcc" && name == "cc" || resolved == "g++" && name == "c++" || resolved == "clang"
	case "awk":
		return resolved == "mawk" || resolved == "gawk" || resolved == "original-awk" || resolved == "nawk"
	case "sh":
		return resolved == "dash" || resolved == "bash"
	case "python", "python3":
		return strings.HasPrefix(resolved, "python")
	case "node", "nodejs":
		return resolved == "node" || resolved == "nodejs"
	case "fd":
		return resolved == "fdfind"
	case "[":
		return resolved == "test"
	}
	return false
}

// withoutTarget takes the machine off the name of a compiler's program, and its
// version. Not ok: it has none.
func withoutTarget(name string) (string, bool) {
	for _, machine := range []string{"x86_64", "aarch64", "i686", "arm", "riscv64", "powerpc64le", "s390x"} {
		rest, ok := strings.CutPrefix(name, machine+"-linux-gnu")
		if !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "eabihf"), "-"); !ok {
			return "", false
		}
		if at := strings.LastIndexByte(rest, '-'); at > 0 && isNumber(strings.ReplaceAll(rest[at+1:], ".", "")) {
			rest = rest[:at]
		}
		return rest, true
	}
	return "", false
}
