package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// What others obey is not all obeyed for its name: links in .git/hooks and
// settings such as core.hooksPath lead them elsewhere. A person installs a hook
// while a program runs, and from then on the file that it leads to is obeyed.
// So the ways are remembered, and can be looked at again without looking at all.

// Known is what was covered when a program was last looked at. What the program
// made since then is not in it.
type Known struct {
	Paths map[string]bool      // where something was covered
	Fixed map[string]bool      // of them, what could only be read
	IDs   map[FileID]CoverKind // what was
}

// ways are the links and settings that lead others to what they obey.
type ways struct {
	links, onWay, obeyed, trees []string
	gits                        map[string]FileID
	closed                      map[string]bool
	led                         []string // what they lead to
	sources                     Sources
}

// Sources are the places at which a change can lead others elsewhere.
type Sources struct {
	Dirs  []string // everything in these
	Files []string // these, whether or not they are there
}

// Sources gives what is to be watched while a program runs.
func (c *Covering) Sources() Sources { return c.led.sources }

// Elsewhere tells whether links and settings lead others elsewhere by now than
// when this was looked at, and what is to be watched from now on.
func (c *Covering) Elsewhere(known *Known) (bool, Sources) {
	s := c.shield
	if s == nil || s.Obeyed == nil {
		return false, Sources{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := c.led
	w := &shieldWalk{shield: s, dirs: c.dirs, known: known, links: l.links, onWay: l.onWay, obeyed: l.obeyed, gits: l.gits, visited: map[string]dirState{}}
	w.holdLinks()
	err := w.holdGit(l.trees, maps.Clone(l.closed))
	return err != nil || !slices.Equal(w.led, l.led), w.watched()
}

// ways gives what a walk went by.
func (w *shieldWalk) ways() ways {
	return ways{links: w.links, onWay: w.onWay, obeyed: w.obeyed, trees: w.tops(), gits: w.gits, closed: w.closed, led: w.led, sources: w.watched()}
}

func (w *shieldWalk) watched() Sources {
	var list Sources
	for dir := range w.inners {
		if w.trusts(dir) {
			list.Dirs = append(list.Dirs, dir)
		}
	}
	for git := range w.gits {
		if w.trusts(git) {
			list.Files = append(list.Files, filepath.Join(git, "hooks"))
		}
	}
	for file := range w.sources {
		list.Files = append(list.Files, file)
	}
	return list
}

// holdLinks holds what links lead to that others obey.
func (w *shieldWalk) holdLinks() {
	for _, link := range w.links {
		w.lead(link, func() { w.hold(link, false) })
	}
	for _, link := range w.onWay {
		for _, path := range obeyedBehind(w.shield.Obeyed, link) {
			w.lead(link, func() { w.hold(path, false) })
		}
	}
	for _, dir := range w.obeyed {
		w.holdInner(dir)
	}
	for _, git := range slices.Sorted(maps.Keys(w.gits)) {
		w.holdHooks(filepath.Join(git, "hooks"))
	}
}

// lead follows a link or settings, unless the program that runs could have made
// them: what those lead to is its own affair.
func (w *shieldWalk) lead(by string, follow func()) {
	if !w.trusts(by) {
		return
	}
	if w.by == "" {
		w.by = by
		defer func() { w.by = "" }()
	}
	follow()
}

// trusts: the program that runs could not write there.
func (w *shieldWalk) trusts(place string) bool {
	if w.known == nil || w.by != "" || !w.reaches(place) || w.known.Paths[place] {
		return true
	}
	for up := filepath.Dir(place); w.inside(up); up = filepath.Dir(up) {
		if w.known.Fixed[up] {
			return true
		}
	}
	return false
}

func (w *shieldWalk) noteLed(to string, links []string) {
	if w.by != "" {
		w.led = append(w.led, w.by+"\x00"+to+"\x00"+strings.Join(links, "\x00"))
	}
}

// settings reads those of git, and notes which files these are.
func (w *shieldWalk) settings() gitconfig.Source {
	from := w.shield.Git
	from.Looked = func(path string) {
		if w.sources == nil {
			w.sources = map[string]bool{}
		}
		w.sources[path] = true
	}
	return from
}

// dropUnknown leaves out what the program that runs made itself. It must be gone
// before covers are left out that lie below others.
func (w *shieldWalk) dropUnknown() {
	if w.known == nil {
		return
	}
	ids := make([]FileID, len(w.found))
	known := map[FileID]bool{}
	for i, c := range w.found {
		facts, err := factsOf(c.Path)
		if err != nil {
			continue // that shows later
		}
		ids[i] = facts.id
		_, before := w.known.IDs[facts.id]
		known[facts.id] = known[facts.id] || before || c.Led || c.Kind == Hide || w.known.Paths[c.Path]
	}
	var left []Cover
	for i, c := range w.found {
		if c.Kind != Fix || c.Led || known[ids[i]] || ids[i] == (FileID{}) {
			left = append(left, c)
		}
	}
	w.found = left
}
