package app

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Bundles are the packages of a person. They lie where no tool can write and programs in a
// sandbox can read, apart for each state directory: what one needs, another may not.
func Bundles(cfg settings.Config, needs Needs) *bundles.Bundles {
	b := &bundles.Bundles{State: needs.State, Dir: needs.Dir, Home: needs.Home, Memory: cfg.Toolboxes.Memory.Folder(needs.State, needs.Home)}
	if shown := reach.ShownDir(needs.Home); shown != "" && needs.State != "" {
		sum := sha256.Sum256([]byte(filepath.Clean(needs.State)))
		b.Store = filepath.Join(shown, "bundles", hex.EncodeToString(sum[:6]))
	}
	if needs.Config != "" {
		b.LockFile = filepath.Join(needs.Config, "toolcrib.lock")
	}
	return b
}

// withBundles adds what installed packages bring to settings, as if it stood there.
func (a *App) withBundles(cfg settings.Config, layers *settings.Layers) (settings.Config, *settings.Layers, []toolcrib.LoadError) {
	loaded := a.bundles.Load()
	a.brought.Store(&loaded)
	return loaded.Into(cfg, layers)
}
