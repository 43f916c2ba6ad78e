//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A guard follows what is covered: the kernel tells it of moves and of what
// comes where something was. Where the kernel does not, it looks by itself.

// changed gives a place where something else is than was covered; empty if
// there is none.
func (g *guard) changed() string {
	g.mu.Lock()
	covers := g.covers
	g.mu.Unlock()
	for _, a := range g.run.anchors {
		if !a.stays() {
			return a.path
		}
	}
	for _, c := range covers {
		if !sandbox.IsAt(c.Path, c.ID) {
			return c.Path
		}
	}
	return ""
}

// follow has moves told of what is covered, and of what comes where something
// covered was and nothing is. What has changed meanwhile is a loss: also what
// came to a place that is not covered after it was looked at, which before tells.
func (g *guard) follow(before map[string]entry) {
	m := &g.run.sandbox.moves
	told := true
	for _, c := range g.covers {
		if g.over(context.Background()) {
			return
		}
		told = m.add(g, c.Path, "") && told
	}
	g.watchInner(g.covers)
	for _, a := range g.run.anchors {
		told = m.add(g, a.path, "") && told
		m.departures(g, a.path)
	}
	covered := map[string]bool{}
	for _, c := range g.covers {
		covered[c.Path] = true
	}
	var missing []string
	came := false
	for path := range g.paths {
		if covered[path] {
			continue
		}
		switch e, err := entryAt(path); {
		case err == nil:
			came = came || e != before[path]
		case errors.Is(err, os.ErrNotExist): // in a directory that is closed nothing can be told
			missing = append(missing, path)
			told = m.add(g, above(path), nextTo(path)) && told
		}
	}
	g.mu.Lock()
	g.missing = missing
	g.mu.Unlock()
	if came || g.changed() != "" || g.appeared() {
		g.stop()
	}
	if !told && !g.set(&g.patrols, true) {
		go g.patrol()
	}
}

// patrol looks itself, again and again: the kernel does not tell of all that is
// covered, because too much is watched already or it cannot be read.
func (g *guard) patrol() {
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
	for {
		select {
		case <-g.child.ended:
			return
		case <-tick.C:
		}
		g.mu.Lock()
		mending, deaf := g.mending, g.deaf
		g.mu.Unlock()
		if !mending && (g.changed() != "" || g.appeared()) {
			g.stop()
		}
		if deaf {
			g.doubt()
		}
	}
}

// appeared tells whether something came where something covered was and nothing
// was left.
func (g *guard) appeared() bool {
	g.mu.Lock()
	missing := g.missing
	g.mu.Unlock()
	return slices.ContainsFunc(missing, func(path string) bool { return !absent(path) })
}

// above gives the nearest directory above a missing place that is there.
func above(path string) string {
	up := filepath.Dir(path)
	for absent(up) && up != filepath.Dir(up) {
		up = filepath.Dir(up)
	}
	return up
}

// nextTo gives the name that is missing first on the way to a place.
func nextTo(path string) string {
	for up := filepath.Dir(path); absent(up) && up != filepath.Dir(up); up = filepath.Dir(up) {
		path = up
	}
	return filepath.Base(path)
}
