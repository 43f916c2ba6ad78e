package sandbox

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// What others obey is not all obeyed for its name: links in .git/hooks and
// settings such as core.hooksPath lead them elsewhere.

// holdLinks covers what links lead to that others obey.
func (w *shieldWalk) holdLinks() {
	for _, link := range w.links {
		w.hold(link)
	}
	for _, link := range w.onWay {
		for _, path := range obeyedBehind(w.shield.Obeyed, link) {
			w.hold(path)
		}
	}
	for _, dir := range w.obeyed {
		w.holdInner(dir)
	}
	for _, git := range slices.Sorted(maps.Keys(w.gits)) {
		w.holdHooks(filepath.Join(git, "hooks"))
	}
}

// obeyedBehind gives what others obey by way of a link: .cargo/config.toml, where
// .cargo is one.
func obeyedBehind(o *sensitive.ObeyedSet, link string) (list []string) {
	for _, rest := range o.Below(elements(link)) {
		dir, last := filepath.Join(link, filepath.Join(rest[:len(rest)-1]...)), rest[len(rest)-1]
		if !strings.ContainsAny(last, "*?[") {
			file := filepath.Join(dir, last)
			if _, err := os.Lstat(file); err == nil {
				list = append(list, file)
			}
			continue
		}
		entries, _ := plainfile.ReadDir(dir) // what cannot be read is covered as it is
		for _, e := range entries {
			if ok, err := path.Match(last, strings.ToLower(e.Name())); err == nil && ok {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}
