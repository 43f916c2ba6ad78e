package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Names is what programs of the person's own take by its name from where they are started:
// npx a package, Python a module, a shell a program. Whoever puts another one of that name
// there has it run outside of every sandbox. What lies there already is the project's own,
// and is worked on; a program in PATH is not.
type Names struct {
	// Taken gives what servers of the person's clients take. Nil: nothing.
	Taken func() named.Taken
	// Starts are directories, besides the granted ones, in which they may be started.
	Starts []string
	// Path gives the directories of the person's PATH, and First those that scripts of the
	// project put before it. Nil: there are none.
	Path, First func() []string
	// Writes tells whether commands can write in a directory: what lies there is not the
	// machine's.
	Writes func(dir string) bool
}

// takenNames is one look at these.
type takenNames struct {
	Names
	o       *Obeyed
	taken   named.Taken
	npm     bool
	python  bool
	path    []string
	tops    []string  // where they may be started, by all their names
	before  []toolDir // directories before those of the machine
	aliases []alias   // of what links lead to that are taken by their names
}

// alias is another name of what lies at a path: links that were there before lead to it.
type alias struct{ via, name string }

// lookAtNames gives nil if nothing is taken by its name.
func (o *Obeyed) lookAtNames() *takenNames {
	look := func() *takenNames {
		if o.Names.Writes == nil {
			return nil
		}
		n := &takenNames{Names: o.Names, o: o}
		if o.seen == nil {
			n.o = o.once()
		}
		if n.Taken != nil {
			n.taken = n.Taken()
		}
		n.npm = len(n.taken.Packages)+len(n.taken.Bins) > 0
		n.python = n.taken.Python != "" || len(n.taken.Modules)+len(n.taken.Entries) > 0
		if n.Path != nil {
			n.path = n.Path()
		}
		n.tops = n.starts()
		n.before = n.toolDirs()
		n.findAliases()
		return n
	}
	if o.seen == nil {
		return look()
	}
	if !o.seen.namesSeen {
		o.seen.names, o.seen.namesSeen = look(), true
	}
	return o.seen.names
}

// starts are the granted directories, those where programs may be started, and what lies
// between them: npx looks in all of these.
func (n *takenNames) starts() []string {
	tops := slices.Clone(n.o.roots())
	starts := slices.Clone(n.Starts)
	for _, dir := range n.taken.Dirs {
		if filepath.IsAbs(dir) {
			starts = append(starts, dir)
			continue
		}
		for _, start := range slices.Concat(n.o.Roots, n.Starts) {
			starts = append(starts, filepath.Join(start, dir))
		}
	}
	for _, start := range starts {
		for _, dir := range bothNames(start) {
			for ; pathglob.Within(dir, n.o.roots()) && !slices.Contains(tops, dir); dir = path.Dir(dir) {
				tops = append(tops, dir)
			}
		}
	}
	return tops
}

// bothNames are a path as it is given, and where it leads.
func bothNames(full string) []string {
	names := []string{path.Clean(filepath.ToSlash(full))}
	if there, err := linked.Target(local(names[0])); err == nil && filepath.ToSlash(there) != names[0] {
		names = append(names, filepath.ToSlash(there))
	}
	return names
}

// isTop tells whether programs may be started in a directory: in a repository, too.
func (n *takenNames) isTop(dir string) bool {
	return slices.ContainsFunc(n.tops, func(top string) bool { return pathglob.Here().Same(top, dir) }) ||
		n.o.Git.Read != nil && pathglob.Within(dir, n.o.roots()) && n.o.isRepository(dir)
}

// findAliases follows the links that lie there under names that are taken.
func (n *takenNames) findAliases() {
	if n.npm || n.python {
		for _, top := range n.tops {
			n.follow(top, func(name string) bool {
				by, _ := n.taken.Module(name)
				return by != "" || n.taken.Entries[name] != "" || n.npm && (name == modulesDir || name == manifestName)
			})
			modules := path.Join(top, modulesDir)
			n.follow(modules, func(name string) bool { return n.npm && (name == binDir || n.isPackagePart(name)) })
		}
	}
	for _, d := range n.before {
		n.follow(d.dir, d.has)
	}
}

// follow adds what links of a directory lead to, and the links on the way.
func (n *takenNames) follow(dir string, taken func(name string) bool) {
	entries, err := os.ReadDir(local(dir))
	if err != nil {
		return // it is not there, or nobody can look into it
	}
	for _, e := range entries {
		link := path.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink == 0 || !taken(e.Name()) {
			continue
		}
		at, rest, links, err := linked.Trace(local(link))
		if err != nil {
			continue
		}
		for _, via := range append(links, filepath.Join(at, filepath.Join(rest...))) {
			if via = filepath.ToSlash(via); via != link && n.Writes(local(via)) {
				n.aliases = append(n.aliases, alias{via, link})
			}
		}
	}
}

// byName finds what a call would put where it is taken by its name. Without a change it is
// known only that something is written there.
func (o *Obeyed) byName(forms *pathForms, c *newContent) *obeyedPlace {
	n := o.lookAtNames()
	if n == nil || c.gone() {
		return nil
	}
	for _, elems := range forms.exact {
		full := "/" + strings.Join(elems, "/")
		if o.Set.Granted(o.below(full)) {
			continue
		}
		if found := n.at(full, full, c); found != nil {
			return found
		}
		for _, a := range n.aliases {
			name := ""
			if rest, in := pathglob.Here().Below(full, a.via); in {
				name = path.Join(a.name, rest)
			} else if c.isLink() && pathglob.Within(a.via, []string{full}) {
				name = a.name
			}
			if name == "" || o.Set.Granted(o.below(name)) {
				continue
			}
			if found := n.at(name, full, c); found != nil {
				return found
			}
		}
	}
	return nil
}

// at looks at one name of what is written.
func (n *takenNames) at(name, full string, c *newContent) *obeyedPlace {
	for _, find := range []func(name string, c *newContent) *obeyedPlace{n.start, n.tool, n.modules, n.programs, n.manifest, n.programDir, n.python3, n.leads} {
		found := find(name, c)
		if found == nil {
			continue
		}
		if found.full == name {
			found.full = full
		}
		if found.name == "" {
			found.name = relativeTo(found.full, n.o.root(found.full))
		}
		found.file, found.danger = found.full == full, sensitive.OnUse
		return found
	}
	return nil
}

// start finds a link in the place of a directory in which programs are started.
func (n *takenNames) start(name string, c *newContent) *obeyedPlace {
	if c.isLink() && n.taken.Any() && slices.ContainsFunc(n.tops, func(top string) bool { return pathglob.Within(top, []string{name}) }) {
		return &obeyedPlace{full: name, by: "it is a link in the place of a directory in which programs of yours are started; they would take what lies there by its name"}
	}
	return nil
}

// local is a path as this system takes it: rules write C:\x as /C:/x.
func local(full string) string {
	if len(full) > 2 && full[0] == '/' && filepath.VolumeName(filepath.FromSlash(full[1:])) != "" {
		full = full[1:]
	}
	return filepath.FromSlash(full)
}

// exists: something lies there already.
func exists(full string) bool {
	_, err := os.Lstat(local(full))
	return err == nil
}

// startedThere ends a sentence about who runs what.
func startedThere(by, what string) string { return by + ", started in this project, would " + what }
