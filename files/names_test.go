package files

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Where letter case tells no names apart, an absolute path in another case is
// granted as the first one is, and nothing else is.
func TestGrantedInAnotherCase(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	proj := filepath.Join(top, "Proj")
	for _, dir := range []string{proj, filepath.Join(top, "Proj2"), filepath.Join(proj, "Sub")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := pathglob.NamesOf("darwin")
	// The same directory twice, and one in it under the other name.
	dirs := []Dir{{Path: proj, Write: true}, {Path: filepath.Join(top, "PROJ")}, {Path: filepath.Join(proj, "Sub")}}
	f, err := newHandle(dirs, Options{Within: []string{filepath.Join(top, "pROJ")}}, names)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for path, want := range map[string]bool{
		"Proj/a": true, "proj/a": true, "proj/Sub/a": true, "PROJ/Sub/a": true, "proj2/a": false, "Proj2/a": false, "pro/a": false, "a": false,
	} {
		if _, _, err := f.ReadFile(filepath.Join(top, filepath.FromSlash(path)), 100); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	plain, err := newHandle(dirs[:1], Options{}, pathglob.Names{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, _, err := plain.ReadFile(filepath.Join(top, "proj", "a"), 100); err == nil {
		t.Error("letter case does not count where it does")
	}
}

func TestMeetInAnotherCase(t *testing.T) {
	names := pathglob.NamesOf("darwin")
	abs := func(path string) string {
		return filepath.Join(filepath.VolumeName(t.TempDir())+string(filepath.Separator), path)
	}
	if d, ok := (Dir{Path: abs("/w/Proj"), Write: true}).meet(Dir{Path: abs("/W/proj/sub")}, names); !ok || d.Path != abs("/W/proj/sub") || d.Write {
		t.Error(d, ok)
	}
	if d, ok := (Dir{Path: abs("/w/\u212aeys")}).meet(Dir{Path: abs("/w/keys")}, names); ok {
		t.Error("another directory is granted:", d)
	}
	got := outermost([]Dir{{Path: abs("/w/a")}, {Path: abs("/W/A")}, {Path: abs("/w/A/b")}, {Path: abs("/w/a/c"), Write: true}}, names)
	if want := []Dir{{Path: abs("/w/a")}, {Path: abs("/w/a/c"), Write: true}}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := outermost([]Dir{{Path: abs("/w/a")}, {Path: abs("/W/A"), Write: true}}, names); !slices.Equal(got, []Dir{{Path: abs("/W/A"), Write: true}}) {
		t.Error(got)
	}
	if got := outermost([]Dir{{Path: abs("/w")}, {Path: abs("/w")}}, pathglob.Names{}); len(got) != 1 {
		t.Error(got)
	}
}

// A further name of a protected file is no way to it on any system.
func TestFurtherNameOfProtected(t *testing.T) {
	home, proj := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{filepath.Join(home, "key"): "notes.txt", filepath.Join(proj, "mine"): "also"} {
		if to == "also" {
			if err := os.WriteFile(from, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Link(from, filepath.Join(proj, to)); err != nil {
			t.Fatal(err)
		}
	}
	guard, err := NewProtection(home, "~/key")
	if err != nil {
		t.Fatal(err)
	}
	f, err := New([]Dir{{Path: proj}}, Options{Protected: guard})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, _, err := f.ReadFile("notes.txt", 100); err == nil {
		t.Errorf("it is read: %s", text)
	}
	if _, _, err := f.ReadFile("also", 100); err != nil {
		t.Error("a file with two names of its own is not read: ", err)
	}
}
