package gitconfig

import (
	"path/filepath"
	"slices"
)

// HookDirs lists where git looks for hooks in a work tree: in its own directories,
// and where settings say.
func (s Source) HookDirs(tree string) []string {
	w := &settingsWalk{src: s, tree: tree, seen: map[string]bool{}}
	for _, dir := range w.gitDirs(tree) {
		w.file(filepath.Join(dir, "config"), 0)
		w.file(filepath.Join(dir, "config.worktree"), 0)
		w.scripts = append(w.scripts, filepath.Join(dir, "hooks"))
	}
	w.personal()
	slices.Sort(w.scripts)
	return slices.Compact(w.scripts)
}

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
