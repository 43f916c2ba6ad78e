package sandboxes

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
)

// Layers are those of commands, in the directory of state that they are named by.
type Layers string

func (l Layers) dir() string { return filepath.Join(string(l), "layers") }

// Waiting lists the layers that wait for an answer, and those that are stuck.
func (l Layers) Waiting() []Waiting { return linux.ListKept(l.dir()) }

// Drop forgets what commands changed on a layer, as it was listed.
func (l Layers) Drop(ctx context.Context, layer Waiting) error {
	return settled(linux.DropKept(ctx, l.dir(), layer))
}

// Applied finds what a command changed; [io/fs.ErrNotExist]: it is not kept.
func (l Layers) Applied(id string) (*linux.Applied, error) { return linux.OpenApplied(l.dir(), id) }

// TryLayers finds out, when the first command is judged, whether commands can work on
// layers over some directories: one that has no layer is judged by its line. Where the
// sandbox has layers and cannot have one here, the person is told why.
func TryLayers(ctx context.Context, c *sandbox.Chooser, dirs []files.Dir, log *slog.Logger) func() bool {
	ctx = context.WithoutCancel(ctx) // of the opening, which has ended by then
	return sync.OnceValue(func() bool {
		err := c.Layers(ctx, "run_command", dirs)
		if err == nil {
			err = c.Layers(ctx, "start_command", dirs) // it may have a backend of its own
		}
		if err != nil && !errors.Is(err, sandbox.ErrNoLayers) {
			log.Warn("commands work on the live files and are judged before they run (sandbox.layers)", "err", err)
		}
		return err == nil
	})
}
