package coding

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPlacedAgain: a copy of the program that somebody cleared away is made again, and
// other versions do not clear away each other's.
func TestPlacedAgain(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	var copies []*ownCopy
	for i := range 5 {
		self := filepath.Join(dir, fmt.Sprint("version", i))
		if err := os.WriteFile(self, make([]byte, 10+i), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
		copies = append(copies, &ownCopy{self: self, home: home})
	}
	there := func(o *ownCopy) string {
		t.Helper()
		path, grant, err := o.place()
		if err != nil || len(grant.Dirs) != 1 {
			t.Fatal(path, grant, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		return path
	}
	for i, o := range copies {
		at := filepath.Dir(there(o))
		if err := os.Chtimes(at, time.Time{}, time.Unix(int64(1000+i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(home, ".cache", "toolcrib-shown", "worker"))
	if err != nil || len(entries) != otherCopies+1 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(copies[3].program); err != nil {
		t.Error("the copy of the version before is gone:", err)
	}
	there(copies[0])
	if err := os.RemoveAll(filepath.Join(home, ".cache")); err != nil {
		t.Fatal(err)
	}
	there(copies[0])
}
