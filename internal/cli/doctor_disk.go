package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/diskspace"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// diskPlace is a directory that needs room.
type diskPlace struct {
	what, dir string
	then      string        // what happens when there is none
	fix       func() string // the command that makes room, or finds some
}

// diskPlaces are the directories in which this program and its tools write.
func diskPlaces(state, temp string, granted []string) []diskPlace {
	places := []diskPlace{
		{"the state and the journal", state, "no call begins that cannot be recorded", func() string { return stateRoom(state) }},
		{"temporary files", temp, "programs that need some fail", func() string { return tempRoom(diskspace.Free, temp, "/var/tmp", state) }},
	}
	for _, dir := range granted {
		if diskspace.Same(dir, nearest(state)) || diskspace.Same(dir, temp) {
			continue // it was looked at
		}
		places = append(places, diskPlace{"the files that tools write", dir, "nothing can be written there", func() string { return showsUse(dir) }})
	}
	return places
}

// diskFindings looks whether there is room where things are written.
func diskFindings(free func(dir string) (uint64, error), places []diskPlace) (out []finding) {
	for _, at := range places {
		left, err := free(at.dir)
		size := sizeText(int64(min(left, 1<<62)))
		f := finding{Check: "disk", Status: "ok", Detail: fmt.Sprintf("%s are free for %s (%s)", size, at.what, at.dir)}
		switch {
		case err != nil:
			f = finding{"disk", "warning", fmt.Sprintf("nobody can say how much is free for %s (%s): %v", at.what, at.dir, err), showsUse(at.dir)}
		case left < diskspace.Empty:
			f.Status, f.Fix = "problem", at.fix()
			f.Detail = fmt.Sprintf("the disk is full: %s are free for %s (%s), and %s", size, at.what, at.dir, at.then)
		case left < diskspace.Low:
			f.Status, f.Fix = "warning", at.fix()
			f.Detail = fmt.Sprintf("only %s are free for %s (%s)", size, at.what, at.dir)
		}
		out = append(out, f)
	}
	return out
}

// stateRoom is the command that gives back most of what this program keeps for
// convenience: the trash, or build caches. What else fills the disk is not ours to
// remove, and the command shows what it is.
func stateRoom(state string) string {
	var caches int64
	found, _ := toolchains.Caches(toolchains.CachesDir(state))
	for _, c := range found {
		c.Measure(countedFiles)
		caches += c.Bytes
	}
	const worth = 1 << 20
	switch trash := sizeOf(filepath.Join(state, "trash")); {
	case caches >= worth && caches >= trash:
		return "toolcrib sandbox clean --all"
	case trash >= worth:
		return "toolcrib trash empty"
	}
	return showsUse(state)
}

// sizeOf is what lies in a directory, as far as one can see within a moment.
func sizeOf(dir string) (bytes int64) {
	seen := 0
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if seen++; err != nil || seen > countedFiles {
			return filepath.SkipAll
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// tempRoom is the command that has temporary files go where there is room.
func tempRoom(free func(dir string) (uint64, error), temp string, others ...string) string {
	for i, dir := range others {
		left, err := free(dir)
		if dir == temp || err != nil || left < diskspace.Low || diskspace.Writable(filepath.Join(dir, "x")) != nil {
			continue
		}
		if runtime.GOOS == "windows" {
			return "set TMP=" + dir
		}
		if i == len(others)-1 { // a place of ours, which other programs need not fill
			dir = filepath.Join(dir, "tmp")
			return "mkdir -p " + text.ShellWord(dir) + " && export TMPDIR=" + text.ShellWord(dir)
		}
		return "export TMPDIR=" + text.ShellWord(dir)
	}
	return showsUse(temp)
}

// showsUse is the command that shows what fills the disk of a directory.
func showsUse(dir string) string {
	if runtime.GOOS == "windows" {
		return "dir /s " + text.ShellWord(dir)
	}
	return "du -xh " + text.ShellWord(mountOf(nearest(dir))) + " | sort -h | tail -20"
}

// nearest is the directory itself, or the nearest above it that is there.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// mountOf is the highest directory on the same disk.
func mountOf(dir string) string {
	for {
		up := filepath.Dir(dir)
		if up == dir || !diskspace.Same(dir, up) {
			return dir
		}
		dir = up
	}
}

// writableDirs are the directories that tools can write.
func writableDirs(a *app.App) (out []string) {
	for _, d := range a.Crib.Grant.Dirs {
		if d.Write {
			out = append(out, d.Path)
		}
	}
	return out
}
