package files

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// linkMemory finds links by the names of a list, and those that lead out of
// directories on it.
func linkMemory(list *sensitive.List) *linked.Memory {
	return &linked.Memory{
		Keep: 2 * time.Second,
		Link: func(dir, name string) bool {
			elems := append(pathglob.Elements(dir), name)
			return list.May(name) && list.Judge(elems) != sensitive.Open || list.Above(elems) ||
				closed(list, pathglob.Elements(dir)) && leavesPlace(func(elems []string) bool { return closed(list, elems) }, dir, name)
		},
		Enter: func(dir, name string) bool {
			return !isStore(dir, name) && !slices.Contains(list.Places, filepath.Join(dir, name))
		},
	}
}

// innerMemory finds all links in directories to which protected names lead.
func innerMemory() *linked.Memory {
	return &linked.Memory{
		Most:  1 << 10, // people link near the top
		Link:  func(dir, _ string) bool { return !linked.Installed(dir) },
		Enter: func(dir, name string) bool { return !isStore(dir, name) },
	}
}

// isStore: there are very many directories in it, and nothing of anybody.
func isStore(dir, name string) bool { return isGit(filepath.Base(dir)) && name == "objects" }

// judgeAll judges an entry by its name and by those of the directories that it lies
// in, and gives the name that counts.
func judgeAll(list *sensitive.List, elems []string) (answer sensitive.Answer, by string) {
	for i, name := range elems {
		if list.May(name) && list.Judge(elems[:i+1]) == sensitive.Closed {
			return sensitive.Closed, name
		}
	}
	if len(elems) > 0 {
		by = elems[len(elems)-1]
	}
	return list.Judge(elems), by // of the top of the file system nothing is said
}

func closed(list *sensitive.List, elems []string) bool {
	if len(elems) == 0 { // the root of the file system has no name
		return false
	}
	answer, _ := judgeAll(list, elems)
	return answer == sensitive.Closed
}

// maxInner bounds how often one directory leads to the next.
const maxInner = 8

// followInner takes up where links lead that lie in a directory to which a
// protected name leads: .aws is a link to cloud, and cloud/credentials one to
// store/cr. They are judged by the name that they have behind the first link.
func (f *Handle) followInner(l *leads, tops []string) {
	seen := map[string]bool{}
	known := func(to *lead) bool { // whatever its name, all of a closed one is protected
		if to.answer == sensitive.Closed {
			return seen[to.target]
		}
		return seen[to.shown]
	}
	for range maxInner {
		dirs := slices.DeleteFunc(l.dirs, known)
		if l.dirs = nil; len(dirs) == 0 {
			return
		}
		var targets []string
		for _, to := range dirs {
			seen[to.shown] = true
			if to.answer == sensitive.Closed {
				seen[to.target] = true
			}
			targets = append(targets, to.target)
		}
		for _, link := range f.guard.inner.Links(targets...) {
			for _, to := range dirs {
				if link != to.target && pathglob.Inside(link, to.target) {
					l.followBehind(to, link, tops)
				}
				if l.full != nil {
					return
				}
			}
		}
	}
	if left := slices.DeleteFunc(l.dirs, known); len(left) > 0 {
		l.full = left[0]
		l.full.many = true
	}
}

func (l *leads) followBehind(to *lead, link string, tops []string) {
	rest := strings.Trim(link[len(to.target):], string(filepath.Separator))
	path := slices.Concat(to.link, pathglob.Elements(rest))
	answer, _ := judgeAll(l.list, path)
	entry := to.entry + "/" + filepath.ToSlash(rest)
	if to.answer == sensitive.Closed {
		answer, entry = sensitive.Closed, to.entry
	}
	if answer == sensitive.Open && !l.list.Above(path) {
		return
	}
	l.follow(&lead{link: path, shown: filepath.Join(to.shown, rest), entry: entry, answer: answer}, link, tops)
}
