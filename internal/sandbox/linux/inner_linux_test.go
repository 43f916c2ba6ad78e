//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

func link(t testing.TB, root string, links map[string]string) {
	t.Helper()
	for name, to := range links {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, full); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLinksInWhatIsObeyed: where a hook or a file of settings is a link, a
// program can change neither what it leads to nor where; also if the repository lies
// around what is granted.
func TestLinksInWhatIsObeyed(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".git/config": "[core]\n\thooksPath = .githooks\n", ".git/hooks/a.sample": "x", "scripts/pre-commit": "x",
		"shared/settings.json": "x", "more/real/tasks.json": "x", "hk/commit-msg": "x", "run/husky": "x", "ci/build.yml": "x", "deep/skill/run.sh": "x", "AGENTS.md": "x", "src/main.go": "x",
		"nested/.git/HEAD": "x", "nested/.git/config": "", "kh/pre-commit": "x", "chain/end": "x", ".githooks/x": "x",
	})
	link(t, root, map[string]string{
		".git/hooks/pre-commit": "../../scripts/pre-commit", ".git/hooks/pre-push": "../../scripts/missing", "nested/.git/hooks": "../../kh", ".githooks/commit-msg": "../hk/commit-msg",
		".claude/settings.json": "../shared/settings.json", ".claude/skills/s": "../../deep/skill", ".claude/CLAUDE.md": "../AGENTS.md", ".claude/all": "..", "more/way": "real", "src/.vscode/tasks.json": "../../more/way/tasks.json",
		".husky/pre-commit": root + "/run/husky", ".github/workflows/ci.yml": "../../ci/build.yml", "kh/post-merge": "../chain/next", "chain/next": "end",
	})
	before := tree(t, root)
	attacks := []string{"rm more/way", "ln -sfn src more/way", "rm chain/next", "mv scripts s", "mv kh k", "mv deep d", "rm -r kh"}
	for _, file := range []string{"scripts/pre-commit", "kh/pre-commit", "kh/new", "hk/commit-msg", "shared/settings.json", "deep/skill/run.sh", "deep/skill/new", "more/real/tasks.json", "run/husky", "ci/build.yml", "chain/end"} {
		attacks = append(attacks, "echo evil >> "+file, "echo evil > n && mv n "+file, "mkdir -p "+file+"/x", "rm "+file, "ln -sf /tmp/x "+file)
	}
	var script strings.Builder
	script.WriteString("exec 2>/dev/null\n")
	for _, a := range attacks {
		script.WriteString("(" + a + ") && echo 'DONE " + a + "'; rm -f n\n")
	}
	script.WriteString("set -e; echo y > src/main.go; echo x > AGENTS.md; echo y > scripts/other; rm scripts/other; printf x > src/main.go; printf x > AGENTS.md; cat scripts/pre-commit kh/pre-commit >/dev/null")
	s := open(t, Config{Shield: obeyedShield(t)})
	for range 2 { // the second time from memory
		out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, script.String())
		if strings.Contains(out, "DONE") || exit.Code != 0 {
			t.Errorf("%+v: these worked:\n%s", exit, out)
		}
		same(t, root, before)
	}
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Join(root, "scripts"), Write: true}}}, "exec 2>/dev/null; echo evil >> pre-commit && echo DONE; echo x > other && rm other")
	if strings.Contains(out, "DONE") || exit.Code != 0 {
		t.Errorf("in a part of a repository: %+v %s", exit, out)
	}
	same(t, root, before)
}

// TestFurtherNamesMadeBefore: a hard link that was made before a file was
// hidden with its directory, or put where it is obeyed, opens no way to it.
func TestFurtherNamesMadeBefore(t *testing.T) {
	root := tempProject(t)
	put(t, root, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".git/config": "[core]\n\thooksPath = .githooks\n", ".git/hooks/pre-commit": "x", ".githooks/y": "x",
		".vscode/tasks.json": "x", ".envrc": "x", ".aws/credentials": "hush", "sec/deep/k": "hush", "locked/f": "x", "scripts/s": "x", "c/plain": "x", "c/pair": "x", "src/.idea/x": "x",
	})
	link(t, root, map[string]string{".git/hooks/pre-push": "../../scripts/s"})
	for name, to := range map[string]string{
		"c/config": ".git/config", "c/hook": ".git/hooks/pre-commit", "c/y": ".githooks/y", "c/tasks": ".vscode/tasks.json", "c/envrc": ".envrc", "c/aws": ".aws/credentials", "c/k": "sec/deep/k", "c/f": "locked/f",
		"c/s": "scripts/s", "c/pair2": "c/pair", "c/idea": "src/.idea/x",
	} {
		if err := os.Link(filepath.Join(root, to), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Denied: []string{root + "/sec/**"}, Fixed: []string{root + "/locked/**"}}
	s := open(t, Config{Shield: obeyedShield(t)})
	for range 2 { // the second time from memory
		out, exit := sh(t, s, grant, "cd c; for f in config hook y tasks envrc aws k f s idea; do echo evil >> $f && echo DONE $f; rm $f && echo DONE rm $f; done 2>/dev/null; cat aws k 2>/dev/null; set -e; cat config hook tasks >/dev/null; echo z > plain; echo z > pair2")
		if strings.Contains(out, "DONE") || strings.Contains(out, "hush") || exit.Code != 0 {
			t.Errorf("%+v: these worked:\n%s", exit, out)
		}
	}
	// One more is made in a directory that is remembered.
	if err := os.Link(filepath.Join(root, "sec", "deep", "k"), filepath.Join(root, "c", "k2")); err != nil {
		t.Fatal(err)
	}
	if out, _ := sh(t, s, grant, "cat c/k2"); strings.Contains(out, "hush") {
		t.Errorf("a new name: %s", out)
	}
}

// TestOwnGitSettings: what a person's own settings of git point at can only be read
// wherever it lies, also where the granted directory is no repository.
func TestOwnGitSettings(t *testing.T) {
	root, home := tempProject(t), tempProject(t)
	put(t, root, map[string]string{"my.inc": "x", "hooks/pre-commit": "x", "tools/clean": "x", "src/a": "x"})
	put(t, home, map[string]string{".gitconfig": "[include]\n\tpath = " + root + "/my.inc\n[include]\n\tpath = " + root + "/missing.inc\n", "xdg/git/config": "[core]\n\thooksPath = " + root + "/hooks\n\tpager = " + root + "/tools/clean\n"})
	shield := obeyedShield(t)
	shield.Git.Home = home
	shield.Git.Settings = gitconfig.Files(home, func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return filepath.Join(home, "xdg")
		}
		return ""
	})
	s := open(t, Config{Shield: shield})
	before := tree(t, root)
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>/dev/null; for f in my.inc hooks/pre-commit hooks/new tools/clean; do echo evil >> $f && echo DONE $f; done; mv hooks h && echo DONE; set -e; printf x > src/a; echo x > tools/other; rm tools/other")
	if strings.Contains(out, "DONE") || exit.Code != 0 {
		t.Errorf("%+v: these worked:\n%s", exit, out)
	}
	same(t, root, before)
}
