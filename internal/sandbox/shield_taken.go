package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Programs of the person's own, such as the servers of her agent, are started in
// the project by npx or python -m. These look there first: whoever puts a
// package or a module of that name into the project has it run outside of every
// sandbox. Packages and modules come and go in ordinary work (npm ci removes all
// of them), so that none is held. What is new under such a name when a program
// has ended is set aside; what was there before is the project's own.

// The bounds on what is looked at.
const (
	maxTakenDirs = 128
	maxListed    = 1 << 16 // of one directory
	maxPackages  = 1 << 15 // whose names are read after one program
	maxManifest  = 1 << 20
	clockStep    = time.Second // by which the time of a file may lag behind
)

// Where npm has packages, and what makes a directory one: without it the
// directory counts under no name.
const (
	modules      = "node_modules"
	manifestName = "package.json"
)

// takenPlace is something that is taken by its name. The claim is what a file
// says it is; empty: it is its own name that counts.
type takenPlace struct {
	path, claim, by string
	project         bool // a package that a project may need
	tell            bool // it is only told: it may well be meant
}

func (p takenPlace) key() string { return p.path + "\x00" + p.claim }

// takenBefore is what there was of it before a program. It is written down,
// hence the exported fields.
type takenBefore struct {
	Names named.Taken
	Dirs  []string
	There []string // keys

	visited map[string]dirState // directories after it
}

// takenNow notes what of it is there already.
func (w *shieldWalk) takenNow() (b takenBefore) {
	if w.shield.Obeyed == nil || w.shield.Taken == nil || !slices.ContainsFunc(w.dirs, writes) {
		return b
	}
	if b.Names = w.shield.Taken(); !b.Names.Any() {
		return b
	}
	b.Dirs = w.takenDirs()
	for _, p := range takenIn(b.Dirs, b.Names) {
		b.There = append(b.There, p.key())
	}
	b.There = append(b.There, w.partsNow(b)...)
	return b
}

func (b takenBefore) moved(moved func(path string) string) takenBefore {
	b.Dirs, b.There = slices.Clone(b.Dirs), slices.Clone(b.There)
	for i := range b.Dirs {
		b.Dirs[i] = moved(b.Dirs[i])
	}
	for i := range b.There {
		path, claim, _ := strings.Cut(b.There[i], "\x00")
		b.There[i] = takenPlace{path: moved(path), claim: claim}.key()
	}
	return b
}

// takenDirs are where such a program may be started, with those above as far as
// programs can write there: npx looks in all of them.
func (w *shieldWalk) takenDirs() []string {
	var list []string
	for _, top := range w.heldTops {
		for dir := top; writable(dir, w.dirs) && len(list) < maxTakenDirs && !slices.Contains(list, dir); dir = filepath.Dir(dir) {
			list = append(list, dir)
		}
	}
	return list
}

func takenIn(dirs []string, t named.Taken) (list []takenPlace) {
	npm, python := len(t.Packages)+len(t.Bins) > 0, t.Python != "" || len(t.Modules) > 0
	var shadowing []string
	var imported map[string]bool
	if python {
		imported = named.Imported()
	}
	if npm {
		shadowing = append(tools(), "node", "nodejs", "python", "python3")
	}
	for _, dir := range dirs {
		if npm {
			list = append(list, npmIn(dir, t, shadowing)...)
		}
		if python {
			list = append(list, pythonIn(dir, t, imported)...)
		}
		for name, by := range t.Entries {
			list = addThere(list, takenPlace{path: filepath.Join(dir, name), by: by})
		}
	}
	return list
}

func addThere(list []takenPlace, p takenPlace) []takenPlace {
	if _, err := factsOf(p.path); err == nil {
		list = append(list, p)
	}
	return list
}

// npmIn finds what npx would run. It puts node_modules/.bin before the person's
// PATH besides, so that a program there stands before those of the machine.
func npmIn(dir string, t named.Taken, shadowing []string) (list []takenPlace) {
	for name, by := range t.Packages {
		list = addThere(list, takenPlace{path: filepath.Join(dir, modules, filepath.FromSlash(name), manifestName), by: by, project: true})
	}
	bin := filepath.Join(dir, modules, ".bin")
	names := namesIn(bin)
	for name, by := range t.Bins {
		if strings.Contains(name, "/") || slices.Contains(names, name) {
			list = addThere(list, takenPlace{path: filepath.Join(bin, filepath.FromSlash(name)), by: by, project: true})
		}
	}
	for _, name := range names {
		if t.Bins[name] == "" && slices.Contains(shadowing, name) {
			list = append(list, takenPlace{path: filepath.Join(bin, name), by: anyOf(t.Bins)})
		}
	}
	manifest := filepath.Join(dir, manifestName)
	for name, by := range claims(manifest, dir, t) {
		list = append(list, takenPlace{path: manifest, claim: name, by: by})
	}
	return list
}

func anyOf(list map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		return list[name]
	}
	return ""
}

// pythonIn finds what Python would import.
func pythonIn(dir string, t named.Taken, imported map[string]bool) (list []takenPlace) {
	for _, name := range namesIn(dir) {
		stem, end, file := strings.Cut(name, ".")
		by := t.Modules[stem]
		seldom, known := imported[stem]
		if by == "" && (known || strings.HasPrefix(stem, "_sysconfigdata_")) {
			by = t.Python
		}
		tell := seldom && t.Modules[stem] == ""
		path := filepath.Join(dir, name)
		switch {
		case by == "":
		case file:
			if slices.Contains([]string{"py", "pyc", "so", "pyd"}, end[strings.LastIndexByte(end, '.')+1:]) {
				list = append(list, takenPlace{path: path, by: by, tell: tell})
			}
		case isPackage(path):
			list = append(list, takenPlace{path: path, by: by, tell: tell})
		}
	}
	return list
}

// isPackage: Python takes a directory without such a file only if there is no
// package of that name elsewhere.
func isPackage(dir string) bool {
	return slices.ContainsFunc(namesIn(dir), func(name string) bool {
		return strings.HasPrefix(name, "__init__.") || strings.HasPrefix(name, "__main__.")
	})
}

// namesIn lists a directory; nothing if there is none.
func namesIn(dir string) []string {
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	names, _ := f.Readdirnames(maxListed)
	return names
}

// sweepTaken sets aside what is new.
func (c *Covering) sweepTaken() []string {
	if c.shield.Obeyed == nil || !c.taken.Names.Any() {
		return nil
	}
	list := takenIn(c.taken.Dirs, c.taken.Names)
	npm := len(c.taken.Names.Packages) > 0
	var notes []madeNote
	if npm {
		found, all := c.packagesNamed()
		if list = append(list, found...); !all {
			notes = append(notes, madeNote{stays: true, text: fmt.Sprintf("the program made or changed more packages of npm than can be looked at: %s, started in this directory, may run one of them outside of the sandbox", anyOf(c.taken.Names.Packages))})
		}
	}
	said, aside := c.asideTaken(list)
	notes = append(notes, said...)
	if npm {
		said, _ = c.asideTaken(c.locksNamed(aside))
		notes = append(notes, said...)
	}
	return listNotes(notes, "packages or modules that programs of yours would take from the project were set aside, or could not be")
}

// locksNamed finds npm's lists that name a package which npx looks for: those
// that changed, and all of them once a package was set aside, which they may
// still name.
func (c *Covering) locksNamed(aside bool) (list []takenPlace) {
	n := &npmTree{c: c, since: c.began.Add(-clockStep).UnixNano()}
	for _, dir := range c.taken.Dirs {
		lock := hiddenLock(dir)
		if _, links, ok := n.follow(filepath.Dir(lock)); !ok || !aside && !n.changed(lock) && !slices.ContainsFunc(links, n.leadsAnew) {
			continue
		}
		if claim := lockedName(dir, c.taken.Names); claim != "" {
			list = append(list, takenPlace{path: lock, claim: claim, by: c.taken.Names.Packages[claim], project: true})
		}
	}
	return list
}

// asideTaken sets aside those of a list that are new and do not belong to the
// project, or tells of them.
func (c *Covering) asideTaken(list []takenPlace) (notes []madeNote, aside bool) {
	before, seen := map[string]bool{}, map[string]bool{}
	for _, key := range c.taken.There {
		before[key] = true
	}
	for _, p := range list {
		if before[p.key()] || seen[p.path] || asideName.MatchString(p.path) || c.hid(p.path) || c.shield.granted(p.path) || c.belongs(p) {
			continue
		}
		seen[p.path] = true
		what := "was made while the program ran"
		if p.claim != "" {
			what = fmt.Sprintf("was made or changed while the program ran, and says that it is %q", p.claim)
		}
		if p.tell || p.project && p.claim == "" && time.Since(c.began) > longRun {
			notes = append(notes, madeNote{stays: true, text: fmt.Sprintf("%s %s: %s, started in this directory, would run it outside of the sandbox. If it was not you who made it, look at it before you go on", shorten(p.path), what, p.by)})
			continue
		}
		to, err := c.takeAway(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errGone): // it is gone
		case err != nil:
			notes = append(notes, madeNote{stays: true, text: fmt.Sprintf("%s %s: %s, started in this directory, would run it outside of the sandbox. It could not be set aside (%v): remove it before you start your agent there", shorten(p.path), what, p.by, err)})
		default:
			aside = true
			c.shield.record(Aside{Path: p.path, At: to, Why: p.by + ", started in this directory, would run it outside of the sandbox", Undo: "rename " + shorten(to) + " back"})
			notes = append(notes, madeNote{text: fmt.Sprintf("%s %s: %s, started in this directory, would run it outside of the sandbox instead of the one that it means. It was set aside: look at it, and rename %s back if you trust it; if the project is to have it, commit the package.json that asks for it, or list it in grant.unprotected", shorten(p.path), what, p.by, shorten(to))})
		}
	}
	return notes, aside
}

// belongs: git has it so, itself or what a link leads to, or the project needs the
// package by what git has.
func (c *Covering) belongs(p takenPlace) bool {
	at, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		at = p.path
	}
	for _, top := range c.tops {
		if !within(p.path, top) {
			continue
		}
		if c.fromGit(top, p.path) || p.project && within(at, top) && c.fromGit(top, at) {
			return true
		}
		manifest := filepath.Join(top, manifestName)
		if !p.project || p.path == filepath.Join(top, modules) || !within(p.path, filepath.Join(top, modules)) || !c.fromGit(top, manifest) {
			continue
		}
		text, err := plainfile.Read(manifest, maxManifest)
		fields, ok := object(text)
		if err != nil || !ok {
			continue
		}
		for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies"} {
			needs, _ := object(fields[key])
			for name := range needs {
				if by := c.taken.Names.Packages[name]; by != "" && by == p.by {
					return true
				}
			}
		}
	}
	return false
}

// takeAway renames something. Where a link leads out of what programs can write,
// it is the link, and so it is for a package that is one: it may lead to what a
// person works on. npm looks into links of all names but those with a dot.
func (c *Covering) takeAway(path string) (string, error) {
	begins := filepath.Base(path)
	if facts, err := factsOf(filepath.Dir(path)); err == nil && facts.link && begins == manifestName {
		if _, ok := packageName(filepath.Dir(path)); ok {
			path = filepath.Dir(path)
			begins = "." + filepath.Base(path)
		}
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	there, err := filepath.EvalSymlinks(dir)
	for err == nil && !writable(there, c.dirs) {
		if dir, name = filepath.Dir(dir), filepath.Base(dir); dir == filepath.Dir(dir) {
			return "", errGone
		}
		begins = name
		there, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	facts, err := factsOf(filepath.Join(there, name))
	if err != nil {
		return "", err
	}
	to, err := renameInAs(there, name, name, begins, facts.id)
	return filepath.Join(there, to), err
}
