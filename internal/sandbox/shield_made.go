package sandbox

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// maxMade bounds the notes on what a program made.
const maxMade = 10

// Made looks once more, when a program has ended that worked on the live files, and
// tells what is there now that would have been covered: files that other programs obey,
// repositories, and what rules deny to be made. The program could make it, because
// nothing was there that could be covered. It is left as it is. A program on a layer
// needs no such look: all that it changed is judged.
func (c *Covering) Made() (notes []string) {
	if c.shield == nil || !slices.ContainsFunc(c.dirs, func(d files.Dir) bool { return d.Write }) {
		return nil
	}
	now, err := c.shield.LookAt(c.grant)
	if err != nil {
		return []string{fmt.Sprintf("what the program made in %s could not be looked at (%s): look at what is new there before you use it", shorten(c.dirs[0].Path), shorten(err.Error()))}
	}
	paths, ids := map[string]bool{}, map[FileID]bool{}
	for _, o := range c.Covers {
		if paths[o.Path] = true; o.ID != (FileID{}) {
			ids[o.ID] = true // also where somebody moved it
		}
	}
	var made []madeFile
	for _, o := range now.Covers {
		switch _, before := c.gits[o.Path]; {
		case o.Kind == Pin, before, paths[o.Path], ids[o.ID], len(made) > 0 && within(o.Path, made[len(made)-1].path):
			continue
		}
		made = append(made, c.shield.madeAt(o))
	}
	// A program decides how many such files it makes: the worst come first.
	slices.SortStableFunc(made, func(a, b madeFile) int { return cmp.Compare(b.danger, a.danger) })
	for i, m := range made {
		if i == maxMade {
			return append(notes, fmt.Sprintf("%d more such files were made: look at what is new in %s before you use it", len(made)-i, shorten(c.dirs[0].Path)))
		}
		notes = append(notes, shorten(m.path)+" was made while the program ran"+m.why)
	}
	return notes
}

// madeFile is what was made, who obeys it and how dangerous that is.
type madeFile struct {
	path, why string
	danger    sensitive.Danger
}

func (s *Shield) madeAt(made Cover) madeFile {
	path := made.Path
	if made.Kind == Hide {
		return madeFile{path, ": it is protected, or a rule denies it to programs, and those that start from now on do not see it", sensitive.OnUse}
	}
	if isGitName(filepath.Base(path)) {
		return madeFile{path, ": git goes by the settings and hooks of a repository, so look at them before you use git there", sensitive.OnOpen}
	}
	if s.Obeyed != nil {
		if place, n := s.Obeyed.Place(elements(path)); n > 0 {
			return madeFile{path, fmt.Sprintf(", and %s: look at it before you use it", place.By), place.Danger}
		}
	}
	return madeFile{path, ", and other programs obey it or a rule denies to make it: look at it before you use it", sensitive.OnOpen}
}
