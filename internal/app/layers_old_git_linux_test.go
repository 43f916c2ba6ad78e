package app

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// treeGround is a working tree as people have them: a repository with submodules that
// are checked out, not checked out, and removed, and repositories that it knows nothing of.
func treeGround(g *ground) {
	if _, err := exec.LookPath("git"); err != nil {
		g.t.Skip("there is no git on this machine")
	}
	source := filepath.Join(g.base, "source")
	g.shell(g.base, "rm -rf work/.git; git init -q source; cd source; echo x > file; git add .; git commit -qm x")
	g.put(map[string]string{"file": "nested\nhooked\n.env\n", "src/file": "x", ".gitignore": "nested\nhooked\n.env\n"})
	g.shell(g.dir, "git init -q; for n in vendor/full vendor/empty gone deep/down/gone; do git submodule --quiet add "+source+" $n; done; git add .; git commit -qm x; git submodule --quiet deinit -f vendor/empty gone deep/down/gone; rm -r gone deep;"+
		"git clone -q "+source+" nested/repo; git clone -q "+source+" hooked; git -C hooked config core.hooksPath .hooks; git -C nested/repo config user.name a")
	// What another program could write: a repository that starts something.
	g.shell(g.outside, "git init -q --bare starts; printf '[core]\n\tbare = false\n\tfsmonitor = \"touch "+g.mark+"; false\"\n' > starts/config")
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

// swapped has a program do all that, and the person then use git in some directories.
func (g *ground) swapped(name, dir string, scripts ...string) {
	g.t.Helper()
	g.git = []string{".", dir}
	lines := make([]string, len(scripts))
	for i, script := range scripts {
		lines[i] = swap + script
	}
	g.try(name, lines...)
}

// TestOldRepositories: whatever a program does in a granted directory, the person's own git
// commands there do not run what it wrote, and write, copy and read nothing for it.
func TestOldRepositories(t *testing.T) {
	onGround(t, writtenGround, nil, func(g *ground) {
		g.oldOnes()
		g.newOnes()
		g.writtenOnes()
		g.oddOnes()
	})
}

// oldOnes are attacks on repositories that are there.
func (g *ground) oldOnes() {
	for i, c := range []struct{ name, script string }{
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
		if g.skips(i, 3) {
			continue
		}
		g.swapped(c.name, "vendor/full", c.script)
	}
	if g.mode == "default" {
		return
	}
	// The tricks work where nobody judges them, and that is seen.
	g.shell(g.dir, "HOME="+g.t.TempDir()+"; "+strings.ReplaceAll(g.words(swap), "HOME=/tmp", "HOME=$HOME")+"rm -rf vendor/empty; evil vendor/empty")
	g.useGit(g.dir)
	if _, err := os.Lstat(g.mark); err != nil {
		g.t.Error("nothing ran that a program wrote outside of a layer")
	}
	g.restore("outside")
}

// indexOf makes an index with names that git would refuse.
func indexOf(t *testing.T, hash string, names ...string) string {
	t.Helper()
	id, err := hex.DecodeString(hash)
	if err != nil {
		t.Fatal(err)
	}
	text := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(names)))
	for _, name := range names {
		e := make([]byte, 40, 128)
		binary.BigEndian.PutUint32(e[24:], 0o100755)
		e = append(append(append(e, id...), 0, byte(len(name))), name...)
		text = append(text, append(e, make([]byte, 8-len(e)%8)...)...)
	}
	return string(text) + strings.Repeat("\x00", len(id))
}
