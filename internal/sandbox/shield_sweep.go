package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// A program can make repositories: by git init, by git clone, by what starts a
// new project. Git goes by the settings of a repository as soon as somebody
// enters it, adds it to the one around it, or opens it in an editor. So when a
// program has ended, the repositories that were not there before are looked at.
// Those with settings as git itself writes them are left alone. All others are
// set aside: their HEAD gets another name, without which git does not take
// them for repositories, and the person is told.

const (
	setAside     = ".set-aside"
	maxGitConfig = 1 << 20
	maxSweeps    = 3
	maxHooks     = 1000
)

// Sweep is called when the program has ended. It gives what there is to say.
func (c *Covering) Sweep() []string {
	if c.shield == nil || !slices.ContainsFunc(c.dirs, writes) {
		return nil
	}
	var notes []string
	for range maxSweeps { // in one repository there may be another
		said, again := c.sweep()
		notes = append(notes, said...)
		if !again {
			break
		}
	}
	return append(notes, c.sweepTools()...)
}

// Moved is told that a granted directory has another name by now.
func (c *Covering) Moved(from, to string) {
	moved := func(path string) string {
		if within(path, from) {
			return to + path[len(from):]
		}
		return path
	}
	c.dirs, c.Covers = slices.Clone(c.dirs), slices.Clone(c.Covers)
	for i := range c.dirs {
		c.dirs[i].Path = moved(c.dirs[i].Path)
	}
	for i := range c.Covers {
		c.Covers[i].Path = moved(c.Covers[i].Path)
	}
	c.tops = slices.Clone(c.tops)
	for i := range c.tops {
		c.tops[i] = moved(c.tops[i])
	}
	gits, visited := map[string]FileID{}, map[string]dirState{}
	for path, id := range c.gits {
		gits[moved(path)] = id
	}
	for path, state := range c.visited {
		visited[moved(path)] = state
	}
	c.gits, c.visited = gits, visited
}

func (c *Covering) sweep() (notes []string, again bool) {
	c.shield.mu.Lock()
	w := &shieldWalk{shield: c.shield, dirs: c.dirs, visited: map[string]dirState{}, gitsOnly: true}
	err := w.descendAll()
	c.shield.mu.Unlock()
	if err != nil { // too much for a look: no repository belongs there
		var all []string
		for _, d := range c.dirs {
			all = append(all, d.Path)
		}
		return c.sweepUnseen(all, nil)
	}
	j := &judging{before: c, now: w.gits}
	var fresh []string
	for _, path := range slices.SortedFunc(maps.Keys(w.gits), comparePaths) {
		if c.knew(path, w.gits[path]) || !writable(path, c.dirs) || c.hid(path) {
			continue // what was there is covered, or it is said to be writable
		}
		why := j.harmful(path, 0)
		if why == "" {
			if facts, err := factsOf(path); err == nil && facts.dir {
				fresh = append(fresh, path) // in it there may be another
			}
			continue
		}
		to, err := putAside(path, w.gits[path])
		switch {
		case errors.Is(err, fs.ErrNotExist): // git does not take it for a repository as it is
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s is a repository that the program made or changed, and git would go by it although %s. It could not be set aside (%v): do not use git there before you have looked at it", shorten(path), why, err))
		default:
			again = true
			notes = append(notes, fmt.Sprintf("%s is a repository that the program made or changed, and %s, so that git may start programs there. It was set aside: look at it, and rename %s back if you trust it", shorten(path), why, shorten(to)))
		}
	}
	notes = append(notes, c.sweepObeyed(w)...)
	said, more := c.sweepUnseen(w.unseen, fresh)
	return append(notes, said...), again || more || w.moved != ""
}

// knew tells whether something was a repository before the program started.
func (c *Covering) knew(path string, id FileID) bool {
	old, known := c.gits[path]
	return known && old == id
}

// putAside renames what makes a place a repository.
func putAside(path string, id FileID) (to string, err error) {
	facts, err := factsOf(path)
	if err != nil {
		return "", err
	}
	dir, name := filepath.Split(path)
	at := name
	if facts.dir {
		dir, name, at = path, "HEAD", "."
	}
	to, err = renameIn(dir, name, at, id)
	return filepath.Join(dir, to), err
}

// renameIn renames an entry of a directory if something there is still what was
// looked at: whoever still runs may have put something else there since.
func renameIn(dir, name, at string, id FileID) (to string, err error) {
	root, err := openStraight(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // its entries are renamed
	if now, err := root.Lstat(at); err != nil || idOf(now) != id {
		return "", errors.Join(err, errGone)
	}
	return renameAside(root, name)
}

// renameAside gives an entry a name that no program could foresee, so that none
// can be in its way. A directory that its maker closed is opened first.
func renameAside(root *os.Root, name string) (to string, err error) {
	to = name + setAside + "-" + strings.ToLower(rand.Text()[:8])
	if err = root.Rename(name, to); errors.Is(err, fs.ErrPermission) {
		info, unseen := root.Stat(".")
		if unseen != nil {
			return to, unseen
		}
		if err := root.Chmod(".", info.Mode().Perm()|0o700); err != nil {
			return to, err
		}
		err = root.Rename(name, to)
	}
	return to, err
}

// judging looks at new repositories: what there was before the program, and
// what git takes for one now. Later programs find all of these read-only, so
// that what is harmless now stays so.
type judging struct {
	before *Covering
	now    map[string]FileID
}

// harmful says what about a new repository may make git start a program; empty
// if nothing does.
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
	if state, before := j.before.visited[path]; before && state.id() == facts.id && !isGitName(filepath.Base(path)) {
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
	if why := harmfulHooks(root); why != "" || !isGitName(filepath.Base(path)) {
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
		// It is pinned from now on, but other links on its way are not.
		to, links, err := follow(path)
		if err != nil || len(links) != 1 {
			return "where it leads to is not certain"
		}
		if info, err := os.Lstat(to); err == nil && info.IsDir() {
			return "it is a link" // git makes none
		}
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
func (j *judging) harmfulTarget(from, dir string, depth int) string {
	dir, links, err := follow(dir)
	switch {
	case err != nil:
		return "where it leads to cannot be looked at"
	case len(links) > 0:
		return "it leads there over a link"
	case !slices.ContainsFunc(j.before.dirs, func(d toolcrib.Dir) bool { return within(dir, d.Path) }):
		return "it leads out of what was granted"
	}
	id, known := j.now[dir]
	if !known {
		return "it leads to what is no repository"
	}
	if j.before.knew(dir, id) {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
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
	dir, err := root.Open("hooks")
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

// harmfulConfig reads settings more strictly than git does: it takes only what
// git itself writes for a new repository or a clone.
func (j *judging) harmfulConfig(root *os.Root, path, name string) string {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitConfig || namesOf(info) > 1 {
		return "its " + name + " is not a plain file with one name"
	}
	text, err := readPlain(root, name, maxGitConfig)
	if err != nil {
		return "its " + name + " cannot be read"
	}
	if strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return "there are control characters in its " + name
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		key = section + "." + strings.ToLower(strings.TrimSpace(key))
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			var ok bool
			if section, ok = plainSection(line); !ok {
				return fmt.Sprintf("the line %.60q of its %s is not understood", line, name)
			}
		case key == "core.worktree" && j.worktree(path, strings.TrimSpace(value)):
		case strings.HasSuffix(line, `\`), !plainSetting(key, strings.TrimSpace(value)):
			return fmt.Sprintf("its %s sets %s", name, shorten(key))
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
	tree, err := filepath.EvalSymlinks(target(path, value))
	if err != nil || !writable(tree, j.before.dirs) {
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
	return io.ReadAll(io.LimitReader(f, most))
}

var errOddFile = errors.New("it is not a plain file, or too long")

// plainSection reads [name] and [name "sub"], with nothing behind it.
func plainSection(line string) (string, bool) {
	inner, ok := strings.CutSuffix(line[1:], "]")
	name, sub, has := strings.Cut(inner, ` "`)
	if has {
		sub, ok = strings.CutSuffix(sub, `"`)
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", false
		}
	}
	if !ok || name == "" || strings.ContainsAny(sub, `"\]`) {
		return "", false
	}
	if has {
		name += ".*"
	}
	return strings.ToLower(name), true
}

// plainSetting lists what git and its usual helpers write about a repository.
func plainSetting(key, value string) bool {
	switch key {
	case "core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
		"core.sparsecheckout", "core.sparsecheckoutcone", "core.autocrlf", "core.eol", "core.longpaths",
		"extensions.objectformat", "extensions.worktreeconfig", "extensions.refstorage", "extensions.partialclone",
		"remote.*.fetch", "remote.*.mirror", "remote.*.tagopt", "remote.*.promisor", "remote.*.partialclonefilter", "remote.*.prune",
		"branch.*.merge", "branch.*.rebase", "submodule.active", "submodule.*.active",
		"branch.*.description", "branch.*.vscode-merge-base", "branch.*.gh-merge-base", "branch.*.github-pr-owner-number", "branch.*.github-pr-base-branch",
		"remote.*.gh-resolved", "lfs.repositoryformatversion", "push.default", "push.autosetupremote", "push.followtags", "pull.ff", "fetch.prune", "fetch.prunetags",
		"color.ui", "maintenance.auto", "maintenance.strategy", "merge.conflictstyle", "rebase.autostash", "rerere.enabled", "core.quotepath", "core.safecrlf", "core.untrackedcache", "index.version", "feature.manyfiles",
		"user.name", "user.email", "init.defaultbranch", "gc.auto", "pull.rebase", "commit.gpgsign", "tag.gpgsign":
		return true
	case "remote.*.url", "remote.*.pushurl", "branch.*.remote", "branch.*.pushremote", "submodule.*.url": // what has :: in it another program speaks for
		return !strings.Contains(value, "::") && !strings.ContainsAny(value, `"\`)
	case "core.fsmonitor":
		return value == "false"
	}
	return false
}
