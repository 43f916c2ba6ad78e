package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/text"
)

// projectFile is the name of the settings a project brings along.
const projectFile = "toolcrib.yaml"

// FoundProject is what a search for a project file found.
type FoundProject struct {
	Path string // the nearest; empty: there is none
	// Outer are those in the directories above it, the nearest first, but neither in the home directory nor at the top.
	Outer  []string
	Passed []Warning // files that were passed over, since they are of other accounts
}

// FindProject looks for project files in dir and the directories above it. The nearest one is the project's; what lies
// around it tightens too, or a file in a part of a project could take away what that says. The search ends with
// the home directory, if dir lies in it, else with the root of the file system. A directory that cannot be looked into is
// an error: a project file is there to tighten, and passing over one would widen.
//
// A file of another account, or in a directory of one, counts only if accept says so: whoever can write /tmp could
// otherwise set up what works below it. Nil accepts none.
func FindProject(dir, home string, accept func(path string) bool) (FoundProject, error) {
	return findProject(dir, home, os.Geteuid(), accept)
}

// findProject does so for an account.
func findProject(dir, home string, me int, accept func(path string) bool) (FoundProject, error) {
	var found FoundProject
	if !filepath.IsAbs(dir) {
		return found, fmt.Errorf("looking for %s: %s is not an absolute path", projectFile, clip(dir))
	}
	var err error
	var homeInfo fs.FileInfo
	if home != "" {
		// Without a home directory to compare with, the search just goes on to the root.
		homeInfo, err = os.Stat(home)
		if err != nil && !notExist(err) {
			return found, fmt.Errorf("looking for %s: %w", projectFile, err)
		}
	}
	for dir = filepath.Clean(dir); ; {
		candidate := filepath.Join(dir, projectFile)
		parent := filepath.Dir(dir)
		last := dir == home || parent == dir || sameDir(dir, homeInfo)
		// Lstat, so that a link to nothing is found and then reported by Load.
		info, err := os.Lstat(candidate)
		switch {
		case err == nil && !info.IsDir():
			whose := otherOwner(candidate, info, me)
			if whose == "" || accept != nil && accept(candidate) {
				if found.Path == "" {
					found.Path = candidate
				} else if !last {
					found.Outer = append(found.Outer, candidate)
				}
				break
			}
			found.Passed = append(found.Passed, Warning{File: candidate, Message: fmt.Sprintf("ignored: %s, and not to you or root; "+
				"to have it count, look at it with toolcrib trust %s and say --yes", whose, text.ShowLine(text.ShellWord(dir)))})
		case err != nil && !notExist(err) && found.Path == "":
			return found, fmt.Errorf("looking for %s: %w", projectFile, err)
		}
		if last {
			return found, nil
		}
		dir = parent
	}
}

// otherOwner says which other account could have written a file, or put it there; "" if none could. What cannot be told
// counts as the account's own.
func otherOwner(path string, info fs.FileInfo, me int) string {
	whose := func(what string, info fs.FileInfo) string {
		if uid, _, known := ownerOf(info); known && uid != 0 && uid != me {
			return fmt.Sprintf("%s belongs to user %d", what, uid)
		}
		return ""
	}
	if text := whose("it", info); text != "" {
		return text
	}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil {
		if text := whose("its directory", dir); text != "" {
			return text
		}
	}
	return ""
}

// sameDir reports whether dir is the home directory under another name: either may be reached through a link.
func sameDir(dir string, home fs.FileInfo) bool {
	if home == nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(info, home)
}

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
