package linked

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Outer follows the links in directories that are protected or obeyed as a whole.
// People keep their settings in a project and link to them, as ~/.ssh/config to
// one of their dotfiles: such a file is the same under another name. It is safe for
// use by many at once.
type Outer struct {
	// Dirs are absolute. What is missing or is no directory has no links in it.
	Dirs []string
	// Except are directories in which links are not followed.
	Except []string

	mu      sync.Mutex
	seen    map[string]*Memory // by real path
	skipped []string           // the exceptions by their real paths
	asked   string             // what the rest is about
	until   time.Time
	tops    []string
	links   []string // those that lead into or through the directories that were asked about
}

// Led is where a link leads.
type Led struct {
	Link    string
	Target  string   // its real path, whether or not something is there
	Through []string // the links on the way, with the first
}

// outerKeep is how long the list of links is used again: calls come in bursts, and
// it is people who make such links. Where one leads is looked at each time, since
// what lies on the way may be in a granted directory.
const outerKeep = 2 * time.Second

// outerMost bounds how many directories are looked at in each of the Dirs, the
// nearest first. People link near the top; what lies deep is made by programs.
const outerMost = 512

// Into gives the links that lead into directories, which have real paths. One that
// leads to one of the whole directories or above it leads to a project and not to a
// part of it; one into the Dirs leads nowhere new.
func (o *Outer) Into(dirs, whole []string) (found []Led) {
	if o == nil || len(dirs) == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if asked, began := strings.Join(dirs, "\x00"), time.Now(); asked != o.asked || began.After(o.until) {
		o.refresh(dirs)
		o.asked, o.until = asked, began.Add(outerKeep)
	}
	for _, link := range o.links {
		led, err := follow(link)
		switch {
		case err != nil, !inAny(dirs, led.Target), inAny(o.tops, led.Target), Within(link, led.Target):
		case slices.ContainsFunc(whole, func(dir string) bool { return Within(dir, led.Target) }):
		default:
			found = append(found, led)
		}
	}
	return found
}

func follow(link string) (Led, error) {
	at, rest, through, err := Trace(link)
	return Led{link, filepath.Join(at, filepath.Join(rest...)), through}, err
}

// inAny: a path is one of the directories, or lies in one.
func inAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Within(path, dir) })
}

// refresh lists the links anew.
func (o *Outer) refresh(dirs []string) {
	if o.seen == nil {
		o.seen = map[string]*Memory{}
		for _, dir := range o.Except {
			if at, err := Target(dir); err == nil {
				o.skipped = append(o.skipped, at)
			}
		}
	}
	o.findTops()
	o.links = nil
	for _, top := range o.tops {
		if o.seen[top] == nil {
			// Each has a bound of its own: a large one must not hide the others.
			o.seen[top] = &Memory{Link: anyLink, Enter: o.enters, Most: outerMost}
		}
		for _, link := range o.seen[top].Links(top) {
			led, err := follow(link)
			if err == nil && (inAny(dirs, led.Target) || slices.ContainsFunc(led.Through, func(link string) bool { return inAny(dirs, link) })) {
				o.links = append(o.links, link)
			}
		}
	}
}

// findTops finds the directories by their real paths, without those in others.
func (o *Outer) findTops() {
	var tops []string
	for _, dir := range o.Dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || inAny([]string{"/proc", "/sys", "/dev"}, dir) { // the links there are no person's
			continue
		}
		if top, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(o.skipped, top) {
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	tops = slices.Compact(tops)
	o.tops = slices.DeleteFunc(slices.Clone(tops), func(top string) bool {
		return slices.ContainsFunc(tops, func(o string) bool { return o != top && Within(top, o) })
	})
}

func anyLink(string, string) bool { return true }

// enters leaves out the exceptions, and what programs fill by themselves: very many
// directories, and no links of a person.
func (o *Outer) enters(dir, name string) bool {
	switch name {
	case "objects":
		return filepath.Base(dir) != ".git"
	case "History", "workspaceStorage", "CachedData", "Cache", "cache", "node_modules":
		return false
	}
	return !slices.Contains(o.skipped, filepath.Join(dir, name))
}
