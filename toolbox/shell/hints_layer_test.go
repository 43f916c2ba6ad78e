package shell

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestRenamesOnLayersAreExplained: who cannot rename a directory on a layer is told what
// to do, and nobody else is.
func TestRenamesOnLayersAreExplained(t *testing.T) {
	for _, c := range []struct {
		layers bool
		code   int
		said   string
		want   bool
	}{
		{true, 128, "fatal: renaming 'src' failed: Invalid cross-device link", true},
		{true, 1, "OSError: [Errno 18] Invalid cross-device link: 'src' -> 'lib'", true},
		{true, 1, "Error: EXDEV: cross-device link not permitted, rename 'src' -> 'lib'", true},
		{true, 1, "rename src lib: invalid cross-device link", true},
		{true, 0, "mv: inter-device move: Invalid cross-device link", false},
		{true, 1, "no such file", false},
		{false, 1, "Invalid cross-device link", false},
	} {
		b := &Box{cfg: Config{Layers: func() bool { return c.layers }}.filled()}
		notes := strings.Join(b.hints(toolcrib.Exit{Code: c.code}, 30, "", c.said), " ")
		if strings.Contains(notes, "git add -A") != c.want {
			t.Errorf("%q, exit %d, on layers %v: told %q", c.said, c.code, c.layers, notes)
		}
	}
}
