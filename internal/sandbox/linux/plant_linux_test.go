//go:build amd64 || arm64

package linux

import (
	"bytes"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// TestPlantsNoElevatingFile: a file of root's with the setuid bit, left in a
// granted directory, would be a way to root for every user of the machine.
func TestPlantsNoElevatingFile(t *testing.T) {
	s := open(t, Config{})
	attacker := cribtest.SandboxAttacker(t)
	elevated := func(dir string) (names []string) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				names = append(names, d.Name())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	work := t.TempDir()
	var out bytes.Buffer
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: work, Write: true}, {Path: filepath.Dir(attacker)}}, Time: 20 * time.Second}
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: []string{"plant", work}, Stdout: &out, Stderr: &out}, grant)
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, error %v\n%s", exit, err, out.String())
	}
	if n := strings.Count(out.String(), "refused "); n < 21 || strings.Contains(out.String(), "did ") {
		t.Errorf("%d attempts were refused, and some may have gone through:\n%s", n, out.String())
	}
	if names := elevated(work); names != nil {
		t.Errorf("these make whoever runs them their owner: %q", names)
	}
	// The same attempts outside, or the test would show nothing.
	free := t.TempDir()
	if text, err := exec.CommandContext(t.Context(), attacker, "plant", free).CombinedOutput(); err != nil || len(elevated(free)) < 9 {
		t.Errorf("outside, %d files were planted: %v\n%s", len(elevated(free)), err, text)
	}
}
