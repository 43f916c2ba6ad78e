package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A person's "git status" goes into every submodule of the index and by the
// settings that stand there. Where a submodule was never checked out there is
// an empty directory, and a program could put a repository of its own in its
// place. So these places are read-only.

// workTree is a directory with a .git in it.
type workTree struct{ top, git string }

// The bounds on what is read of a repository.
const (
	maxIndex   = 256 << 20
	maxPointer = 4096
)

func (w *shieldWalk) addGit(path string, id FileID) {
	if w.gits == nil {
		w.gits = map[string]FileID{}
	}
	w.gits[path] = id
}

// enclosing finds the work trees around a granted directory: their submodules
// may lie in it.
func (w *shieldWalk) enclosing(dir string) {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		git := filepath.Join(up, ".git")
		if _, err := os.Lstat(git); err == nil {
			w.trees = append(w.trees, workTree{top: up, git: git})
		}
	}
}

// coverLinks protects the submodules of all work trees.
func (w *shieldWalk) coverLinks() {
	for _, tree := range w.trees {
		for _, link := range w.submodules(tree) {
			place := filepath.Join(tree.top, filepath.FromSlash(link.Path))
			if !w.inside(place) || !writable(place, w.dirs) || !writable(filepath.Dir(place), w.dirs) {
				continue
			}
			w.coverLink(place)
		}
	}
}

// coverLink protects the place of a submodule, if there is something. What is
// checked out has a .git, which is covered for its name.
func (w *shieldWalk) coverLink(place string) {
	facts, err := factsOf(place)
	switch {
	case err != nil:
	case !facts.dir: // git does not go there as long as it is none
		w.found = append(w.found, Cover{Path: place, Kind: Pin, Link: facts.link})
	default:
		if _, err := os.Lstat(filepath.Join(place, ".git")); errors.Is(err, fs.ErrNotExist) {
			w.found = append(w.found, Cover{Path: place, Kind: Fix, Dir: true})
		}
	}
}

// indexSight is what an index was seen to hold.
type indexSight struct {
	odd   bool // it is not understood
	facts fileFacts
	links []gitindex.Link
}

// submodules reads where a work tree has submodules, from memory if the index
// has not changed. What git does not understand it does not go by either.
func (w *shieldWalk) submodules(tree workTree) []gitindex.Link {
	dir := gitDirOf(tree.git)
	file := filepath.Join(dir, "index")
	facts, err := factsOf(file)
	if dir == "" || err != nil || !facts.regular {
		return nil
	}
	seen := w.shield.indexes[file]
	if seen == nil || seen.facts != facts {
		links, err := readIndex(dir)
		seen = &indexSight{facts: facts, links: links, odd: err != nil}
		w.shield.indexes[file] = seen
	}
	if seen.odd {
		w.warn("the index of the repository %s is not understood, so places of submodules that are not checked out are not protected: git update-index --index-version 2 writes it anew", shorten(tree.top))
	}
	return seen.links
}

func readIndex(dir string) ([]gitindex.Link, error) {
	data, err := plainfile.Read(filepath.Join(dir, "index"), maxIndex)
	if err != nil {
		return nil, err
	}
	for _, hash := range []int{gitindex.SHA1, gitindex.SHA256} {
		index, err := gitindex.Read(data, hash)
		if err != nil {
			continue
		}
		if index.Shared == "" {
			return index.Links, nil
		}
		rest, err := plainfile.Read(filepath.Join(dir, index.Shared), maxIndex)
		if err != nil {
			return nil, err
		}
		shared, err := gitindex.Read(rest, hash)
		if err != nil || shared.Shared != "" || index.Unnamed > len(shared.Links) {
			return nil, gitindex.ErrOdd
		}
		return slices.Concat(index.Links, shared.Links), nil
	}
	return nil, gitindex.ErrOdd
}

// gitDirOf gives the directory that a .git is or points to. Git takes a path in
// a .git for one from the directory that has the .git, also where that is a link.
func gitDirOf(git string) string {
	info, err := os.Stat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		place, err := filepath.EvalSymlinks(git)
		if err != nil {
			return ""
		}
		return place
	case !info.Mode().IsRegular():
		return ""
	}
	text, err := plainfile.Read(git, maxPointer)
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !ok || to == "" {
		return ""
	}
	return target(filepath.Dir(git), to)
}

// target is where a path leads from a directory. It is not cleaned: what is
// before a .. may be a link, and only the file system knows where that leads.
func target(dir, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return dir + string(filepath.Separator) + to
}

func isGitName(name string) bool { return strings.EqualFold(name, ".git") }

// isGitDir tells whether git would take a directory for a repository, whatever
// its name: bare ones, submodules, and what belongs to a worktree.
func isGitDir(dir string, entries []entry) bool {
	if isGitName(filepath.Base(dir)) {
		return true
	}
	has := map[string]bool{}
	for _, e := range entries {
		switch name := strings.ToLower(e.name); name {
		case "head":
			has[name] = has[name] || !e.isDir()
		case "commondir", "objects", "refs":
			has[name] = true
		}
	}
	return has["head"] && (has["commondir"] || has["objects"] && has["refs"])
}

// runsPrograms names the entries of a Git directory that can make git run a
// program, or read its config from elsewhere.
func runsPrograms(name string) bool {
	switch strings.ToLower(name) {
	case "hooks", "config", "config.worktree", "commondir", "remotes", "branches":
		return true
	}
	return false
}

// insideGit tells whether a directory is a .git or lies in one. What lies
// there is git's own, but for submodules and work trees.
func insideGit(dir string) bool {
	for rest := dir; ; {
		up, name := filepath.Split(rest)
		if isGitName(name) {
			return true
		}
		if rest = strings.TrimSuffix(up, string(filepath.Separator)); rest == "" || rest == dir {
			return false
		}
	}
}

// seenInside names the parts of a Git directory that a look goes into.
func seenInside(name string) bool {
	return strings.EqualFold(name, "modules") || strings.EqualFold(name, "worktrees")
}
