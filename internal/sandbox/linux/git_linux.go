//go:build amd64 || arm64

package linux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/gitobject"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// gitMeaning is what the changes within Git directories mean: of repositories that
// were there before the command. What makes a new one is judged like other files.
type gitMeaning struct {
	found map[string]gitchange.Finding // by path
	repos []*repoMeaning
	bare  []string // directories that would be repositories by what is in them
}

// repoMeaning is that of one repository.
type repoMeaning struct {
	work   string // its work tree
	result *gitchange.Result
	after  *layer.View // of the work tree
}

// gitDirectory gives the Git directory that a path lies in: the first one on the way.
// Other spellings of its name are none, since git would make none of those.
func gitDirectory(path string) (dir, name string, ok bool) {
	at := 0
	for part := range strings.SplitSeq(path, "/") {
		at += len(part) + 1
		if strings.EqualFold(part, ".git") {
			return path[:max(at-1, 0)], path[min(at, len(path)):], part == ".git" && at < len(path)
		}
	}
	return "", "", false
}

// readGit finds out what a change set does to repositories.
func readGit(set *layer.Set) *gitMeaning {
	m := &gitMeaning{found: map[string]gitchange.Finding{}}
	changes, paths := map[string][]gitchange.Change{}, map[string][]string{}
	var dirs []string
	outside := false
	for _, c := range set.Changes {
		dir, name, ok := gitDirectory(c.Path)
		if !ok {
			outside = true
			continue
		}
		if changes[dir] == nil {
			dirs = append(dirs, dir)
		}
		changes[dir] = append(changes[dir], gitchange.Change{
			Name: name, Before: c.Before.Mode, After: c.After.Mode, Existed: c.Before.Exists(), Exists: c.After.Exists(), ModeOnly: c.ModeOnly,
		})
		paths[dir] = append(paths[dir], c.Path)
	}
	m.bare = newBare(set)
	for _, dir := range dirs {
		repo, err := existing(set, dir)
		if err != nil {
			continue // judged like other files, and refused as such
		}
		repo.WorkChanged = outside
		work := filepath.Dir(dir)
		after, err := set.View(work, true)
		if err != nil {
			continue
		}
		repo.Work = workFile(set, work)
		r := &repoMeaning{work: work, result: gitchange.Read(repo, changes[dir]), after: after}
		m.repos = append(m.repos, r)
		for i, path := range paths[dir] {
			m.found[path] = r.result.Findings[i]
		}
		m.findWorkTrees(set, dir)
	}
	return m
}

// findWorkTrees finds the files by which a directory becomes a work tree of a repository
// that was there before: a submodule, or a further work tree. A person is asked about
// what they lead to as well; one that leads anywhere else is refused like any other.
func (m *gitMeaning) findWorkTrees(set *layer.Set, repo string) {
	for _, c := range set.Changes {
		if _, inGit := m.found[c.Path]; inGit || filepath.Base(c.Path) != ".git" || c.Kind != layer.Created || !c.After.Mode.IsRegular() || c.After.Size > maxLink {
			continue
		}
		text, err := set.Content(c.Path, 0, maxLink)
		target, found := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
		if err != nil || !found {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(c.Path), target)
		}
		for _, kind := range []string{"modules", "worktrees"} {
			if filepath.Clean(target) == target && strings.HasPrefix(target, filepath.Join(repo, kind)+"/") {
				m.found[c.Path] = gitchange.Finding{Answer: gitchange.Ask, Rule: gitchange.Obeyed, Text: "git would take its directory for a work tree of " + filepath.Dir(repo) + " and go by " + difference.Path(target)}
			}
		}
	}
}

// existing gives a repository that was there before the command, and still is.
func existing(set *layer.Set, dir string) (gitchange.Repo, error) {
	if c, changed := set.Find(dir); changed && !c.ModeOnly {
		return gitchange.Repo{}, errors.New("it was made or removed")
	}
	before, err := set.View(dir, false)
	if err != nil {
		return gitchange.Repo{}, err
	}
	after, err := set.View(dir, true)
	if err != nil {
		return gitchange.Repo{}, err
	}
	for _, name := range []string{"objects", "refs"} {
		if _, err := before.List(name); err != nil {
			return gitchange.Repo{}, err
		}
	}
	f, _, err := before.Open("HEAD")
	if err != nil {
		return gitchange.Repo{}, err
	}
	return gitchange.Repo{Before: gitDir{before}, After: gitDir{after}}, f.Close()
}

// newBare finds directories of any name that git would take for a repository when it is
// started there, and by whose settings it would go.
func newBare(set *layer.Set) (out []string) {
	seen := map[string]bool{}
	for _, c := range set.Changes {
		dir := filepath.Dir(c.Path)
		if _, _, inGit := gitDirectory(c.Path); inGit || !c.After.Exists() || seen[dir] {
			continue
		}
		switch filepath.Base(c.Path) {
		case "HEAD", "objects", "refs", "commondir":
		default:
			continue
		}
		seen[dir] = true
		view, err := set.View(dir, true)
		if err != nil {
			continue // the top of a tree lies in no other
		}
		names, err := view.List("")
		has := func(name string) bool { return err != nil || slices.Contains(names, name) }
		if has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
			out = append(out, dir)
		}
	}
	return out
}

// gitDir is a Git directory as what reads it wants it.
type gitDir struct{ *layer.View }

// workFile opens the files of a work tree, also those of a file system that is mounted in it.
func workFile(set *layer.Set, work string) func(name string) (*gitchange.WorkFile, error) {
	return func(name string) (*gitchange.WorkFile, error) {
		full := filepath.Join(work, filepath.FromSlash(name))
		view, err := set.View(filepath.Dir(full), true)
		if err != nil {
			return nil, err
		}
		name = filepath.Base(full)
		target, written, err := view.Link(name)
		if err == nil {
			return &gitchange.WorkFile{File: linkText{strings.NewReader(target)}, Written: written}, nil
		}
		f, info, err := view.Open(name)
		switch {
		case errors.Is(err, unix.ELOOP): // a link is on the way, and git follows none
			return nil, fs.ErrNotExist
		case err != nil:
			return nil, err
		}
		return &gitchange.WorkFile{File: gitFile{f, info.Size()}, Written: info.ModTime()}, nil
	}
}

// linkText is where a link leads, as a file.
type linkText struct{ *strings.Reader }

// Close implements [gitobject.File].
func (linkText) Close() error { return nil }

type gitFile struct {
	*os.File
	size int64
}

func (f gitFile) Size() int64 { return f.size }

// Open implements [gitobject.Dir].
func (d gitDir) Open(name string) (gitobject.File, error) {
	f, info, err := d.View.Open(name)
	if err != nil {
		return nil, err
	}
	return gitFile{f, info.Size()}, nil
}

// verdict is what is known of a change within a Git directory; nil: it lies in none.
func (m *gitMeaning) verdict(path string) *toolcrib.Verdict {
	f, ok := m.found[path]
	if !ok {
		return nil
	}
	v := &toolcrib.Verdict{Guard: gitchange.Guard, Rule: f.Rule, Reason: f.Text}
	switch f.Answer {
	case gitchange.Ordinary, gitchange.Nothing:
		v.Decision = toolcrib.Allow
	case gitchange.Ask:
		v.Decision, v.Reason = toolcrib.Ask, difference.Path(path)+": "+f.Text
	}
	return v
}

// judged gives changes with what is known of those in Git directories.
func (m *gitMeaning) judged(changes []layer.Change) []toolcrib.Change {
	out := changesOf(changes)
	for i := range out {
		out[i].Git = m.verdict(out[i].Path)
	}
	return out
}

// idle tells whether a change says nothing: git has looked at files again, and that is
// all. It is neither judged nor applied.
func (m *gitMeaning) idle(path string) bool { return m.found[path].Answer == gitchange.Nothing }

// maxLink bounds where a link leads.
const maxLink = 4096

// carried lists the files that commits and the index would put into the work tree.
func (m *gitMeaning) carried() (out []toolcrib.Change) {
	for _, dir := range m.bare {
		out = append(out, toolcrib.Change{
			Path: dir, After: layer.Entry{Mode: fs.ModeDir | 0o755}.Info(), Carried: func(int64) ([]byte, error) { return nil, nil },
			Git: &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: gitchange.Guard, Rule: gitchange.Obeyed, Reason: difference.Path(dir) + " would be a repository, by whose settings and hooks git goes when it is started there"},
		})
	}
	for _, r := range m.repos {
		for _, f := range r.result.Files {
			c := toolcrib.Change{
				Path: filepath.Join(r.work, filepath.FromSlash(f.Path)), Before: entryInfo(f.Old.Mode), After: entryInfo(f.New.Mode),
				Carried: func(most int64) ([]byte, error) { return r.result.Content(f.New, most) },
				Git:     &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: gitchange.Guard, Reason: f.By},
			}
			switch f.New.Mode {
			case gitobject.ModeSymlink:
				target, err := r.result.Content(f.New, maxLink)
				if c.Target = string(target); err != nil {
					c.Git = &toolcrib.Verdict{Guard: gitchange.Guard, Reason: f.By + ": " + err.Error()}
				}
			case gitobject.ModeModule:
				c.Git = &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: gitchange.Guard, Rule: gitchange.Obeyed, Reason: f.By + ": " + difference.Path(f.Path) + " would be a submodule, into which git goes by the settings that stand there"}
			}
			out = append(out, c)
		}
	}
	return out
}

// entryInfo is an entry of a tree as a file; nil: there is none.
func entryInfo(mode gitobject.Mode) fs.FileInfo {
	kinds := map[gitobject.Mode]fs.FileMode{
		gitobject.ModeFile: 0o644, gitobject.ModeShared: 0o664, gitobject.ModeRuns: 0o755, gitobject.ModeSymlink: fs.ModeSymlink | 0o777, gitobject.ModeModule: fs.ModeDir | 0o755,
	}
	return layer.Entry{Mode: kinds[mode]}.Info()
}

func (m *gitMeaning) close() error {
	var err error
	for _, r := range m.repos {
		err = errors.Join(err, r.result.Close())
	}
	return err
}
