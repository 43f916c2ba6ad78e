package named

import (
	"strings"
	"testing"
)

// FuzzForms: whatever lies at the top of a project, reading it ends and makes no
// more of it than there is.
func FuzzForms(f *testing.F) {
	f.Add("use flake ./nix#dev; eval \"$(cat x)\"")
	f.Add("run: \"sh a/b.sh\"\n- entry: x")
	f.Add("[hooks]\nenter = 'a/b.sh'\n_.source = \"x\"")
	f.Add("here=$(dirname \"$0\"); cd \"$(git rev-parse --show-toplevel)/a\" && ./h")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) []string{direnv, yaml, mise, JSON, TOML, editor, everyString, inQuotes, pathLines, fullPaths} {
			lines := read(withPlaces(text, dir+"/.husky/x", dir))
			if total := len(strings.Join(lines, "")); total > 1<<20+16*(len(text)+1)*(len(dir)+16) {
				t.Errorf("%d bytes of %q", total, text)
			}
			if list := bases(dir, lines); len(list) > maxBases {
				t.Errorf("%d directories of %q", len(list), text)
			}
			if found := filesMeant([]string{dir}, lines); len(found) > 0 { // nothing is there
				t.Errorf("%q of %q", found, text)
			}
		}
	})
}
