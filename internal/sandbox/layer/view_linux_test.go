package layer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestViewsShowBothSides: a view of a directory has the files as they were, or as they
// would be, and nothing that a link leads to.
func TestViewsShowBothSides(t *testing.T) {
	live, upper := t.TempDir(), t.TempDir()
	put := func(root, name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree := Tree{Root: live, Dir: upper}
	for name, text := range map[string]string{"r/same": "same", "r/changed": "old", "r/gone": "gone", "r/dir/x": "x", "r/modes": "m"} {
		put(live, name, text)
	}
	for name, text := range map[string]string{"r/changed": "new", "r/made": "made", "r/more/deep/y": "y"} {
		put(tree.Upper(), name, text)
	}
	if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(live, "r", "link")), os.Symlink("dir", filepath.Join(live, "r", "dirlink"))); err != nil {
		t.Fatal(err)
	}
	file, dir := Entry{Mode: 0o644}, Entry{Mode: fs.ModeDir | 0o755}
	s := &Set{trees: []Tree{tree}}
	for name, c := range map[string]Change{
		"r/changed": {Kind: Changed, Before: file, After: file}, "r/gone": {Kind: Deleted, Before: file}, "r/made": {Kind: Created, After: file}, "r/more": {Kind: Created, After: dir},
		"r/more/deep": {Kind: Created, After: dir}, "r/more/deep/y": {Kind: Created, After: file}, "r/modes": {Kind: Changed, Before: file, After: file, ModeOnly: true},
		"r/dir": {Kind: Deleted, Before: dir}, "r/dir/x": {Kind: Deleted, Before: file},
	} {
		c.Path, c.rel = filepath.Join(live, name), name
		s.Changes = append(s.Changes, c)
	}
	slices.SortFunc(s.Changes, func(a, b Change) int { return comparePaths(a.Path, b.Path) })
	look := func(after bool) (list []string, texts map[string]string) {
		t.Helper()
		v, err := s.View(filepath.Join(live, "r"), after)
		if err != nil {
			t.Fatal(err)
		}
		texts = map[string]string{}
		for _, name := range []string{"same", "changed", "gone", "made", "more", "more/deep/y", "modes", "dir/x", "dir", "link", "dirlink/x", "none", "same/x"} {
			f, _, err := v.Open(name)
			if err != nil {
				continue
			}
			text, err := io.ReadAll(f)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
			texts[name] = string(text)
		}
		for _, d := range []string{"", "dir", "more", "more/deep", "same", "none", "link"} {
			names, err := v.List(d)
			if err == nil {
				slices.Sort(names)
				list = append(list, d+": "+strings.Join(names, " "))
			}
		}
		return list, texts
	}
	list, texts := look(false)
	if got := strings.Join(list, "\n"); got != ": changed dir dirlink gone link modes same\ndir: x" {
		t.Errorf("before:\n%s", got)
	}
	if len(texts) != 5 || texts["changed"] != "old" || texts["gone"] != "gone" || texts["dir/x"] != "x" {
		t.Errorf("before: %q", texts)
	}
	list, texts = look(true)
	if got := strings.Join(list, "\n"); got != ": changed dirlink link made modes more same\nmore: deep\nmore/deep: y" {
		t.Errorf("after:\n%s", got)
	}
	if len(texts) != 5 || texts["changed"] != "new" || texts["made"] != "made" || texts["more/deep/y"] != "y" || texts["modes"] != "m" {
		t.Errorf("after: %q", texts)
	}
	if _, err := s.View("/elsewhere", true); err == nil {
		t.Error("a view of what lies in no layer")
	}
}
