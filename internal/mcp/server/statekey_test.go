package server

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestStateKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var all sync.WaitGroup
	keys := make([][]byte, 8)
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = StateKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != 32 || !bytes.Equal(k, keys[0]) {
			t.Errorf("the keys are %x and %x", keys[0], k)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp-state-key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := StateKey(dir); err == nil {
		t.Error("half a key was taken")
	}
}
