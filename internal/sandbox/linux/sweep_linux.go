//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// Layers of processes that were killed. Whatever changes granted directories does so with
// one lock, and whoever gets that puts in order first what was cut off meanwhile: so nobody
// recovers while somebody applies, nobody applies to what is half applied, and of two that
// recover one has nothing left to do.

// applyWait is how long changes may wait for others that are being applied.
const applyWait = time.Minute

// lockApplying lets one process at a time apply changes: directories may lie in each other.
func (l *layered) lockApplying(ctx context.Context) (*os.File, error) {
	return lockLayers(ctx, filepath.Dir(l.dir))
}

// lockLayers gives the lock of all layers. What was cut off and cannot be put in order is
// left for the person, whom the next sweep tells.
func lockLayers(ctx context.Context, layers string) (*os.File, error) {
	f, _, err := lockInOrder(ctx, layers)
	return f, err
}

// swept is what became of a layer that was cut off.
type swept struct {
	dir    string
	undone bool  // changes were being applied, and were taken back
	err    error // it cannot be put in order
}

func (s swept) note() string {
	if s.err == nil {
		return takenBack
	}
	return fmt.Sprintf("the layer %s cannot be put in order: %v. 'toolcrib layers' lists it, and 'toolcrib layers drop' forgets it", s.dir, s.err)
}

// takenBack tells that a killed Toolcrib was at work.
const takenBack = "the changes of a command were being applied when Toolcrib was killed: they were taken back"

// lockInOrder gives the lock, and what was found when it was there.
func lockInOrder(ctx context.Context, layers string) (*os.File, []swept, error) {
	ctx, cancel := context.WithTimeout(ctx, applyWait)
	defer cancel()
	f, err := durable.Lock(ctx, filepath.Join(layers, "applying"))
	if err != nil {
		return nil, nil, fmt.Errorf("waiting for other changes that are being applied: %w", err)
	}
	var out []swept
	for _, dir := range layersIn(layers) {
		if !cutOff(dir) {
			continue
		}
		undone, err := alone(dir, func() (bool, error) { return recoverLayer(layers, dir) })
		if undone || err != nil {
			out = append(out, swept{dir, undone, err})
		}
	}
	return f, out, nil
}

// recoverOne puts in order what was cut off, and tells whether that could not be done of
// one layer.
func recoverOne(ctx context.Context, layers, dir string) error {
	lock, list, err := lockInOrder(ctx, layers)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.dir == dir && s.err != nil {
			err = errors.New(s.note())
		}
	}
	return errors.Join(err, lock.Close())
}

func layersIn(layers string) (dirs []string) {
	entries, err := os.ReadDir(layers)
	if err != nil {
		return nil // there are none yet
	}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(layers, e.Name()))
		}
	}
	return dirs
}

func isApplied(dir string) bool { return strings.HasPrefix(filepath.Base(dir), appliedPrefix) }

// cutOff tells whether a layer was being applied or taken back when its process was killed,
// if nobody holds its lock.
func cutOff(dir string) bool {
	names := []string{recordName, marksName}
	if isApplied(dir) {
		names = []string{undoName}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// alone does something with a layer on which nobody works.
func alone(dir string, do func() (bool, error)) (done bool, err error) {
	lock, err := durable.TryLock(filepath.Join(dir, lockName), true)
	if lock == nil && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return false, nil // somebody works on it, or has settled it
	}
	if err != nil {
		return false, err
	}
	done, err = do()
	return done, errors.Join(err, lock.Close()) // last, or somebody else could take the directory for theirs
}

// recoverLayer puts one in order. The caller has both locks.
func recoverLayer(layers, dir string) (undone bool, err error) {
	if !cutOff(dir) {
		return false, nil // somebody else has done it meanwhile
	}
	if isKept(dir) && !isApplied(dir) {
		return recoverKept(layers, dir)
	}
	record := filepath.Join(dir, recordName)
	undone, err = layer.Recover(record)
	if _, there := os.Lstat(record); there == nil { // it was applied, or is so again
		switch {
		case err != nil:
			return false, err
		case isApplied(dir):
			return false, os.Remove(filepath.Join(dir, undoName))
		}
		return false, putAside(dir)
	}
	if err != nil {
		return false, err
	}
	return undone, layer.Remove(dir)
}

// recoverKept has a layer wait as before it was applied.
func recoverKept(layers, dir string) (undone bool, err error) {
	k, err := readKept(dir)
	if err != nil {
		return false, err
	}
	record := filepath.Join(dir, recordName)
	if undone, err = layer.RecoverKept(record, k.trees, k.rec.Began); err != nil {
		return undone, err
	}
	if _, err := os.Lstat(record); err == nil { // all of it was applied
		return false, os.Rename(dir, filepath.Join(layers, appliedPrefix+filepath.Base(dir)))
	}
	if undone {
		err = k.write()
	}
	return undone, errors.Join(err, layer.RestoreMarks(filepath.Join(dir, marksName)))
}

// sweepLayers deals with layers whose process was killed: what was being applied is
// put back, and the rest dropped.
func (s *Sandbox) sweepLayers() (notes []string) {
	if s.cfg.Layers == "" {
		return nil
	}
	for _, one := range sweep(context.Background(), s.cfg.Layers) {
		notes = append(notes, one.note())
	}
	return notes
}

// sweep puts in order what was cut off, and removes what nobody needs any more.
func sweep(ctx context.Context, layers string) (out []swept) {
	if dirs := layersIn(layers); slices.ContainsFunc(dirs, cutOff) {
		lock, list, err := lockInOrder(ctx, layers)
		if out = list; err == nil {
			err = lock.Close()
		}
		if err != nil {
			out = append(out, swept{dir: layers, err: err})
		}
	}
	stuck := map[string]bool{}
	for _, s := range out {
		stuck[s.dir] = s.err != nil
	}
	for _, dir := range layersIn(layers) {
		if stuck[dir] || fresh(dir) || cutOff(dir) {
			continue
		}
		if _, err := alone(dir, func() (bool, error) { return true, expire(layers, dir) }); err != nil {
			out = append(out, swept{dir: dir, err: err})
		}
	}
	return out
}

// fresh tells whether what was applied may still be taken back.
func fresh(dir string) bool {
	info, err := os.Lstat(dir)
	return isApplied(dir) && err == nil && time.Since(info.ModTime()) < keepApplied
}

// expire removes a layer that nobody works on and nobody needs any more.
func expire(layers, dir string) error {
	if fresh(dir) || cutOff(dir) {
		return nil // since when the lock was taken
	}
	if isKept(dir) && !isApplied(dir) {
		k, err := readKept(dir)
		if err != nil {
			return err
		}
		waits := slices.ContainsFunc(readAllKept(layers), func(other *kept) bool { return other.dir == dir })
		if waits && time.Since(k.rec.At) <= keepWaiting {
			return nil
		}
	}
	if _, err := layer.Recover(filepath.Join(dir, recordName)); err != nil { // what was made beside its trees
		return err
	}
	return layer.Remove(dir)
}
