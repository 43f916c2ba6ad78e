//go:build amd64 || arm64

package linux

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// repository makes a working tree with what is worth protecting in it.
func repository(t *testing.T, root string) {
	t.Helper()
	for name, text := range map[string]string{
		".env": "PASSWORD=1", ".env.example": "PASSWORD=", "sub/.env.local": "PASSWORD=2", "file": "x",
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n", ".git/hooks/pre-commit": "#!/bin/sh\n", ".git/objects/x": "", ".git/refs/heads/x": "",
		".git/modules/m/HEAD": "x", ".git/modules/m/config": "[core]\n", ".git/modules/m/hooks/h": "", ".git/modules/m/objects/x": "", ".git/modules/m/refs/x": "",
		"sub/m/.git": "gitdir: ../../.git/modules/m\n", "state/journal": "x", "vault/env-target": "PASSWORD=3",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("vault/env-target", filepath.Join(root, ".env.link")); err != nil {
		t.Fatal(err)
	}
}

func TestCovers(t *testing.T) {
	root := t.TempDir()
	repository(t, root)
	shield, err := sandbox.NewShield("", append(files.DefaultProtected(), filepath.Join(root, "state")), nil)
	if err != nil {
		t.Fatal(err)
	}
	shield.WriteGit = true
	s := open(t, Config{Shield: shield})
	for _, c := range []struct {
		name, script string
	}{
		{"what is not covered works", "cat .env.example && echo y >file && echo z >.git/index && mkdir new && mv new newer && cat .git/config && ls .git/hooks"},
		{"hidden is not read", "! cat .env && ! cat sub/.env.local && ! cat .env.link && ! cat vault/env-target && ! ls state && ! cat state/journal"},
		{"hidden is not written", "! (echo x >.env) && ! (echo x >>sub/.env.local) && ! touch state/new && ! (echo x >state/journal)"},
		{"hidden is not uncovered", "! rm -f .env && ! mv .env other && ! ln .env other && ! chmod 644 .env && ! chmod 755 state && ! rmdir state && ! mv state other && ! umount .env"},
		{"nothing above it is moved", "! mv sub moved && ! mv sub/m moved && ! rm -rf sub && ! rm .env.link && ! ln -sf file .env.link && ! mv .env.link other && test -L .env.link"},
		{"hooks and config are fixed", "! (echo x >>.git/config) && ! touch .git/hooks/new && ! (echo x >.git/hooks/pre-commit) && ! rm -rf .git/hooks && ! mv .git/hooks .git/h && ! (echo x >.git/c && mv .git/c .git/config)"},
		{"of submodules too", "! (echo x >>.git/modules/m/config) && ! touch .git/modules/m/hooks/new && ! (echo 'gitdir: elsewhere' >sub/m/.git) && ! rm -f sub/m/.git"},
		{"a repository is not swapped", "! mv .git other && ! mv .git/modules/m other && ! rm -rf .git"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>&1; "+c.script); exit.Code != 0 {
				t.Errorf("%s\n%+v\n%s", c.script, exit, out)
			}
		})
	}
	for name, want := range map[string]string{".env": "PASSWORD=1", ".git/hooks/pre-commit": "#!/bin/sh\n", "vault/env-target": "PASSWORD=3", "state/journal": "x", ".git/config": "[core]\n\tbare = false\n"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q afterwards, error %v", name, text, err)
		}
	}
	if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root}}}, "! cat .env && cat file && ! touch .git/x"); exit.Code != 0 {
		t.Errorf("read-only: %+v\n%s", exit, out)
	}
	_, err = s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/true"}, toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Join(root, "state")}}})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a protected directory was granted: %v", err)
	}
}

// TestGitWorks: covers must leave git of use.
func TestGitWorks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shield.WriteGit = true
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := open(t, Config{Shield: shield})
	const script = `set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=/tmp
echo one >file; git add file; git commit -qm one; echo two >file; git diff --stat; git commit -qam two
git switch -qc other; git log --oneline | wc -l; git stash list; git gc -q; git status --short
! git config core.pager evil 2>/dev/null`
	if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>&1\n"+script); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestGitIsReadOnly: unless it is allowed, nothing is added to a repository: a
// commondir, or hooks where there were none, would make the next git command of
// a person run what a program here wrote.
func TestGitIsReadOnly(t *testing.T) {
	root := t.TempDir()
	repository(t, root)
	if err := os.RemoveAll(filepath.Join(root, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	script := "cat .git/config && ! touch .git/commondir && ! mkdir .git/hooks && ! (echo x >.git/config) && ! mv .git other && ! rm -rf .git && ! (echo x >sub/m/.git) && ! touch .git/modules/m/commondir; echo x >file"
	if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>&1; "+script); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
	if _, err := os.Stat(filepath.Join(root, ".git", "commondir")); err == nil {
		t.Error("it is there")
	}
}

// TestFurtherNames: a hidden file is hidden under its other names too; a
// socket leads outside; who renames a directory on the way to a protected place
// would find it uncovered.
func TestFurtherNames(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(filepath.Join(home, ".config", "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".config/gh/token", "plain"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("TOKEN"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shield, err := sandbox.NewShield(home, files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: home, Write: true}}}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(home, "s.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if out, exit := sh(t, s, grant, "exec 2>&1; ! mv .config c2 && ! cat .config/gh/token && ! test -S s.sock"); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
	if err := os.WriteFile(filepath.Join(home, ".env"), []byte("PASSWORD"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, exit := sh(t, s, grant, "! cat .env"); exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
	if err := os.Link(filepath.Join(home, ".env"), filepath.Join(home, "hard")); err != nil {
		t.Fatal(err)
	}
	if out, exit := sh(t, s, grant, "exec 2>&1; ! cat hard && ! cat .env && ! mv hard other && cat plain && echo x >plain"); exit.Code != 0 {
		t.Errorf("a hard link: %+v\n%s", exit, out)
	}
	// One that lies out of reach is no reason to hide anything else.
	if err := os.Rename(filepath.Join(home, "hard"), filepath.Join(root, "hard")); err != nil {
		t.Fatal(err)
	}
	if out, exit := sh(t, s, grant, "exec 2>&1; ! cat .env && cat plain"); exit.Code != 0 {
		t.Errorf("a hard link outside: %+v\n%s", exit, out)
	}
}
