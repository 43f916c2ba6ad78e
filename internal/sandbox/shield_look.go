package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// Covering is what a look at granted directories found.
type Covering struct {
	Covers []Cover
	// Notes tell a person what was hidden that would not have to be, and why.
	Notes []string

	// Dirs are the directories that were granted, less what programs must not make
	// in them. Without a shield it is nil.
	Dirs []files.Dir

	shield *Shield
	dirs   []files.Dir
	grant  toolcrib.Grant // that was looked at
	gits   map[string]FileID
}

// FileID tells one file from all others of the machine. Zero: it is not known. The
// number of a file that is gone is given to a new one, so that the time of birth
// counts; it is zero where the file system does not tell it.
type FileID struct {
	Device, Inode uint64
	Born          int64
}

// Number tells a file only from those that are there at the same time.
func (id FileID) Number() FileID { return FileID{Device: id.Device, Inode: id.Inode} }

// The bounds on how often a tree is looked at in which something moves, and
// how many looks in a row must have seen the same.
const (
	maxLooks     = 16
	enoughLooks  = 4
	moreLooks    = 8 // where directories vanish
	longestPause = 16 * time.Millisecond
)

// Covers finds what is to be covered below granted directories, now. A nil
// Shield covers nothing.
func (s *Shield) Covers(dirs []files.Dir) ([]Cover, error) {
	found, err := s.Look(dirs)
	if err != nil {
		return nil, err
	}
	return found.Covers, nil
}

// Look is Covers with what there is to say about it. Something may be moved
// while it looks, out of a directory that is yet to be seen into one that was
// seen already. So it looks until it knows that everything was at one place:
// nothing had changed since it was last seen, or nothing changed while it was
// looked at. Where files come and go all the time, some looks in a row that saw
// the same to be covered must do, if nothing is missing that was there before.
func (s *Shield) Look(dirs []files.Dir) (*Covering, error) {
	return s.lookAt(dirs, nil, ruleSets{})
}

func (s *Shield) lookAt(dirs []files.Dir, rooms map[string]bool, rules ruleSets) (*Covering, error) {
	if s == nil {
		return &Covering{}, nil
	}
	if err := checkShares(dirs); err != nil {
		return nil, err
	}
	if len(dirs) == 0 { // it need not wait for who looks through a whole disk
		return (&shieldWalk{shield: s, visited: map[string]dirState{}, ruleSets: rules}).covering(), nil
	}
	var walk *shieldWalk
	moved, steady := "", 0
	for i := range maxLooks {
		switch {
		case walk != nil && walk.young:
			grow()
		case i > 1:
			time.Sleep(min(time.Millisecond<<(i-2), longestPause))
		}
		last := walk
		var err error
		if walk, err = s.look1(dirs, rooms, rules); err != nil {
			return nil, err
		}
		switch {
		case walk.moved != "":
			moved, steady = walk.moved, 0
		case !walk.read || walk.still:
			return walk.covering(), nil
		case last == nil || last.moved != "" || !slices.Equal(last.found, walk.found) || walk.lost():
			steady = 0
		default:
			enough := enoughLooks
			if walk.vanished {
				enough = moreLooks
			}
			if steady++; steady >= enough {
				return walk.covering(), nil
			}
		}
	}
	if moved == "" {
		moved = dirs[0].Path
	}
	return nil, Moving(moved, nil)
}

func (w *shieldWalk) covering() *Covering {
	return &Covering{Dirs: w.dirs, Covers: w.found, Notes: w.told(), shield: w.shield, dirs: w.dirs, gits: w.gits}
}

// Moving is the error of a place that could not be covered because it did not
// stay where it was.
func Moving(place string, cause error) error {
	return Unavailable(fmt.Sprintf("what lies at or around %s is being moved or removed right now, and a program that starts now might see what is protected: try again when that is over", place), cause)
}

// look1 looks once.
func (s *Shield) look1(dirs []files.Dir, rooms map[string]bool, rules ruleSets) (*shieldWalk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := now()
	w := &shieldWalk{shield: s, dirs: dirs, rooms: rooms, visited: map[string]dirState{}, ruleSets: rules}
	defer w.shutOpened()
	if err := w.coverPlaces(); err != nil {
		return nil, err
	}
	if err := w.descendAll(); err != nil {
		return nil, err
	}
	if err := w.coverDenied(); err != nil {
		return nil, err
	}
	if !w.layered {
		w.coverLinks()
		if err := w.holdObeyed(); err != nil {
			return nil, err
		}
	}
	s.forget(w.visited)
	if err := w.tidy(); err != nil {
		return nil, err
	}
	w.identify()
	if err := w.coverFurtherNames(); err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	if w.read {
		w.still, w.young = w.stand(began)
	}
	return w, nil
}

func (w *shieldWalk) descendAll() error {
	for _, d := range w.dirs {
		if w.inside(d.Path) {
			w.pinParents(d.Path) // seen from the outer one, in which it must stay where it is
			continue
		}
		if err := w.descend(d.Path); err != nil {
			return err
		}
		w.enclosing(d.Path)
	}
	return nil
}

// coverPlaces hides the protected places that have a name of their own. Such a
// place may be a link, and what it leads to is meant as well.
func (w *shieldWalk) coverPlaces() error {
	for _, place := range w.shield.hidden.Places {
		for _, d := range w.dirs {
			if within(d.Path, place) {
				return protectedGrant(d.Path)
			}
		}
		target, links, err := follow(place)
		if err != nil {
			continue // there is none
		}
		for _, d := range w.dirs {
			if within(d.Path, target) {
				return protectedGrant(d.Path)
			}
		}
		if info, err := os.Lstat(target); err == nil && w.inside(target) {
			w.hide(target, info.IsDir())
		}
		w.pinLinks(links)
	}
	w.coverOuter()
	return nil
}

func protectedGrant(dir string) error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf("the granted directory %s is protected from programs", dir)}
}

// inside tells whether a path lies in a granted directory and is not one.
func (w *shieldWalk) inside(path string) bool {
	return slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return path != d.Path && within(path, d.Path) })
}

func (w *shieldWalk) hide(path string, dir bool) {
	w.found = append(w.found, Cover{Path: path, Dir: dir})
}

// pinLinks keeps links where they are: who could lead one elsewhere would
// uncover next time what it leads to now.
func (w *shieldWalk) pinLinks(links []string) {
	for _, link := range links {
		if w.inside(link) {
			w.found = append(w.found, Cover{Path: link, Kind: Pin, Link: true})
		}
	}
}

// pinParents keeps the directories above a place where they are, up to the
// granted one. Who could rename one of them could put something else there.
func (w *shieldWalk) pinParents(path string) {
	for up := filepath.Dir(path); w.inside(up); up = filepath.Dir(up) {
		if w.pinned[up] {
			return
		}
		if w.pinned == nil {
			w.pinned = map[string]bool{}
		}
		w.pinned[up] = true
		granted := slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return d.Path == up }) // a mount already
		if !granted && writable(filepath.Dir(up), w.dirs) {
			w.found = append(w.found, Cover{Path: up, Kind: Pin, Dir: true})
		}
	}
}

// tidy sorts covers, and leaves out what lies below something hidden and what
// cannot be written anyway.
func (w *shieldWalk) tidy() error {
	for range maxCrowds {
		for _, c := range slices.Clone(w.found) {
			if !c.unseen {
				w.pinParents(c.Path)
			}
		}
		w.found = sorted(w.found, w.dirs)
		if len(w.found) <= maxCovers || !w.hideCrowd() {
			break
		}
	}
	if len(w.found) > mostCovers {
		return tooManyCovers(w.found)
	}
	if w.behindMost != "" {
		return Unavailable(fmt.Sprintf("programs cannot be started: there are more than %d directories in protected ones, such as %s, and links in them may lead to what is protected. Remove some, or list the name in grant.unprotected", maxBehind, w.behindMost), nil)
	}
	return nil
}

func sorted(list []Cover, dirs []files.Dir) []Cover {
	slices.SortFunc(list, func(a, b Cover) int {
		if c := comparePaths(a.Path, b.Path); c != 0 {
			return c
		}
		if c := int(a.Kind) - int(b.Kind); c != 0 || a.Empty == b.Empty {
			return c // what is hidden and fixed is hidden
		}
		if b.Empty {
			return -1 // what is protected and denied is protected
		}
		return 1
	})
	var out []Cover
	hidden, fixed := "", ""
	for _, c := range list {
		switch {
		case hidden != "" && within(c.Path, hidden):
			continue
		case len(out) > 0 && out[len(out)-1].Path == c.Path:
			continue
		case c.Kind == Hide:
			hidden = c.Path
		case !writable(c.Path, dirs), fixed != "" && within(c.Path, fixed):
			continue
		case c.Kind == Fix:
			fixed = c.Path
		}
		out = append(out, c)
	}
	return out
}

// comparePaths puts what lies in a directory directly behind it.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x == filepath.Separator {
			return -1
		}
		if y == filepath.Separator {
			return 1
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// identify notes what lies at each place, so that a backend can see whether it
// covers the same.
func (w *shieldWalk) identify() {
	for i := range w.found {
		c := &w.found[i]
		facts, err := factsOf(c.Path)
		if err != nil || facts.dir != c.Dir || facts.link != c.Link {
			w.moved = c.Path
			return
		}
		c.ID = facts.id
	}
}

// follow gives where a path leads to, and the links on the way.
func follow(path string) (target string, links []string, err error) {
	if filepath.VolumeName(path) != "" { // not a system on which links are pinned
		target, err = filepath.EvalSymlinks(path)
		return target, nil, err
	}
	at, rest, links, err := linked.Trace(path)
	if err == nil && len(rest) > 0 {
		err = &fs.PathError{Op: "lstat", Path: filepath.Join(at, rest[0]), Err: fs.ErrNotExist}
	}
	return at, links, err
}

// told gives the notes, of which there may be many.
func (w *shieldWalk) told() []string {
	const most = 5
	notes := slices.SortedFunc(maps.Keys(w.notes), func(a, b string) int {
		return cmp.Or(openFirst(w.notes[a])-openFirst(w.notes[b]), strings.Compare(a, b))
	})
	if more := len(notes) - most; more > 1 {
		notes = append(notes[:most], fmt.Sprintf("%d more places are hidden or left out for such reasons", more))
	}
	return notes
}

// openFirst puts what is open before what is hidden.
func openFirst(open bool) int {
	if open {
		return 0
	}
	return 1
}

// note tells that something is hidden or read-only.
func (w *shieldWalk) note(format string, args ...any) { w.addNote(false, format, args...) }

// warn tells that something could not be covered.
func (w *shieldWalk) warn(format string, args ...any) { w.addNote(true, format, args...) }

func (w *shieldWalk) addNote(open bool, format string, args ...any) {
	if w.notes == nil {
		w.notes = map[string]bool{}
	}
	w.notes[fmt.Sprintf(format, args...)] = open
}
