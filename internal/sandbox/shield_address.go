package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// A repository can name others on this machine: as remotes, from which a
// person's "git fetch" copies, and as places to take objects from. A program
// reads what lies in its own one, so those must not be repositories that it was
// not granted, nor may they become such ones.

const maxAlternates = 1 << 16

// namesOthers says which repository out of reach a new one names; empty if it
// names none.
func (j *judging) namesOthers(root *os.Root, path string) string {
	text, err := readPlain(root, "config", maxGitConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "its config cannot be read"
	}
	base := path
	if isGitName(filepath.Base(path)) {
		base = filepath.Dir(path)
	}
	list := gitconfig.Parse(string(text))
	for _, s := range list {
		switch s.Section + "." + s.Key {
		case "remote.url", "remote.pushurl", "submodule.url":
		case "remote.mirror":
			if !isBare(list) && s.Value != "false" {
				return "its config makes every push remove what the remote has besides"
			}
			continue
		case "branch.remote", "branch.pushremote":
			if s.Value == "." || slices.ContainsFunc(list, func(o gitconfig.Setting) bool {
				return o.Section == "remote" && o.Sub == s.Value && o.Key == "url" && o.Value != ""
			}) {
				continue
			}
		default:
			continue
		}
		if to, local := localAddress(s.Value); local && !j.mayName(path, base, to) {
			return fmt.Sprintf("its config names %s, which is no repository that was granted", shorten(s.Value))
		}
	}
	text, err = readPlain(root, "objects/info/alternates", maxAlternates)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
		return "its objects/info/alternates cannot be read"
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if to, ok := strings.CutSuffix(line, "/objects"); line != "" && (!ok || !j.mayName(path, filepath.Join(path, "objects"), to)) {
			return fmt.Sprintf("it takes objects from %s, which is no repository that was granted", shorten(line))
		}
	}
	return ""
}

// isBare: what a clone as a mirror is.
func isBare(list []gitconfig.Setting) bool {
	return slices.ContainsFunc(list, func(s gitconfig.Setting) bool { return s.Section == "core" && s.Key == "bare" && s.Value == "true" })
}

// localAddress tells whether git takes an address for a path on this machine,
// as it does with all that have no host before a colon.
func localAddress(address string) (path string, local bool) {
	if path, ok := strings.CutPrefix(address, "file://"); ok {
		if slash := strings.IndexByte(path, '/'); slash > 0 { // git takes no notice of a host
			path = path[slash:]
		}
		return path, true
	}
	colon, slash := strings.IndexByte(address, ':'), strings.IndexByte(address, '/')
	return address, address != "" && (colon < 0 || slash >= 0 && slash < colon)
}

// mayName tells whether a repository may name another: that is one in what was
// granted, which later programs find read-only, and no link on the way could be
// led elsewhere. What is missing was one of the program's own, in a directory for
// temporary files: anywhere else it may still come, with a disk say.
func (j *judging) mayName(path, base, to string) bool {
	full := target(base, to)
	if strings.HasPrefix(to, "~") || strings.ContainsAny(to, `%"`) || !straight(full, path) {
		return false
	}
	granted := func(path string) bool {
		return slices.ContainsFunc(j.before.dirs, func(d files.Dir) bool { return within(path, d.Path) })
	}
	at, links, err := follow(full)
	switch {
	case slices.ContainsFunc(append(links, filepath.Clean(full), at), meansAnother):
		return false
	case err != nil:
		return errors.Is(err, fs.ErrNotExist) && !granted(filepath.Clean(full)) && temporary(filepath.Clean(full))
	}
	if !granted(at) && !slices.ContainsFunc(links, granted) && j.passed(path) {
		return true // another program was granted it, and this one cannot have changed it
	}
	_, bare := j.now[at]
	_, tree := j.now[filepath.Join(at, ".git")]
	return !slices.ContainsFunc(links, granted) && (bare || tree)
}

// meansAnother: the kernel shows each process another place there, as it does
// with /proc/self and /dev/fd, so that what we find is not what git will find.
func meansAnother(path string) bool {
	first := elements(path)
	return len(first) > 0 && slices.Contains([]string{"proc", "dev", "sys"}, first[0])
}

func temporary(path string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", os.TempDir()}, func(dir string) bool { return path != dir && within(path, dir) })
}

// straight tells whether a path leads where it seems to as long as no link is on
// its way: a directory that is left again by .. could be made a link later, unless
// what names the path lies in it, which keeps it where it is.
func straight(path, from string) bool {
	at := string(filepath.Separator)
	for _, part := range elements(path) {
		if part == ".." && !within(from, at) {
			return false
		}
		at = filepath.Join(at, part)
	}
	return filepath.IsAbs(path)
}
