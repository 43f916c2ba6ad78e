package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// What rules deny to be written is covered where it is. What is missing has nothing
// to lie under a cover: a directory that a rule names as a whole (deploy/**) is held
// by a placeholder, as what others obey is. A new file that fits a pattern
// (infra/*.tf) shows only when the program has ended, and is set aside then.

// ruleSets is what rules deny, for one look.
type ruleSets struct {
	denied, fixed pathglob.Set
	held          []string // directories that must not be made
}

// heldPlaces are the directories that patterns name as a whole.
func heldPlaces(patterns []string) (list []string) {
	for _, text := range patterns {
		g, err := pathglob.Parse(text)
		if n := len(g) - 1; err == nil && n > 0 && g[n] == "**" && g.Fixed() == n {
			list = append(list, filepath.FromSlash(strings.TrimSuffix(g.String(), "/**")))
		}
	}
	return list
}

// isHeld: it is a placeholder of a program that runs right now.
func (w *shieldWalk) isHeld(path string) bool {
	if !slices.Contains(w.held, path) || w.shield.Holds == nil || w.shield.Holds.Dir == "" {
		return false
	}
	info, err := os.Lstat(path)
	return err != nil || looksHeld(path, info)
}

// holdRuled notes which directories of rules are missing. One whose parent is
// missing too is left to the end: that may well be made for other things.
func (w *shieldWalk) holdRuled() {
	for _, path := range w.held {
		at, rest, _, err := linked.Trace(path, looksHeld)
		if err != nil || len(rest) > 1 {
			continue
		}
		full := filepath.Join(at, filepath.Join(rest...))
		if len(rest) == 0 {
			if !w.isHeld(at) {
				continue
			}
			at = filepath.Dir(at)
		}
		if info, err := os.Lstat(at); err == nil && info.IsDir() && w.reaches(full) && (w.reaches(at) || w.isTop(at)) {
			w.miss(full, false)
		}
	}
}

// sweepRuled sets aside what the program made although rules deny it.
func (c *Covering) sweepRuled(w *shieldWalk) (notes []string) {
	if len(c.unmade) == 0 {
		return nil
	}
	c.shield.mu.Lock()
	now := &shieldWalk{shield: c.shield, dirs: c.dirs, visited: w.visited, ruleSets: ruleSets{fixed: c.unmade, held: heldPlaces(c.rules)}}
	err := now.coverDenied()
	c.shield.mu.Unlock()
	if err != nil {
		return []string{fmt.Sprintf("what rules deny to be made could not be looked for (%v): look at what is new before you go on", err)}
	}
	slices.SortFunc(now.found, func(a, b Cover) int { return comparePaths(a.Path, b.Path) })
	left, last := 0, ""
	for _, cover := range now.found {
		path := cover.Path
		if last != "" && within(path, last) || !c.madeRuled(cover) {
			continue
		}
		facts, err := factsOf(path)
		if err != nil || facts.dir && isEmpty(path) {
			continue
		}
		last = path
		note := shorten(path) + " was made while the program ran, and a rule denies that. "
		if time.Since(c.began) > longRun {
			note += "If it was not you who made it, look at it before you go on"
		} else {
			dir, name := filepath.Split(path)
			to, err := renameIn(dir, name, name, facts.id)
			switch {
			case errors.Is(err, fs.ErrNotExist): // it is gone
				continue
			case err != nil:
				note += fmt.Sprintf("It could not be set aside (%v): look at it before you go on", err)
			default:
				c.shield.record(Aside{Path: path, At: filepath.Join(dir, to), Why: "a rule denies to make it", Undo: "rename " + to + " back"})
				note += fmt.Sprintf("It was set aside: rename %s back if you want it", shorten(to))
			}
		}
		if len(notes) >= maxMade {
			left++
			continue
		}
		notes = append(notes, note)
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d more files were made while the program ran that rules deny, and were set aside or left as those above", left))
	}
	return notes
}

// madeRuled: it was not there before the program, which could make it, and git has
// not written it. What a link leads to that the program made was there, perhaps.
func (c *Covering) madeRuled(cover Cover) bool {
	path := cover.Path
	if cover.Kind != Fix && !cover.Link || !c.unmade.Has(elements(path)) {
		return false
	}
	if asideName.MatchString(path) || !writable(path, c.dirs) || c.hid(path) {
		return false
	}
	facts, err := factsOf(path)
	if err != nil || slices.ContainsFunc(c.Covers, func(o Cover) bool {
		return o.Path == path || o.ID == facts.id && facts.id != (FileID{}) || o.Kind != Pin && within(path, o.Path)
	}) {
		return false
	}
	return !slices.ContainsFunc(c.tops, func(top string) bool { return within(path, top) && path != top && c.fromGit(top, path) })
}

// moveRules has rules mean the same places under the name that these have by now.
func (c *Covering) moveRules(moved func(string) string) {
	c.rules = slices.Clone(c.rules)
	for i, text := range c.rules {
		c.rules[i] = filepath.ToSlash(moved(filepath.FromSlash(text)))
	}
	if set, err := pathglob.NewSet(c.rules); err == nil {
		c.unmade = set
	}
}
