package reach

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestHomeIsNotGranted: a start in the home directory, above it or at the top of
// the file system grants nothing, whichever links lead there.
func TestHomeIsNotGranted(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "real", "me")
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "home")
	if err := os.Symlink("real", link); err != nil {
		t.Skip("no links here: ", err)
	}
	byLink := filepath.Join(link, "me")
	top := filepath.VolumeName(base) + string(filepath.Separator)
	for _, c := range []struct {
		home, dir string
		granted   bool
	}{
		{home, home, false}, {home, byLink, false}, {byLink, home, false}, {byLink, byLink, false}, {byLink, filepath.Dir(home), false}, {byLink, base, false},
		{byLink, filepath.Join(home, "project"), true}, {home, filepath.Join(byLink, "project"), true}, {"", top, false}, {home, top, false}, {"", base, true},
	} {
		_, err := Start{Home: c.home, Dir: c.dir}.Directory(".")
		if c.granted != (err == nil) || err != nil && !errors.Is(err, errHoldsHome) {
			t.Errorf("home %s, started in %s: %v", c.home, c.dir, err)
		}
	}
}
