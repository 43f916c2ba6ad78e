package coding

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/toolbox/lsp"
)

// maxScanned is how many files are looked at for what has changed.
const maxScanned = 50_000

// unscanned are directories of what was made from other files, or came from elsewhere:
// servers look after these themselves.
func unscanned() []string {
	return []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "target", ".mypy_cache", ".tox", ".cache"}
}

// scanFiles lists the files below a directory whose names are wanted, with their times and sizes. It reads no
// file and follows no link. It is done before each question, so directories are looked
// at side by side.
func scanFiles(ctx context.Context, dir string, want func(name string) bool) (list []lsp.Seen, more bool) {
	const workers = 4
	var (
		mu      sync.Mutex
		cond    = sync.NewCond(&mu)
		queue   = []string{dir}
		busy    int
		skipped = unscanned()
		group   sync.WaitGroup
	)
	work := func() {
		mu.Lock()
		defer mu.Unlock()
		for {
			for len(queue) == 0 && busy > 0 {
				cond.Wait()
			}
			if len(queue) == 0 || ctx.Err() != nil || more {
				cond.Broadcast()
				return
			}
			next := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			busy++
			mu.Unlock()
			files, dirs := scanOne(next, skipped, want)
			mu.Lock()
			busy--
			list, queue = append(list, files...), append(queue, dirs...)
			more = more || len(list) > maxScanned
			cond.Broadcast()
		}
	}
	for range workers {
		group.Go(work)
	}
	group.Wait()
	return list, more
}

// scanOne looks at one directory. What cannot be read has nothing in it.
func scanOne(dir string, skipped []string, want func(name string) bool) (found []lsp.Seen, dirs []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			if !slices.Contains(skipped, e.Name()) {
				dirs = append(dirs, filepath.Join(dir, e.Name()))
			}
		case e.Type().IsRegular() && want(e.Name()):
			if info, err := e.Info(); err == nil {
				found = append(found, lsp.Seen{Path: filepath.Join(dir, e.Name()), Mod: info.ModTime(), Size: info.Size()})
			}
		}
	}
	return found, dirs
}
