// Package shelltest is what tests of command lines share: a made-up computer and
// the batteries of lines. Only tests import it.
package shelltest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Home and Work are the directories of whoever works there.
const Home, Work = "/home/ann", "/home/ann/proj"

// Machine is a made-up computer, so that verdicts do not depend on what is
// installed where the test runs.
type Machine struct {
	Missing map[string]bool // programs that are not there
	Links   map[string]string
	Modes   map[string]fs.FileMode
	Files   map[string]string
}

// NewMachine makes one with the usual programs and some odd ones.
func NewMachine() *Machine {
	return &Machine{
		Missing: map[string]bool{"notfound": true, "evil": true},
		Links: map[string]string{
			"/bin/sh": "/usr/bin/dash", "/usr/bin/awk": "/usr/bin/mawk", "/usr/bin/which": "/usr/bin/which.debianutils",
			"/usr/bin/npm": "/usr/lib/node_modules/npm/bin/npm-cli.js", "/usr/bin/evil-link": "/tmp/evil/ls",
			"/usr/bin/linked-out": "/home/ann/proj/tool", Work + "/link-out": "/etc",
		},
		Modes: map[string]fs.FileMode{"/usr/bin/world-writable": 0o777, "/usr/bin": 0o755},
		Files: map[string]string{},
	}
}

// Look finds a program.
func (m *Machine) Look(name string) (string, error) {
	if m.Missing[name] || strings.Contains(name, "/") || name == "" || strings.ContainsAny(name, " $") {
		return "", fs.ErrNotExist
	}
	if name == "go" {
		return "/usr/local/go/bin/go", nil
	}
	if name == "writable-dir" {
		return "/usr/local/bin/writable-dir", nil
	}
	return "/usr/bin/" + name, nil
}

// EvalSymlinks follows the links of the machine.
func (m *Machine) EvalSymlinks(p string) (string, error) {
	p = path.Clean(p)
	for from, to := range m.Links {
		if p == from {
			return to, nil
		}
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			return path.Join(to, rest), nil
		}
	}
	if rest, ok := strings.CutPrefix(p, "/bin/"); ok {
		return "/usr/bin/" + rest, nil
	}
	return p, nil
}

// Stat tells of programs and their directories.
func (m *Machine) Stat(p string) (fs.FileInfo, error) {
	mode := fs.FileMode(0o755)
	if got, ok := m.Modes[p]; ok {
		mode = got
	}
	switch p {
	case "/usr/bin", "/bin", "/usr/local/bin", "/usr/local/go/bin", "/usr/lib/node_modules/npm/bin":
		mode |= fs.ModeDir
		if p == "/usr/local/bin" {
			mode |= 0o002
		}
	}
	return fakeInfo{path.Base(p), mode}, nil
}

// Lstat tells of the files and links that the machine has.
func (m *Machine) Lstat(p string) (fs.FileInfo, error) {
	if _, ok := m.Links[p]; ok {
		return fakeInfo{path.Base(p), fs.ModeSymlink | 0o777}, nil
	}
	if _, err := m.ReadFile(p); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return fakeInfo{path.Base(p), 0o644}, nil
}

// ReadFile reads a file of the machine.
func (m *Machine) ReadFile(p string) ([]byte, error) {
	if text, ok := m.Files[p]; ok {
		return []byte(text), nil
	}
	for name := range m.Files {
		if strings.HasPrefix(name, p+"/") {
			return nil, fmt.Errorf("%s is a directory", p)
		}
	}
	return nil, fs.ErrNotExist
}

type fakeInfo struct {
	name string
	mode fs.FileMode
}

func (i fakeInfo) Name() string       { return i.name }
func (i fakeInfo) Size() int64        { return 1 }
func (i fakeInfo) Mode() fs.FileMode  { return i.mode }
func (i fakeInfo) ModTime() time.Time { return time.Time{} }
func (i fakeInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fakeInfo) Sys() any           { return nil }

// AllowList is what a developer's allow-list looks like, as open as the grammar
// lets it be.
func AllowList() []string {
	return []string{
		"git status *", "git log *", "git diff *", "git show *", "git branch *", "git tag *", "git remote *", "git config *", "git grep *", "git blame *", "git add *", "git commit *",
		"ls *", "cat *", "grep *", "rg *", "fd *", "find *", "sed *", "awk *", "head *", "tail *", "wc *", "sort *", "uniq *", "cut *", "jq *", "diff *", "file *", "tree *", "du *", "stat *",
		"go test *", "go build *", "go vet *", "go list *", "go version", "npm test", "npm test *", "npm run *", "yarn test *", "pnpm test *", "cargo test *", "pytest *", "make *", "mytool *", "gofmt *", "date *", "ps *",
	}
}
