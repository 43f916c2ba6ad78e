package shell

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestFailuresOnLayersAreExplained: who cannot rename a directory on a layer, or change a
// file of another group, is told what to do, and nobody else is.
func TestFailuresOnLayersAreExplained(t *testing.T) {
	for _, c := range []struct {
		layers bool
		code   int
		said   string
		want   string
	}{
		{true, 128, "fatal: renaming 'src' failed: Invalid cross-device link", "git add -A"},
		{true, 1, "OSError: [Errno 18] Invalid cross-device link: 'src' -> 'lib'", "git add -A"},
		{true, 1, "Error: EXDEV: cross-device link not permitted, rename 'src' -> 'lib'", "git add -A"},
		{true, 1, "rename src lib: invalid cross-device link", "git add -A"},
		{true, 0, "mv: inter-device move: Invalid cross-device link", ""},
		{true, 2, "/bin/sh: 1: cannot create shared/new: Value too large for defined data type", "chgrp"},
		{true, 1, "Error: EOVERFLOW: value too large for defined data type, open 'shared/new'", "chgrp"},
		{false, 2, "Value too large for defined data type", ""},
		{true, 1, "no such file", ""},
		{false, 1, "Invalid cross-device link", ""},
	} {
		b := &Box{cfg: Config{Layers: func() bool { return c.layers }}.filled()}
		notes := strings.Join(b.hints(toolcrib.Exit{Code: c.code}, 30, "", c.said), " ")
		if c.want == "" && notes != "" || !strings.Contains(notes, c.want) {
			t.Errorf("%q, exit %d, on layers %v: told %q", c.said, c.code, c.layers, notes)
		}
	}
}
