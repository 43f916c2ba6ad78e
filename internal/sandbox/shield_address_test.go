package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// TestLocalAddress goes by what git does: an address without a host is a path.
func TestLocalAddress(t *testing.T) {
	for address, want := range map[string]string{
		"/a/b": "/a/b", "a/b": "a/b", "../b": "../b", "./a:b": "./a:b", "file:///a": "/a", "file://host/a": "/a", "file://a": "a", ".": ".",
		"host:a": "", "me@host:/a": "", "https://host/a": "", "ssh://host/a": "", "": "",
	} {
		if got, local := localAddress(address); local != (want != "") || local && got != want {
			t.Errorf("%s: %q, %v", address, got, local)
		}
	}
}

// FuzzAddress: whatever the address of a remote is, a repository that was not
// granted is never one that may be named; what git reads from there is asked of git.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"SECRET", "file://SECRET", "file://x/SECRET", "file:/SECRET", "//SECRET", "/proc/self/root/SECRET", "own/../SECRET", "../secret", "GRANT/../secret", "own", "./x:y", "~/secret", "%2e%2e/secret", "file://GRANT/own/..%2fsecret", "FILE://SECRET", "link"} {
		f.Add(seed)
	}
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("there is no git here")
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	grant, secret := filepath.Join(base, "grant"), filepath.Join(base, "secret")
	own := filepath.Join(grant, "own")
	for _, dir := range []string{own, secret} {
		for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", filepath.Base(dir)}} {
			if out, err := exec.CommandContext(f.Context(), "git", args...).CombinedOutput(); err != nil {
				f.Fatalf("%v\n%s", err, out)
			}
		}
	}
	if err := os.Symlink(secret, filepath.Join(own, "link")); err != nil {
		f.Fatal(err)
	}
	j := &judging{before: &Covering{shield: &Shield{}, dirs: []files.Dir{{Path: grant, Write: true}}}, now: map[string]FileID{filepath.Join(own, ".git"): {}}}
	head, err := exec.CommandContext(f.Context(), "git", "-C", secret, "rev-parse", "HEAD").Output()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, address string) {
		address = strings.NewReplacer("SECRET", secret, "GRANT", grant).Replace(address)
		path, local := localAddress(address)
		if strings.ContainsAny(address, "\x00\n") || !local || !j.mayName(filepath.Join(own, ".git"), own, path) {
			return
		}
		cmd := exec.CommandContext(t.Context(), "git", "-c", "protocol.allow=never", "-c", "protocol.file.allow=always", "ls-remote", "--", address)
		cmd.Dir = own
		out, _ := cmd.Output() // most are nothing
		if strings.Contains(string(out), strings.TrimSpace(string(head))) {
			t.Errorf("%q may be named, and leads git to what was not granted", address)
		}
	})
}
