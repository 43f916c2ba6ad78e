package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTrust: trust is in one content of one file, under whatever name it is reached.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "toolcrib.yaml")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := Trust{Path: filepath.Join(dir, "state", "trust.json")}
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
	if list.Holds(file, []byte("a")) || list.Add(file, []byte("a"), now) == nil {
		t.Error("a broken list is gone by, or written over")
	}
}
