package sandbox

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
)

// TestFromGit: what a checkout wrote is known by what is in it. Its times are no
// proof: a program may change it within one step of the clock, or by memory that it
// shares with the file.
func TestFromGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	for name, c := range map[string]struct {
		change func(file string) error
		want   bool
	}{
		"as git wrote it":    {func(string) error { return nil }, true},
		"of the same length": {func(file string) error { return os.WriteFile(file, []byte("echo evil"), 0o600) }, false},
		"made to run":        {func(file string) error { return os.Chmod(file, 0o755) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(top, "ls")
			if err := os.WriteFile(file, []byte("echo good"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"init", "-q"}, {"add", "ls"}} {
				cmd := exec.CommandContext(t.Context(), "git", args...)
				cmd.Dir = top
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			if err := c.change(file); err != nil {
				t.Fatal(err)
			}
			// As if all that had been within one step of the clock.
			index := filepath.Join(top, ".git", "index")
			data, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			var st unix.Stat_t
			if err := unix.Lstat(file, &st); err != nil {
				t.Fatal(err)
			}
			for i, v := range []int64{st.Ctim.Sec, st.Ctim.Nsec, st.Mtim.Sec, st.Mtim.Nsec} {
				binary.BigEndian.PutUint32(data[12+4*i:], uint32(v))
			}
			if err := os.WriteFile(index, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := NewShield("", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			before, err := s.Look([]files.Dir{{Path: top, Write: true}})
			if err != nil {
				t.Fatal(err)
			}
			if got := before.fromGit(top, file); got != c.want {
				t.Errorf("from git: %v", got)
			}
			binary.BigEndian.PutUint32(data[12+4:], uint32(st.Ctim.Nsec)+1) // another moment of the same second
			if err := os.WriteFile(index, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if st.Ctim.Nsec != 0 && before.fromGit(top, file) {
				t.Error("a change in the same second is taken for git's")
			}
		})
	}
}
