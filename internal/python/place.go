package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// keep puts a text into a directory of its own, named by its content, and gives the
// path of the file. What runs is this copy, so that nobody changes it between its
// being read and its being run.
func (h *Hosts) keep(name string, text []byte) (string, error) {
	if h.needs.Place == "" {
		return "", errNowhere
	}
	if strings.Contains(h.needs.Place, "${") {
		return "", fmt.Errorf("nothing can run from %s: it has ${ in it", h.needs.Place)
	}
	sum := sha256.Sum256(text)
	path := filepath.Join(h.needs.Place, hex.EncodeToString(sum[:12]), name)
	if err := put(path, text, sum); err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[path] = text
	return path, nil
}

// mostCopied bounds a file that is run.
const mostCopied = 4 << 20

// put makes a file have this text. One that has it stays as it is.
func put(path string, text []byte, sum [32]byte) error {
	if same(path, sum) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", filepath.Base(path), err)
	}
	// A server that starts now may read it, and never half of it.
	if err := durable.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", filepath.Base(path), err)
	}
	return nil
}

func same(path string, sum [32]byte) bool {
	was, err := plainfile.Read(path, mostCopied)
	return err == nil && sha256.Sum256(was) == sum
}

// Starting makes sure, before a program is started, that what it runs is what was read.
func (h *Hosts) Starting(start func(context.Context, mcphub.Launch) (client.Process, error)) func(context.Context, mcphub.Launch) (client.Process, error) {
	return func(ctx context.Context, l mcphub.Launch) (client.Process, error) {
		if l.Grant != nil {
			for _, arg := range l.Args {
				if h.needs.Place == "" || !linked.Within(arg, h.needs.Place) {
					continue
				}
				h.mu.Lock()
				text, known := h.known[arg]
				h.mu.Unlock()
				if !known {
					return client.Process{}, fmt.Errorf("%s is not started: %s is none of the files that were read", l.Server, arg)
				}
				if err := put(arg, text, sha256.Sum256(text)); err != nil {
					return client.Process{}, err
				}
			}
		}
		return start(ctx, l)
	}
}

// prune removes copies that nothing has needed for a long time.
func (h *Hosts) prune() {
	const old = 30 * 24 * time.Hour
	entries, err := os.ReadDir(h.needs.Place)
	if err != nil {
		return // there are none
	}
	h.mu.Lock()
	used := map[string]bool{}
	for path := range h.known {
		used[filepath.Base(filepath.Dir(path))] = true
	}
	h.mu.Unlock()
	for _, e := range entries {
		dir := filepath.Join(h.needs.Place, e.Name())
		if used[e.Name()] {
			_ = os.Chtimes(dir, time.Time{}, time.Now()) // another process may prune
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > old {
			_ = os.RemoveAll(dir) // what stays does no harm
		}
	}
}
