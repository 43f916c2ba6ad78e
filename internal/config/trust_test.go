package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/seal"
)

func seals(dir string) func(bool) (*seal.Box, error) {
	return func(write bool) (*seal.Box, error) {
		if write {
			return seal.Open(dir, false)
		}
		return seal.Look(dir)
	}
}

// TestTrust: trust is in one content of one file, under whatever name it is reached.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "toolcrib.yaml")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := Trust{Path: filepath.Join(dir, "state", "trust.json"), Seals: seals(filepath.Join(dir, "seal"))}
	if list.Holds(file, []byte("a")) {
		t.Error("trusted before it was")
	}
	now := time.Unix(1, 0)
	if err := list.Add(file, []byte("a"), now); err != nil {
		t.Fatal(err)
	}
	if !list.Holds(file, []byte("a")) {
		t.Error("not trusted after it was")
	}
	// Another project that holds a link to a trusted file is another project; the
	// same one by another way is the same.
	elsewhere := t.TempDir()
	link := filepath.Join(elsewhere, "toolcrib.yaml")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if list.Holds(link, []byte("a")) || list.Add(link, []byte("a"), now) == nil {
		t.Error("a link to a trusted file is trusted")
	}
	way := filepath.Join(elsewhere, "way")
	if err := os.Symlink(dir, way); err != nil {
		t.Fatal(err)
	}
	if !list.Holds(filepath.Join(way, "toolcrib.yaml"), []byte("a")) {
		t.Error("the same folder by another way is not trusted")
	}
	other := filepath.Join(dir, "other.yaml")
	if err := os.WriteFile(other, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list.Holds(file, []byte("b")) || list.Holds(other, []byte("a")) || list.Holds(filepath.Join(dir, "none"), []byte("a")) {
		t.Error("another content or file is trusted too")
	}
	if info, err := os.Stat(list.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	got, err := list.List()
	if err != nil || len(got) != 1 || !strings.HasSuffix(got[0].File, "toolcrib.yaml") || !got[0].At.Equal(now) {
		t.Errorf("%+v, %v", got, err)
	}
	if was, err := list.Remove(file); !was || err != nil || list.Holds(file, []byte("a")) {
		t.Errorf("removing: %v, %v", was, err)
	}
	if was, err := list.Remove(file); was || err != nil {
		t.Errorf("removing twice: %v, %v", was, err)
	}
	if err := os.WriteFile(list.Path, []byte(`{"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list.Holds(file, []byte("a")) || list.Fault() == nil {
		t.Error("a broken list is gone by")
	}
	// Who trusts a project again begins a new list.
	if err := list.Add(file, []byte("a"), now); err != nil || !list.Holds(file, []byte("a")) || list.Fault() != nil {
		t.Errorf("trusting again: %v, %v", err, list.Fault())
	}
}

// TestTrustIsSealed: nobody but the program itself puts a project on the list.
func TestTrustIsSealed(t *testing.T) {
	dir := t.TempDir()
	file, evil := filepath.Join(dir, "toolcrib.yaml"), filepath.Join(dir, "evil", "toolcrib.yaml")
	if err := os.Mkdir(filepath.Dir(evil), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, evil} {
		if err := os.WriteFile(name, []byte("mode: yolo"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := Trust{Path: filepath.Join(dir, "trust.json"), Seals: seals(filepath.Join(dir, "seal"))}
	plain := `{"` + evil + `":{"sha256":"` + fingerprint([]byte("mode: yolo")) + `","at":"2026-01-01T00:00:00Z"}}`
	attack := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(list.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list.Holds(evil, []byte("mode: yolo")) || list.Fault() == nil {
			t.Errorf("%s: %v", name, list.Fault())
		}
		if got, err := list.List(); err == nil {
			t.Errorf("%s: %v is listed", name, got)
		}
	}
	attack("before there is a key", plain)
	if err := list.Add(file, []byte("mode: yolo"), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if list.Holds(evil, []byte("mode: yolo")) || !list.Holds(file, []byte("mode: yolo")) {
		t.Error("trusting one project trusts what stood there")
	}
	good, err := os.ReadFile(list.Path)
	if err != nil {
		t.Fatal(err)
	}
	attack("a list without a seal", plain)
	attack("another name in it", strings.Replace(string(good), file, evil, 1))
	if err := os.WriteFile(list.Path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := list.Remove(file); err != nil {
		t.Fatal(err)
	}
	attack("the list from before it was revoked", string(good))
	if list.Holds(file, []byte("mode: yolo")) {
		t.Error("what was revoked is trusted again")
	}
}
