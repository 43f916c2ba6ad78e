package toolcrib

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Protection names what stays out of reach inside granted directories: it is
// not read, listed, written or removed. Whatever it names, the hooks and the
// config of a Git directory stay out of reach, and nothing in one is written:
// both can make the next git command run a program.
type Protection struct {
	names  []namePattern
	except []namePattern
	places []string
	first  [256]bool // how the last element of a name can begin
}

// namePattern is the last elements of a path.
type namePattern []string

// DefaultProtected is the list for [NewProtection] that a fresh machine has.
func DefaultProtected() []string {
	return []string{
		".env*", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist",
		"~/.ssh", "~/.aws", "~/.gnupg", "~/.kube", "~/.docker", "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.password-store",
		"~/.netrc", "~/.pgpass", "~/.npmrc", "~/.pypirc", "~/.git-credentials", "~/.gitconfig", "~/.config/git",
		"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.profile",
		"~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin", "~/.zlogout", "~/.kshrc", "~/.cshrc", "~/.tcshrc", "~/.login", "~/.inputrc",
		"~/.config/fish", "~/.config/autostart", "~/.config/systemd",
		"/proc", "/sys",
	}
}

// NewProtection reads a list of patterns. One that begins with / or ~/ is a
// place: that file or directory with all below it, by whatever path or link it
// is reached. Any other is a name such as .env*, or the end of a path such as
// .config/fish, in every granted directory. A name after ! is an exception.
// Letter case never matters. Without a home, patterns with ~ are left out.
func NewProtection(home string, patterns ...string) (*Protection, error) {
	p := &Protection{}
	for _, text := range patterns {
		pattern, except := strings.CutPrefix(text, "!")
		if rest, ok := strings.CutPrefix(pattern, "~"); ok && (rest == "" || rest[0] == '/') {
			if home == "" {
				continue
			}
			pattern = home + rest
		}
		if filepath.IsAbs(pattern) && !except {
			p.places = append(p.places, filepath.Clean(pattern))
			continue
		}
		if pattern != "" && os.IsPathSeparator(pattern[0]) && !except {
			continue // a place of other systems
		}
		elems := elements(strings.ToLower(pattern))
		if _, err := path.Match(pattern, ""); err != nil || len(elems) == 0 || slices.Contains(elems, "..") || filepath.IsAbs(pattern) {
			return nil, fmt.Errorf("%q is no pattern of protected files", text)
		}
		if except {
			p.except = append(p.except, elems)
			continue
		}
		p.names = append(p.names, elems)
		p.begins(elems[len(elems)-1])
	}
	p.begins(".git")
	return p, nil
}

// begins notes how names can begin that a pattern matches, so that most names
// of a large tree are let through at a glance.
func (p *Protection) begins(pattern string) {
	for b := range p.first {
		c := byte(b)
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == pattern[0] || strings.IndexByte(`*?[\`, pattern[0]) >= 0 || c >= utf8.RuneSelf {
			p.first[b] = true
		}
	}
}

// foldName is the name under which some file system would find the same entry:
// one that ignores case, invisible characters, dots and spaces at the end, or
// takes what stands behind a colon for a part of the file.
func foldName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r < utf8.RuneSelf:
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
			if s < utf8.RuneSelf {
				return unicode.ToLower(s) // the Kelvin sign is a k, a long s is an s
			}
		}
		return unicode.ToLower(r)
	}, name)
	return strings.TrimRight(name, ". ")
}

// shortName reports whether a name has the form GIT~1 of the second names that
// Windows gives to files: it would lead past every rule about the first.
func shortName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	_, n, found := strings.Cut(stem, "~")
	return found && len(stem) <= 8 && n != "" && strings.Trim(n, "0123456789") == ""
}

// bars reports whether a pattern ends with the last element of a path. The
// path is given as its elements from the top of the granted directory on.
func (p *Protection) bars(elems []string) bool {
	last := elems[len(elems)-1]
	if last == "" || !p.first[last[0]] {
		return false
	}
	return matchEnd(p.names, elems) && !matchEnd(p.except, elems)
}

func matchEnd(patterns []namePattern, elems []string) bool {
	return slices.ContainsFunc(patterns, func(pattern namePattern) bool {
		if len(pattern) > len(elems) {
			return false
		}
		for i, want := range pattern {
			if ok, err := path.Match(want, foldName(elems[len(elems)-len(pattern)+i])); err != nil || !ok {
				return false
			}
		}
		return true
	})
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
	elems := elements(path)
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
