package reach

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// The person's agents and editors start MCP servers of their own in the project,
// outside of every sandbox. Their settings say what these take from there.

// The bounds on what is read of those settings.
const (
	maxClientFile = 1 << 20
	maxTaken      = 512 // names
)

// clientServers knows those servers, and remembers a file as long as it does not
// change. It is safe for use by many at once.
type clientServers struct {
	home string
	tops []string // projects
	// granted tells whether tools may write a path.
	granted func(path string) bool

	mu   sync.Mutex
	seen map[string]clientFile
	now  named.Taken
	at   time.Time // of now
}

// fresh is how long an answer holds: a call may ask for each of its paths.
const fresh = time.Second

type clientFile struct {
	info  fs.FileInfo
	taken named.Taken
}

// Taken gives what they take from the directory that they are started in.
func (c *clientServers) Taken() named.Taken {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.home == "" && len(c.tops) == 0 || time.Since(c.at) < fresh {
		return c.now
	}
	var all named.Taken
	places := append(clientfiles.Places(runtime.GOOS, c.home, os.Getenv, ""), morePlaces(c.home)...)
	for _, top := range c.tops {
		for _, p := range clientfiles.Places(runtime.GOOS, "", nil, top) {
			if p.Scope == clientfiles.ScopeProject {
				places = append(places, p)
			}
		}
	}
	for _, p := range allFiles(places) {
		info, err := os.Stat(p.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		old, known := c.seen[p.Path]
		if !known || !sameState(old.info, info) {
			old = clientFile{info: info, taken: c.read(p)}
			if c.seen == nil {
				c.seen = map[string]clientFile{}
			}
			c.seen[p.Path] = old
		}
		if len(all.Packages)+len(all.Bins)+len(all.Modules) < maxTaken {
			all.Add(old.taken)
		}
	}
	c.now, c.at = all, time.Now()
	return all
}

// allFiles puts the files of a directory in its place.
func allFiles(places []clientfiles.Place) (list []clientfiles.Place) {
	for _, p := range places {
		list = append(list, p.Files(os.ReadDir)...)
	}
	return list
}

func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && time.Since(b.ModTime()) > time.Second
}

// read reads one file; what cannot be read is left out, as the client does.
func (c *clientServers) read(p clientfiles.Place) (all named.Taken) {
	var texts [][]byte
	if p.Client == clientfiles.ClaudeCode && p.Scope == clientfiles.ScopeUser {
		list, _ := named.ClaudeServers(p.Path, nil) // what cannot be read is left out
		for _, s := range list[:min(len(list), maxTaken)] {
			texts = append(texts, s.Text)
		}
	} else if text, err := plainfile.Read(p.Path, maxClientFile); err == nil {
		texts = append(texts, text)
	}
	if p.Scope == scopeStatus {
		for _, text := range texts {
			all.Add(statusTaken(text))
		}
		return all
	}
	for _, text := range texts {
		servers, _ := clientfiles.Codec{YAML: config.Decode, Home: c.home}.Read(p.Client, text)
		for _, s := range servers {
			other := s.Project != "" && !slices.ContainsFunc(c.tops, func(top string) bool { return linked.Within(top, s.Project) || linked.Within(s.Project, top) })
			if s.Command == "" || other || filepath.IsAbs(s.Cwd) && !c.granted(s.Cwd) {
				continue // it is elsewhere
			}
			taken := named.TakenBy(fmt.Sprintf("the MCP server %s of %s", s.Name, clientTitle(p)), s.Command, s.Args, s.Env)
			if s.Cwd != "" && taken.Any() {
				taken.Dirs = []string{s.Cwd}
			}
			all.Add(taken)
		}
	}
	return all
}

// Notes says for the doctor which servers take something from the project.
func (c *clientServers) Notes() (list []Note) {
	t := c.Taken()
	said := map[string]bool{}
	for _, top := range c.tops {
		for _, names := range []struct {
			dir  string
			list map[string]string
		}{{filepath.Join(top, "node_modules"), t.Packages}, {filepath.Join(top, "node_modules", ".bin"), t.Bins}, {top, t.Modules}} {
			for _, name := range slices.Sorted(maps.Keys(names.list)) {
				path, by := filepath.Join(names.dir, filepath.FromSlash(name)), names.list[name]
				for _, path := range []string{path, path + ".py"} {
					if _, err := os.Lstat(path); err == nil && !said[by] {
						said[by] = true
						list = append(list, Note{Text: fmt.Sprintf("%s, started in this project, runs %s, which commands can write, outside of every sandbox", by, path),
							Fix: "install it elsewhere and name its full path in the client's settings, or have Toolcrib run it (toolcrib hub import)"})
					}
				}
			}
		}
	}
	if by := t.Python; by != "" && len(c.tops) > 0 {
		list = append(list, Note{Held: true, Text: by + " is started by python -m, which imports modules of the project: what is made there under a name that servers import is asked about",
			Fix: "set PYTHONSAFEPATH=1 in the env of that server, so that Python looks elsewhere only"})
	}
	return list
}
