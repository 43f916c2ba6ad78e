package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// judging looks at new repositories: what there was before the program, and
// what git takes for one now. Later programs find all of these read-only, so
// that what is harmless now stays so.
type judging struct {
	before *Covering
	now    map[string]FileID
}

// harmful says what about a new repository may make git start a program, or
// write elsewhere; empty if nothing does.
func (j *judging) harmful(path string, depth int) string {
	facts, err := factsOf(path)
	switch {
	case err != nil || depth > 2:
		return "it cannot be looked at"
	case facts.link || facts.regular:
		return j.pointer(path, facts, depth)
	case !facts.dir:
		return "it is neither a file nor a directory"
	}
	if state, before := j.before.visited[path]; before && state.number() == facts.id.Number() && !isGitName(filepath.Base(path)) {
		return "it was an ordinary directory before"
	}
	root, err := openStraight(path)
	if err != nil {
		return "it cannot be opened"
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{"config", "config.worktree"} {
		if why := j.harmfulConfig(root, path, name); why != "" {
			return why
		}
	}
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer"} {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return "there is a " + name + " with commands to go on with"
		}
	}
	for _, name := range []string{"lazygit.yml", "sl", "arc"} { // settings of other programs
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return "there is a " + name + " with settings of another program"
		}
	}
	text, err := readPlain(root, "commondir", maxPointer)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "its commondir cannot be looked at"
	case j.harmfulTarget(path, target(path, strings.TrimRight(string(text), "\r\n")), depth) != "":
		return "its commondir leads elsewhere"
	}
	for _, name := range []string{"remotes", "branches"} { // an old way to name addresses, for which programs may speak
		if !emptyIn(root, name) {
			return "there is something in its " + name
		}
	}
	if why := harmfulHooks(root); why != "" {
		return why
	}
	if why := writesElsewhere(root, path); why != "" {
		return why
	}
	if why := j.namesOthers(root, path); why != "" || !isGitName(filepath.Base(path)) {
		return why
	}
	return j.before.shield.runsBySettings(filepath.Dir(path))
}

// pointer judges a .git that is a file or a link by what it leads to.
func (j *judging) pointer(path string, facts fileFacts, depth int) string {
	if facts.names > 1 && !facts.link {
		return "it can be changed by another name (a hard link)"
	}
	if facts.link {
		return "it is a link" // git makes none
	}
	to := gitDirOf(path)
	if to == "" {
		return "where it leads to is not understood"
	}
	if why := j.harmfulTarget(path, to, depth); why != "" && !j.before.ownTree(path, to) {
		return why
	}
	return j.before.shield.runsBySettings(filepath.Dir(path))
}

// harmfulTarget judges a directory that something new leads to. It must be a
// repository now: what is missing, or is none, could still be made into anything.
// No link may lie on the way, since the next program could lead it elsewhere; and
// the way must not lead out of what was granted, since another program may be
// granted that. One that was there before has settings of the person, in which
// paths may begin at the work tree, and this is another one; git itself makes
// such a thing only for submodules and work trees, where it may write.
func (j *judging) harmfulTarget(from, to string, depth int) string {
	dir, links, err := follow(to)
	switch {
	case !straight(to, from):
		return "it leads there by a detour"
	case err != nil:
		return "where it leads to cannot be looked at"
	case len(links) > 0:
		return "it leads there over a link"
	case !slices.ContainsFunc(j.before.dirs, func(d files.Dir) bool { return within(dir, d.Path) }):
		return "it leads out of what was granted"
	}
	id, known := j.now[dir]
	if !known {
		return "it leads to what is no repository"
	}
	if j.before.knew(dir, id) {
		if isShut(dir) {
			return "it leads to what was set aside"
		}
		belongs := within(from, dir) || !isGitName(filepath.Base(dir)) && insideGit(dir)
		if !j.before.shield.WriteGit || !belongs {
			return "it leads to a repository that was there before"
		}
		return ""
	}
	return j.harmful(dir, depth+1)
}

func harmfulHooks(root *os.Root) string {
	info, err := root.Lstat("hooks")
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || !info.IsDir() {
		return "its hooks are elsewhere"
	}
	dir, err := root.OpenFile("hooks", plainfile.AsDir, 0)
	if err != nil {
		return "its hooks cannot be looked at"
	}
	names, err := dir.Readdirnames(maxHooks)
	_ = dir.Close() // it was only read
	if err != nil && len(names) > 0 || len(names) == maxHooks {
		return "its hooks cannot be looked at"
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".sample") {
			return "it has the hook " + shorten(name)
		}
	}
	return ""
}

// worktree tells whether a setting names the work tree of a submodule: a place
// that programs may write, whose .git leads back here. Git writes files there.
func (j *judging) worktree(path, value string) bool {
	if strings.ContainsAny(value, `"\;#`) {
		return false
	}
	tree, links, err := follow(target(path, value))
	if err != nil || len(links) > 0 || !straight(target(path, value), path) || !writable(tree, j.before.dirs) {
		return false
	}
	here, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	back, err := filepath.EvalSymlinks(gitDirOf(filepath.Join(tree, ".git")))
	return err == nil && back == here
}

// readPlain reads a small file without waiting for anybody: a program may have
// put a pipe there, or a file without end.
func readPlain(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, errors.Join(err, errOddFile)
	}
	hurry(f)
	return io.ReadAll(io.LimitReader(f, most))
}

// hurry bounds how long a file is read that says that it is one and has nothing
// to read yet, as some of the kernel's do. No other one knows of waiting.
func hurry(f *os.File) { _ = f.SetReadDeadline(time.Now().Add(time.Second)) }

var errOddFile = errors.New("it is not a plain file, or too long")
