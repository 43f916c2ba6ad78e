//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A person who works beside a running program installs a hook as a link, or
// tells git where hooks lie. From then on files are obeyed that nobody covered.
// So the places that can lead others elsewhere are watched. A change there is
// first looked at by itself, while the program goes on: most lead nowhere new,
// such as the branch that git notes in its settings. Only if others are led
// elsewhere everything is stopped and covered as it should be.

// besidePause lies between two such looks: somebody may write all the time.
const besidePause = 10 * time.Millisecond

// doubt has it looked at where links and settings lead.
func (g *guard) doubt() {
	select {
	case g.doubts <- struct{}{}:
	default: // that is about to be done
	}
}

// heed looks whenever there is doubt, until it is told to end. What changed before
// anything was watched shows as well, so that short programs need not wait for it.
func (g *guard) heed(end <-chan struct{}) {
	watched := map[string]entry{}
	for comesBefore(time.After(besidePause), end) {
		g.mu.Lock()
		mending, covering, known := g.mending, g.covering, g.known
		g.mu.Unlock()
		sources := covering.Sources()
		if mending {
			g.doubt()
		} else if len(watched) > 0 {
			var elsewhere bool
			if elsewhere, sources = covering.Elsewhere(known); elsewhere {
				g.set(&g.led, true)
				g.stop()
			}
		}
		if g.watchSources(sources, watched) {
			g.doubt() // it may have changed just before
		}
		if !comesBefore(g.doubts, end) {
			return
		}
	}
}

// comesBefore tells whether something came before the end.
func comesBefore[T any](what <-chan T, end <-chan struct{}) bool {
	select {
	case <-end:
		return false
	case <-what:
		return true
	}
}

// watchSources has changes told that can lead others elsewhere. It reports
// whether something is watched that was not before.
func (g *guard) watchSources(sources sandbox.Sources, watched map[string]entry) (more bool) {
	first := len(watched) == 0
	add := func(dir, name string) {
		at, err := entryAt(dir)
		key := dir + "\x00" + name
		if err != nil || watched[key] == at {
			return
		}
		watched[key], more = at, true
		if name == anyName && g.run.sandbox.moves.arrivals(g, dir, sandbox.Fix) && !first && g.filled(dir) {
			g.stop() // in a new directory there may be what came before it was watched
		}
		if g.run.sandbox.moves.heed(g, dir, name) {
			return
		}
		g.set(&g.deaf, true)
		if !g.set(&g.patrols, true) {
			go g.patrol()
		}
	}
	for _, dir := range sources.Dirs {
		add(dir, anyName)
	}
	for _, file := range sources.Files {
		dir := above(file)
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			dir = to
		}
		add(dir, nextTo(file))
		if to, err := filepath.EvalSymlinks(file); err == nil && to != file {
			add(filepath.Dir(to), filepath.Base(to))
		}
	}
	return more
}

// heed has a guard doubt when a name in a directory comes or is written. It
// reports false if that cannot be told; of what nobody may look at nothing is.
func (m *moves) heed(g *guard, dir, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open() {
		return false
	}
	const mask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_CLOSE_WRITE
	watch, err := m.watch(g, dir, mask)
	if err != nil {
		return !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.ENOMEM)
	}
	if g.heeds[watch] == nil {
		g.heeds[watch] = map[string]bool{}
	}
	g.heeds[watch][name] = true
	if _, known := g.places[watch]; !known {
		g.places[watch] = place{dir, sandbox.Fix}
	}
	return true
}

// remember notes what was found, for the next look. It is called by who attends.
func (g *guard) remember(found *sandbox.Covering) {
	known := &sandbox.Known{Paths: maps.Clone(g.paths), Fixed: map[string]bool{}, IDs: maps.Clone(g.laid)}
	for _, c := range slices.Concat(g.run.job.covers, g.covers) {
		if c.Kind == sandbox.Fix {
			known.Fixed[c.Path] = true
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.covering, g.known = found, known
}

// fresher tells whether others are led to what lay open until now.
func (g *guard) fresher(c sandbox.Cover) bool {
	kind, laid := g.laid[c.ID]
	return c.Led && c.Kind != sandbox.Pin && (!laid || kind == sandbox.Pin)
}

// ledFirst puts what others are led to since the last look in front, inner ones
// first: then it is covered too for who stands in a directory that is pinned above
// it. It leaves out what the program made itself.
func (g *guard) ledFirst(covers []sandbox.Cover, known map[sandbox.FileID]bool) []sandbox.Cover {
	above := map[string]bool{}
	for _, c := range covers {
		if g.fresher(c) {
			for up := filepath.Dir(c.Path); up != filepath.Dir(up) && !above[up]; up = filepath.Dir(up) {
				above[up] = true
			}
		}
	}
	var first, rest []sandbox.Cover
	for _, c := range covers {
		_, laid := g.laid[c.ID]
		switch pins := c.Kind == sandbox.Pin && c.Dir && above[c.Path]; {
		case g.fresher(c), pins && !laid:
			first = append(first, c)
		case known[c.ID], c.Led, pins:
			rest = append(rest, c)
		}
	}
	slices.Reverse(first)
	return append(first, rest...)
}

// tellLed says what could be written at first and is obeyed now.
func (g *guard) tellLed(c sandbox.Cover) {
	if g.told[c.Path] {
		return
	}
	g.told[c.Path] = true
	g.run.notes = append(g.run.notes, fmt.Sprintf("a link or git settings lead to %s since they changed while the program ran: it could only read that from then on. If you do not know what it did there before, look at it", sandbox.Shorten(c.Path)))
}
