package sandbox

import (
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// hideParts hides what is protected by the name of a link before its own: where
// .kube is a link to k8s, k8s/config is .kube/config. A link in such a directory
// has the name that it has behind the first one.
func (w *shieldWalk) hideParts(link, as string) {
	target, links, err := follow(link)
	if err != nil || !w.inside(target) || around(target, link) || !w.first(as) {
		return
	}
	before := len(w.found)
	for _, l := range w.linksBehind(target) {
		w.hideNamed(l.Dirs, target, as, func(dir string) { w.hide(dir, true); w.hideLed(dir) })
		w.hideNamed(l.Files, target, as, func(file string) { w.hide(file, false) })
		w.hideNamed(l.Links, target, as, w.hideTarget)
		for _, inner := range l.Links {
			if name := as + inner[len(target):]; w.shield.hidden.Above(elements(name)) {
				w.hideParts(inner, name)
			}
		}
	}
	if len(w.found) > before {
		w.pinLinks(links)
	}
}

// hideLed hides what links in a hidden directory lead to: .ssh/config may be one
// to store/config.
func (w *shieldWalk) hideLed(dir string) {
	if !w.first(dir) || linked.Installed(dir) {
		return
	}
	for _, l := range w.linksBehind(dir) {
		for _, link := range l.Links {
			target, _, err := follow(link)
			if err == nil && !within(target, dir) && !around(target, link) && !linked.Installed(l.Dir) {
				w.hideTarget(link)
			}
		}
	}
}

// maxBehind bounds how many directories are looked into for links. A program could
// make more, so that a person's own would be passed over: then nothing is started.
const maxBehind = 1 << 14

// linksBehind lists a directory and what lies below it, for the links there.
func (w *shieldWalk) linksBehind(dir string) []linked.Listing {
	if w.behindDirs > maxBehind {
		return nil
	}
	found := linked.Below(dir, w.listInner)
	if w.behindDirs += len(found); w.behindDirs > maxBehind {
		w.behindMost = dir
	}
	return found
}

// first tells whether a directory was not looked into yet for links in it.
func (w *shieldWalk) first(dir string) bool {
	if w.behind[dir] {
		return false
	}
	if w.behind == nil {
		w.behind = map[string]bool{}
	}
	w.behind[dir] = true
	return true
}

// hideNamed hides entries of a directory by what they are called behind a link to
// it.
func (w *shieldWalk) hideNamed(names []string, target, as string, hide func(name string)) {
	for _, name := range names {
		if !w.shield.hidden.May(filepath.Base(name)) {
			continue
		}
		switch w.shield.hidden.Judge(elements(as + name[len(target):])) {
		case sensitive.Closed:
			hide(name)
		case sensitive.Keyed:
			w.hideKey(name)
		}
	}
}
