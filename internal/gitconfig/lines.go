package gitconfig

import (
	"slices"
)

// Named lists the files that command lines name which somebody starts in a
// directory: as PointedAt does for the settings of git. Read only has to tell
// whether there is a file.
func (s Source) Named(dir string, lines []string) []string {
	w := &settingsWalk{src: s, tree: dir, seen: map[string]bool{}, lines: lines}
	w.programs()
	out := make([]string, 0, len(w.found))
	for _, p := range w.found {
		out = append(out, p.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
