package shellguard

import (
	"path"
	"slices"
	"strings"
)

// writesObeyed finds the obeyed places that a line names and may write. In a
// sandbox they are read-only, so that there is nothing to ask: only where none
// bounds what a command writes does the line itself have to be gone by.
func (s *Guard) writesObeyed(l *Line, dir string) []string {
	if s.Bounded || s.Obeyed == nil {
		return nil
	}
	dirs := []string{dir}
	for i := range l.Programs {
		dirs = append(dirs, l.Programs[i].Dirs...)
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	var out []string
	look := func(text string) {
		if _, value, ok := strings.Cut(text, "="); ok { // of=FILE, --output=FILE
			text = value
		}
		for _, d := range dirs {
			full := text
			if !path.IsAbs(full) {
				full = path.Join(d, full)
			}
			if name, by, ok := s.Obeyed(full); ok {
				why := Quote(name) + ": " + by + " later, and no sandbox here keeps a command from writing it"
				if !slices.Contains(out, why) {
					out = append(out, why)
				}
			}
		}
	}
	for i := range l.Redirects {
		if r := &l.Redirects[i]; strings.Contains(r.Op, ">") {
			look(r.Target)
		}
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; p.Class != ReadOnly {
			for _, a := range p.Args {
				look(a.Text)
			}
		}
	}
	return out
}
