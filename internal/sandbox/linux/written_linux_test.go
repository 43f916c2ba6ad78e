//go:build amd64 || arm64

package linux

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// indexOf makes an index with names that git would refuse.
func indexOf(t *testing.T, hash string, names ...string) string {
	t.Helper()
	id, err := hex.DecodeString(hash)
	if err != nil {
		t.Fatal(err)
	}
	text := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(names)))
	for _, name := range names {
		entry := make([]byte, 40, 128)
		binary.BigEndian.PutUint32(entry[24:], 0o100755)
		entry = append(append(append(entry, id...), 0, byte(len(name))), name...)
		text = append(text, append(entry, make([]byte, 8-len(entry)%8)...)...)
	}
	return string(text) + strings.Repeat("\x00", len(id))
}

// TestGitWritesNowhereElse: whatever repository a program made, a person's git
// commands in it write, copy and run nothing that it could not reach itself; and
// repositories that git made are left alone.
func TestGitWritesNowhereElse(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	whole := &project{t: t, root: filepath.Join(t.TempDir(), "top")}
	mkdir(t, whole.root, "old")
	old := filepath.Join(whole.root, "old")
	whole.git(old, "init", "-q")
	whole.write(filepath.Join(old, "file"), "x")
	whole.git(old, "add", ".")
	whole.git(old, "commit", "-qm", "x")
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	const work = "git init -q new; cd new; touch file; git add file; git commit -qm x; "
	for _, c := range []struct {
		name, first, second string // the scripts of two programs
		dir                 string // where the person uses git; new if it is empty
		left                bool   // it stays as it is
	}{
		{name: "git init", first: "git init -q new", left: true},
		{name: "commits, a stash, a tag", first: work + "echo x >file; git stash -q; git stash pop -q; git tag a; git branch b", left: true},
		{name: "a clone with links", first: "git init -q x; cd x; touch file; git add .; git commit -qm x; cd ..; git clone -q -l x new; find new/.git/objects -links +1 | grep -q .", left: true},
		{name: "a clone from beside it", first: "mkdir -p a/b; cd a; git clone -q ../old b/c; cd ..; git -C a/b/c remote get-url origin | grep -qF ..", dir: "a/b/c", left: true},
		{name: "a clone that shares", first: "git clone -q -s old new", left: true},
		{name: "another work tree", first: work + "git worktree add -q ../wt", dir: "wt", left: true},
		{name: "a submodule", first: work + "git -c protocol.file.allow=always submodule --quiet add $PWD/../old lib; git commit -qm y", dir: "new/lib", left: true},
		{name: "a split index", first: work + "git update-index --split-index", left: true},
		{name: "other hashes", first: "git init -q --object-format=sha256 new; cd new; touch x; git add x", left: true},
		{name: "a conflict", first: work + "git config rerere.enabled true; git checkout -qb b; echo b >file; git commit -qam b; git checkout -q -; echo a >file; git commit -qam a; ! git merge b; test -s .git/MERGE_RR", left: true},
		{name: "a mirror", first: "git clone -q --mirror old new; git -C new config core.bare", left: true},
		{name: "a clone of a build", first: "git clone -q --config advice.detachedHead=false --no-checkout old new; cd new; git checkout -q HEAD^{commit}", left: true},
		{name: "a sparse index", first: work + "git config index.sparse true; git config core.splitIndex false; git config fetch.parallel 0", left: true},
		{name: "a remote beside it", first: "git init -q --bare r.git; " + work + "git remote add a ./../r.git; git remote add origin ../r.git; git push -q -u origin HEAD; git remote add c https://host/x; git remote add d host:x; git remote add e /tmp/of-the-program/x", left: true},

		{name: "a message by a link", first: work + "ln -sf OUT/file .git/COMMIT_EDITMSG; echo evil >.git/MERGE_MSG"},
		{name: "a log by a link", first: work + "rm .git/logs/HEAD; ln -s OUT/file .git/logs/HEAD"},
		{name: "a directory by a link", first: work + "mv .git/logs ..; ln -s OUT .git/logs"},
		{name: "what was fetched by a link", first: "git clone -q old new; ln -s OUT/file new/.git/FETCH_HEAD"},
		{name: "a graph by a link", first: work + "ln -s OUT/file .git/objects/info/commit-graph"},
		{name: "in a work tree", first: work + "git worktree add -q ../wt; ln -s OUT/file .git/worktrees/wt/COMMIT_EDITMSG; ln -s OUT/file .git/worktrees/wt/FETCH_HEAD", dir: "wt"},
		{name: "a message with another name", first: work + "echo x >../script; ln -f ../script .git/COMMIT_EDITMSG"},
		{name: "a pipe", first: work + "mkfifo .git/unused"},
		{name: "pipes where directories belong", first: work + "mkfifo .git/remotes; rm -rf .git/branches; mkfifo .git/branches; rm -rf .git/hooks; mkfifo .git/hooks"},
		{name: "names that lead out", first: "git init -q new; cp evil.idx new/.git/index; cp -r objects.dir/* new/.git/objects"},
		{name: "names that lead out, in a split index", first: work + "git update-index --split-index; cp ../evil.idx .git/sharedindex.*; cp -r ../objects.dir/* .git/objects"},
		{name: "what a merge left", first: work + "git config rerere.enabled true; printf '%040d\\t../../out/file\\0' 1 >.git/MERGE_RR"},
		{name: "in one that runs programs", first: "mkdir -p a/.git/x; printf '[core]\\n\\tfsmonitor = x\\n' >a/.git/config; evil a/.git/x/y; ln -s a/.git/x/y new"},
		{name: "in one that is set aside", first: "evil a; evil a/.git/x/y; ln -s a/.git/x/y new"},
		{name: "without HEAD, in one", first: "evil a; evil a/.git/x/y; rm a/.git/x/y/.git/HEAD; ln -s a/.git/x/y new"},
		{name: "without HEAD", first: "evil new; rm new/.git/HEAD"},
		{name: "at the top, without HEAD", first: "evil x; mv x/.git .; rm .git/HEAD", dir: "."},
		{name: "set aside", first: "evil new"},
		{name: "files elsewhere, over a link", first: "git init -q --bare g; mkdir tree; echo 'gitdir: ../g' >tree/.git; ln -s tree new; git -C g config core.bare false; git -C g config core.worktree ../new; cd tree; echo evil >file; git add .; git commit -qm x; rm file", second: "rm new; ln -s OUT new", dir: "tree"},
		{name: "files elsewhere, by a detour", first: "git init -q --bare g; mkdir -p tree d; echo 'gitdir: ../g' >tree/.git; git -C g config core.bare false; git -C g config core.worktree ../d/../tree; cd tree; echo evil >file; git add .; git commit -qm x; rm file", second: "rmdir d; ln -s OUT/tree d", dir: "tree"},
		{name: "a common directory by a detour", first: "git init -q --bare common; mkdir d new new/.git; cp common/HEAD new/.git; echo ../../d/../common >new/.git/commondir", second: "evil e; mkdir -p o/d; mv e/.git o/common; rm o/common/HEAD; rmdir d; ln -s o/d d"},
		{name: "by a file, by a detour", first: "git init -q x; mkdir d new; mv x/.git g; echo 'gitdir: ../d/../g' >new/.git", second: "evil e; mkdir -p o/d; mv e/.git o/g; rmdir d; ln -s o/d d"},
		{name: "a remote that was not granted", first: work + "git remote add origin OUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{name: "by its address", first: work + "git remote add origin file://OUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{name: "by its address with a host", first: work + "git remote add origin file://localhostOUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{name: "by another remark", first: work + "printf '[remote \"origin\"]\\n\\turl = OUT/private#x\\n\\tfetch = +refs/*:refs/x/*\\n' >>.git/config"},
		{name: "a remote over a link", first: work + "ln -s OUT/private ../r; git remote add origin ../r; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{name: "a remote that is led elsewhere", first: work + "git remote add origin ../r; git config remote.origin.fetch '+refs/*:refs/x/*'", second: "ln -s OUT/private r"},
		{name: "a remote that is another for each", first: work + "git remote add origin /proc/self/cwd/r; git config remote.origin.fetch '+refs/*:refs/x/*'; ln -s OUT/private r"},
		{name: "a remote by a thread", first: work + "git remote add origin /proc/thread-self/cwd/r; git config remote.origin.fetch '+refs/*:refs/x/*'; ln -s OUT/private r"},
		{name: "objects that are others for each", first: work + "echo /proc/self/cwd/r/.git/objects >.git/objects/info/alternates; ln -s OUT/private r"},
		{name: "a remote that is yet to come", first: work + "git remote add origin /media/disk/private"},
		{name: "an address that another program speaks for", first: work + "git remote add origin evil://x/y"},
		{name: "refs elsewhere", first: "git init -q new; printf '[core]\\n\\trepositoryformatversion = 1\\n[extensions]\\n\\trefStorage = files://OUT/tree\\n' >>new/.git/config"},
		{name: "a remote of a branch", first: work + "git config branch.master.remote OUT/private; git config branch.main.remote OUT/private"},
		{name: "a word for a remote", first: work + "git config branch.master.remote r; git config branch.main.remote r", second: "ln -s OUT/private new/r"},
		{name: "objects that are fetched when they are missed", first: work + "git config remote.origin.promisor true; git config remote.origin.url https://host/data; git config extensions.partialClone origin"},
		{name: "a mirror with files", first: work + "git remote add --mirror=push origin ssh://host/x"},
		{name: "files elsewhere, by another blank", first: "git init -q --bare g; mkdir tree; echo 'gitdir: ../g' >tree/.git; nb=$(printf '\\302\\240'); git -C g config core.bare false; git -C g config core.worktree ../tree; cd tree; echo evil >file; git add .; git commit -qm x; rm file; cd ..; sed -i \"s,\\.\\./tree,&$nb,\" g/config; ln -s OUT tree$nb", dir: "tree"},
		{name: "another false", first: work + "printf '[core]\\n\\tfsmonitor = false\\302\\240\\n' >>.git/config"},
		{name: "settings of other programs", first: work + "touch .git/lazygit.yml"},
		{name: "objects that were not granted", first: work + "echo OUT/private/.git/objects >.git/objects/info/alternates"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := whole.copy(t)
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: p.root, Write: true}}}
			out := mkdir(t, filepath.Dir(p.root), "out")
			private := mkdir(t, out, "private")
			p.git(private, "init", "-q")
			p.write(filepath.Join(private, "file"), "SECRET")
			p.git(private, "add", ".")
			p.git(private, "commit", "-qm", "x")
			p.write(filepath.Join(out, "file"), "mine")
			mkdir(t, out, "tree")
			// An index that leads out, with what it wants to write.
			p.write(filepath.Join(p.root, "evil"), "evil")
			blob, err := p.command(old, "hash-object", "--no-filters", filepath.Join(p.root, "evil"))
			if err != nil {
				t.Fatal(err)
			}
			forge := mkdir(t, filepath.Dir(p.root), "forge")
			p.git(forge, "init", "-q")
			p.git(forge, "hash-object", "-w", "--no-filters", filepath.Join(p.root, "evil"))
			p.write(filepath.Join(p.root, "evil.idx"), indexOf(t, strings.TrimSpace(string(blob)), "../../out/file", "../../out/new", "../old/.git/hooks/post-index-change"))
			if out, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(forge, ".git", "objects"), filepath.Join(p.root, "objects.dir")).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			before := listFiles(t, out) + listFiles(t, filepath.Join(p.root, "old", ".git", "hooks"))
			var said []string
			for _, script := range []string{c.first, c.second} {
				if script == "" {
					continue
				}
				text, exit := sh(t, s, grant, strings.NewReplacer("MARK", p.mark, "OUT", out).Replace(swap+script))
				if exit.Code != 0 {
					t.Errorf("%s", text)
				}
				said = append(said, exit.Notes...)
			}
			dir := filepath.Join(p.root, "new")
			if c.dir != "" {
				dir = filepath.Join(p.root, c.dir)
			}
			for _, args := range []string{"status", "log --all -p", "fetch", "log --all -p", "checkout .", "restore .", "init", "status", "add .", "-c core.editor=true commit --allow-empty", "-c core.editor=true commit --allow-empty --amend", "fetch", "log --all -p", "reset --hard", "gc -q", "cat-file --batch --batch-all-objects"} {
				said, err := p.command(dir, strings.Fields(args)...)
				if args == "status" && c.left && err != nil && !strings.Contains(string(said), "work tree") {
					t.Errorf("git %s: %v\n%s", args, err, said)
				}
				if strings.Contains(string(said), "SECRET") {
					t.Errorf("git %s: %s", args, said)
				}
			}
			if _, err := os.Stat(p.mark); err == nil {
				t.Errorf("it ran; this was said: %q", said)
			}
			if after := listFiles(t, out) + listFiles(t, filepath.Join(p.root, "old", ".git", "hooks")); before != after {
				t.Errorf("there is\n%s\nand was\n%s\nThis was said: %q", after, before, said)
			}
			if (len(said) == 0) != c.left {
				t.Errorf("%q", said)
			}
		})
	}
}

// listFiles gives the files below a directory, but for those of repositories.
func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Name() == "private" {
			return err
		}
		text, _ := os.ReadFile(path)
		_, err = fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOddRepositoriesKeepNobodyOut: whatever lies in a repository that a program
// made, later programs start, and what it points at can be written.
func TestOddRepositoriesKeepNobodyOut(t *testing.T) {
	const made = "mkdir -p DIR/objects DIR/refs src; echo 'ref: refs/heads/x' >DIR/HEAD; "
	for _, c := range []struct{ name, first string }{
		{"settings that cannot be read", made + "ln -s /proc/self/mem DIR/config"},
		{"a common directory that cannot be read", made + "ln -s /proc/self/mem DIR/commondir"},
		{"more that cannot be read", made + "printf '[include]\\n\\tpath = /proc/self/mem\\n' >DIR/config"},
		{"without HEAD", made + "rm DIR/HEAD; ln -s /proc/self/mem DIR/config"},
		{"very many settings", made + "(echo '[alias]'; for i in $(seq 5000); do echo \"a$i = !x\"; done) >DIR/config"},
		{"what the project is", made + "printf '[core]\\n\\thooksPath = ROOT/src\\n\\tattributesFile = ROOT/docs\\n' >DIR/config"},
		{"what the project is, without HEAD", made + "rm DIR/HEAD; printf '[core]\\n\\thooksPath = ROOT/src\\n\\tattributesFile = ROOT/docs\\n' >DIR/config"},
	} {
		for _, dir := range []string{".git", "sub/.git"} {
			t.Run(c.name+" in "+dir, func(t *testing.T) {
				root := tempProject(t)
				s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
				grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}
				for i, script := range []string{strings.NewReplacer("DIR", dir, "ROOT", root).Replace(c.first), "echo x >>src/x && mkdir docs"} {
					if out, exit := sh(t, s, grant, "exec 2>&1; "+script); exit.Code != 0 || len(exit.Notes) > 0 != (i == 0) {
						t.Fatalf("%s: %+v\n%s", script, exit, out)
					}
				}
			})
		}
	}
}
