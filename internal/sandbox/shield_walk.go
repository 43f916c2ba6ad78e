package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// sight is what was seen in a directory. It holds as long as the directory has
// not changed, by a time that programs cannot set.
type sight struct {
	state   dirState
	at      time.Time // when it was last seen
	covers  []Cover
	links   []string // to be hidden by name, but links: what they lead to is meant
	above   []string // links by whose name some of what they lead to is to be hidden
	obeyed  []string // links that other programs obey
	inside  []string // directories that they obey
	onWay   []string // links of names that are on the way to what they obey
	keyed   []string // to be hidden if they hold a key; links or files
	git     bool     // git takes it for a repository
	tree    string   // the .git that makes it the top of a work tree
	inodes  []uint64 // of its files
	below   []string
	settled bool // long enough unchanged that a change would show in its time
}

// shieldWalk is one look at all granted directories.
type shieldWalk struct {
	shield  *Shield
	dirs    []files.Dir
	rooms   map[string]bool // those of dirs that are parts of a granted one
	visited map[string]dirState
	pinned  map[string]bool // directories whose parents are pinned too
	trees   []workTree
	gits    map[string]FileID // Git directories, and what leads to one
	found   []Cover
	ruleSets
	notes    map[string]bool // whether something is open
	read     bool            // a directory was not as it was remembered
	moved    string          // something that was there and then was not
	again    map[string]int
	room     int             // for directories, where nothing can be left out
	vanished bool            // a directory that did not seem to matter
	still    bool            // nothing changed while it was looked at
	young    bool            // that may be so, and cannot be known yet
	links    []string        // that other programs obey
	obeyed   []string        // directories that other programs obey
	onWay    []string        // links on the way to what they obey
	inners   map[string]bool // directories whose files are obeyed
	behind   map[string]bool // hidden directories, and links to those of which parts are

	behindDirs int                            // directories that were looked into because of these
	behindMost string                         // one of too many
	ruled      []string                       // directories that rules fix
	outer      []linked.Led                   // links in protected places
	keyBytes   int64                          // read of files that may hold keys
	opened     []func(back bool) (stood bool) // give directories that were opened up their modes back
}

// descend looks at a directory and all below it. Links are not followed. What
// was moved meanwhile into a directory that was seen already is looked for there.
func (w *shieldWalk) descend(root string) error {
	queue := []string{root}
	for again := 0; ; again++ {
		if err := w.descendFrom(root, queue); err != nil || !w.read || w.moved != "" || again == maxAgain {
			return err
		}
		if queue = w.changed(root); len(queue) == 0 {
			return nil
		}
	}
}

func (w *shieldWalk) descendFrom(root string, queue []string) error {
	for len(queue) > 0 {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, done := w.visited[dir]; done {
			continue
		}
		if tooDeep(dir, root) {
			w.leaveOut(dir, "it lies too deep to look for protected files in it")
			continue
		}
		if len(w.visited) >= max(maxShieldDirs, w.room) {
			queue = append(queue, dir)
			left, err := w.thinOut(root, queue)
			switch {
			case err == nil:
				queue = left
			case len(w.visited) >= mostShieldDirs:
				return err
			default:
				w.room = mostShieldDirs
			}
			continue
		}
		seen, err := w.look(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir == root:
			continue // nothing can be shown of it, and that is said elsewhere
		case errors.Is(err, fs.ErrNotExist):
			queue = append(queue, w.vanish(dir, root)...) // it was there a moment ago
			continue
		case errors.Is(err, errCrowded) && dir != root:
			w.leaveOut(dir, err.Error())
			continue
		case errors.Is(err, errCrowded):
			return Unavailable(fmt.Sprintf("programs cannot be started in %s: %s. Remove some of its entries, or grant less", dir, err), nil)
		case err != nil:
			// We cannot look into it, but its owner could open it up. What lies in it
			// may lead elsewhere, so that hiding it is not enough.
			w.found = append(w.found, Cover{Path: dir, Dir: true})
			if seen = w.lookClosed(dir, root, err); seen == nil {
				continue
			}
		}
		w.visited[dir] = seen.state
		w.found = append(w.found, seen.covers...)
		w.hideFound(seen)
		if seen.git {
			w.addGit(dir, seen.state.idAt(dir))
		}
		w.links = append(w.links, seen.obeyed...)
		w.obeyed = append(w.obeyed, seen.inside...)
		w.onWay = append(w.onWay, seen.onWay...)
		if seen.tree != "" {
			if facts, err := factsOf(seen.tree); err == nil {
				w.addGit(seen.tree, facts.id)
			}
			w.trees = append(w.trees, workTree{top: dir, git: seen.tree})
		}
		queue = append(queue, seen.below...)
	}
	return nil
}

// hideFound hides what is protected by its content, or by where it leads.
func (w *shieldWalk) hideFound(seen *sight) {
	for _, name := range seen.keyed {
		w.hideKey(name)
	}
	for _, link := range seen.links {
		w.hideTarget(link)
	}
	for _, link := range seen.above {
		w.hideParts(link, link)
	}
	for _, c := range seen.covers {
		if c.Kind == Hide && c.Dir {
			w.hideLed(c.Path)
		}
	}
}

// vanish is told of a directory that was there a moment ago. Builds make and
// remove directories all the time, and that must not keep programs from being
// started. It matters if something to be covered was ever seen in it. It may have
// another name by now, so the directory that it was in is looked at again.
func (w *shieldWalk) vanish(dir, root string) (queue []string) {
	w.read, w.vanished = true, true
	for path, seen := range w.shield.seen {
		if within(path, dir) && seen.matters() {
			w.moved = dir
			return nil
		}
	}
	up := filepath.Dir(dir)
	if w.again[up] >= maxAgain || !within(up, root) {
		return nil
	}
	if w.again == nil {
		w.again = map[string]int{}
	}
	w.again[up]++
	delete(w.visited, up)
	return []string{up}
}

// maxAgain is how often a directory is looked at again in one look.
const maxAgain = 3

// matters: there is something to be covered.
func (s *sight) matters() bool {
	return s.git || s.tree != "" || len(s.covers)+len(s.links)+len(s.keyed)+len(s.above)+len(s.obeyed) > 0
}

// hideTarget hides what a link leads to, if a program could reach it.
func (w *shieldWalk) hideTarget(link string) {
	target, links, err := follow(link)
	if err != nil || !w.inside(target) || w.shield.hidden.Excepted(elements(target)) {
		return
	}
	info, err := os.Lstat(target)
	if err != nil {
		w.moved = target
		return
	}
	w.hide(target, info.IsDir())
	w.pinLinks(links)
	if info.IsDir() {
		w.hideLed(target)
	}
}

// look gives what is in a directory, from memory if it has not changed.
func (w *shieldWalk) look(dir string) (*sight, error) {
	state, err := stateOf(dir)
	if err != nil {
		return nil, err
	}
	if old := w.shield.seen[dir]; old != nil && old.settled && old.state == state {
		old.at = time.Now()
		return old, nil
	}
	w.read = true
	most := maxEntries
	if w.isTop(dir) {
		most = w.shield.most // it cannot be hidden instead
	}
	entries, err := readEntries(dir, state, most)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 { // it may be listed but not entered
		if _, err := os.Lstat(filepath.Join(dir, entries[0].name)); errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
	}
	seen := w.shield.judge(dir, entries)
	seen.state, seen.settled, seen.at = state, state.settled(), time.Now()
	w.shield.seen[dir] = seen
	return seen, nil
}

// forget drops what lies in no directory of the last look, when there is much
// of it: grants come and go.
func (s *Shield) forget(visited map[string]dirState) {
	if len(s.seen) <= maxShieldDirs {
		return
	}
	for dir := range s.seen {
		if _, ok := visited[dir]; !ok {
			delete(s.seen, dir)
		}
	}
}

// judge decides on each entry of a directory.
func (s *Shield) judge(dir string, entries []entry) *sight {
	seen := &sight{}
	git := isGitDir(dir, entries)
	seen.git = git
	switch {
	case git && s.WriteGit:
		seen.covers = append(seen.covers, Cover{Path: dir, Kind: Pin, Dir: true})
	case git: // a program could put a commondir or hooks there where none were
		seen.covers = append(seen.covers, Cover{Path: dir, Kind: Fix, Dir: true})
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.name)
		if e.kind == 0 && e.inode != 0 {
			seen.inodes = append(seen.inodes, e.inode)
		}
		if e.isLink() && s.Obeyed.Leads(e.name) {
			seen.onWay = append(seen.onWay, name)
		}
		s.fixObeyed(seen, name, e.isDir(), e.isLink())
		if e.isLink() && s.hidden.Above(elements(name)) {
			seen.above = append(seen.above, name)
		}
		answer := sensitive.Open
		if s.hidden.May(e.name) {
			answer = s.hidden.Judge(elements(name))
		}
		if answer == sensitive.Keyed && !e.isDir() {
			seen.keyed = append(seen.keyed, name)
		}
		switch {
		case answer == sensitive.Closed && e.isLink():
			seen.links = append(seen.links, name)
			continue
		case answer == sensitive.Closed:
			seen.covers = append(seen.covers, Cover{Path: name, Dir: e.isDir()})
			continue
		case isGitName(e.name):
			seen.tree = name
		}
		switch {
		case e.isLink() && isGitName(e.name):
			seen.covers = append(seen.covers, Cover{Path: name, Kind: Pin, Link: true})
		case e.isLink():
			continue
		case e.kind&(fs.ModeSocket|fs.ModeNamedPipe) != 0: // who is at the other end is outside
			seen.covers = append(seen.covers, Cover{Path: name})
			continue
		case s.fixed.Match(elements(name)), git && runsPrograms(e.name), !e.isDir() && isGitName(e.name):
			seen.covers = append(seen.covers, Cover{Path: name, Kind: Fix, Dir: e.isDir()})
		}
		if e.isDir() && (!git || !insideGit(dir) || seenInside(e.name)) {
			seen.below = append(seen.below, name)
		}
	}
	return seen
}

// entry is a name in a directory.
type entry struct {
	name  string
	kind  fs.FileMode // its type only; zero for a file
	inode uint64      // zero: not known
}

func (e entry) isDir() bool  { return e.kind&fs.ModeDir != 0 }
func (e entry) isLink() bool { return e.kind&fs.ModeSymlink != 0 }

// hideKey hides a file whose name says that it may hold a key, if it does.
func (w *shieldWalk) hideKey(name string) {
	target, err := filepath.EvalSymlinks(name)
	switch {
	case err != nil || !w.holdsKey(name, target): // or it leads nowhere
	case target != name:
		w.hideTarget(name)
	default:
		w.hide(name, false)
	}
}

// keyState is a file and the name it was judged by.
type keyState struct {
	file fileState
	name string
}

// maxKeyStates bounds what is remembered about files that may hold keys.
const maxKeyStates = 1 << 14

// maxKeyBytes bounds what one look reads to find keys. A program can make very
// many files of such names, which take no space on the disk.
const maxKeyBytes = 32 << 20

// holdsKey judges a file by its text, unless this very file was judged before.
// What cannot be read is judged by its name: its owner could open it up. So is
// what is too large, and what comes after too much was read already.
func (w *shieldWalk) holdsKey(name, target string) bool {
	s := w.shield
	state := keyState{name: filepath.Base(name)}
	var regular bool
	var err error
	state.file, regular, err = stateOfFile(target)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !regular:
		return false
	case err != nil:
		return sensitive.HoldsKey(state.name, nil, false)
	}
	if holds, known := s.keys[state]; known {
		return holds
	}
	holds := true
	if w.keyBytes >= maxKeyBytes { // and it stays so: looks must see the same
		w.note("%s is hidden from programs: there are more files that may hold keys than can be read. Remove some, or list it in grant.unprotected", shorten(name))
	} else {
		text, whole, err := readHead(target)
		w.keyBytes += int64(len(text))
		holds = sensitive.HoldsKey(state.name, text, err == nil && whole)
	}
	if state.file.settled() {
		if len(s.keys) >= maxKeyStates {
			clear(s.keys)
		}
		s.keys[state] = holds
	}
	return holds
}

func readHead(file string) (text []byte, whole bool, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, false, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // another one by now
		return nil, false, errors.Join(err, errOddFile, f.Close())
	}
	hurry(f)
	text, err = io.ReadAll(io.LimitReader(f, sensitive.MaxKey+1))
	return text, len(text) <= sensitive.MaxKey, errors.Join(err, f.Close())
}

// errOddFile: it is no ordinary file.
var errOddFile = errors.New("it is no ordinary file")

// hurry keeps a read from waiting for somebody at the other end of a pipe.
func hurry(f *os.File) { _ = f.SetReadDeadline(time.Now().Add(time.Second)) }
