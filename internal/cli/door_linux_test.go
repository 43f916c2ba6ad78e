package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asStranger runs the stranger of this test as another account, if this one may
// do that, and gives what it got.
func asStranger(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...) // the other account may not reach its real place
	cmd.Args[0], cmd.Dir = "stranger", "/"
	cmd.Env = []string{"HOME=/nonexistent", "GORACE=atexit_sleep_ms=0"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "done\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "account 65534\n"; os.Getuid() == 0 && !strings.HasPrefix(string(out), want) {
		t.Fatalf("not another account:\n%s", out)
	}
	return string(out)
}

// TestAnotherAccountCannotApprove: a program of another account of this machine
// has nothing written, whatever it agrees to, and reads nothing of ours.
func TestAnotherAccountCannotApprove(t *testing.T) {
	for name, set := range map[string][]string{
		"by default":      nil,
		"with open doors": {"--set", "serve.open=true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, append(set, "--set", "desk.wait=1s")...)
			// As in a home directory that others may enter: what is ours is kept by its own rights.
			home := filepath.Dir(homeOf(s))
			for _, dir := range []string{home, filepath.Dir(home)} { // both are of t.TempDir
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			url := s.serve()
			state := filepath.Join(homeOf(s), "state")
			private := []string{state, filepath.Join(homeOf(s), "config.yaml")}
			err := filepath.WalkDir(state, func(path string, _ os.DirEntry, err error) error {
				private = append(private, path)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			got := asStranger(t, append([]string{url, filepath.Join(s.dir, "theirs.txt")}, private...)...)
			if text := s.read("theirs.txt"); text != "" || strings.Contains(got, "wrote") {
				t.Errorf("the stranger wrote %q:\n%s", text, got)
			}
			if strings.Contains(got, "asked") {
				t.Errorf("the stranger was asked:\n%s", got)
			}
			if os.Getuid() == 0 && strings.Contains(got, "read ") {
				t.Errorf("the stranger read what is ours:\n%s", got)
			}
			if let := strings.Contains(got, "let in"); let != (set != nil) {
				t.Errorf("let in: %v\n%s", let, got)
			}
			if held := s.toolcrib("remembered"); !strings.Contains(held, "No answer is remembered.") {
				t.Errorf("somebody remembers an approval: %s", held)
			}
		})
	}
}
