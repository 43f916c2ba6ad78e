//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// project is a working tree as people have them: a repository with submodules
// that are checked out, not checked out, and removed, and a repository that it
// knows nothing of. Its own git commands would leave a mark outside if one of
// them went by what a program wrote.
type project struct {
	t          *testing.T
	root, mark string
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	dir := t.TempDir()
	p := &project{t: t, root: filepath.Join(dir, "top"), mark: filepath.Join(dir, "mark")}
	source := mkdir(t, dir, "source")
	p.git(source, "init", "-q")
	p.write(filepath.Join(source, "file"), "x")
	p.git(source, "add", ".")
	p.git(source, "commit", "-qm", "x")
	mkdir(t, p.root)
	p.git(p.root, "init", "-q")
	for _, name := range []string{"file", "src/file", "conf/.env", ".gitignore"} {
		p.write(filepath.Join(p.root, name), "nested\nhooked\nconf/.env\n")
	}
	for _, name := range []string{"vendor/full", "vendor/empty", "gone", "deep/down/gone"} {
		p.git(p.root, "submodule", "--quiet", "add", source, name)
	}
	p.git(p.root, "add", ".")
	p.git(p.root, "commit", "-qm", "x")
	p.git(p.root, "submodule", "--quiet", "deinit", "-f", "vendor/empty", "gone", "deep/down/gone")
	for _, name := range []string{"gone", "deep"} {
		if err := os.RemoveAll(filepath.Join(p.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.git(p.root, "clone", "-q", source, "nested/repo")
	p.git(p.root, "clone", "-q", source, "hooked")
	p.git(filepath.Join(p.root, "hooked"), "config", "core.hooksPath", ".hooks")
	return p
}

// copy is the same once more: making it takes long.
func (p *project) copy(t *testing.T) *project {
	t.Helper()
	dir := t.TempDir()
	other := &project{t: t, root: filepath.Join(dir, "top"), mark: filepath.Join(dir, "mark")}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", p.root, other.root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return other
}

func (p *project) write(name, text string) {
	p.t.Helper()
	mkdir(p.t, filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) command(dir string, args ...string) ([]byte, error) {
	c := exec.CommandContext(p.t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(p.root))
	return c.CombinedOutput()
}

func (p *project) git(dir string, args ...string) {
	p.t.Helper()
	if out, err := p.command(dir, args...); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// ran tells which of a person's git commands did what a program wanted.
func (p *project) ran() []string {
	var list []string
	for _, args := range []string{"status", "diff", "diff HEAD", "status --porcelain -uall", "submodule status", "add -A", "status", "diff --cached", "commit -qm x", "status", "log -1", "stash"} {
		_, _ = p.command(p.root, strings.Fields(args)...) // it may fail on what it finds
		if os.Remove(p.mark) == nil {
			list = append(list, "git "+args)
		}
	}
	return list
}

// swap is what a program does to have a git command outside run something.
const swap = `
exec 2>&1
export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git config --global --add safe.directory '*'
evil() {
	mkdir -p "$1" && (cd "$1" && git init -q . && echo e >e && git add e && git commit -qm e
	printf '[core]\n\tfsmonitor = "touch MARK; false"\n[diff]\n\texternal = "touch MARK"\n' >>.git/config
	mkdir -p .git/hooks; printf '#!/bin/sh\ntouch MARK\n' >.git/hooks/post-index-change; chmod +x .git/hooks/post-index-change)
}
`

// TestNothingRunsLater: whatever a program does in a granted directory, the
// person's own git commands at its top do not run what it wrote.
func TestNothingRunsLater(t *testing.T) {
	shield, err := sandbox.NewShield("", files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: shield})
	whole := newProject(t)
	for _, c := range []struct{ name, script string }{
		{"a submodule that is checked out", "rm -rf vendor/full; mv vendor/full x; evil vendor/full"},
		{"its settings", "evil vendor/full; printf '[core]\\n\\tfsmonitor = \"touch MARK; false\"\\n' >>.git/modules/vendor/full/config"},
		{"its pointer", "evil x; rm -f vendor/full/.git; printf 'gitdir: ../../x/.git\\n' >vendor/full/.git; mv x/.git vendor/full/.git"},
		{"the directory above it", "mv vendor v2; mkdir -p vendor; evil vendor/full; evil vendor/empty"},
		{"a link for the directory above it", "mv vendor v2; evil other/full; evil other/empty; ln -s other vendor; ln -sfn other vendor"},
		{"an exchange of the two", `evil v2/full; evil v2/empty; python3 -c '
import ctypes
ctypes.CDLL(None).renameat2(-100, b"v2", -100, b"vendor", 2)'`},
		{"one that is not checked out", "evil vendor/empty"},
		{"one that was removed", "evil gone; evil deep/down/gone"},
		{"one that was removed, another way", "evil x; mv x gone; mv x/.git gone/; mv deep y; mkdir -p y/down; evil y/down/gone; mv y deep"},
		{"a repository of its own", "mv nested n2; evil nested/repo"},
		{"the repository itself", "mv .git g2; rm -rf .git; evil ."},
		{"its settings, by all names", "printf '[core]\\n\\tfsmonitor = \"touch MARK; false\"\\n' | tee -a .git/config .git/config.worktree .git/modules/*/config .git/modules/*/*/config; ln .git/config c; ln .git/HEAD .git/x; touch .git/commondir"},
		{"all of it elsewhere", "mkdir n; mv * n/; mv .git n/; mv n/* .; evil vendor/empty"},
		{"from a directory that was opened before", "cd vendor; exec 9<.; cd ..; mv vendor v2; evil vendor/full; cd /proc/self/fd/9 && evil full; evil empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsPython(t, c.script)
			p := whole.copy(t)
			script := strings.ReplaceAll(swap+c.script, "MARK", p.mark)
			out, _ := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}}, script)
			if ran := p.ran(); len(ran) > 0 {
				t.Errorf("these ran what the program wrote: %q\n%s", ran, out)
			}
		})
	}
	t.Run("the tricks work outside", func(t *testing.T) {
		p := whole.copy(t)
		script := strings.ReplaceAll(swap+"cd "+p.root+"; rm -rf vendor/empty; evil vendor/empty", "MARK", p.mark)
		c := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(script, "HOME=/tmp", "HOME="+t.TempDir()))
		if out, err := c.CombinedOutput(); err != nil || len(p.ran()) == 0 {
			t.Errorf("nothing ran: %v\n%s", err, out)
		}
	})
	t.Run("a directory below the repository", func(t *testing.T) {
		p := whole.copy(t)
		out, _ := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Join(p.root, "vendor"), Write: true}}}, strings.ReplaceAll(swap+"evil empty; mv full f2; evil full", "MARK", p.mark))
		if ran := p.ran(); len(ran) > 0 {
			t.Errorf("these ran what the program wrote: %q\n%s", ran, out)
		}
	})
	t.Run("the rest can be written", func(t *testing.T) {
		p := whole.copy(t)
		if out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}}, "exec 2>&1; set -e; echo y >vendor/full/file; touch vendor/x conf/y nested/z nested/repo/w; mkdir a; mv a b; mv src s2; rm -rf s2; git status --short"); exit.Code != 0 {
			t.Errorf("%+v\n%s", exit, out)
		}
	})
}

// TestNewRepositories: a repository that a program made is set aside if git
// would start something there, and left alone if not.
func TestNewRepositories(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	whole := newProject(t)
	set := func(line string) string { return "git init -q new; printf '" + line + "\\n' >>new/.git/config" }
	for _, c := range []struct {
		name, first, second, dir string // the scripts of two programs, and where a person then uses git
		left                     bool
		around                   string // the repository around it; empty for that of the project
	}{
		{name: "git init", first: "git init -q new; touch new/x", dir: "new", left: true},
		{name: "git clone", first: "git clone -q nested/repo new", dir: "new", left: true},
		{name: "a bare clone", first: "git clone -q --bare nested/repo new", dir: "new", left: true},
		{name: "a first commit", first: "git init -q new; cd new; touch x; git add x; git commit -qm x; git branch y; git tag z", dir: "new", left: true},
		{name: "what other tools write", first: "git init -q new; cd new; for s in branch.main.vscode-merge-base branch.main.gh-merge-base branch.main.description remote.origin.gh-resolved; do git config $s main; done; git config push.default simple; git config fetch.prune true; git config color.ui auto; git config lfs.repositoryformatversion 0", dir: "new", left: true},
		{name: "a program for a remote", first: "git init -q new; git -C new config branch.main.remote 'ext::touch MARK'; evil new/x", dir: "new"},
		{name: "in a new directory", first: "evil new", dir: "new"},
		{name: "in an old one", first: "evil src", dir: "src"},
		{name: "deep down", first: "evil a/b/c/d", dir: "a/b/c/d"},
		{name: "one in the other", first: "evil a; evil a/b; evil a/.git/c", dir: "a/b"},
		{name: "by a file", first: "evil new; mv new/.git meta; echo 'gitdir: ../meta' >new/.git", dir: "new"},
		{name: "by a link", first: "evil new; mv new/.git meta; ln -s ../meta new/.git", dir: "new"},
		{name: "by a file, later", first: "git init -q new; mv new/.git new/meta; echo 'gitdir: meta' >src/.git; echo 'gitdir: ../new/meta' >src/.git", second: "echo '[core] fsmonitor = \"touch MARK; false\"' >>new/meta/config", dir: "src", left: true},
		{name: "a bare one", first: "evil x; mv x/.git new; printf '[core]\n\tbare = false\n\tworktree = ..\n' >>new/config", dir: "new"},
		{name: "the directory is one", first: "git init -q --bare x; mv x/* src/; printf '[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch MARK; false\"\n' >>src/config", dir: "src"},
		{name: "a common directory", first: "evil x; git init -q new; mv x/.git/* x; printf '../../x\n' >new/.git/commondir; rm new/.git/config", dir: "new"},
		{name: "a pager", first: set("[core]\n\tpager = touch MARK"), dir: "new"},
		{name: "an alias", first: set("[alias]\n\tstatus = !touch MARK"), dir: "new"},
		{name: "more settings", first: set("[include]\n\tpath = /x/y"), dir: "new"},
		{name: "settings on one line", first: set("[user]name=x[core]fsmonitor=touch MARK"), dir: "new"},
		{name: "a line that goes on", first: set("[user]\n\tname = x\\\\\n[core]\n\tfsmonitor = touch MARK"), dir: "new"},
		{name: "a helper", first: set("[credential]\n\thelper = !touch MARK"), dir: "new"},
		{name: "another transport", first: set("[remote \"origin\"]\n\turl = ext::sh -c touch% MARK"), dir: "new"},
		{name: "another transport in quotes", first: set("[remote \"origin\"]\n\turl = ext:\":\"sh -c touch% MARK"), dir: "new"},
		{name: "the granted directory itself", first: "mkdir objects refs; touch HEAD", second: "touch file", dir: "src"},
		{name: "settings of a work tree", first: "git init -q new; printf '[extensions]\n\tworktreeConfig = true\n' >>new/.git/config; printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >new/.git/config.worktree", dir: "new"},
		{name: "a hook", first: "git init -q new; printf '#!/bin/sh\ntouch MARK\n' >new/.git/hooks/post-index-change; chmod +x new/.git/hooks/*", dir: "new"},
		{name: "hooks by a link", first: "git init -q new; rm -rf new/.git/hooks; mkdir h; printf '#!/bin/sh\ntouch MARK\n' >h/post-index-change; chmod +x h/*; ln -s ../../h new/.git/hooks", dir: "new"},
		{name: "settings with another name", first: "git init -q new; ln new/.git/config c", second: "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>c", dir: "new"},
		{name: "settings by a link", first: "git init -q new; mv new/.git/config c; ln -s ../../c new/.git/config", second: "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>c", dir: "new"},
		{name: "by a second program", first: "git init -q new", second: "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>new/.git/config; mv new n2; evil new", dir: "new", left: true},
		{name: "put back", first: "evil new", second: "put() { rm -rf $1/.git/HEAD; mv $1/.git/HEAD.set-aside* $1/.git/HEAD; }; put new; cp -r new n2; rm -rf new; mv n2 new; put new; cp -r new n3; put n3; ln -s n3 l", dir: "new"},
		{name: "with a submodule", first: "git init -q a; cd a; touch x; git add x; git commit -qm x; cd ..; git init -q b; cd b; git -c protocol.file.allow=always submodule --quiet add ../a lib; git commit -qm x", dir: "b/lib", left: true},
		{name: "a common directory past a link", first: "git init -q new; mkdir -p other/d; evil other/common; mv other/common/.git/* other/common/; rm other/common/HEAD; ln -s ../../other/d new/.git/lnk; echo lnk/../common >new/.git/commondir; rm new/.git/config", dir: "new"},
		{name: "a common directory, later", first: "git init -q new; rm new/.git/config; echo ../../common >new/.git/commondir", second: "evil x; rm x/.git/HEAD; mv x/.git common", dir: "new"},
		{name: "by a file, to what is made later", first: "mkdir new; echo 'gitdir: ../meta' >new/.git", second: "evil x; mv x/.git meta", dir: "new"},
		{name: "by a link to a file", first: "mkdir -p new q/r; git init -q good; evil x; mv x/.git good/.git/inner; echo 'gitdir: ../good/.git/inner' >q/r/file; ln -s ../q/r/file new/.git", dir: "new"},
		{name: "inside of another", first: "git init -q good; evil x; mv x/.git good/.git/inner; ln -s good/.git/inner new; printf '[core]\n\tbare = false\n\tworktree = ..\n' >>new/config", dir: "new", around: "good"},
		{name: "too deep", first: "d=$(printf 'a/%.0s' $(seq 140)); evil $d; ln -s $d new", dir: "new"},
		{name: "too deep, later", first: "d=deep/$(printf 'a/%.0s' $(seq 140)); mkdir -p $d", second: "mv deep old; d=deep/$(printf 'a/%.0s' $(seq 140)); evil $d; ln -s $d new", dir: "new"},
		{name: "below a protected name", first: "evil .ssh/x; ln -s .ssh/x new", dir: "new"},
		{name: "below another protected name", first: "evil h/my.env; ln -s h/my.env new", dir: "new"},
		{name: "with names in the way", first: "evil new; mkdir new/.git/HEAD.set-aside; for i in $(seq 2 99); do mkdir new/.git/HEAD.set-aside.$i; done", dir: "new"},
		{name: "closed", first: "evil new; chmod 555 new/.git", dir: "new"},
		{name: "closed above", first: "evil a/b; ln -s a/b new; chmod 311 a", dir: "new"},
		{name: "behind a pipe", first: "git init -q a; mkfifo a/.git/commondir; evil new", dir: "new"},
		{name: "behind a file without end", first: "git init -q a; truncate -s 1G a/.git/commondir; evil new", dir: "new"},
		{name: "an empty common directory, later", first: "git init -q new; mkdir common; rm -rf new/.git/config new/.git/objects; echo ../../common >new/.git/commondir", second: "evil x; mv x/.git/* common; rm common/HEAD", dir: "new"},
		{name: "in what looks like a placeholder", first: "mkdir x; mkdir -m 1755 x/.github x/.github/s; evil x/.github/s", dir: "x/.github/s"},
		{name: "in a placeholder", first: "mkdir -m 1755 .github/foo; evil .github/foo", dir: ".github/foo"},
		{name: "it can only be entered", first: "evil new; chmod 111 new/.git", dir: "new"},
		{name: "a pipe for settings", first: "evil new; git init -q a; rm a/.git/config; mkfifo a/.git/config", dir: "new"},
		{name: "files elsewhere, in quotes", first: "git init -q new; mkdir -p 'new/.git/\"..'/'x\"'; echo 'gitdir: ../../' >'new/.git/\"../x\"/.git'; printf '[core]\n\tworktree = \"../x\"\n' >>new/.git/config", dir: "new"},
		{name: "a work tree", first: "git clone -q nested/repo new; cd new; git worktree add -q ../wt", dir: "new", left: true},
		{name: "in what looks like one for an agent", first: "mkdir x; mkdir -m 1755 x/.claude; evil x/.claude/r", dir: "x/.claude/r"},
		{name: "a work tree elsewhere", first: set("[core]\n\tworktree = ../../.."), dir: "new"},
		{name: "over a link that is led elsewhere later", first: "git init -q --bare good/x; ln -s good lnk; mkdir -p new/.git; cp good/x/HEAD new/.git; echo ../../lnk/x >new/.git/commondir", second: "rm lnk; evil e; mkdir evil; mv e/.git evil/x; rm evil/x/HEAD; ln -s evil lnk", dir: "new"},
		{name: "over a link beside it", first: "git init -q --bare common; mkdir d; ln -s d lnk; mkdir -p new/.git; cp common/HEAD new/.git; echo ../../lnk/../common >new/.git/commondir", second: "evil e; mkdir -p o/d; mv e/.git o/common; rm o/common/HEAD lnk; ln -s o/d lnk", dir: "new"},
		{name: "by a link over a link", first: "git init -q --bare good/x; ln -s good lnk; mkdir new; ln -s ../lnk/x new/.git", second: "rm lnk; evil e; mkdir evil; mv e/.git evil/x; ln -s evil lnk", dir: "new"},
		{name: "out of what is granted", first: "mkdir -p new/.git; echo ref: refs/heads/x >new/.git/HEAD; echo OUTSIDE >new/.git/commondir", dir: "new"},
		{name: "by a file, out of what is granted", first: "mkdir new; echo gitdir: OUTSIDE >new/.git", dir: "new"},
		{name: "by a set-aside one", first: "evil x", second: "mkdir -p new/.git; echo ref: refs/heads/master >new/.git/HEAD; echo ../../x/.git >new/.git/commondir", dir: "new"},
		{name: "another work tree of one with hooks", first: "mkdir -p new/.hooks; echo 'gitdir: ../hooked/.git' >new/.git; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file", dir: "new"},
		{name: "the same by a link", first: "mkdir -p new/.hooks; ln -s ../hooked/.git new/.git; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file", dir: "new"},
		{name: "the same by a common directory", first: "mkdir -p new/.hooks new/.git; cp hooked/.git/HEAD hooked/.git/index new/.git; echo ../../hooked/.git >new/.git/commondir; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file", dir: "new"},
		{name: "by one without a HEAD", first: "evil x; rm x/.git/HEAD", second: "mkdir -p new/.git; echo ref: refs/heads/master >new/.git/HEAD; echo ../../x/.git >new/.git/commondir", dir: "new"},
		{name: "it can be listed but not entered", first: "evil a/new; chmod 444 a", dir: "a/new"},
		{name: "a rebase to go on with", first: "git init -q new; mkdir new/.git/rebase-merge; echo 'exec touch MARK' >new/.git/rebase-merge/git-rebase-todo", dir: "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := whole.copy(t)
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}}
			// What another program could write: a repository that starts something.
			outside := filepath.Join(filepath.Dir(p.root), "outside")
			p.git(filepath.Dir(p.root), "init", "-q", "--bare", outside)
			p.write(filepath.Join(outside, "config"), "[core]\n\tbare = false\n\tfsmonitor = \"touch "+p.mark+"; false\"\n")
			var said []string
			for _, script := range []string{c.first, c.second} {
				if script == "" {
					continue
				}
				_, exit := sh(t, s, grant, strings.NewReplacer("MARK", p.mark, "OUTSIDE", outside).Replace(swap+script))
				said = append(said, exit.Notes...)
			}
			dir := filepath.Join(p.root, c.dir)
			for _, args := range []string{"status", "diff", "log", "fetch", "add -A", "status", "commit -qm x", "rebase --continue"} {
				out, err := p.command(dir, strings.Fields(args)...)
				if args == "status" && c.left && err != nil && !strings.Contains(string(out), "work tree") {
					t.Errorf("git %s: %v\n%s", args, err, out)
				}
			}
			if _, err := os.Stat(p.mark); err == nil {
				t.Errorf("it ran; this was said: %q", said)
			}
			if top, err := p.command(dir, "rev-parse", "--absolute-git-dir"); err != nil || c.left == (strings.TrimSpace(string(top)) == filepath.Join(p.root, c.around, ".git")) {
				t.Errorf("the repository there is %s, error %v; this was said: %q", top, err, said)
			}
			if (len(said) == 0) != c.left {
				t.Errorf("%q", said)
			}
		})
	}
}
