package layer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/glob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// ignored knows what Git ignores in the live trees, by their own .gitignore files and not
// by those that the command wrote. What is not sure to be ignored is not: outside of a
// repository, or where its index cannot be read, nothing is.
type ignored struct {
	repos map[string]*repository // by directory; nil: it lies in none
	rules map[string]*glob.Ignore
	tops  map[string]string // of directories: the outermost that is ignored; empty: none is
}

// repository is a work tree of Git.
type repository struct {
	top     string
	tracked []string // sorted; below top
	unknown bool     // what is tracked could not be found out
}

func newIgnored() *ignored {
	return &ignored{repos: map[string]*repository{}, rules: map[string]*glob.Ignore{}, tops: map[string]string{}}
}

// The bounds on what is read of a repository.
const (
	maxIgnoreFile = 1 << 20
	maxIndexFile  = 256 << 20
)

// top gives the outermost directory, or the file itself, by which a path is ignored;
// empty: it is not.
func (g *ignored) top(path string, dir bool) string {
	repo := g.repository(filepath.Dir(path))
	if repo == nil || repo.unknown || path == repo.top {
		return ""
	}
	top := g.topOf(repo, filepath.Dir(path))
	if top == "" && g.matches(repo, path, dir) {
		top = path
	}
	if rel, _ := filepath.Rel(repo.top, path); top != "" && repo.tracks(rel) {
		return "" // Git ignores nothing that it has
	}
	return top
}

// topOf is top of a directory, whose own tracked files do not matter.
func (g *ignored) topOf(repo *repository, dir string) string {
	if dir == repo.top || !strings.HasPrefix(dir, repo.top+"/") {
		return ""
	}
	if top, known := g.tops[dir]; known {
		return top
	}
	top := g.topOf(repo, filepath.Dir(dir))
	if top == "" && g.matches(repo, dir, true) {
		top = dir
	}
	g.tops[dir] = top
	return top
}

// matches holds a path against the rules of the directories above it.
func (g *ignored) matches(repo *repository, path string, dir bool) bool {
	rel, err := filepath.Rel(repo.top, path)
	return err == nil && g.rulesOf(repo, filepath.Dir(path)).Match(filepath.ToSlash(rel), dir)
}

// rulesOf gives the rules that hold in a directory.
func (g *ignored) rulesOf(repo *repository, dir string) *glob.Ignore {
	if rules, known := g.rules[dir]; known {
		return rules
	}
	var rules *glob.Ignore
	if dir != repo.top {
		rules = g.rulesOf(repo, filepath.Dir(dir))
	}
	name := filepath.Join(dir, ".gitignore")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // Git reads no link
		g.rules[dir] = rules
		return rules
	}
	if text, err := plainfile.Read(name, maxIgnoreFile); err == nil {
		rel, _ := filepath.Rel(repo.top, dir)
		rules = glob.NewIgnore(rules, filepath.ToSlash(rel), text)
	}
	g.rules[dir] = rules
	return rules
}

// repository finds the work tree that a directory lies in.
func (g *ignored) repository(dir string) *repository {
	if repo, known := g.repos[dir]; known {
		return repo
	}
	var repo *repository
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	switch {
	case err == nil && info.IsDir():
		repo = readRepository(dir)
	case err == nil: // of a worktree or a submodule, whose index lies elsewhere
		repo = &repository{top: dir, unknown: true}
	case dir != filepath.Dir(dir):
		repo = g.repository(filepath.Dir(dir))
	}
	g.repos[dir] = repo
	return repo
}

func readRepository(top string) *repository {
	repo := &repository{top: top}
	data, err := plainfile.Read(filepath.Join(top, ".git", "index"), maxIndexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return repo // nothing was added yet
	}
	for _, hash := range []int{gitindex.SHA1, gitindex.SHA256} {
		if err != nil {
			break
		}
		repo.tracked = nil
		wrong := gitindex.Names(data, hash, func(name string) { repo.tracked = append(repo.tracked, name) })
		if wrong == nil {
			slices.Sort(repo.tracked)
			return repo
		}
	}
	repo.unknown, repo.tracked = true, nil
	return repo
}

func (r *repository) tracks(rel string) bool {
	_, found := slices.BinarySearch(r.tracked, rel)
	return found
}

// inGit tells whether a path is the directory of a repository's history, or in it.
func inGit(path string) bool { return slices.Contains(strings.Split(path, "/"), ".git") }
