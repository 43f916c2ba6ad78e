package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// A home directory has many names that programs obey or keep keys under, and
// most of them are missing: ~/.gitconfig, ~/.ssh, ~/.config/systemd. A program
// that could make one of them would run outside of its sandbox with the person's
// next git command or login. Placeholders would disturb the person's own
// programs. So where a home directory is granted for writing, programs may write
// in its directories, and make nothing at its top, nor in those whose names begin
// with a dot. Likewise for a directory such as ~/.config that is granted itself
// and that such a name is missing in.

// maxRooms is how many directories of one such directory programs may write in.
const maxRooms = 256

// narrow gives the directories of a grant with that in mind, and which of them
// were not in it.
func (s *Shield) narrow(dirs []files.Dir, denied pathglob.Set) (narrowed []files.Dir, rooms map[string]bool) {
	homes := s.homes()
	if len(homes) == 0 {
		return dirs, nil
	}
	var closed []string
	for _, home := range homes {
		if writable(home, dirs) {
			closed = append(closed, home)
		}
		for _, place := range s.hidden.Places {
			if rel, ok := pathglob.Rel(homes[0], place); ok && rel[0] == '.' {
				if dir := nearest(filepath.Join(home, rel)); dir != "" && dir != home && within(dir, home) && writable(dir, dirs) {
					closed = append(closed, dir)
				}
			}
		}
	}
	if len(closed) == 0 {
		return dirs, nil
	}
	slices.Sort(closed)
	dirs, rooms = slices.Clone(dirs), map[string]bool{}
	for _, dir := range slices.Compact(closed) {
		if !writable(dir, dirs) {
			continue // by what was closed around it
		}
		dirs = s.closeTop(dirs, rooms, dir, slices.Contains(homes, dir), denied)
	}
	return dirs, rooms
}

// closeTop makes a directory one to read, and those in it such to write.
func (s *Shield) closeTop(dirs []files.Dir, rooms map[string]bool, top string, home bool, denied pathglob.Set) []files.Dir {
	if i := slices.IndexFunc(dirs, func(d files.Dir) bool { return d.Path == top }); i >= 0 {
		dirs[i].Write = false
	} else {
		dirs = append(dirs, files.Dir{Path: top})
		rooms[top] = true
	}
	entries, err := plainfile.ReadDir(top)
	if err != nil {
		return dirs // nothing in it can be written then
	}
	for _, e := range entries {
		path := filepath.Join(top, e.Name())
		if !e.IsDir() || home && strings.HasPrefix(e.Name(), ".") || len(rooms) >= maxRooms || denied.Has(elements(path)) || s.isHidden(path) ||
			slices.ContainsFunc(dirs, func(d files.Dir) bool { return d.Path == path }) {
			continue
		}
		dirs = append(dirs, files.Dir{Path: path, Write: true})
		rooms[path] = true
	}
	return dirs
}

// homes are the home directory by both its names.
func (s *Shield) homes() []string {
	if s.Home == "" {
		return nil
	}
	homes := []string{filepath.Clean(s.Home)}
	if target, err := filepath.EvalSymlinks(s.Home); err == nil && target != homes[0] {
		homes = append(homes, target)
	}
	return homes
}

// nearest gives the directory in which a missing place could be made.
func nearest(place string) string {
	if _, err := os.Lstat(place); err == nil {
		return ""
	}
	for up := filepath.Dir(place); up != filepath.Dir(up); up = filepath.Dir(up) {
		if info, err := os.Lstat(up); err == nil {
			if !info.IsDir() {
				return ""
			}
			return up
		}
	}
	return ""
}

// isHidden: what lies there is hidden as a whole, by its name or by a place.
func (s *Shield) isHidden(path string) bool {
	if s.hidden.Judge(elements(path)) == sensitive.Closed {
		return true
	}
	return slices.ContainsFunc(s.hidden.Places, func(place string) bool {
		if within(path, place) {
			return true
		}
		target, err := filepath.EvalSymlinks(place)
		return err == nil && within(path, target)
	})
}

// Granted gives the directories that a program gets of a grant that was looked
// at.
func (c *Covering) Granted(grant toolcrib.Grant) []files.Dir {
	if c == nil || c.shield == nil {
		return grant.Dirs
	}
	return c.Dirs
}
