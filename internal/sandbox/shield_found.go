package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Of what other programs obey only a part is held where it is missing, because
// each such place costs time at every start. The rest is looked at when a program
// has ended: a person is told what is new in a project. That is the top of a granted
// directory or of a repository, and every directory with a manifest of its own: a
// person works in packages/app as she does at the top. What takes effect at once is
// set aside as new repositories are, unless its text is one that can start nothing,
// or git has it so. What programs look for upward counts in every directory.

// longRun is how long a program may have run for its person to be less likely
// to have made something than the program. A server runs all day.
const longRun = 10 * time.Minute

// asideName is what something that was set aside is called.
var asideName = regexp.MustCompile(regexp.QuoteMeta(setAside) + `-[a-z0-9]{8}$`)

// obeyedFile is something that other programs obey.
type obeyedFile struct {
	path  string // what is set aside: the file itself, or a new link on the way to it
	file  string
	place sensitive.Place
	top   string // the directory in which it is obeyed

	tree madeTree // that it is in
	root string   // of that tree; empty: it is in none

	old   bool // it was there before, in a directory that only now has a manifest
	fresh bool // its directory was not there before
}

// sweepObeyed sets aside what is obeyed and was not there before. In trees that
// were made meanwhile it tells what is not as git has it.
func (c *Covering) sweepObeyed(w *shieldWalk, made map[string]madeTree) []string {
	if c.shield.Obeyed == nil {
		return nil
	}
	found := c.obeyedFound(w, made)
	began, paths := time.Now(), make([]string, 0, 2*len(found))
	for _, f := range found {
		paths = append(paths, f.path, f.file)
	}
	git := c.gitKnown(paths)
	ids := map[FileID]bool{}
	for _, cover := range c.Covers {
		ids[cover.ID] = true
	}
	var notes []madeNote
	late := 0
	for i, f := range found { // there may be no time for the last
		if time.Since(began) > sweepTime {
			late = len(found) - i
			break
		}
		text, stays := c.sweepFile(f, git, ids)
		if text != "" {
			notes = append(notes, madeNote{text: shorten(f.path) + " " + text, danger: f.place.Danger, stays: stays, kind: f.place.Pattern})
		}
	}
	list := listNotes(notes, "files that other programs obey were made while the program ran: look at what is new before you go on")
	if late > 0 {
		list = append(list, fmt.Sprintf("%d more files have names that other programs obey, and Toolcrib ran out of time checking whether they are new: look at what is new before you go on", late))
	}
	return list
}

// obeyedFound lists what others may obey where it is: first in directories that were
// there before, since a program can make any number of others, then the most
// dangerous, then what is nearer to the top.
func (c *Covering) obeyedFound(w *shieldWalk, made map[string]madeTree) (list []obeyedFile) {
	o, before := c.shield.Obeyed, map[string]bool{}
	for _, cover := range c.Covers {
		before[cover.Path] = true
	}
	add := func(path, file string) {
		elems := elements(file)
		place, n := o.Place(elems)
		if n == 0 || place.Built || asideName.MatchString(path) || o.Granted(elems) {
			return
		}
		top := file
		for range n {
			top = filepath.Dir(top)
		}
		_, known := c.visited[top]
		f := obeyedFile{path: path, file: file, place: place, top: top, old: before[file], fresh: !known}
		if f.old && (place.Upward || !w.projects[top] || c.projects[top] || c.projects == nil && c.visited == nil || slices.Contains(c.tops, top)) {
			return
		}
		if tree, root, is := c.enclosing(made, top); is && !isVersionControl(file) {
			f.tree, f.root = tree, root
		} else if !c.counts(f, w.projects) {
			return
		}
		list = append(list, f)
	}
	for _, link := range w.links {
		add(link, link)
	}
	for _, cover := range w.found {
		if cover.Kind == Fix {
			add(cover.Path, cover.Path)
		}
	}
	for _, link := range w.onWay {
		for _, file := range obeyedBehind(o, link) {
			path := link
			if target, err := filepath.EvalSymlinks(file); err == nil && slices.Contains(c.led.onWay, link) {
				path = target // the link is a person's own, and what is new is behind it
			}
			add(path, file)
		}
	}
	slices.SortFunc(list, func(a, b obeyedFile) int {
		return cmp.Or(boolFirst(!a.fresh, !b.fresh), cmp.Compare(b.place.Danger, a.place.Danger), cmp.Compare(len(elements(a.file)), len(elements(b.file))), comparePaths(a.file, b.file))
	})
	return slices.CompactFunc(list, func(a, b obeyedFile) bool { return a.file == b.file })
}

// sweepFile judges one of them, and gives what there is to say about it.
func (c *Covering) sweepFile(f obeyedFile, git gitKnown, ids map[FileID]bool) (text string, stays bool) {
	facts, err := factsOf(f.file)
	if err != nil || !writable(f.path, c.dirs) || !f.old && c.hid(f.path) || harmlessMade(f.file, f.place.Pattern, facts) {
		return "", false
	}
	if f.root != "" {
		if !f.tree.changed(f.root, f.file) {
			return "", false
		}
		return fmt.Sprintf("is not as git has it, and %s was made while the program ran: %s. If it was not you who changed it, look at it before you go on there", shorten(f.root), f.place.By), true
	}
	if facts.id == (FileID{}) || !f.old && ids[facts.id] || git.wrote(f.path) && git.wrote(f.file) {
		return "", false
	}
	if f.old {
		return fmt.Sprintf("was there before, and the program added a manifest to its directory: %s. If you did not create it, check it before you continue", f.place.By), true
	}
	if !f.place.AtOnce || time.Since(c.began) > longRun {
		return fmt.Sprintf("was made while the program ran: %s. If you did not create it, check it before you continue", f.place.By), true
	}
	dir, name := filepath.Split(f.path)
	if f.path != f.file {
		if facts, err = factsOf(f.path); err != nil {
			return "", false
		}
	}
	to, err := renameIn(dir, name, name, facts.id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it is gone
		return "", false
	case err != nil:
		return fmt.Sprintf("was made while the program ran: %s. It could not be set aside (%v): look at it before you use this directory", f.place.By, err), true
	}
	c.shield.record(Aside{Path: f.path, At: filepath.Join(dir, to), Why: f.place.By, Undo: "rename " + to + " back"})
	return fmt.Sprintf("was made while the program ran: %s. It was set aside: look at it, and rename %s back if you trust it", f.place.By, shorten(to)), false
}

// counts tells whether others would obey a file where it is. Commands cannot make at
// all what is held at the tops. Packages that are installed, and what lies in hidden
// directories, are no places where a person works.
func (c *Covering) counts(f obeyedFile, projects map[string]bool) bool {
	if slices.Contains(c.tops, f.top) {
		return !f.place.Held
	}
	if isVersionControl(f.file) {
		return true
	}
	if !f.place.Upward && !projects[f.top] && !c.projects[f.top] || c.shield.Scratch != "" && within(f.top, c.shield.Scratch) {
		return false
	}
	var granted files.Dir
	for _, d := range c.dirs {
		if within(f.top, d.Path) && len(d.Path) > len(granted.Path) {
			granted = d
		}
	}
	return !slices.ContainsFunc(elements(f.top[len(granted.Path):]), func(name string) bool {
		return strings.HasPrefix(name, ".") || sensitive.IsOthersCode(name)
	})
}

// obeyedBehind gives what others obey by way of a link: .cargo/config.toml, where
// .cargo is one.
func obeyedBehind(o *sensitive.ObeyedSet, link string) (list []string) {
	for _, rest := range o.Below(elements(link)) {
		dir, last := filepath.Join(link, filepath.Join(rest[:len(rest)-1]...)), rest[len(rest)-1]
		if !strings.ContainsAny(last, "*?[") {
			if file := filepath.Join(dir, last); exists(file) {
				list = append(list, file)
			}
			continue
		}
		for _, name := range namesIn(dir) {
			if ok, err := path.Match(last, strings.ToLower(name)); err == nil && ok {
				list = append(list, filepath.Join(dir, name))
			}
		}
	}
	return list
}

func exists(file string) bool {
	_, err := factsOf(file)
	return err == nil
}
