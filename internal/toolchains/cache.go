package toolchains

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CachePlace is where a sandbox shows the caches of a project. It is the same
// everywhere, so that neither a build nor its output tells where they really lie.
const CachePlace = "/var/cache/build"

// Cache is the place of the build caches of one project. Each project has its own:
// whoever can write a cache decides what builds with it run, so one that two
// projects shared would be a way from the one into the other, and the person's own
// would be a way out of the sandbox.
type Cache struct {
	Project string    // the directory that they are for; empty: it is not known any more
	Dir     string    // where they lie
	Used    time.Time // when they were last opened
	Bytes   int64     // how much they take; see [Measure]
	Entries int
}

// originFile says which project a directory of caches is for, and by its time when
// they were last used.
const originFile = "project"

// CachesDir is where the caches of all projects lie below a directory of state.
func CachesDir(state string) string { return filepath.Join(state, "caches") }

// CacheDir is where the caches of a project lie below a directory of all caches.
func CacheDir(all, project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(all, hex.EncodeToString(sum[:8]))
}

// CacheFiles is the part of it that programs see.
func CacheFiles(all, project string) string { return filepath.Join(CacheDir(all, project), "files") }

// OpenCache makes room for the caches of a project and notes that they are used.
// What it gives back is the directory to show as [CachePlace].
func OpenCache(all, project string, now time.Time) (string, error) {
	dir := CacheDir(all, project)
	shown := CacheFiles(all, project)
	if err := os.MkdirAll(shown, 0o700); err != nil {
		return "", fmt.Errorf("making room for build caches: %w", err)
	}
	origin := filepath.Join(dir, originFile)
	if err := os.WriteFile(origin, []byte(project), 0o600); err != nil {
		return "", fmt.Errorf("making room for build caches: %w", err)
	}
	if err := os.Chtimes(origin, now, now); err != nil {
		return "", fmt.Errorf("making room for build caches: %w", err)
	}
	return shown, nil
}

// CacheEnv are the variables by which package managers and compilers find their
// caches there.
func CacheEnv() map[string]string {
	in := func(name string) string { return CachePlace + "/" + name }
	return map[string]string{
		"XDG_CACHE_HOME": in("xdg"), // what has no variable of its own goes by this
		"GOCACHE":        in("go-build"), "GOMODCACHE": in("go-mod"),
		"npm_config_cache": in("npm"), "YARN_CACHE_FOLDER": in("yarn"),
		"CARGO_HOME":                 in("cargo"),
		"npm_config_update_notifier": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1", // nobody asked for these
		"PIP_CACHE_DIR": in("pip"), "UV_CACHE_DIR": in("uv"),
		"GRADLE_USER_HOME": in("gradle"), "MAVEN_OPTS": "-Dmaven.repo.local=" + in("maven"),
	}
}

// Caches lists the caches of all projects, the longest unused first.
func Caches(all string) ([]Cache, error) {
	entries, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for build caches: %w", err)
	}
	var out []Cache
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c := Cache{Dir: filepath.Join(all, e.Name())}
		origin := filepath.Join(c.Dir, originFile)
		if text, err := os.ReadFile(origin); err == nil {
			c.Project = string(text)
		}
		if info, err := os.Lstat(origin); err == nil {
			c.Used = info.ModTime()
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Cache) int { return a.Used.Compare(b.Used) })
	return out, nil
}

// Measure counts what caches take, up to a number of entries.
func (c *Cache) Measure(most int) {
	c.Bytes, c.Entries = 0, 0
	_ = filepath.WalkDir(c.Dir, func(_ string, d fs.DirEntry, unseen error) error { // what cannot be seen is not counted
		if c.Entries++; c.Entries >= most {
			return filepath.SkipAll
		}
		if unseen == nil {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				c.Bytes += info.Size()
			}
		}
		return nil
	})
}

// Remove removes the caches of a project. Go's module cache has directories that
// nobody may write: those are opened first. Programs made these names, so that no
// link in them is followed out of the tree.
func (c *Cache) Remove() error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("removing build caches: %w", err)
	}
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error { // what stays closed is told by the removal
		if d != nil && d.IsDir() && err == nil {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = root.Chmod(path, 0o700)
			}
		}
		return nil
	})
	if err := errors.Join(root.Close(), os.RemoveAll(c.Dir)); err != nil {
		return fmt.Errorf("removing build caches: %s", strings.TrimSpace(err.Error()))
	}
	return nil
}
