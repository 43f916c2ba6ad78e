package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// facts is what is known of a path, by the name of what is known.
type facts map[string]string

// factsOf is what a directory holds: bytes, permissions, owners, links and attributes,
// and git's indexes by their entries, since they also hold numbers of files and times.
func factsOf(t *testing.T, dir string) map[string]facts {
	t.Helper()
	out, names := map[string]facts{}, map[uint64][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		f, err := factsAt(path, info)
		if err != nil {
			return err
		}
		if st := info.Sys().(*syscall.Stat_t); !d.IsDir() && st.Nlink > 1 {
			names[st.Ino] = append(names[st.Ino], rel)
			f["links"] = fmt.Sprint(st.Nlink)
		}
		out[rel] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range names {
		sort.Strings(list)
		for _, rel := range list {
			out[rel]["names"] = strings.Join(list, "\n")
		}
	}
	return out
}

func factsAt(path string, info fs.FileInfo) (facts, error) {
	st := info.Sys().(*syscall.Stat_t)
	f := facts{"mode": info.Mode().String(), "owner": fmt.Sprint(st.Uid, ":", st.Gid)}
	if need := map[bool]fs.FileMode{true: 0o700, false: 0o400}[info.IsDir()]; info.Mode()&fs.ModeSymlink == 0 && info.Mode()&need != need {
		if err := os.Chmod(path, info.Mode().Perm()|need); err != nil { // so that it can be looked into, and removed
			return nil, err
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		f["target"] = target
		return f, err
	case info.IsDir():
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		var list []string
		for _, e := range entries {
			list = append(list, e.Name())
		}
		f["list"] = strings.Join(list, "\n")
	case info.Mode().IsRegular():
		f["time"] = info.ModTime().UTC().Format("2006-01-02T15:04:05.999999999")
		content, err := contentOf(path)
		if err != nil {
			return nil, err
		}
		f["content"] = content
	}
	attributes := make([]byte, 4096)
	n, err := syscall.Listxattr(path, attributes)
	if err != nil {
		return f, nil //nolint:nilerr // there are none on this file system
	}
	for name := range strings.SplitSeq(string(attributes[:n]), "\x00") {
		if value := make([]byte, 4096); strings.HasPrefix(name, "user.") {
			n, err := syscall.Getxattr(path, name, value)
			f["attribute "+name] = fmt.Sprint(string(value[:max(n, 0)]), err)
		}
	}
	return f, nil
}

// contentOf names the bytes of a file.
func contentOf(path string) (string, error) {
	if filepath.Base(path) == "index" {
		c := exec.Command("git", "ls-files", "--stage", "-v", "-z")
		c.Env = append(os.Environ(), "GIT_INDEX_FILE="+path, "GIT_DIR="+filepath.Dir(path), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		if entries, err := c.Output(); err == nil {
			return string(entries), nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// differences tells where a third tree is not like the first two, as far as these
// agree. Agreed says how many facts did.
func differences(one, two, three map[string]facts) (list []string, agreed int) {
	for _, path := range slices.Sorted(maps.Keys(one)) {
		if two[path] == nil {
			continue
		}
		if three[path] == nil {
			list = append(list, fmt.Sprintf("%q is missing", path))
			continue
		}
		for _, what := range slices.Sorted(maps.Keys(one[path])) {
			value, there := two[path][what]
			if !there || value != one[path][what] {
				continue
			}
			agreed++
			if now, there := three[path][what]; !there || now != value {
				list = append(list, fmt.Sprintf("%q: %s is %.300q, want %.300q", path, what, now, value))
			}
		}
		for what, now := range three[path] {
			_, in1 := one[path][what]
			if _, in2 := two[path][what]; !in1 && !in2 {
				list = append(list, fmt.Sprintf("%q has %s %.300q", path, what, now))
			}
		}
	}
	for path := range two {
		if _, both := one[path]; !both {
			delete(two, path) // what only one of them has is random
		}
	}
	return list, agreed
}
