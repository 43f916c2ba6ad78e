//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// listWait is how long a list of layers waits for changes that are being applied.
const listWait = 5 * time.Second

// ListKept lists the layers that wait for an answer, and those that are stuck. It puts in
// order first what can be, and drops what has waited for too long.
func ListKept(layers string) (out []Kept) {
	ctx, cancel := context.WithTimeout(context.Background(), listWait)
	defer cancel()
	stuck := map[string]string{}
	for _, s := range sweep(ctx, layers) {
		if s.err != nil && s.dir != layers {
			stuck[s.dir] = s.err.Error()
		}
	}
	for _, k := range readAllKept(layers) {
		k.rec.Dir, k.rec.Stuck = filepath.Base(k.dir), stuck[k.dir]
		delete(stuck, k.dir)
		out = append(out, k.rec.Kept)
	}
	for dir, why := range stuck {
		k := Kept{ID: unreadID(dir), Dir: filepath.Base(dir), Stuck: why}
		if info, err := os.Lstat(dir); err == nil {
			k.At = info.ModTime()
		}
		out = append(out, k)
	}
	return out
}

// unreadID names a layer of which no record tells its name.
func unreadID(dir string) string {
	return keptPrefix + strings.TrimPrefix(filepath.Base(dir), appliedPrefix)
}

// DropKept drops a layer as it was listed. If it is another one by now, nothing is dropped:
// the person has not seen that. One that is stuck goes with all that it holds.
func DropKept(ctx context.Context, layers string, listed Kept) error {
	dir := filepath.Join(layers, listed.Dir)
	if listed.Dir == "" || filepath.Dir(dir) != filepath.Clean(layers) {
		return ErrSettled
	}
	own, err := lockAlone(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	if own == nil {
		if now := namedKept(layers, listed.ID); now != nil && now.dir != dir {
			return errOther
		}
		if _, err := os.Lstat(dir); err != nil {
			return ErrSettled
		}
		return fmt.Errorf("a command of its session works on the layer %s now: try again when that has ended", listed.ID)
	}
	lock, err := lockLayers(ctx, layers)
	if err == nil {
		err = errors.Join(dropAlone(layers, dir, listed), lock.Close())
	}
	return errors.Join(err, own.Close())
}

// dropAlone drops a layer of which the caller has both locks.
func dropAlone(layers, dir string, listed Kept) error {
	if cutOff(dir) {
		if _, err := recoverLayer(layers, dir); err != nil && listed.Stuck == "" {
			return errors.New(swept{dir: dir, err: err}.note())
		}
	}
	if _, err := os.Lstat(dir); err != nil {
		return ErrSettled // all of it had been applied
	}
	if now := namedKept(layers, listed.ID); listed.Stuck == "" && (now == nil || now.dir != dir) {
		return errOther
	}
	// First it does not wait any more, whatever becomes of the rest.
	if err := os.Remove(filepath.Join(dir, keptName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(layer.RemoveStages(filepath.Join(dir, recordName)), layer.Remove(dir))
}
