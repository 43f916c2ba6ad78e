package reach

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/diskspace"
)

// TestRoom: what no disk could hold, or the system does not let this account write, is
// refused before a person is asked; what fits is asked about.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := Room(filepath.Join(dir, "new", "a.txt"), 10); err != nil {
		t.Error(err)
	}
	if err := Room(filepath.Join(dir, "a.txt"), 1<<62); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Error("more than a disk has: ", err)
	}
	asked := &countAsked{}
	all := toolcrib.Reads | toolcrib.Writes
	shut := filepath.Join(dir, "shut")
	if err := os.Mkdir(shut, 0o500); err != nil {
		t.Fatal(err)
	}
	r := Reachable{Crib: &toolcrib.Crib{Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}}}, Approver: asked}
	put := func(path string) error {
		q := toolcrib.Question{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file", Effects: all}, Box: "files", Native: "write_file"}, Effects: all}
		q.Input, _ = json.Marshal(map[string]string{"path": path, "content": "x"})
		_, err := r.Approve(t.Context(), q)
		return err
	}
	if err := put(filepath.Join(dir, "b")); err != nil || asked.asked != 1 {
		t.Errorf("what fits: asked %d times, %v", asked.asked, err)
	}
	if err := put(filepath.Join(t.TempDir(), "d")); err == nil || !strings.Contains(err.Error(), "grant.write") || strings.Contains(err.Error(), "grant.read") {
		t.Errorf("what lies elsewhere: %v", err)
	}
	if diskspace.Writable(filepath.Join(shut, "c")) == nil {
		return // root writes everywhere, and elsewhere the system does not tell
	}
	if err := put(filepath.Join(shut, "c")); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || asked.asked != 1 {
		t.Errorf("what is shut: asked %d times, %v", asked.asked, err)
	}
}
