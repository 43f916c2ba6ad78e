//go:build amd64 || arm64

package linux

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// A layer has no quota of its own: file systems give these to root only. So what it
// holds is watched, and a program that goes too far is ended, a moment late.
const (
	// filesOfLayer is how many of the largest files a layer may hold.
	filesOfLayer = 4
	// spareRoom stays free on the file system for other programs.
	spareRoom = 1 << 30
	// roomPeriod is how often it is asked how much of the file system is free.
	roomPeriod = 50 * time.Millisecond
	// A walk through a layer takes its time, so that the next one comes after some
	// times as long.
	walkPause, walkShare = 5 * time.Second, 20
)

// room is what a layer may hold, and what it must leave to others.
type room struct {
	most                   int64 // bytes
	spareBytes, spareFiles int64
}

func roomForLayer(dir string, largest int64) (room, error) {
	bytes, files, err := freeAt(dir)
	if err != nil {
		return room{}, err
	}
	r := room{spareBytes: min(spareRoom, bytes/10), spareFiles: min(layer.MostFiles, files/10)}
	r.most = min(filesOfLayer*largest, bytes-r.spareBytes)
	return r, nil
}

// freeAt tells how many bytes and files there is room for on a file system.
func freeAt(dir string) (bytes, files int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("looking how much room there is at %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, int64(st.Ffree), nil
}

// overfull says what was too much.
func (l *layered) overfull() string {
	return fmt.Sprintf("the command wrote more than %d MiB or %d files to the directories it works on: it may write four times sandbox.file_size, and not fill the disk", l.room.most>>20, layer.MostFiles)
}

// watch ends a program whose layer holds too much. What the file system has less of is
// asked often, since that costs nothing. It may be somebody else who writes there, so
// that the layer is measured before anything is ended. It is also measured every now
// and then, since somebody else may have made room meanwhile, and a file with holes
// takes none until it is copied. A file that is open and has no name is seen by nobody:
// when the disk is nearly full, the program is ended whoever filled it.
func (l *layered) watch(kill func() error) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(roomPeriod)
		defer tick.Stop()
		g := &gauge{layer: l, walk: time.Now().Add(walkPause)}
		g.bytes, g.files, _ = freeAt(l.dir)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if !g.fits() {
				l.full.Store(true)
				if kill() != nil {
					return // there is no keeper any more, and so no program
				}
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// gauge is what is known of how much a layer holds.
type gauge struct {
	layer                *layered
	bytes, files         int64 // there was room for when it was last asked
	usedBytes, usedFiles int64 // as it seems
	walk                 time.Time
}

// fits tells whether a layer does not hold too much.
func (g *gauge) fits() bool {
	room := &g.layer.room
	if bytes, files, err := freeAt(g.layer.dir); err == nil {
		g.usedBytes, g.usedFiles = g.usedBytes+max(0, g.bytes-bytes), g.usedFiles+max(0, g.files-files)
		g.bytes, g.files = bytes, files
	}
	if g.bytes < room.spareBytes || g.files < room.spareFiles {
		return false
	}
	if g.usedBytes <= room.most && g.usedFiles <= layer.MostFiles && time.Now().Before(g.walk) {
		return true
	}
	began := time.Now()
	held, err := layer.Measure(g.layer.trees, room.most)
	if err != nil || held.Bytes > room.most || held.Files > layer.MostFiles || !held.Whole && g.usedBytes > room.most {
		return false
	}
	if held.Whole {
		g.usedBytes, g.usedFiles = held.Bytes, held.Files
	}
	g.walk = time.Now().Add(max(walkPause, walkShare*time.Since(began)))
	return true
}
