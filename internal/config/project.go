package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// projectFile is the name of the settings a project brings along.
const projectFile = "toolcrib.yaml"

// FindProject looks for a project file in dir and the directories above it. The nearest one wins. The search ends with
// the home directory, if dir lies in it, else with the root of the file system. A directory that cannot be looked into is
// an error: a project file is there to tighten, and passing over one would widen.
func FindProject(dir, home string) (path string, ok bool, err error) {
	if !filepath.IsAbs(dir) {
		return "", false, fmt.Errorf("looking for %s: %s is not an absolute path", projectFile, clip(dir))
	}
	var homeInfo fs.FileInfo
	if home != "" {
		// Without a home directory to compare with, the search just goes on to the root.
		homeInfo, err = os.Stat(home)
		if err != nil && !missing(err) {
			return "", false, fmt.Errorf("looking for %s: %w", projectFile, err)
		}
	}
	for dir = filepath.Clean(dir); ; {
		candidate := filepath.Join(dir, projectFile)
		// Lstat, so that a link to nothing is found and then reported by Load.
		info, err := os.Lstat(candidate)
		switch {
		case err == nil && !info.IsDir():
			return candidate, true, nil
		case err != nil && !missing(err):
			return "", false, fmt.Errorf("looking for %s: %w", projectFile, err)
		}
		if dir == home || sameDir(dir, homeInfo) {
			return "", false, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false, nil
		}
		dir = parent
	}
}

// sameDir reports whether dir is the home directory under another name: either may be reached through a link.
func sameDir(dir string, home fs.FileInfo) bool {
	if home == nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(info, home)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
