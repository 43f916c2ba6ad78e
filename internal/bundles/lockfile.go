package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

const maxLock = 16 << 20

// lockFile says which packages there are, exactly: so that others can have the same.
type lockFile struct {
	Version int               `json:"lockfile_version"`
	Bundles map[string]Locked `json:"bundles"`
}

// Locked is a package in a lock file.
type Locked struct {
	Version string                  `json:"version,omitempty"`
	Format  string                  `json:"format"`
	Source  string                  `json:"source"` // with commit or digest
	Tree    string                  `json:"tree"`
	Servers map[string]LockedServer `json:"servers,omitempty"`
	Files   map[string]string       `json:"files"`
}

// LockedServer is how a server is started, word by word.
type LockedServer struct {
	Argv    []string `json:"argv,omitempty"`
	Env     []string `json:"env,omitempty"` // names
	URL     string   `json:"url,omitempty"`
	Fetches string   `json:"fetches,omitempty"` // with its exact version
	Left    string   `json:"left_out,omitempty"`
}

// projectLock is where the lock file of a project lies.
func projectLock(dir string) string { return filepath.Join(dir, ".toolcrib", "bundles.lock") }

// project is the directory of the project that the working directory is in: the nearest
// with a lock file, or if one is to be begun, with a .toolcrib or a .git. The home
// directory and the top are none.
func (b *Bundles) project(begin bool) (string, error) {
	dir, err := filepath.EvalSymlinks(b.Dir)
	if err != nil {
		return "", err
	}
	home, _ := filepath.EvalSymlinks(b.Home) // what is not there is nowhere
	marks := [][]string{{".toolcrib", "bundles.lock"}}
	if begin {
		marks = append(marks, []string{".toolcrib"}, []string{".git"})
	}
	for _, mark := range marks {
		for at := dir; at != filepath.Dir(at) && at != home; at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(append([]string{at}, mark...)...)); err == nil {
				return at, nil
			}
		}
	}
	if begin && dir != home && dir != filepath.Dir(dir) {
		return dir, nil
	}
	if begin {
		return "", errors.New("the home directory is no project; leave --project away, or go to a project")
	}
	return "", nil
}

func readLock(file string) (lockFile, error) {
	l := lockFile{Version: 1, Bundles: map[string]Locked{}}
	data, err := plainfile.Read(file, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("%s is no lock file: %w", file, err)
	}
	if l.Version != 1 {
		return l, fmt.Errorf("%s is of version %d, and only 1 is read", file, l.Version)
	}
	if l.Bundles == nil {
		l.Bundles = map[string]Locked{}
	}
	for name, one := range l.Bundles {
		if err := bundle.CheckName(name); err != nil {
			return l, fmt.Errorf("%s: %w", file, err)
		}
		if !sumForm.MatchString(one.Tree) {
			return l, fmt.Errorf("%s: the tree of %s is no digest", file, name)
		}
	}
	return l, nil
}

// writeLock puts what is installed into a lock file. What else is in it stays, but for
// what is gone.
func (b *Bundles) writeLock(file, project string, in map[string]Installed, gone []string) error {
	l, err := readLock(file)
	if err != nil {
		return err
	}
	before, err := json.Marshal(l)
	if err != nil {
		return err
	}
	for _, name := range gone {
		delete(l.Bundles, name)
	}
	for name, i := range in {
		one, err := b.locked(i, project)
		if err != nil {
			if l.Bundles[name].Tree == i.Tree {
				continue // it is damaged, and the lock file knows what it was
			}
			return fmt.Errorf("writing %s: %s: %w", file, name, err)
		}
		l.Bundles[name] = one
	}
	after, err := json.Marshal(l)
	if err != nil || string(after) == string(before) {
		return err
	}
	b.at("lock file")
	if len(l.Bundles) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if project != "" {
			_ = os.Remove(filepath.Dir(file)) // only where it is empty
		}
		return nil
	}
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return durable.ReplaceLocked(file, append(data, '\n'), 0o644)
}

// locked is a package as a lock file has it.
func (b *Bundles) locked(i Installed, project string) (Locked, error) {
	files, err := b.listing(i.Tree)
	if err != nil {
		return Locked{}, err
	}
	out := Locked{Version: i.Package.Version, Format: i.Package.Format, Source: i.Source, Tree: i.Tree, Files: map[string]string{}, Servers: map[string]LockedServer{}}
	if project != "" && filepath.IsAbs(i.Source) { // for others, whose project lies elsewhere
		if rel, err := filepath.Rel(project, i.Source); err == nil && filepath.IsLocal(rel) {
			out.Source = "./" + filepath.ToSlash(rel)
		}
	}
	for name, f := range files {
		out.Files[name] = f.SHA256
	}
	for _, s := range i.Package.Servers {
		one := LockedServer{URL: s.URL, Fetches: s.Fetches, Left: i.Left[s.Name], Env: slices.Sorted(maps.Keys(s.Env))}
		if s.Command != "" {
			one.Argv = append([]string{s.Command}, s.Args...)
		}
		out.Servers[s.Name] = one
	}
	return out, nil
}

// Abroad: it is for a project, and comes from a place of this machine that others with the
// project do not have.
func (c *Candidate) Abroad() bool {
	_, err := lockedSource(Locked{Source: c.Source.String()}, c.project, c.of.Dir)
	return c.project != "" && (c.Source.Kind == FromDir || c.Source.Kind == FromArchive) && err != nil
}

// lockedSource is the source of a package in a lock file. One of a project names nothing of
// this machine but what lies in the project.
func lockedSource(one Locked, project, dir string) (Source, error) {
	if project == "" {
		return ParseSource(one.Source, dir)
	}
	s, err := ParseSource(one.Source, project)
	if err != nil {
		return s, err
	}
	if s.Kind == FromDir || s.Kind == FromArchive {
		at, err := filepath.EvalSymlinks(s.At)
		if err != nil {
			return s, err
		}
		if rel, err := filepath.Rel(project, at); err != nil || !filepath.IsLocal(rel) || strings.HasPrefix(filepath.ToSlash(rel)+"/", ".git/") {
			return s, fmt.Errorf("the source %s lies outside of the project, and a lock file of a project does not reach there", text.ShowLine(one.Source))
		}
	}
	return s, nil
}
