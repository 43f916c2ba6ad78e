package scriptfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

func script(name, code string) saved.Script {
	return saved.Script{Name: name, Description: "It counts.", Code: code, Calls: []saved.Called{{Name: "a", Box: "b", Native: "a", Effects: toolcrib.Reads}}}
}

func put(t *testing.T, s *Store, name, code string) {
	t.Helper()
	if err := s.Put(t.Context(), script(name, code)); err != nil {
		t.Fatal(err)
	}
}

func TestPutListRemove(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	if list, faults, err := s.List(t.Context()); len(list)+len(faults) > 0 || err != nil {
		t.Errorf("%v, %v, %v", list, faults, err)
	}
	before := s.Marks()
	put(t, s, "two", "2")
	put(t, s, "one", "1")
	put(t, s, "two", "22")
	list, faults, err := Open(dir).List(t.Context()) // after a restart
	if err != nil || len(faults) > 0 || len(list) != 2 || list[0].Name != "one" || list[1].Code != "22" || list[1].Calls[0].Effects != toolcrib.Reads {
		t.Errorf("%v, %v, %v", list, faults, err)
	}
	if s.Marks() == before {
		t.Error("the marks stayed the same")
	}
	if info, err := os.Stat(s.Path("one")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Remove(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "../x", ""} {
		if err := s.Remove(t.Context(), name); !errors.Is(err, saved.ErrNone) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if list, _, err := s.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	put(t, s, "one", "again")
}

// TestTampered: whatever is done to a file, it is no script any more, and the others are.
func TestTampered(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, s *Store, path string, text []byte) error{
		"changed": func(_ *testing.T, _ *Store, path string, text []byte) error {
			return os.WriteFile(path, []byte(strings.Replace(string(text), "return 1", "return 2", 1)), 0o600)
		},
		"emptied": func(_ *testing.T, _ *Store, path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) },
		"longer": func(_ *testing.T, _ *Store, path string, text []byte) error {
			return os.WriteFile(path, append(text, strings.Repeat(" ", 1<<20)...), 0o600)
		},
		"swapped with another": func(t *testing.T, s *Store, path string, _ []byte) error {
			t.Helper()
			put(t, s, "other", "return 3")
			other, err := os.ReadFile(s.Path("other"))
			if err != nil {
				return err
			}
			return os.WriteFile(path, other, 0o600)
		},
		"put back": func(t *testing.T, s *Store, path string, text []byte) error {
			t.Helper()
			put(t, s, "mine", "return 4")
			return os.WriteFile(path, text, 0o600)
		},
		"from another machine": func(t *testing.T, _ *Store, path string, _ []byte) error {
			t.Helper()
			far := Open(t.TempDir())
			put(t, far, "mine", "return 1")
			text, err := os.ReadFile(far.Path("mine"))
			if err != nil {
				return err
			}
			return os.WriteFile(path, text, 0o600)
		},
		"without a seal": func(_ *testing.T, _ *Store, path string, _ []byte) error {
			return os.WriteFile(path, []byte(`{"name":"mine","description":"x","code":"1"}`), 0o600)
		},
		"a directory": func(_ *testing.T, _ *Store, path string, _ []byte) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Open(t.TempDir())
			put(t, s, "mine", "return 1")
			put(t, s, "untouched", "return 0")
			text, err := os.ReadFile(s.Path("mine"))
			if err != nil {
				t.Fatal(err)
			}
			if err := do(t, s, s.Path("mine"), text); err != nil {
				t.Fatal(err)
			}
			list, faults, err := s.List(t.Context())
			if err != nil || len(faults) != 1 || faults[0].Name != "mine" {
				t.Errorf("%v, %v, %v", list, faults, err)
			}
			fine := false
			for _, l := range list {
				fine = fine || l.Name == "untouched"
				if l.Name == "mine" {
					t.Errorf("it counts: %v", l)
				}
			}
			if !fine {
				t.Error("the other one is gone")
			}
			if !strings.Contains(faults[0].Err.Error(), "toolcrib scripts remove mine") {
				t.Error(faults[0].Err)
			}
			if err := s.Remove(t.Context(), "mine"); err != nil {
				t.Errorf("it cannot be removed: %v", err)
			}
		})
	}
}

// TestHostileNames: a name never becomes a path.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	s := Open(filepath.Join(dir, "state"))
	for _, name := range []string{"", "..", "../../x", "a/b", `a\b`, "a.json", "A", "con:", "a\x00", strings.Repeat("a", 200), "ünï"} {
		if err := s.Put(t.Context(), script(name, "1")); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
