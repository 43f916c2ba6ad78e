package diskspace

import (
	"path/filepath"
	"testing"
)

func TestFree(t *testing.T) {
	dir := t.TempDir()
	there, err := Free(dir)
	if err != nil || there == 0 {
		t.Fatal(there, err)
	}
	if later, err := Free(filepath.Join(dir, "not", "made", "yet")); err != nil || later == 0 {
		t.Error(later, err)
	}
}
