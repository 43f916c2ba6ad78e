package reach

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// Copies are files that run as they were read and judged: each lies in a directory of its own, named by its content, where no
// tool can write. A program in a sandbox is shown that directory alone. So nothing can be put in the place of a file between
// the look at it and its start.
type Copies struct{ Dir string }

// copyAge is how long a copy is kept that nobody used.
const copyAge = 30 * 24 * time.Hour

// Put gives the directory and the path of a copy, made now or before.
func (c Copies) Put(f *toolfile.File) (dir, path string, err error) {
	if c.Dir == "" {
		return "", "", errors.New("there is no home directory to put the script into")
	}
	dir = filepath.Join(c.Dir, f.Hash)
	path = filepath.Join(dir, filepath.Base(f.Path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", fmt.Errorf("putting the script where it runs: %w", err)
	}
	if err := linked.Straight(path, filepath.Dir(filepath.Dir(c.Dir))); err != nil {
		return "", "", fmt.Errorf("putting the script where it runs: %w", err)
	}
	if there, err := plainfile.Read(path, int64(len(f.Content))); err != nil || !bytes.Equal(there, f.Content) {
		c.sweep(dir)
		if err := durable.Replace(path, f.Content, 0o500); err != nil {
			return "", "", fmt.Errorf("putting the script where it runs: %w", err)
		}
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now)                          // only for sweep
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // a sandbox is granted no link
		return "", "", fmt.Errorf("putting the script where it runs: %w", err)
	}
	return dir, filepath.Join(dir, filepath.Base(f.Path)), nil
}

// sweep removes copies that nobody has used for long.
func (c Copies) sweep(but string) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(c.Dir, e.Name())
		if info, err := e.Info(); err == nil && info.IsDir() && dir != but && time.Since(info.ModTime()) > copyAge {
			_ = os.RemoveAll(dir) // the next one tries again
		}
	}
}
