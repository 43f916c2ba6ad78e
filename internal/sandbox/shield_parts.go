package sandbox

import (
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// hideParts hides what is protected by the name of a link before its own: where
// .kube is a link to k8s, k8s/config is .kube/config.
func (w *shieldWalk) hideParts(link string) {
	target, links, err := follow(link)
	if err != nil || !w.inside(target) || around(target, link) {
		return
	}
	before := len(w.found)
	for _, l := range linked.Below(target, w.listInner) {
		w.hideNamed(l.Dirs, target, link, func(dir string) { w.hide(dir, true) })
		w.hideNamed(l.Files, target, link, func(file string) { w.hide(file, false) })
		w.hideNamed(l.Links, target, link, w.hideTarget)
	}
	if len(w.found) > before {
		w.pinLinks(links)
	}
}

// hideNamed hides entries of a directory by what they are called below a link to
// it.
func (w *shieldWalk) hideNamed(names []string, target, link string, hide func(name string)) {
	for _, name := range names {
		if !w.shield.hidden.May(filepath.Base(name)) {
			continue
		}
		switch w.shield.hidden.Judge(elements(link + name[len(target):])) {
		case sensitive.Closed:
			hide(name)
		case sensitive.Keyed:
			w.hideKey(name)
		}
	}
}
