package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// ruledRepository is a project with an index of many files, looked at for rules that
// deny to make infra/*.tf.
func ruledRepository(t *testing.T, handle int) (c *Covering, top string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"src", "infra"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range handle {
		if err := os.WriteFile(filepath.Join(top, "src", fmt.Sprint("f", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeRuled(t, top, "old.tf", "known.tf")
	gitIn(t, top, "init", "-q")
	gitIn(t, top, "add", ".")
	if err := os.Remove(filepath.Join(top, "infra", "known.tf")); err != nil {
		t.Fatal(err)
	}
	s, err := NewShield("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err = s.LookAt(toolcrib.Grant{Dirs: []files.Dir{{Path: top, Write: true}}, Unmade: []string{top + "/infra/*.tf"}})
	if err != nil {
		t.Fatal(err)
	}
	c.tops = []string{top}
	return c, top
}

func gitIn(t *testing.T, top string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writeRuled(t *testing.T, top string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(top, "infra", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyRuledFiles: a program that makes many files does not have the index read
// for each of them. What reads it makes a name for each of its entries.
func TestManyRuledFiles(t *testing.T) {
	const handle, made = 2000, 200
	c, top := ruledRepository(t, handle)
	for i := range made {
		writeRuled(t, top, fmt.Sprintf("new%d.tf", i))
	}
	gitIn(t, top, "checkout", "-q", "--", "infra/known.tf") // by the person
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	notes := c.Sweep()
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > handle*made/4 {
		t.Errorf("%d steps", n)
	}
	if len(notes) != maxMade+1 {
		t.Errorf("%d notes: %q", len(notes), notes)
	}
	left, err := filepath.Glob(filepath.Join(top, "infra", "*.tf"))
	if err != nil || len(left) != 2 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestRuledFilesInTime: what there was no time for is told, and left where it is.
func TestRuledFilesInTime(t *testing.T) {
	c, top := ruledRepository(t, 1)
	writeRuled(t, top, "a.tf", "b.tf")
	found := []Cover{{Path: filepath.Join(top, "infra", "a.tf"), Kind: Fix}, {Path: filepath.Join(top, "infra", "b.tf"), Kind: Fix}}
	notes := c.asideRuled(found, time.Now().Add(-time.Hour))
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "2 more files") {
		t.Errorf("%q", notes)
	}
	if _, err := os.Lstat(found[0].Path); err != nil {
		t.Error(err)
	}
	if notes := c.asideRuled(found, time.Now()); len(notes) != 2 {
		t.Errorf("%q", notes)
	}
}
