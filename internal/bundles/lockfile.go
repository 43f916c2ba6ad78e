package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The bounds of a lock file, which anybody may have written.
const (
	maxLock   = 16 << 20
	maxLocked = 200 // packages
)

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

// plainLock refuses a project whose lock file would be written somewhere else.
func plainLock(project string) error {
	at := filepath.Join(project, ".toolcrib")
	if info, err := os.Lstat(at); project != "" && err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a link, or no directory, and nothing is written there", at)
	}
	return nil
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
	if len(l.Bundles) > maxLocked {
		return l, fmt.Errorf("%s names more than %d bundles", file, maxLocked)
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
	if err := plainLock(project); err != nil {
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
		if rel, ok := pathglob.Rel(project, i.Source); ok {
			out.Source = "./" + filepath.ToSlash(rel)
		}
	}
	for name, f := range files {
		out.Files[name] = f.SHA256
	}
	for _, s := range i.Package.Servers {
		one := lockedServer(s)
		one.Left = i.Left[s.Name]
		out.Servers[s.Name] = one
	}
	return out, nil
}

func lockedServer(s bundle.Server) LockedServer {
	one := LockedServer{URL: s.URL, Fetches: s.Fetches, Env: slices.Sorted(maps.Keys(s.Env))}
	if s.Command != "" {
		one.Argv = append([]string{s.Command}, s.Args...)
	}
	return one
}

// hold takes the versions that a lock file has for what servers fetch, and refuses a file
// that says something else than the package: people read the file to see what they get.
func (c *Candidate) hold(l Locked) error {
	for i := range c.Package.Servers {
		s := &c.Package.Servers[i]
		said := l.Servers[s.Name]
		*s = withVersions(*s, said.Argv)
		said.Left = ""
		if is := lockedServer(*s); !reflect.DeepEqual(said, is) {
			return fmt.Errorf("the lock file says of the server %s something else than the package: %s, and not %s. It was changed by hand, and nothing is installed", s.Name, sayLocked(is), sayLocked(said))
		}
	}
	for name := range l.Servers {
		if !slices.ContainsFunc(c.Package.Servers, func(s bundle.Server) bool { return s.Name == name }) {
			return fmt.Errorf("the lock file names a server %s that the package does not have. It was changed by hand, and nothing is installed", text.ShowLine(name))
		}
	}
	for name, f := range c.files {
		if l.Files[name] != f.SHA256 || len(l.Files) != len(c.files) {
			return errors.New("the lock file lists other files than the package has. It was changed by hand, and nothing is installed")
		}
	}
	return nil
}

func sayLocked(s LockedServer) string {
	return text.ShowLine(text.ClipRunes(fmt.Sprintf("%q with %q", strings.TrimSpace(strings.Join(s.Argv, " ")+" "+s.URL), strings.Join(s.Env, " ")), 500))
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
	local, inGit := strings.CutPrefix(s.At, "file://")
	if s.Kind == FromDir || s.Kind == FromArchive || inGit {
		at, err := filepath.EvalSymlinks(local)
		if err != nil {
			return s, err
		}
		if !pathglob.Holds(project, at) || pathglob.Holds(filepath.Join(project, ".git"), at) {
			return s, fmt.Errorf("the source %s lies outside of the project, and a lock file of a project does not reach there", text.ShowLine(one.Source))
		}
	}
	return s, nil
}
