package linked

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Memory finds links by their names in whole trees. What it saw in a directory
// holds as long as the directory does not change: a further look costs a stat
// for each. What Link and Enter say must not change either.
type Memory struct {
	Link  func(dir, name string) bool // a link of this name is wanted
	Enter func(dir, name string) bool // a directory is looked into
	Most  int                         // how many directories one look sees at most; zero: 16,384
	// Keep is how long an answer about many directories is given again without a
	// look, as long as none of its links is gone: calls come in bursts, and a new
	// link is a person's. Zero: not at all.
	Keep time.Duration

	mu    sync.Mutex
	seen  map[string]*dirView
	tops  []string // of the last answer
	links []string
	until time.Time
}

// dirView is what was seen in a directory.
type dirView struct {
	state   dirState
	settled bool // long enough unchanged that a change would show in its time
	links   []string
	below   []string
}

// maxLook bounds how many directories one look sees: the nearest first, and what
// programs made for themselves last.
const maxLook = 1 << 14

func (m *Memory) most() int { return cmp.Or(m.Most, maxLook) }

// settling is how long ago a directory must have changed. Systems tell times in
// steps, and what changed just now may change again within the same one.
const settling = time.Second

// Links gives the wanted links in directories and below them, now. The
// directories have absolute paths without links.
func (m *Memory) Links(tops ...string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.until) && slices.Equal(m.tops, tops) && !slices.ContainsFunc(m.links, linkGone) {
		return slices.Clone(m.links)
	}
	began := time.Now()
	links, looks := m.find(tops)
	m.tops, m.links, m.until = slices.Clone(tops), links, time.Time{}
	if looks >= many {
		m.until = began.Add(m.Keep)
	}
	return slices.Clone(links)
}

// many directories take a millisecond or more to look at.
const many = 1000

// linkGone: there is no link of this name any more.
func linkGone(link string) bool {
	info, err := os.Lstat(link)
	return err != nil || info.Mode()&fs.ModeSymlink == 0
}

func (m *Memory) find(tops []string) (links []string, looks int) {
	if m.seen == nil {
		m.seen = map[string]*dirView{}
	}
	found, visited := map[string]bool{}, map[string]bool{}
	see := func(level []string) (soon, later []string) {
		for i, s := range m.readDirs(level) {
			if s == nil {
				delete(m.seen, level[i])
				continue
			}
			m.seen[level[i]], visited[level[i]] = s, true
			for _, name := range s.links {
				found[name] = true
			}
			for _, dir := range s.below {
				if name := filepath.Base(dir); name[0] == '.' || name == "node_modules" {
					later = append(later, dir)
				} else {
					soon = append(soon, dir)
				}
			}
		}
		return soon, later
	}
	var last []string
	for level := slices.Clone(tops); len(level)+len(last) > 0; {
		if len(level) == 0 {
			level, last = last, nil
		}
		level = slices.DeleteFunc(level, func(dir string) bool { return visited[dir] })
		slices.Sort(level) // one granted directory may lie in another
		level = slices.Compact(level)
		soon, later := see(level[:min(len(level), m.most()-len(visited))])
		level, last = soon, append(last, later...)
	}
	// A program can make so many directories that others come too late. Links that
	// were ever seen count on.
	var late []string
	for dir, s := range m.seen {
		if !visited[dir] && len(s.links) > 0 && slices.ContainsFunc(tops, func(top string) bool { return Within(dir, top) }) {
			late = append(late, dir)
		}
	}
	see(late)
	if len(m.seen) > 2*m.most() {
		maps.DeleteFunc(m.seen, func(dir string, s *dirView) bool { return !visited[dir] && len(s.links) == 0 })
	}
	return slices.Sorted(maps.Keys(found)), len(visited)
}

// readDirs looks at directories; nil is for what cannot be seen.
func (m *Memory) readDirs(dirs []string) []*dirView {
	const few = 128 // fewer are not worth a goroutine
	out := make([]*dirView, len(dirs))
	size := max(few, (len(dirs)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for from := 0; from < len(dirs); from += size {
		to := min(from+size, len(dirs))
		look := func() {
			for i := from; i < to; i++ {
				out[i] = m.readDir(dirs[i])
			}
		}
		if to == len(dirs) {
			look()
		} else {
			workers.Go(look)
		}
	}
	workers.Wait()
	return out
}

func (m *Memory) readDir(dir string) *dirView {
	state, err := stateOf(dir)
	if err != nil {
		return nil
	}
	if old := m.seen[dir]; old != nil && old.settled && old.state == state {
		return old
	}
	s := &dirView{state: state, settled: time.Since(state.changed()) > settling}
	file, err := openDir(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it was only read
	for {
		entries, err := file.ReadDir(1024)
		for _, e := range entries {
			switch name := e.Name(); {
			case e.IsDir() && m.Enter(dir, name):
				s.below = append(s.below, filepath.Join(dir, name))
			case e.Type()&fs.ModeSymlink != 0 && m.Link(dir, name):
				s.links = append(s.links, filepath.Join(dir, name))
			}
		}
		if err != nil || len(entries) == 0 {
			return s // the part that can be read counts
		}
	}
}

var errNoDir = errors.New("it is no directory")
