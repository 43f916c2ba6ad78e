package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// npx goes by what a package says that it is called, wherever it lies in
// node_modules: a directory of any name will do, and so will the list that npm
// keeps of all of them. So of packages that are new or changed the name is read.

// packagesNamed finds those that are called as one that npx looks for.
func (c *Covering) packagesNamed() (list []takenPlace) {
	since := c.began.Add(-clockStep).UnixNano()
	left := maxPackages
	look := func(dir, name string, fresh bool) {
		manifest := filepath.Join(dir, manifestName)
		if left <= 0 || !fresh && !changedSince(manifest, since) {
			return
		}
		left--
		for claim, by := range claims(manifest, dir, c.taken.Names) {
			if claim == name {
				list = append(list, takenPlace{path: manifest, by: by, project: true})
			} else if c.taken.Names.Packages[claim] != "" { // programs are found by their links
				list = append(list, takenPlace{path: manifest, claim: claim, by: by})
			}
		}
	}
	known := c.visited != nil
	for dir, state := range c.taken.visited {
		old, was := c.visited[dir]
		if name, ok := packageName(dir); ok {
			look(dir, name, known && !was)
		}
		if base := filepath.Base(dir); (base == modules || strings.HasPrefix(base, "@")) && (!known || !was || old != state || slices.Contains(c.taken.Dirs, filepath.Dir(dir))) {
			for _, link := range linksIn(dir) {
				if name, ok := packageName(link); ok {
					look(link, name, linkChangedSince(link, since))
				}
			}
		}
	}
	for _, dir := range c.taken.Dirs {
		lock := filepath.Join(dir, modules, ".package-lock.json")
		if !changedSince(lock, since) {
			continue
		}
		if claim := c.lockedName(lock); claim != "" {
			list = append(list, takenPlace{path: lock, claim: claim, by: c.taken.Names.Packages[claim]})
		}
	}
	return list
}

// lockedName gives the name of a package that npx looks for, if npm's list of
// what is installed gives it to a directory of another name.
func (c *Covering) lockedName(lock string) string {
	text, err := plainfile.Read(lock, maxLockfile)
	if err != nil {
		return ""
	}
	fields, _ := object(text)
	packages, _ := object(fields["packages"])
	for at, raw := range packages {
		entry, _ := object(raw)
		if name := textOf(entry["name"]); c.taken.Names.Packages[name] != "" && !strings.HasSuffix("/"+at, "/"+modules+"/"+name) {
			return name
		}
	}
	return ""
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

func linksIn(dir string) (links []string) {
	entries, err := plainfile.ReadDir(dir)
	if err != nil {
		return nil // it is gone
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			links = append(links, filepath.Join(dir, e.Name()))
		}
	}
	return links
}

// linkChangedSince is changedSince of a link itself.
func linkChangedSince(path string, since int64) bool {
	facts, err := factsOf(path)
	return err == nil && facts.changed >= since
}
