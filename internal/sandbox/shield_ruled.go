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

	"github.com/toolcrib/toolcrib/internal/gitindex"
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
	return c.asideRuled(now.found, time.Now())
}

// asideRuled sets aside what is new of what rules deny to be made.
func (c *Covering) asideRuled(found []Cover, began time.Time) []string {
	list, late := c.madeRuled(found, began)
	last, git := "", c.gitKnown(list)
	var made []madeNote
	for i, path := range list {
		if last != "" && within(path, last) {
			continue
		}
		if time.Since(began) > sweepTime {
			late += len(list) - i
			break
		}
		facts, err := factsOf(path)
		if err != nil || facts.dir && isEmpty(path) || git.wrote(path) {
			continue
		}
		last = path
		note, stays := shorten(path)+" was made while the program ran, and a rule denies that. ", true
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
				stays = false
				note += fmt.Sprintf("It was set aside: rename %s back if you want it", shorten(to))
			}
		}
		made = append(made, madeNote{text: note, stays: stays})
	}
	notes := listNotes(made, "files were made while the program ran that rules deny, and were set aside or left as those above")
	if late > 0 {
		notes = append(notes, fmt.Sprintf("%d more files fit what rules deny to be made, and there was no time to look whether they are new. They were left where they are: look at what is new before you go on", late))
	}
	return notes
}

// sweepTime bounds how long it is looked for what a program made: it can make very
// many files. What was not looked at by then is counted and told.
const sweepTime = madeTime

// madeRuled gives what was not there before the program, which could make it, and
// how many there was no time for. What a link leads to that the program made was
// there, perhaps.
func (c *Covering) madeRuled(found []Cover, began time.Time) (list []string, late int) {
	paths, ids, kept := map[string]bool{}, map[FileID]bool{{}: false}, map[string]bool{}
	for _, o := range c.Covers {
		paths[o.Path] = true
		if o.ID != (FileID{}) {
			ids[o.ID] = true
		}
		if o.Kind != Pin {
			kept[o.Path] = true
		}
	}
	for i, cover := range found {
		if time.Since(began) > sweepTime {
			return list, len(found) - i
		}
		path := cover.Path
		if cover.Kind != Fix && !cover.Link || paths[path] || asideName.MatchString(path) || i > 0 && found[i-1].Path == path {
			continue
		}
		if !c.unmade.Has(elements(path)) || !writable(path, c.dirs) || belowAny(path, kept) || c.hid(path) {
			continue
		}
		if facts, err := factsOf(path); err == nil && !ids[facts.id] {
			list = append(list, path)
		}
	}
	return list, 0
}

// belowAny: a path is one of some directories, or lies in one.
func belowAny(path string, dirs map[string]bool) bool {
	for ; !dirs[path]; path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return false
		}
	}
	return true
}

// gitKnown is what the indexes of repositories have of some places, by their tops.
type gitKnown map[string]map[string]gitindex.File

// gitKnown reads each index once, however many places there are.
func (c *Covering) gitKnown(paths []string) gitKnown {
	known := gitKnown{}
	for _, top := range c.tops {
		wanted := map[string]bool{}
		for _, path := range paths {
			if path != top && within(path, top) {
				wanted[filepath.ToSlash(path[len(strings.TrimSuffix(top, string(filepath.Separator)))+1:])] = true
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if files, ok := c.gitHas(top, func(name string) bool { return slashBelow(name, wanted) }); ok {
			known[top] = files
		}
	}
	return known
}

// slashBelow is belowAny for names as git has them.
func slashBelow(name string, dirs map[string]bool) bool {
	for !dirs[name] {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
	return true
}

// wrote: a checkout wrote all of what lies at a path.
func (k gitKnown) wrote(path string) bool {
	for top, files := range k {
		if path != top && within(path, top) && asInGit(files, top, path) {
			return true
		}
	}
	return false
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
