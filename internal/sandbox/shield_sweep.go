package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// A program can make repositories: by git init, by git clone, by what starts a
// new project. Git goes by the settings of a repository as soon as somebody
// enters it, adds it to the one around it, or opens it in an editor. So when a
// program has ended, the repositories that were not there before are looked at.
// Those with settings as git itself writes them are left alone. All others are
// set aside, so that git does not take them for repositories, and the person is
// told.

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
		notes = append(notes, slices.DeleteFunc(said, func(n string) bool { return slices.Contains(notes, n) })...)
		if !again {
			break
		}
	}
	return slices.Concat(notes, c.sweepTools(), c.sweepTaken())
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
	c.tops, c.led.onWay = slices.Clone(c.tops), slices.Clone(c.led.onWay)
	for i := range c.tops {
		c.tops[i] = moved(c.tops[i])
	}
	for i := range c.led.onWay {
		c.led.onWay[i] = moved(c.led.onWay[i])
	}
	c.taken = c.taken.moved(moved)
	c.moveRules(moved)
	gits, visited, projects := map[string]FileID{}, map[string]dirState{}, map[string]bool{}
	for path, id := range c.gits {
		gits[moved(path)] = id
	}
	for path, state := range c.visited {
		visited[moved(path)] = state
	}
	for path := range c.projects {
		projects[moved(path)] = true
	}
	c.gits, c.visited, c.projects = gits, visited, projects
}

func (c *Covering) sweep() (notes []string, again bool) {
	c.shield.mu.Lock()
	w := &shieldWalk{shield: c.shield, dirs: c.dirs, visited: map[string]dirState{}, gitsOnly: true}
	defer w.shutOpened()
	err := w.descendAll()
	c.shield.mu.Unlock()
	c.taken.visited = w.visited
	if err != nil { // too much for a look: no repository belongs there
		var all []string
		for _, d := range c.dirs {
			all = append(all, d.Path)
		}
		return c.sweepUnseen(all, nil)
	}
	j := &judging{before: c, now: w.gits}
	var fresh []string
	var found []madeNote
	made := map[string]madeTree{}
	for _, path := range slices.SortedFunc(maps.Keys(w.gits), comparePaths) {
		if c.knew(path, w.gits[path]) || !writable(path, c.dirs) || c.hid(path) {
			continue // what was there is covered, or it is said to be writable
		}
		if top, tree, is := c.madeTree(path); is {
			made[top] = tree
		}
		mark, sure := printFor(path)
		why := j.harmful(path, 0)
		if facts, err := factsOf(path); err == nil && facts.dir && (why == "" || insideGit(path)) {
			fresh = append(fresh, path) // in it there may be another, whatever becomes of it
		}
		if why == "" {
			if sure {
				c.shield.others.pass(path, mark)
			}
			continue
		}
		at, undo, err := putAside(path, w.gits[path], why)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errAside):
		case err != nil:
			found = append(found, madeNote{stays: true, text: fmt.Sprintf("%s is a repository that was made or changed while the program ran, and git would use it: %s. It could not be set aside (%v): do not use git there before you have looked at it", shorten(path), why, err)})
		default:
			again = true
			c.shield.record(Aside{Path: path, At: at, Why: why, Undo: undo})
			found = append(found, madeNote{text: fmt.Sprintf("%s is a repository that was made or changed while the program ran, and %s. Git may start programs there, or read or write elsewhere, so it was set aside: look at it, and %s if you trust it", shorten(path), why, undo)})
		}
	}
	notes = listNotes(found, "repositories were made or changed while the program ran, and were set aside or left as those above")
	notes = append(notes, c.sweepObeyed(w, made)...)
	notes = append(notes, c.sweepRuled(w)...)
	said, more := c.sweepUnseen(w.unseen, fresh)
	return append(notes, said...), again || more || w.moved != ""
}

// knew tells whether something was a repository before the program started.
func (c *Covering) knew(path string, id FileID) bool {
	old, known := c.gits[path]
	return known && old == id
}
