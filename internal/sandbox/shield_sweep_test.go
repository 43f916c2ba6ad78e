package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// TestSweepOfWhatWasMoved: a person's own repository in what nobody looked into
// is left alone also if a program gave a directory above it another name.
func TestSweepOfWhatWasMoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is swept here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("/d", 140)
	plantTree(t, top, "data"+deep+"/own/.git/HEAD")
	s := shield(t, "", []string{".ssh"}, nil)
	covering, err := s.Look([]files.Dir{{Path: top, Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(top, "data"), filepath.Join(top, "data2")); err != nil {
		t.Fatal(err)
	}
	plantTree(t, top, "new"+deep+"/its/.git/HEAD")
	notes := covering.Sweep()
	if _, err := os.ReadFile(filepath.Join(top, "data2"+deep+"/own/.git/HEAD")); err != nil {
		t.Errorf("the person's own repository: %v", err)
	}
	if _, err := os.ReadFile(filepath.Join(top, "new"+deep+"/its/.git/HEAD")); err == nil || len(notes) != 1 {
		t.Errorf("a new one stays: %v, %q", err, notes)
	}
}
