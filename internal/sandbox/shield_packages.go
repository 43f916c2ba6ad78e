package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// npx asks the tree of packages that npm sees in a project, and goes by what each
// says that it is called. A directory of any name will do, behind links, or as
// one of the project's workspaces. So the tree is gone through as npm does it,
// and the names are read of what is new or changed, or is another one than before.
type npmTree struct {
	c      *Covering
	since  int64
	left   int
	listed map[string]bool // directories whose node_modules were
	looked map[string]bool // directories that may be packages
	list   []takenPlace
}

// packagesNamed finds packages that are called as one that npx looks for. It says
// whether it saw all.
func (c *Covering) packagesNamed() (list []takenPlace, all bool) {
	n := &npmTree{c: c, since: c.began.Add(-clockStep).UnixNano(), left: maxPackages, listed: map[string]bool{}, looked: map[string]bool{}}
	for _, dir := range c.taken.Dirs {
		n.modulesOf(dir)
		n.workspaces(dir)
	}
	for dir := range c.taken.visited {
		if filepath.Base(dir) == modules {
			n.modulesOf(filepath.Dir(dir))
		}
	}
	return n.list, n.left > 0
}

// modulesOf looks at the packages in node_modules of a directory.
func (n *npmTree) modulesOf(dir string) {
	if n.listed[dir] {
		return
	}
	n.listed[dir] = true
	in := filepath.Join(dir, modules)
	if !n.mayHold(in) {
		return
	}
	for _, name := range namesIn(in) {
		switch kid := filepath.Join(in, name); {
		case strings.HasPrefix(name, "."):
		case strings.HasPrefix(name, "@"):
			for _, inner := range namesIn(kid) {
				if !strings.HasPrefix(inner, ".") {
					n.look(filepath.Join(kid, inner), takenPlace{claim: name + "/" + inner, project: true}, false)
				}
			}
		default:
			n.look(kid, takenPlace{claim: name, project: true}, false)
		}
	}
}

// mayHold: there is a directory, or what leads to one.
func (n *npmTree) mayHold(dir string) bool {
	if _, seen := n.c.taken.visited[dir]; seen {
		return true
	}
	_, err := factsOf(dir)
	return err == nil
}

// look looks at a directory that npm takes for a package, and at what it leads
// npm to: its own packages, and those of the directories around it. As says what
// it is taken for, with the name of the directory.
func (n *npmTree) look(dir string, as takenPlace, fresh bool) {
	if n.looked[dir] {
		return
	}
	n.looked[dir] = true
	at, links, ok := n.follow(dir)
	if !ok || !n.isDir(at) {
		return
	}
	if fresh || n.isNew(at) || slices.ContainsFunc(links, n.leadsAnew) || n.changed(filepath.Join(at, manifestName)) {
		n.read(dir, as)
	}
	if n.modulesOf(at); len(links) == 0 {
		return
	}
	for up := filepath.Dir(at); writable(up, n.c.dirs) && !n.listed[up]; up = filepath.Dir(up) {
		n.modulesOf(up)
	}
}

func (n *npmTree) read(dir string, as takenPlace) {
	if n.left--; n.left < 0 {
		return
	}
	name := as.claim
	as.path = filepath.Join(dir, manifestName)
	for claim, by := range claims(as.path, dir, n.c.taken.Names) {
		p := as
		p.claim, p.by = claim, by
		switch {
		case claim == name:
			p.claim = "" // as it lies there
		case n.c.taken.Names.Packages[claim] == "":
			continue // programs are found by their links
		default:
			p.project = false
		}
		n.list = append(n.list, p)
	}
}

// follow gives the directory that a path leads to, and the links on the way.
func (n *npmTree) follow(path string) (at string, links []string, ok bool) {
	if _, seen := n.c.taken.visited[path]; seen {
		return path, nil, true
	}
	if _, seen := n.c.taken.visited[filepath.Dir(path)]; seen { // which is usual
		to, err := os.Readlink(path)
		if err == nil {
			to = target(filepath.Dir(path), to)
		}
		if _, seen := n.c.taken.visited[filepath.Clean(to)]; err == nil && seen {
			return filepath.Clean(to), []string{path}, true
		}
	}
	at, links, err := follow(path)
	return at, links, err == nil
}

func (n *npmTree) isDir(path string) bool {
	if _, seen := n.c.taken.visited[path]; seen {
		return true
	}
	facts, err := factsOf(path)
	return err == nil && facts.dir
}

// isNew: there was nothing at this path, or another directory. In what nobody
// looked into everything may be new.
func (n *npmTree) isNew(dir string) bool {
	if n.c.visited == nil {
		return false
	}
	state, seen := n.c.taken.visited[dir]
	if !seen {
		return writable(dir, n.c.dirs) && !n.c.hid(dir)
	}
	old, was := n.c.visited[dir]
	return !was || old.number() != state.number()
}

// leadsAnew: a link, or the directory that it lies in, is new.
func (n *npmTree) leadsAnew(link string) bool {
	facts, err := factsOf(link)
	return err == nil && facts.changed >= n.since || writable(link, n.c.dirs) && n.isNew(filepath.Dir(link))
}

// changed goes by the time that nobody but the kernel sets.
func (n *npmTree) changed(file string) bool {
	facts, err := factsOf(file)
	if err != nil || !facts.link {
		return err == nil && facts.changed >= n.since
	}
	to, links, err := follow(file)
	return err == nil && (changedSince(to, n.since) || slices.ContainsFunc(links, n.leadsAnew) || n.isNew(filepath.Dir(to)))
}

// workspaces looks at what a project names as its parts, and after a change of the
// patterns also at what is not new.
func (n *npmTree) workspaces(dir string) {
	fresh := n.changed(filepath.Join(dir, manifestName))
	for _, at := range n.partsOf(dir) {
		n.look(at, takenPlace{}, fresh)
	}
}

// partsOf gives every directory that the patterns of a project may mean.
func (n *npmTree) partsOf(dir string) []string {
	patterns := workspacesOf(filepath.Join(dir, manifestName))
	if len(patterns) > maxPatterns {
		patterns = []string{"**"}
	}
	var list, deep []string
	for _, pattern := range patterns {
		some, below := n.matches(dir, strings.Split(strings.ReplaceAll(pattern, `\`, "/"), "/"))
		if list = append(list, some...); below != "" && !slices.Contains(deep, below) {
			deep = append(deep, below)
		}
	}
	return slices.DeleteFunc(append(list, n.allIn(deep)...), func(at string) bool { return at == dir || filepath.Base(at) == modules })
}

// partsNow gives the keys of parts that are called as one that npx looks for: a
// project that has such a package changes it in ordinary work.
func (w *shieldWalk) partsNow(b takenBefore) (keys []string) {
	if len(b.Names.Packages) == 0 {
		return nil
	}
	b.visited = w.visited
	n := &npmTree{c: &Covering{dirs: w.dirs, taken: b}}
	left := maxPackages
	for _, top := range b.Dirs {
		for _, dir := range n.partsOf(top) {
			if left--; left < 0 {
				return keys
			}
			manifest := filepath.Join(dir, manifestName)
			for claim := range claims(manifest, dir, b.Names) {
				keys = append(keys, takenPlace{path: manifest, claim: claim}.key())
			}
		}
	}
	return keys
}

// matches gives the directories that a pattern may mean, and more; or the one
// below which it may mean any.
func (n *npmTree) matches(dir string, parts []string) (list []string, below string) {
	for len(parts) > 0 && !strings.ContainsAny(parts[0], "*?[]{}()") {
		dir, parts = filepath.Join(dir, parts[0]), parts[1:]
	}
	if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, "**") || strings.ContainsAny(part, "{}()") }) {
		return nil, dir
	}
	list = []string{dir}
	for _, part := range parts {
		var next []string
		for _, dir := range list {
			if !strings.ContainsAny(part, "*?[]") {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			for _, name := range namesIn(dir) {
				next = append(next, filepath.Join(dir, name))
			}
			if len(next) > maxPackages {
				return nil, dir
			}
		}
		list = next
	}
	return list, ""
}

// allIn gives directories and all below them that are no packages of npm, with
// the links there.
func (n *npmTree) allIn(tops []string) (list []string) {
	if len(tops) == 0 {
		return nil
	}
	for dir := range n.c.taken.visited {
		if !slices.ContainsFunc(tops, func(top string) bool {
			return within(dir, top) && !slices.Contains(elements(dir[len(top):]), modules)
		}) {
			continue
		}
		list = append(list, dir)
		entries, _ := plainfile.ReadDir(dir) // it may be gone
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}

// packageName is what a directory of node_modules is called, with its scope.
func packageName(dir string) (string, bool) {
	name, up := filepath.Base(dir), filepath.Dir(dir)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "@") {
		return "", false
	}
	if scope := filepath.Base(up); strings.HasPrefix(scope, "@") {
		return scope + "/" + name, filepath.Base(filepath.Dir(up)) == modules
	}
	return name, filepath.Base(up) == modules
}
