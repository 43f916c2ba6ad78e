//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// personsGit runs git on live files.
func personsGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func layerRepository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	dir := t.TempDir()
	personsGit(t, dir, "init", "-q", "-b", "main")
	personsGit(t, dir, "config", "user.name", "Ada")
	personsGit(t, dir, "config", "user.email", "ada@example.org")
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	personsGit(t, dir, "add", "a")
	personsGit(t, dir, "commit", "-qm", "first")
	return dir
}

// withGit is the environment in which git works on a layer.
const withGit = `export HOME=/tmp GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_DISCOVERY_ACROSS_FILESYSTEM=1; `

// TestGitOnLayer: a commit is made on the layer, its files are told beside what lies in
// the Git directory, and it is there when it was applied.
func TestGitOnLayer(t *testing.T) {
	dir := layerRepository(t)
	layers := filepath.Join(t.TempDir(), "layers")
	t.Cleanup(func() { _ = layer.Remove(layers) }) // the kernel leaves directories that are closed to everybody
	s := open(t, Config{Layers: layers})
	exit, out := onLayer(t, s, withGit+`git config --get gc.auto; echo two > a; echo n > n; git add -A && git commit -qm second; h=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$h,.envrc; echo x > .git/config.new`, dir)
	if exit.Code != 0 || out != "0\n" || exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	carried := map[string]string{}
	for _, c := range exit.Changes.List() {
		inGit := strings.Contains(c.Path, "/.git/")
		switch {
		case c.Carried != nil:
			text, err := c.Carried(100)
			if err != nil {
				t.Error(err)
			}
			carried[filepath.Base(c.Path)] = string(text)
		case inGit != (c.Git != nil):
			t.Errorf("%s: %+v", c.Path, c.Git)
		case inGit && (c.Git.Decision == toolcrib.Allow) == strings.HasSuffix(c.Path, "config.new"):
			t.Errorf("%s: %+v", c.Path, c.Git)
		}
	}
	if len(carried) != 3 || carried["a"] != "two\n" || carried["n"] != "n\n" || carried[".envrc"] != "evil\n" {
		t.Errorf("the commit and the index hold %q", carried)
	}
	if err := exit.Changes.Apply(t.Context(), func(path string) bool { return filepath.Base(path) != "config.new" }); err != nil {
		t.Fatal(err)
	}
	if got := personsGit(t, dir, "log", "--format=%s", "-2"); got != "second\nfirst" {
		t.Errorf("the log is %q", got)
	}
	personsGit(t, dir, "fsck", "--full", "--strict")
	noLayers(t, s)
}

// TestPersonsCommitStays: a commit that a person makes while the changes of a command
// are judged is not lost, and the command's is not half applied.
func TestPersonsCommitStays(t *testing.T) {
	dir := layerRepository(t)
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, withGit+`echo two > b; git add b; git commit -qm second`, dir)
	if exit.Code != 0 || exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	personsGit(t, dir, "commit", "-q", "--allow-empty", "-m", "of the person")
	tip := personsGit(t, dir, "rev-parse", "HEAD")
	if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err == nil {
		t.Error("it was applied")
	}
	if now := personsGit(t, dir, "rev-parse", "HEAD"); now != tip || personsGit(t, dir, "status", "--porcelain") != "" {
		t.Errorf("the commit of the person is %s, and HEAD %s", tip, now)
	}
	personsGit(t, dir, "fsck", "--full", "--strict")
	if err := exit.Changes.Drop(); err != nil {
		t.Error(err)
	}
	noLayers(t, s)
}

// TestGitFilesAreClosed: the packs that were read to judge and to describe a commit are
// closed when it was applied.
func TestGitFilesAreClosed(t *testing.T) {
	dir := layerRepository(t)
	personsGit(t, dir, "repack", "-qad")
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, withGit+`h=$(git rev-parse HEAD:a); git update-index --add --cacheinfo 100644,$h,n; git commit -qm second`, dir)
	if exit.Code != 0 || exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if shown := exit.Changes.Show(func(string) bool { return true }); !strings.Contains(shown, "+one") {
		t.Errorf("a person is shown %s", shown)
	}
	packs := func() (list []string) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, dir+"/") {
				list = append(list, to)
			}
		}
		return list
	}
	if len(packs()) == 0 {
		t.Error("no pack was read")
	}
	if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if list := packs(); len(list) > 0 {
		t.Errorf("still open: %q", list)
	}
}
