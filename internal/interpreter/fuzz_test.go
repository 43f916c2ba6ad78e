package interpreter

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzEnvironment reads what anybody may have written into a virtual environment: what it
// says of its home is one clean path or nothing.
func FuzzEnvironment(f *testing.F) {
	for _, seed := range []string{"home = /usr/bin\ninclude-system-site-packages = false\n", "home=..\n", "HOME = /a/../b\r\n", "home\n=\n", "include-system-site-packages = TRUE", "home = /a\x00b\nhome = /c\n"} {
		f.Add(seed)
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(root, "pyvenv.cfg"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if home, _ := environment(root); home != "" && home != filepath.Clean(home) {
			t.Errorf("%q says %q", text, home)
		}
	})
}
