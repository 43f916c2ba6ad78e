package toolchains

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// The most directories that are followed, and entries of one that are looked at.
const (
	maxShown   = 64
	maxEntries = 2000
)

// needed adds what programs need that lie in the directories: the installation
// around a bin directory, and what the links in it lead to.
func (m Machine) needed(show, bins []string) []string {
	queue := slices.Clone(bins)
	for _, dir := range show {
		if bin := filepath.Join(dir, "bin"); isDir(bin) && !slices.Contains(queue, bin) {
			queue = append(queue, bin)
		}
	}
	add := func(dir string) {
		if m.isSystem(dir) || m.tooWide(dir) || m.check(dir) != nil || len(show) >= maxShown {
			return
		}
		if !slices.ContainsFunc(show, func(s string) bool { return within(dir, s) }) {
			show = append(show, dir)
		}
		if bin := filepath.Join(dir, "bin"); isDir(bin) && !slices.Contains(queue, bin) {
			queue = append(queue, bin)
		}
	}
	for i := 0; i < len(queue) && i < maxShown; i++ {
		if top := filepath.Dir(queue[i]); filepath.Base(queue[i]) == "bin" && (!m.isPersonal(top) || isInstallation(top)) {
			add(top)
		}
		entries, err := os.ReadDir(queue[i])
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), maxEntries)] {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			target, err := filepath.EvalSymlinks(filepath.Join(queue[i], e.Name()))
			if err != nil || !isProgram(target) || slices.ContainsFunc(show, func(s string) bool { return within(target, s) }) {
				continue
			}
			dir := filepath.Dir(target)
			if filepath.Base(dir) == "bin" && !m.tooWide(filepath.Dir(dir)) {
				dir = filepath.Dir(dir)
			}
			if !m.isPersonal(dir) || isInstallation(dir) {
				add(dir)
			}
		}
	}
	return show
}

// isPersonal: a directory of the home that people see, where documents and other
// projects lie. It is not shown because a script that is linked, or a directory
// called bin, lies in it.
func (m Machine) isPersonal(dir string) bool {
	rel, ok := pathglob.Rel(realPath(m.Home), dir)
	return m.Home != "" && ok && !strings.HasPrefix(rel, ".")
}

// isInstallation: beside its programs lies what they are installed with.
func isInstallation(dir string) bool {
	return isDir(filepath.Join(dir, "bin")) && slices.ContainsFunc([]string{"lib", "lib64", "libexec", "share", "pkg", "packages"}, func(name string) bool { return isDir(filepath.Join(dir, name)) })
}

// tooWide: directories that hold more than one installation, or keys beside it.
func (m Machine) tooWide(dir string) bool {
	if dir == "/" || dir == "/opt" || dir == "/home" || dir == "/srv" || dir == "/var" {
		return true
	}
	home := realPath(m.Home)
	if m.Home == "" || home == "/" {
		return false
	}
	// A cargo home has the tokens of registries in it, wherever it lies.
	return dir == home || filepath.Dir(dir) == home && slices.Contains([]string{".local", ".config", "go", ".cargo"}, filepath.Base(dir)) ||
		filepath.Base(dir) == ".cargo" || dir == realPath(m.named("CARGO_HOME", ".cargo")) || dir == below(home, ".local/share")
}
