package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// LookAt is [Shield.Look] for a grant, with what that denies: the places of
// Grant.Denied are hidden, those of Grant.Fixed can only be read. Without a
// shield such a grant is refused.
func (s *Shield) LookAt(grant toolcrib.Grant) (*Covering, error) { return s.lookFor(grant, true) }

// LookBelow is LookAt for a program on a layer over what is granted: what it must not
// read. What it changes is judged when it has ended, so that nothing else is covered,
// and it may make files at the top of a home directory.
func (s *Shield) LookBelow(grant toolcrib.Grant) (*Covering, error) { return s.lookFor(grant, false) }

func (s *Shield) lookFor(grant toolcrib.Grant, live bool) (*Covering, error) {
	if s == nil {
		if len(grant.Denied)+len(grant.Fixed)+len(grant.Unmade) > 0 {
			return nil, Unavailable("this sandbox cannot keep places from programs, and rules deny some: choose another backend", nil)
		}
		return &Covering{}, nil
	}
	denied, err := pathglob.NewSet(grant.Denied)
	if err != nil {
		return nil, err
	}
	fixed, err := pathglob.NewSet(slices.Concat(grant.Fixed, grant.Unmade)) // what is there is covered
	if err != nil {
		return nil, err
	}
	dirs, rooms := grant.Dirs, map[string]bool(nil)
	if live {
		dirs, rooms = s.narrow(grant.Dirs, denied)
	}
	found, err := s.lookAt(dirs, rooms, ruleSets{denied, fixed, !live})
	if err != nil {
		return nil, err
	}
	found.grant = grant
	if !live {
		found.Covers = slices.DeleteFunc(found.Covers, func(c Cover) bool { return c.Kind != Hide })
	}
	return found, nil
}

// Scratches tells whether a directory is one that nobody works in but programs.
func (s *Shield) Scratches(dir string) bool {
	return s != nil && s.Scratch != "" && within(dir, s.Scratch)
}

// ruleSets is what rules deny, for one look.
type ruleSets struct {
	denied, fixed pathglob.Set
	layered       bool // what can be written is judged later
}

// deniedSight is what rules deny in a directory. It holds as long as the
// directory has not changed, and as long as the rules are the same.
type deniedSight struct {
	state   dirState
	settled bool
	covers  []Cover
	links   []Cover  // what these lead to is meant
	ways    []string // links that a rule names on its way
	below   []string // names of directories to look into
}

// maxRuleSets bounds for how many sets of rules it is remembered what they deny.
const maxRuleSets = 8

// maxAside bounds the directories that are looked into only for rules, below
// one of them: what links lead to, and what a rule names in a Git directory. The
// rest of that is git's own, and a ** does not mean it.
const maxAside = 1 << 13

// deniedPlace is a directory that is looked into for rules.
type deniedPlace struct {
	dir, as string // where it is, and what the rules call it
	aside   string // the outermost one that only rules look into, or empty
}

func (s *Shield) deniedMemory(rules string) map[string]*deniedSight {
	if s.denied[rules] == nil {
		if len(s.denied) >= maxRuleSets {
			clear(s.denied)
		}
		s.denied[rules] = map[string]*deniedSight{}
	}
	return s.denied[rules]
}

// coverDenied covers what rules deny. It comes after the look for what is
// protected and goes by what that saw, but for directories that it left out.
func (w *shieldWalk) coverDenied() error {
	if len(w.denied)+len(w.fixed) == 0 {
		return nil
	}
	memory := w.shield.deniedMemory(w.denied.String() + "\x00" + w.fixed.String())
	if len(memory) > 2*maxShieldDirs {
		clear(memory)
	}
	shut := map[string]bool{} // hidden already
	for _, c := range w.found {
		if c.Kind == Hide && c.Dir {
			shut[c.Path] = true
		}
	}
	aside := map[string]int{}
	for _, d := range w.dirs {
		if slices.ContainsFunc(w.dirs, func(o files.Dir) bool { return o.Path != d.Path && within(d.Path, o.Path) }) {
			continue // seen from the outer one
		}
		if w.denied.Has(elements(d.Path)) {
			return protectedGrant(d.Path)
		}
		for queue := []deniedPlace{{dir: d.Path, as: d.Path}}; len(queue) > 0; {
			at := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			switch {
			case shut[at.dir], at.aside != "" && shut[at.aside]:
				continue
			case at.aside != "":
				if aside[at.aside]++; aside[at.aside] > maxAside || tooDeep(at.dir, at.aside) {
					w.leaveOut(at.aside, "there are too many directories to find what rules deny in them. A rule that begins with a directory instead of ** does not look there")
					shut[at.aside] = true
					continue
				}
			}
			below, err := w.coverDeniedIn(at, memory)
			if err != nil {
				return err
			}
			queue = append(queue, below...)
		}
	}
	return nil
}

// coverDeniedIn covers entries of one directory, and gives those to look into.
func (w *shieldWalk) coverDeniedIn(at deniedPlace, memory map[string]*deniedSight) (below []deniedPlace, _ error) {
	seen, err := w.lookForDenied(at, memory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.read, w.vanished = true, true
		if old := memory[at.as]; old != nil && len(old.covers)+len(old.links) > 0 {
			w.moved = at.dir // what is denied there is somewhere else now
		}
		return nil, nil
	case errors.Is(err, errCrowded) && w.inside(at.dir):
		w.leaveOut(at.dir, err.Error())
		return nil, nil
	case err != nil: // its owner could open it up
		w.hide(at.dir, true)
		return nil, nil //nolint:nilerr // it is hidden instead
	}
	for _, c := range seen.covers {
		if c.Kind == Hide && slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return d.Path == c.Path }) {
			return nil, protectedGrant(c.Path)
		}
	}
	w.found = append(w.found, seen.covers...)
	for _, c := range seen.covers {
		switch {
		case c.Kind == Fix && c.Dir:
			w.ruled = append(w.ruled, c.Path)
		case c.Dir:
			w.coverLed(c.Path)
		}
	}
	for _, c := range seen.links {
		w.coverTarget(c.Path, c.Kind)
	}
	for _, link := range seen.ways {
		target, links, err := follow(link)
		if w.pinLinks(append(links, link)); err != nil || !w.inside(target) {
			continue
		}
		if info, err := os.Lstat(target); err == nil && info.IsDir() {
			below = append(below, deniedPlace{dir: target, as: filepath.Join(at.as, filepath.Base(link)), aside: target})
		}
	}
	for _, name := range seen.below {
		next := deniedPlace{dir: filepath.Join(at.dir, name), as: filepath.Join(at.as, name), aside: at.aside}
		if _, ok := w.visited[next.dir]; !ok && next.aside == "" {
			if elems := elements(next.as); insideGit(at.dir) && !w.denied.Leads(elems) && !w.fixed.Leads(elems) {
				continue
			}
			next.aside = next.dir
		}
		below = append(below, next)
	}
	return below, nil
}

// lookForDenied gives what rules deny in a directory, from memory if neither
// has changed.
func (w *shieldWalk) lookForDenied(at deniedPlace, memory map[string]*deniedSight) (*deniedSight, error) {
	state, ok := w.visited[at.dir]
	if !ok {
		var err error
		if state, err = stateOf(at.dir); err != nil {
			return nil, err
		}
	}
	if old := memory[at.as]; old != nil && old.settled && old.state == state {
		return old, nil
	}
	w.read = true
	entries, err := readDir(at.dir, state)
	if err != nil {
		return nil, err
	}
	seen := &deniedSight{state: state, settled: state.settled()}
	for _, e := range entries {
		name, elems := filepath.Join(at.dir, e.name), elements(filepath.Join(at.as, e.name))
		switch denied, fixed := w.denied.Has(elems), w.fixed.Has(elems); {
		case (denied || fixed) && e.isLink():
			kind := Fix
			if denied {
				kind = Hide
			}
			seen.links = append(seen.links, Cover{Path: name, Kind: kind})
		case denied:
			seen.covers = append(seen.covers, Cover{Path: name, Dir: e.isDir(), Empty: e.isDir() && w.shield.empties()})
		case e.isLink():
			if w.denied.Leads(elems) || w.fixed.Leads(elems) {
				seen.ways = append(seen.ways, name)
			}
		default:
			if fixed {
				seen.covers = append(seen.covers, Cover{Path: name, Kind: Fix, Dir: e.isDir()})
			}
			if e.isDir() && (w.denied.Reaches(elems) || w.fixed.Reaches(elems)) {
				seen.below = append(seen.below, e.name)
			}
		}
	}
	memory[at.as] = seen
	return seen, nil
}

// empties: denied directories are shown as empty ones. To a git that may write
// its index, what was in them would be removed; at one that is shut it stops.
func (s *Shield) empties() bool { return !s.WriteGit }

// coverLed covers what the links in a denied directory lead to. Nobody looks into
// that for rules: it is denied as a whole.
func (w *shieldWalk) coverLed(dir string) {
	if linked.Installed(dir) {
		return
	}
	for _, l := range linked.Below(dir, w.listInner) {
		for _, link := range l.Links {
			if target, _, err := follow(link); err != nil || !within(target, dir) {
				w.coverTarget(link, Hide)
			}
		}
	}
}

// coverTarget covers what a link leads to that a rule names, and keeps the
// links where they are.
func (w *shieldWalk) coverTarget(link string, kind CoverKind) {
	target, links, err := follow(link)
	if err != nil {
		w.pinLinks([]string{link})
		return
	}
	w.pinLinks(links)
	if !w.inside(target) || around(target, link) || linked.Installed(filepath.Dir(link)) || linked.Installed(target) {
		return
	}
	facts, err := factsOf(target)
	if err != nil {
		w.moved = target
		return
	}
	if kind == Fix && facts.dir {
		w.ruled = append(w.ruled, target)
	}
	if kind == Hide && facts.dir { // it may be the sources that a build leads to
		w.note("%s is hidden from programs: a rule denies %s, which leads to it by a link", shorten(target), shorten(link))
	}
	w.found = append(w.found, Cover{Path: target, Kind: kind, Dir: facts.dir, Empty: kind == Hide && facts.dir && w.shield.empties()})
}
