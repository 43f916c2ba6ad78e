package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// maxBlobs bounds what is read to see whether git wrote it.
const maxBlobs = 32 << 20

// fromGit tells whether all of what lies at a path is as the index of the
// repository at the top has it, by its times and by what is in it: a checkout wrote
// it. Programs do not write the index of one that was there before them, unless
// they were let write in it.
func (c *Covering) fromGit(top, path string) bool {
	files, ok := c.gitHas(top, atOrBelow(top, path))
	return ok && asInGit(files, top, path)
}

func asInGit(files map[string]gitindex.File, top, path string) bool {
	left := int64(maxBlobs)
	return filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, inside := pathglob.Rel(top, at)
		if file, known := files[filepath.ToSlash(name)]; !inside || !known || !sameFile(info, file) || !sameBlob(at, info, file, left) {
			return errors.Join(err, errGone)
		}
		left -= info.Size()
		return nil
	}) == nil
}

// sameBlob: a file or a link holds what git has there.
func sameBlob(path string, info fs.FileInfo, file gitindex.File, most int64) bool {
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		return err == nil && file.IsBlob(true, false, []byte(to))
	}
	if !info.Mode().IsRegular() || most <= 0 {
		return false
	}
	text, err := plainfile.Read(path, most)
	return err == nil && file.IsBlob(false, info.Mode()&0o111 != 0, text)
}

// gitHas gives those of some files that the index of a repository has, if programs
// cannot write that.
func (c *Covering) gitHas(top string, wanted func(name string) bool) (files map[string]gitindex.File, ok bool) {
	dot := filepath.Join(top, ".git")
	if facts, err := factsOf(dot); err != nil || !c.knew(dot, facts.id) || c.shield.WriteGit {
		return nil, false
	}
	return indexHas(gitDirOf(dot), wanted, maxIndex)
}

// atOrBelow knows the names that an index has for a path and what lies below it.
func atOrBelow(top, path string) func(name string) bool {
	rel, ok := pathglob.Rel(top, path)
	rel = filepath.ToSlash(rel)
	return func(name string) bool { return ok && (name == rel || strings.HasPrefix(name, rel+"/")) }
}

// indexHas gives those of some files that an index has.
func indexHas(git string, wanted func(name string) bool, most int64) (files map[string]gitindex.File, ok bool) {
	if git == "" {
		return nil, false
	}
	data, err := plainfile.Read(filepath.Join(git, "index"), most)
	if err != nil {
		return nil, false
	}
	for _, hash := range []int{gitindex.SHA1, gitindex.SHA256} {
		if files, err = gitindex.Files(data, hash, wanted); err == nil {
			return files, true
		}
	}
	return nil, false
}

// isVersionControl: whoever is in the directory around it, or below, and has a
// prompt or an editor that asks this version control, goes by it.
func isVersionControl(path string) bool {
	switch strings.ToLower(filepath.Base(path)) {
	case ".hg", ".sl", ".jj", ".bzr":
		return true
	}
	return false
}

// harmlessMade tells whether what a program made under a name that others obey
// can start nothing.
func harmlessMade(path, pattern string, facts fileFacts) bool {
	if facts.dir {
		return isEmpty(path) || isVersionControl(path) && harmlessControl(path)
	}
	if !facts.regular || facts.names > 1 || facts.size > maxPlainText {
		return false
	}
	root, err := openStraight(filepath.Dir(path))
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // it was only read
	text, err := readPlain(root, filepath.Base(path), maxPlainText)
	return err == nil && (plainText(pattern, string(text)) || pattern == ".pdm-python" && ownInterpreter(filepath.Dir(path), string(text)))
}

// ownInterpreter: the file names the interpreter of the project's own virtual
// environment, as pdm writes with every install. That environment is code of the
// project, and pdm takes it without the file, too.
func ownInterpreter(dir, text string) bool {
	program, below := strings.CutPrefix(strings.TrimSuffix(text, "\n"), dir+"/")
	return below && venvPython.MatchString(program)
}

// harmlessControl judges a repository of another version control. Only its own
// settings count, and none may lead to another repository.
func harmlessControl(path string) bool {
	root, err := openStraight(path)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // it was only read
	for name, plain := range controlFiles() {
		text, err := readPlain(root, name, maxPlainText)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			continue
		}
		if err != nil || plain == nil || !plain(string(text)) {
			return false
		}
	}
	for _, dir := range []string{"repo", "store", "branch", "checkout", "repository"} { // a link or a file would lead elsewhere
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

const maxPlainText = 64 << 10

// ownTree tells whether a .git is of a work tree or a submodule that somebody
// outside made while the program ran: it leads to a new place in a repository
// that programs could not write, and that leads back.
func (c *Covering) ownTree(path, to string) bool {
	to, links, err := follow(to)
	if _, before := c.gits[to]; err != nil || len(links) > 0 || before {
		return false
	}
	covered := slices.ContainsFunc(c.Covers, func(o Cover) bool {
		return o.Kind == Fix && o.Dir && o.Path != to && within(to, o.Path) && IsAt(o.Path, o.ID)
	})
	// Nor could they where nothing was granted. What was there before they ran is of
	// another work tree, though.
	outside := !c.began.IsZero() && bornSince(to, c.began) && !slices.ContainsFunc(c.dirs, func(d files.Dir) bool { return within(to, d.Path) || within(d.Path, to) })
	if !covered && !outside {
		return false
	}
	back, err := plainfile.Read(filepath.Join(to, "gitdir"), maxPointer)
	if err == nil {
		return filepath.Clean(target(to, strings.TrimRight(string(back), "\r\n"))) == path
	}
	text, err := plainfile.Read(filepath.Join(to, "config"), maxGitConfig)
	return err == nil && slices.ContainsFunc(gitconfig.Parse(string(text)), func(s gitconfig.Setting) bool {
		return s.Section == "core" && s.Key == "worktree" && filepath.Clean(target(to, s.Value)) == filepath.Dir(path)
	})
}
