package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// What rules deny may be a link, too: where they deny secrets/k and that leads to
// store/k, the file is denied under both names.

// ruleLinks finds the links in places of rules. Each set of rules has a memory of
// its own, since different tools and callers have different rules.
type ruleLinks struct {
	mu sync.Mutex
	of map[string]*linked.Memory
}

// maxRuleSets bounds for how many sets of rules links are remembered.
const maxRuleSets = 8

func (r *ruleLinks) memory(set pathglob.Set) *linked.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := set.String()
	if r.of[key] == nil {
		if r.of == nil || len(r.of) >= maxRuleSets {
			r.of = map[string]*linked.Memory{}
		}
		r.of[key] = &linked.Memory{
			Keep: 2 * time.Second,
			Link: func(dir, name string) bool {
				elems := append(pathglob.Elements(dir), name)
				return set.Leads(elems) || set.Has(elems) && !linked.Installed(dir) && leavesPlace(set.Has, dir, name)
			},
			Enter: func(dir, name string) bool {
				elems := append(pathglob.Elements(dir), name)
				switch {
				case isStore(dir, name):
					return false
				case set.Has(elems):
					return !linked.Installed(filepath.Join(dir, name))
				}
				return set.Reaches(elems)
			},
		}
	}
	return r.of[key]
}

// leavesPlace: a link may lead out of what is denied. Of one that says a name that
// is denied as well, where it leads on is known by the links there.
func leavesPlace(has func(elems []string) bool, dir, name string) bool {
	text, err := os.Readlink(filepath.Join(dir, name))
	if err != nil || filepath.IsAbs(text) {
		return true
	}
	rest := pathglob.Elements(text)
	for len(rest) > 0 && rest[0] == ".." {
		dir, rest = filepath.Dir(dir), rest[1:]
	}
	if len(rest) == 0 || slices.Contains(rest, "..") {
		return true
	}
	return !has(append(pathglob.Elements(dir), rest[0]))
}

// followRules takes up where the links lead that rules deny, or deny to be written.
func (f *Handle) followRules(l *leads, tops []string, base string) {
	l.denied, l.fixed = f.denied, f.fixed
	f.followSet(l, f.denied, lead{rule: true}, tops, base)
	// The set that only denies to write comes last, so that the one of too many
	// links that is kept forbids no less than any other would.
	f.followSet(l, f.fixed, lead{rule: true, written: true}, tops, base)
}

func (f *Handle) followSet(l *leads, set pathglob.Set, as lead, tops []string, base string) {
	if len(set) == 0 || l.full != nil {
		return
	}
	for i, link := range f.guard.ruled.memory(set).Links(tops...) {
		to := as
		to.link, to.shown, to.answer = pathglob.Elements(link), nameFrom(base, link), sensitive.Closed
		if i == maxLeads {
			to.many, l.full = true, &to
			return
		}
		if !set.Has(to.link) {
			to.answer = sensitive.Open // only some of what lies there is denied
		}
		if target, _, _, err := linked.Trace(link); err == nil && linked.Installed(target) {
			continue // a build leads to the packages it uses
		}
		l.follow(&to, link, tops)
	}
}

// ruledPart judges what lies in a directory by the name that rules have for it.
func (l *leads) ruledPart(fold, elems []string, write bool) *lead {
	for _, to := range l.ruled {
		n := len(to.way)
		if n >= len(fold) || !slices.Equal(to.way, fold[:n]) || to.written && !write {
			continue
		}
		path := slices.Concat(to.link, elems[n:])
		if l.denied.Has(path) || write && l.fixed.Has(path) {
			return &lead{shown: filepath.Join(to.shown, strings.Join(elems[n:], "/")), rule: true}
		}
	}
	return nil
}

// nameFrom is a path as a person in the base directory would write it.
func nameFrom(base, path string) string {
	if rel, ok := pathglob.Rel(base, path); ok {
		return rel
	}
	return path
}
