package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Git writes without asking where something leads: into files of a Git
// directory that may be links, and to the names of an index, which it checks
// when they come in and not when it uses them. Whoever makes a repository by
// hand could have a person's git write outside of what was granted, or hooks
// and settings inside. So in a new one there is only what git makes.

// The bounds on what is looked at in a Git directory.
const (
	maxGitEntries = 1 << 20
	maxGitDepth   = 64
	maxMergeNames = 1 << 20
)

// writesElsewhere says what about a Git directory would have git write
// elsewhere; empty if nothing does.
func writesElsewhere(root *os.Root, dir string) string {
	left := maxGitEntries
	if why := odd(root, ".", &left, 0); why != "" {
		return why
	}
	if why := oddIndex(root, dir); why != "" {
		return why
	}
	// What is left of a merge: a file per line of which git writes how it was last
	// solved.
	text, err := readPlain(root, "MERGE_RR", maxMergeNames)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "its MERGE_RR cannot be looked at"
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		if _, name, ok := strings.Cut(line, "\t"); line != "" && (!ok || !gitindex.Proper(name)) {
			return "its MERGE_RR leads out of the work tree"
		}
	}
	return ""
}

// odd says what in a Git directory git did not make: links, pipes, and files
// with further names. Clones share their objects by such names.
func odd(dir *os.Root, at string, left *int, depth int) string {
	f, err := dir.Open(".")
	if err != nil {
		return fmt.Sprintf("its %s cannot be looked at", shorten(at))
	}
	defer func() { _ = f.Close() }() // it was only read
	for {
		names, err := f.Readdirnames(1024)
		if *left -= len(names); *left < 0 || depth > maxGitDepth {
			return "there is more in it than can be looked at"
		}
		for _, name := range names {
			if why := oddEntry(dir, path.Join(at, name), name, left, depth); why != "" {
				return why
			}
		}
		if errors.Is(err, io.EOF) {
			return ""
		}
		if err != nil {
			return fmt.Sprintf("its %s cannot be looked at", shorten(at))
		}
	}
}

func oddEntry(dir *os.Root, at, name string, left *int, depth int) string {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // git's own locks come and go
		return ""
	case err != nil:
		return fmt.Sprintf("its %s cannot be looked at", shorten(at))
	case info.Mode().IsRegular():
		if namesOf(info) > 1 && !sharesFiles(at) {
			return fmt.Sprintf("its %s has another name (a hard link), through which git would write", shorten(at))
		}
		return ""
	case !info.IsDir():
		return fmt.Sprintf("its %s is a link or a pipe, through which git would write", shorten(at))
	case isObjects(at):
		return ""
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return fmt.Sprintf("its %s cannot be looked at", shorten(at))
	}
	defer func() { _ = sub.Close() }() // it was only read
	return odd(sub, at, left, depth+1)
}

// sharesFiles names where files have further names in ordinary work: objects of
// local clones. Those of submodules are looked at by themselves.
func sharesFiles(at string) bool {
	first, _, below := strings.Cut(at, "/")
	return below && (first == "objects" || first == "lfs" || first == "modules")
}

// isObjects names the 256 directories in which git only makes new files, under
// names of their own.
func isObjects(at string) bool {
	name, ok := strings.CutPrefix(at, "objects/")
	return ok && len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}

// oddIndex says what about an index would have git write elsewhere. It must be
// understood as git does, by the kind of hash that the settings tell.
func oddIndex(root *os.Root, dir string) string {
	const unknown = "its index is not understood"
	data, err := readPlain(root, "index", maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	hash := hashOf(root, dir)
	if err != nil || hash == 0 {
		return unknown
	}
	index, err := gitindex.Read(data, hash)
	if err != nil {
		return unknown
	}
	improper := index.Improper
	if index.Shared != "" {
		rest, err := readPlain(root, index.Shared, maxIndex)
		if err != nil {
			return unknown
		}
		shared, err := gitindex.Read(rest, hash)
		if err != nil || shared.Shared != "" {
			return unknown
		}
		improper += shared.Improper
	}
	if improper != "" {
		return fmt.Sprintf("its index has the name %s, which is not one of the work tree", shorten(improper))
	}
	return ""
}

// hashOf gives the size of the hashes of a repository; zero if it is not known.
func hashOf(root *os.Root, dir string) int {
	text, err := readPlain(root, "config", maxGitConfig)
	if common, unseen := readPlain(root, "commondir", maxPointer); unseen == nil {
		text, err = plainfile.Read(filepath.Join(target(dir, strings.TrimRight(string(common), "\r\n")), "config"), maxGitConfig)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	size := 0
	for _, s := range gitconfig.Parse(string(text)) {
		if s.Section != "extensions" || s.Key != "objectformat" {
			continue
		}
		now, known := map[string]int{"sha1": gitindex.SHA1, "sha256": gitindex.SHA256}[strings.ToLower(s.Value)]
		if !known || size != 0 && size != now {
			return 0
		}
		size = now
	}
	if size == 0 {
		return gitindex.SHA1
	}
	return size
}
