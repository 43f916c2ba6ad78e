package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Protection names what stays out of reach inside granted directories: it is
// not read, listed, written or removed. Whatever it names, the hooks and the
// config of a Git directory stay out of reach, and nothing in one is written:
// both can make the next git command run a program.
type Protection struct {
	list  *sensitive.List
	links *linked.Memory // of protected names
	inner *linked.Memory // behind these
	outer *linked.Outer  // in protected places
	ruled ruleLinks      // in what rules deny
}

// DefaultProtected is the list for [NewProtection] that a fresh machine has.
func DefaultProtected() []string {
	return slices.Concat(sensitive.PlacesOf(runtime.GOOS), sensitive.Keys(), []string{
		"~/.ssh", "~/.aws", "~/.gnupg", "~/.kube", "~/.docker", "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.password-store",
		"~/.netrc", "~/.pgpass", "~/.npmrc", "~/.pypirc", "~/.git-credentials", "~/.gitconfig", "~/.config/git",
		"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.profile",
		"~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin", "~/.zlogout", "~/.kshrc", "~/.cshrc", "~/.tcshrc", "~/.login", "~/.inputrc",
		"~/.config/fish", "~/.config/autostart", "~/.config/systemd",
		"/proc", "/sys",
	})
}

// NewProtection reads a list of patterns. One that begins with / or ~/ is a
// place: that file or directory with all below it, by whatever path or link it
// is reached. Any other is a name such as .env*, or the end of a path such as
// .config/fish, in every granted directory; after key: it means only files that
// hold a key (key:*.pem leaves certificates alone). What a link of such a name, or
// one in such a place, leads to is meant as well. A name after ! is an
// exception; of a directory after nolinks: the links are not followed. Letter case
// never matters. Without a home, patterns with ~ are left out.
func NewProtection(home string, patterns ...string) (*Protection, error) {
	list, err := sensitive.ParseList(home, patterns...)
	if err != nil {
		return nil, err
	}
	return &Protection{list: list, links: linkMemory(list), inner: innerMemory(), outer: &linked.Outer{Dirs: list.Places, Except: list.Unled}}, nil
}

// holdsKey reports whether an entry of an open directory holds a key, if its
// name, or that of a link to it, says that it may. What cannot be read counts as
// the name says.
func holdsKey(root *os.Root, name, as string) bool {
	file, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && sensitive.HoldsKey(as, nil, false)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		return false
	}
	if err != nil || !info.Mode().IsRegular() {
		return sensitive.HoldsKey(as, nil, false)
	}
	return textHoldsKey(as, file)
}

func textHoldsKey(name string, text io.Reader) bool {
	head, err := io.ReadAll(io.LimitReader(text, sensitive.MaxKey+1))
	return sensitive.HoldsKey(name, head, err == nil && len(head) <= sensitive.MaxKey)
}

// becomesKey refuses to write what would be protected from then on, before any
// of it is written.
func (s *spot) becomesKey(elems []string) error {
	name := elems[len(elems)-1]
	if s.to.data == nil || s.f.guard.list.Judge(elems) != sensitive.Keyed || !textHoldsKey(name, bytes.NewReader(s.to.data)) {
		return nil
	}
	return refusal.New(refusal.Denied, shown(s.name)+" would hold a key, as far as its name and the text tell, and be out of reach from then on; it was not written", ErrProtected)
}

// foldName is the name under which some file system would find the same entry.
func foldName(name string) string { return text.FoldFile(name) }

// shortName reports whether a name has the form GIT~1 of the second names that
// Windows gives to files: it would lead past every rule about the first.
func shortName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	_, n, found := strings.Cut(stem, "~")
	return found && len(stem) <= 8 && n != "" && strings.Trim(n, "0123456789") == ""
}

// gitPart says what a name is to a Git directory: one of the entries it is
// known by, as a bit, and whether it is one of those that can run programs.
func gitPart(name string) (part gitParts, runs bool) {
	if len(name) < 4 {
		return 0, false
	}
	switch name[0] {
	case 'H', 'h', 'O', 'o', 'R', 'r', 'C', 'c':
	default:
		if name[0] < utf8.RuneSelf {
			return 0, false
		}
	}
	switch foldName(name) {
	case "head":
		return gitHead, false
	case "objects":
		return gitObjects, false
	case "refs":
		return gitRefs, false
	case "commondir":
		return gitCommon, false
	case "config", "config.worktree", "hooks":
		return 0, true
	}
	return 0, false
}

type gitParts uint8

const (
	gitHead gitParts = 1 << iota
	gitObjects
	gitRefs
	gitCommon
)

// whole reports whether git would take a directory with these entries for a
// repository, whatever its name: bare ones, submodules, worktrees and a .git
// that was renamed are all of this kind.
func (g gitParts) whole() bool {
	return g&gitHead != 0 && (g&gitCommon != 0 || g&gitObjects != 0 && g&gitRefs != 0)
}

// isGit reports whether an element of a path names a Git directory.
func isGit(elem string) bool { return foldName(elem) == ".git" }

// insideGit reports whether a directory that was granted by name is itself a
// part of a Git directory that stays out of reach.
func insideGit(path string, write bool) bool {
	elems := pathglob.Elements(path)
	i := slices.IndexFunc(elems, isGit)
	return i >= 0 && (write || slices.ContainsFunc(elems[i:], func(e string) bool { return foldName(e) == "hooks" }))
}

// gitPartsOf looks which of those entries a directory has.
func gitPartsOf(dir *os.Root) gitParts {
	var g gitParts
	for _, name := range []string{"HEAD", "commondir", "objects", "refs"} {
		if _, err := dir.Lstat(name); err == nil {
			part, _ := gitPart(name)
			g |= part
		}
	}
	return g
}

// noGitMade looks again once an entry was made: two calls at the same moment
// each see that the part of the other is missing. Whoever comes last sees both,
// and takes his own away.
func (s *spot) noGitMade(elem string) error {
	dir := s.here().root
	if part, _ := gitPart(elem); part == 0 || !gitPartsOf(dir).whole() {
		return nil
	}
	if err := dir.RemoveAll(elem); err != nil {
		return err
	}
	return protected(s.name)
}

// idSet is files known by identity, not by name.
type idSet struct {
	keys  map[fileKey]bool
	infos []fs.FileInfo // where the system gives no keys
}

func (s *idSet) add(info fs.FileInfo) {
	if key, _, ok := keyOf(info); ok {
		if s.keys == nil {
			s.keys = map[fileKey]bool{}
		}
		s.keys[key] = true
		return
	}
	s.infos = append(s.infos, info)
}

func (s idSet) has(info fs.FileInfo) bool {
	if key, _, ok := keyOf(info); ok {
		return s.keys[key]
	}
	return slices.ContainsFunc(s.infos, func(i fs.FileInfo) bool { return os.SameFile(i, info) })
}
