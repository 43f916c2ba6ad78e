package gitconfig

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// hookNames are the hooks that git knows.
func hookNames() []string {
	return []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
		"post-merge", "pre-push", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change", "reference-transaction", "push-to-checkout",
		"pre-receive", "update", "proc-receive", "post-receive", "post-update",
	}
}

// hooks notes a directory of hooks. Where it is the work tree itself, or lies
// around it, only the hooks in it are meant: the rest is the project.
func (w *settingsWalk) hooks(dir string) {
	w.scripts = append(w.scripts, dir)
	if w.tree == "" || !pathglob.Holds(dir, w.tree) {
		w.found = append(w.found, Pointed{Path: dir})
		return
	}
	for _, name := range hookNames() {
		w.found = append(w.found, Pointed{Path: filepath.Join(dir, name)})
	}
}

// maxHook is how much of a hook is read: those that programs write are short.
const maxHook = 64 << 10

// ofPython finds a module that a Python is told to run: "-m name", "-mname".
var ofPython = regexp.MustCompile(`(?:^|\s)-[A-Za-z]*?m[ \t]*["']?([A-Za-z_][A-Za-z0-9_]*)`)

// modules notes the modules that hooks have a Python run. Git starts them at the
// top of the work tree, where Python looks for modules first.
func (w *settingsWalk) modules() {
	slices.Sort(w.scripts)
	for _, dir := range slices.Compact(w.scripts) {
		for _, name := range hookNames() {
			text, err := w.src.Read(filepath.Join(dir, name))
			if err != nil || len(text) > maxHook || !strings.Contains(strings.ToLower(string(text)), "python") {
				continue
			}
			for _, m := range ofPython.FindAllSubmatch(text, maxNested) {
				w.module(string(m[1]))
			}
		}
	}
}

// module notes what Python would take for a module at the top of the work tree.
// Of a package only the two files that run at once are meant: the rest is the
// project.
func (w *settingsWalk) module(name string) {
	for _, file := range []string{name + ".py", name + ".pyc", name + ".so", name + ".abi3.so", filepath.Join(name, "__init__.py"), filepath.Join(name, "__main__.py")} {
		w.note(w.path(w.tree, file))
	}
}
