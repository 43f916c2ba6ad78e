package seal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTracesOfAnother: a state directory whose name is a pattern is in use when it
// has traces itself, not when a directory has that the pattern means.
func TestTracesOfAnother(t *testing.T) {
	base := t.TempDir()
	dir := func(name string, traces bool) string {
		own := filepath.Join(base, name)
		err := os.MkdirAll(own, 0o700)
		if err == nil && traces {
			err = os.WriteFile(filepath.Join(own, "trust.json"), []byte("{}"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	dir("axb", true)
	for _, name := range []string{"a*b", "a?b", "a[x]b", `a\xb`} {
		if Traces(dir(name, false), "trust.json") {
			t.Errorf("%s has the traces of another", name)
		}
		if !Traces(dir(name, true), "trust.json") {
			t.Errorf("%s has traces of its own", name)
		}
	}
}
