// Package toolchains finds the compilers, interpreters and package managers that a
// person has outside the directories of the system: in rustup's and cargo's homes,
// under nvm, pyenv, sdkman and their like, or in any directory that the settings
// name. It says which directories join PATH, which others their programs need to
// be shown, and which variables lead to them.
//
// It also knows what a project needs ([Needs]), where its build caches lie
// ([Cache]), and which programs inside a project a person has looked at
// ([Programs]).
//
// It stands on the ground floor. Its one invariant: a directory that an agent can
// write is never given out as one whose programs are what their names say.
package toolchains

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Machine is what is known of the person's machine.
type Machine struct {
	Home   string
	Path   string                   // the person's PATH
	Getenv func(name string) string // the person's variables; nil: none
	// System are the directories whose programs need no setting.
	System []string
	// Writable are the directories that agents can write.
	Writable []string
	// Private are places that no program may be shown.
	Private []string
}

// Chain is what one entry of the settings means here.
type Chain struct {
	Entry string
	Bin   []string          // directories that join PATH, in order
	Show  []string          // everything that programs need to see, Bin included where it lies outside the system
	Env   map[string]string // variables that lead there
}

// Shown are the tool chains and the build caches of a project, as a sandbox shows
// them. Images and machines have tool chains of their own.
type Shown struct {
	Dirs     []string // directories that programs may read
	Env      []string // variables that lead there
	Cache    string   // the directory of the caches; empty: none
	Place    string   // what it is called inside
	CacheEnv []string // variables that lead there
	Git      string   // settings of git: who commits
}

// ErrMissing is the error of a tool chain that is not on this machine.
var ErrMissing = errors.New("it was not found on this machine")

// Words are the entries that are looked up.
func Words() []string { return []string{"go", "java", "node", "python", "rust"} }

// mainProgram is the one by which a tool chain is known to be there.
func mainProgram(word string) string {
	return map[string]string{"go": "go", "java": "java", "node": "node", "python": "python3", "rust": "cargo"}[word]
}

// Find looks an entry up: one of [Words], or a directory. A directory may be
// written with ~ and with * for any name. What is given back are real directories,
// without links on the way.
func (m Machine) Find(entry string) (Chain, error) {
	c := Chain{Entry: entry}
	look := map[string]func(*Chain){"go": m.goChain, "java": m.java, "node": m.node, "python": m.python, "rust": m.rust}[entry]
	if look != nil {
		look(&c)
		if system := slices.ContainsFunc(m.System, func(dir string) bool { return hasOne(dir, mainProgram(entry)) }); len(c.Bin) == 0 && len(c.Env) == 0 && !system {
			return c, fmt.Errorf("%w: name the directory of its programs instead", ErrMissing)
		}
		return m.complete(c)
	}
	pattern := entry
	if rest, ok := strings.CutPrefix(entry, "~/"); ok {
		if m.Home == "" {
			return c, errors.New("the home directory is not known")
		}
		pattern = filepath.Join(m.Home, rest)
	}
	if !filepath.IsAbs(pattern) {
		return c, fmt.Errorf("it is none of the words %s, and no directory: write one as /dir, ~/dir or, in the project, ./dir", strings.Join(Words(), ", "))
	}
	found, err := filepath.Glob(filepath.Clean(pattern))
	if err != nil {
		return c, fmt.Errorf("it is no pattern of directories: %w", err)
	}
	newestFirst(found)
	for _, dir := range found {
		if !isDir(dir) {
			continue
		}
		if bin := filepath.Join(dir, "bin"); isDir(bin) { // an installation: its programs are in there
			if err := m.check(realPath(dir)); err != nil {
				return Chain{Entry: entry}, err
			}
			if !m.tooWide(realPath(dir)) { // of ~/.cargo only the programs: tokens lie beside them
				c.Show = append(c.Show, dir)
			}
			dir = bin
		}
		c.Bin = append(c.Bin, dir)
	}
	if len(c.Bin) == 0 {
		return c, fmt.Errorf("there is no such directory: %w", fs.ErrNotExist)
	}
	return m.complete(c)
}

// complete resolves the directories of a chain, adds what their programs need,
// and refuses what agents can write or what shows too much.
func (m Machine) complete(c Chain) (Chain, error) {
	var bins []string
	for _, dir := range c.Bin {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if err := m.check(resolved); err != nil {
			return Chain{Entry: c.Entry}, err
		}
		if !slices.Contains(bins, resolved) && !slices.Contains(m.System, resolved) {
			bins = append(bins, resolved)
		}
	}
	var show []string
	for _, dir := range slices.Concat(c.Show, bins) {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil || m.isSystem(resolved) {
			continue
		}
		if err := m.check(resolved); err != nil {
			return Chain{Entry: c.Entry}, err
		}
		show = append(show, resolved)
	}
	c.Bin, c.Show = bins, outermost(m.needed(show, bins))
	return c, nil
}

// check says why a directory cannot be a trusted one.
func (m Machine) check(dir string) error {
	if dir == "/" || m.Home != "" && within(realPath(m.Home), dir) {
		return fmt.Errorf("%s holds your home directory: name the directory of the programs itself", dir)
	}
	for _, w := range m.Writable {
		w = realPath(w)
		if within(dir, w) {
			return fmt.Errorf("%s lies in %s, which agents can write: a program there is whatever an agent made it. Name a directory outside, or see 'toolcrib sandbox trust' for programs of a project", dir, w)
		}
		if within(w, dir) && !slices.Contains(m.System, dir) && !m.isSystem(dir) {
			return fmt.Errorf("%s holds %s, which agents can write: name the directory of the programs itself", dir, w)
		}
	}
	for _, p := range m.Private {
		if p = realPath(p); within(dir, p) || within(p, dir) {
			return fmt.Errorf("%s is where Toolcrib keeps its own settings or state, or holds that", dir)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if info.Mode()&0o002 != 0 {
		return fmt.Errorf("every account of this machine can write to %s: take that right away (chmod o-w %s)", dir, dir)
	}
	return nil
}

// isSystem: it lies in what every sandbox shows anyway.
func (m Machine) isSystem(dir string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}, func(top string) bool { return within(dir, top) })
}

func (m Machine) variable(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}

// within: the path is the directory or lies in it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || pathglob.Inside(path, dir)
}

func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// below joins a directory and a path that is written with slashes.
func below(dir, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isProgram: it can be started.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// outermost leaves out what lies in another of the directories.
func outermost(dirs []string) []string {
	slices.Sort(dirs)
	var out []string
	for _, d := range dirs {
		if !slices.ContainsFunc(out, func(o string) bool { return within(d, o) }) {
			out = append(out, d)
		}
	}
	return out
}
