//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// An overlay shows one file system, and where another one is mounted what lies under
// that, which nobody has looked at. So each file system that is mounted below a granted
// directory gets a layer of its own, or is hidden.
//
// A plain user cannot have that: the kernel does not let him take a file system apart
// from what is mounted on it, and so makes no overlay of it.

// mountsBelow lists the places below granted directories where something is mounted.
func mountsBelow(dirs []files.Dir) ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking what is mounted: %w", err)
	}
	return slices.DeleteFunc(mountPoints(string(text)), func(point string) bool {
		_, err := os.Lstat(point) // what another mount lies over is not there
		return errors.Is(err, fs.ErrNotExist) || !slices.ContainsFunc(dirs, func(d files.Dir) bool { return strings.HasPrefix(point, d.Path+"/") })
	}), nil
}

// withMounts adds these places to what is granted, with the rights of what they lie in.
func withMounts(dirs []files.Dir, points []string) []files.Dir {
	for _, point := range points {
		around := files.Dir{}
		for _, d := range dirs {
			if (point == d.Path || strings.HasPrefix(point, d.Path+"/")) && len(d.Path) > len(around.Path) {
				around = d
			}
		}
		if around.Path != point {
			dirs = append(dirs, files.Dir{Path: point, Write: around.Write})
		}
	}
	return dirs
}

// grantedLayer adds a granted directory to the job of a program on a layer.
func (s *Sandbox) grantedLayer(r *run, d files.Dir, points []string) error {
	mounted := slices.Contains(points, d.Path)
	if !mounted && d.Write && r.layer.covers(d.Path) || r.isUnder(d.Path) {
		return nil // it is seen in the outer layer, which can be written, or not at all
	}
	err := reachable(d.Path)
	if err == nil && !s.who.root {
		if i := slices.IndexFunc(points, func(point string) bool { return strings.HasPrefix(point, d.Path+"/") }); i >= 0 {
			return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: fmt.Sprintf("a file system is mounted at %s, below the granted directory %s, so that the kernel makes no layer over it: unmount it, or grant the directories beside it one by one (sandbox.layers)", points[i], d.Path)}
		}
	}
	// Also what can only be read gets a layer: one way to cover what is protected is enough.
	b := bind{source: d.Path, target: d.Path, strict: true}
	if err == nil && s.who.root {
		var f *os.File
		if f, err = s.who.mountAlone(d.Path); err == nil {
			b.mount = r.add(f, true)
		}
	}
	if err == nil {
		err = s.grantLayer(r, d, &b, false)
	}
	if err == nil {
		r.job.binds = append(r.job.binds, b)
		return nil
	}
	if !mounted {
		return err
	}
	r.job.under = append(r.job.under, sandbox.Cover{Path: d.Path, Dir: isDirAt(d.Path)})
	r.job.covers = r.shown(r.job.covers)
	r.notes = append(r.notes, fmt.Sprintf("what is mounted at %s was hidden, because no layer can be made of it: %s", sandbox.Shorten(d.Path), err))
	return nil
}
