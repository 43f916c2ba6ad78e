package app

import (
	"crypto/sha1"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// smuggled puts a file into the index that never lies in the work tree.
func smuggled(path string) string {
	return `h=$(echo evil | git hash-object -w --stdin) && git update-index --add --cacheinfo 100644,$h,` + path
}

// loosePath sets f to the file of the object that $h names.
const loosePath = `f=.git/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-)`

// gitAttacks are lines that must leave everything as it is where the mode allows to
// write and nobody is there to be asked.
func gitAttacks() map[string]string {
	return map[string]string{
		"a hook":                            `printf '#!/bin/sh\nid\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit`,
		"a hook with a commit":              `git commit -q --allow-empty -m x; echo id > .git/hooks/post-checkout`,
		"core.fsmonitor":                    `git config core.fsmonitor ./evil.sh`,
		"core.hooksPath":                    `git config core.hooksPath hooks`,
		"a filter":                          `git config filter.x.clean 'sh -c id'`,
		"config.worktree":                   `git config extensions.worktreeConfig true; echo '[core]' > .git/config.worktree`,
		"attributes":                        `mkdir -p .git/info; echo '* filter=x' > .git/info/attributes`,
		"grafts":                            `mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts`,
		"exclude":                           `mkdir -p .git/info; echo secret >> .git/info/exclude`,
		"alternates":                        `mkdir -p .git/objects/info; echo /tmp > .git/objects/info/alternates`,
		"a commit-graph":                    `git commit-graph write --reachable`,
		"a multi-pack-index":                `git rev-list --objects --all | git pack-objects -q .git/objects/pack/pack; git multi-pack-index write`,
		"a forged object":                   `h=$(echo fresh | git hash-object -w --stdin); ` + loosePath + `; chmod 644 $f; echo bad > $f`,
		"an object of another name":         `h=$(echo fresh | git hash-object -w --stdin); ` + loosePath + `; mv $f $(dirname $f)/0123456789012345678901234567890123456789`,
		"an object by a name of its own":    `h=$(echo fresh | git hash-object -w --stdin); ` + loosePath + `; g=.git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb; mkdir -p .git/objects/aa; cp $f $g`,
		"a replaced object":                 `h=$(git rev-parse HEAD:a); ` + loosePath + `; h=$(echo fresh | git hash-object -w --stdin); old=$f; ` + loosePath + `; chmod 644 $old; cat $f > $old`,
		"a removed object":                  `h=$(git rev-parse HEAD:a); ` + loosePath + `; rm -f $f`,
		"all objects removed":               `rm -rf .git/objects`,
		"objects elsewhere":                 `mv .git/objects o; ln -s ../o .git/objects`,
		"gc":                                `git gc -q`,
		"repack":                            `git repack -adq`,
		"a ref outside refs":                `git rev-parse HEAD > .git/evil`,
		"a replaced commit":                 `git replace HEAD HEAD~1`,
		"a replaced commit, packed":         `git replace HEAD HEAD~1; git pack-refs --all`,
		"HEAD out":                          `echo 'ref: ../../x' > .git/HEAD`,
		"HEAD at the settings":              `echo 'ref: refs/../config' > .git/HEAD`,
		"HEAD at a tag":                     `git symbolic-ref HEAD refs/tags/v1`,
		"HEAD as a link":                    `ln -sf refs/heads/main .git/HEAD`,
		"no HEAD":                           `rm .git/HEAD`,
		"no index":                          `rm .git/index`,
		"a branch that leads to another":    `git symbolic-ref refs/heads/x refs/heads/main`,
		"a branch as a link":                `ln -s ../../config .git/refs/heads/l`,
		"a branch that is no commit":        `git rev-parse HEAD:a > .git/refs/heads/blob`,
		"a branch that is not there":        `echo 0123456789012345678901234567890123456789 > .git/refs/heads/none`,
		"a branch of nonsense":              `echo nonsense > .git/refs/heads/nonsense`,
		"a branch of two lines":             `(git rev-parse HEAD; echo x) > .git/refs/heads/two`,
		"a branch like an option":           `git rev-parse HEAD > '.git/refs/heads/..x'`,
		"packed nonsense":                   `echo nonsense > .git/packed-refs`,
		"packed, unsorted":                  `h=$(git rev-parse HEAD); printf '# pack-refs with: peeled fully-peeled sorted\n%s refs/heads/z\n%s refs/heads/y\n' $h $h > .git/packed-refs`,
		"packed, and peeled to another":     `git tag -a -m x ann; git pack-refs --all; h=$(git rev-parse HEAD~2); sed -i "s/^^.*/^$h/" .git/packed-refs`,
		"shallow":                           `git rev-parse HEAD > .git/shallow`,
		"a lock":                            `: > .git/index.lock`,
		"a todo list":                       `mkdir .git/rebase-merge; echo 'exec id' > .git/rebase-merge/git-rebase-todo; git rev-parse HEAD > .git/rebase-merge/onto`,
		"a sequencer":                       `mkdir .git/sequencer; echo "pick $(git rev-parse HEAD)" > .git/sequencer/todo`,
		"modules":                           `git init -q --bare .git/modules/sub`,
		"a work tree":                       `git worktree add -q wt other`,
		"a commondir":                       `echo ../elsewhere > .git/commondir`,
		"permissions":                       `chmod -R 777 .git`,
		"permissions of a file":             `chmod 666 .git/index`,
		"the repository as a link":          `mv .git g; ln -s g .git`,
		"the repository as a file":          `mv .git g; echo 'gitdir: g' > .git`,
		"the repository removed":            `rm -rf .git`,
		"the repository made anew":          `rm -rf .git; git init -q; git config core.fsmonitor ./x`,
		"another repository in its place":   `git init -q g; git -C g config core.fsmonitor ./x; mv .git h; mv g/.git .git`,
		"tasks in a commit":                 smuggled(".vscode/tasks.json") + ` && git commit -qm x`,
		"an .envrc in a commit":             smuggled(".envrc") + ` && git commit -qm x`,
		"a workflow in a commit":            smuggled(".github/workflows/x.yml") + ` && git commit -qm x`,
		"an .npmrc in a commit":             smuggled("sub/.npmrc") + ` && git commit -qm x`,
		"passwords in a commit":             smuggled(".env") + ` && git commit -qm x`,
		"tasks in a commit and out":         smuggled(".vscode/tasks.json") + ` && git commit -qm x && git reset -q --hard && git rm -q .vscode/tasks.json && git commit -qm y`,
		"tasks on another branch":           smuggled(".vscode/tasks.json") + ` && git branch evil $(echo x | git commit-tree $(git write-tree)) && git reset -q`,
		"tasks in a tag":                    smuggled(".vscode/tasks.json") + ` && git tag evil $(echo x | git commit-tree $(git write-tree)) && git reset -q`,
		"tasks in a tag of a tree":          smuggled(".vscode/tasks.json") + ` && git tag evil $(git write-tree) && git reset -q`,
		"tasks in a stash":                  smuggled(".vscode/tasks.json") + ` && git stash -q`,
		"tasks in a merge":                  smuggled(".vscode/tasks.json") + ` && git update-ref refs/heads/main $(echo x | git commit-tree -p HEAD -p other $(git write-tree))`,
		"tasks behind a known branch":       smuggled(".vscode/tasks.json") + ` && c=$(echo x | git commit-tree -p HEAD $(git write-tree)) && git reset -q && git update-ref refs/heads/main $(echo y | git commit-tree -p $c HEAD^{tree})`,
		"tasks at a detached HEAD":          smuggled(".vscode/tasks.json") + ` && git update-ref --no-deref HEAD $(echo x | git commit-tree -p HEAD $(git write-tree)) && git checkout -q --detach && git reset -q`,
		"tasks on a packed branch":          smuggled(".vscode/tasks.json") + ` && git branch evil $(echo x | git commit-tree $(git write-tree)) && git reset -q && git pack-refs --all`,
		"tasks in a log of stashes":         smuggled(".vscode/tasks.json") + ` && c=$(echo x | git commit-tree -p HEAD $(git write-tree)) && git read-tree HEAD && echo x >> a && git stash -q && sed -i "1i $(git rev-parse HEAD) $c Ada <a@b> 1 +0000	x" .git/logs/refs/stash`,
		"tasks in MERGE_HEAD":               smuggled(".vscode/tasks.json") + ` && c=$(echo x | git commit-tree $(git write-tree)) && git read-tree HEAD && echo $c > .git/MERGE_HEAD`,
		"nonsense in MERGE_HEAD":            `echo nonsense > .git/MERGE_HEAD`,
		"a file that git does not look at":  `git update-index --assume-unchanged a`,
		"a file that git skips":             `git update-index --skip-worktree a`,
		"tasks in the index":                smuggled(".vscode/tasks.json"),
		"tasks by the name of another mode": smuggled(".VSCode/Tasks.json"),
		"tasks in a submodule's place":      `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
		"a submodule":                       `GIT_ALLOW_PROTOCOL=file git -c protocol.file.allow=always submodule --quiet add "file://$PWD" sub`,
		"a link out, in the index":          `h=$(printf /etc/passwd | git hash-object -w --stdin) && git update-index --add --cacheinfo 120000,$h,.envrc`,
		"a pack with a wrong checksum":      `git rev-list --objects --all | git pack-objects -q .git/objects/pack/pack; chmod 644 .git/objects/pack/*.pack; echo x >> $(ls .git/objects/pack/*.pack)`,
		"a pack without an index":           `git rev-list --objects --all | git pack-objects -q .git/objects/pack/pack; rm -f .git/objects/pack/*.idx`,
		"a pack of another name":            `git rev-list --objects --all | git pack-objects -q .git/objects/pack/pack; mv .git/objects/pack/*.pack .git/objects/pack/evil.pack`,
		"a tree with a repository in it":    `h=$(echo evil | git hash-object -w --stdin); t=$(printf '100644 config\0' > raw; printf $(echo $h | sed 's/../\\x&/g') >> raw; git hash-object -t tree -w --literally raw); printf '40000 .git\0' > raw; printf $(echo $t | sed 's/../\\x&/g') >> raw; t=$(git hash-object -t tree -w --literally raw); rm raw; git branch evil $(echo x | git commit-tree $t)`,
		"a tree that leads up":              `h=$(echo evil | git hash-object -w --stdin); printf '100644 ..\0' > raw; printf $(echo $h | sed 's/../\\x&/g') >> raw; t=$(git hash-object -t tree -w --literally raw); rm raw; git branch evil $(echo x | git commit-tree $t)`,
		"an index that leads into it":       `cp forged/into .git/index`,
		"an index that leads up":            `cp forged/up .git/index`,
		"an index with forged trees":        `cp forged/trees .git/index`,
		"an index of nonsense":              `echo x > .git/index`,
		"a split index":                     `git -c core.splitIndex=true update-index --split-index`,
	}
}

// forgedIndexes makes indexes that git would not write, to be copied by commands.
func forgedIndexes(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "forged"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := gitHere(t, dir, "rev-parse", "HEAD~1^{tree}")
	var raw strings.Builder
	for i := 0; i < len(tree); i += 2 {
		raw.WriteByte(unhex(tree[i])<<4 | unhex(tree[i+1]))
	}
	at := strings.Index(string(data), "TREE")
	if at < 0 {
		t.Fatal("the index remembers no trees")
	}
	head := at + 8 + 1
	head += strings.IndexByte(string(data[head:]), '\n') + 1
	for name, text := range map[string]string{
		"into":  strings.ReplaceAll(string(data), "src/deep/y", ".git/hooks"),
		"up":    strings.ReplaceAll(string(data), "src/deep/y", "../../../y"),
		"trees": string(data[:head]) + raw.String() + string(data[head+20:]),
	} {
		body := text[:len(text)-20]
		sum := sha1.Sum([]byte(body))
		if err := os.WriteFile(filepath.Join(dir, "forged", name), []byte(body+string(sum[:])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func unhex(c byte) byte { return byte(strings.IndexByte("0123456789abcdef", c)) }

// TestGitAttacksChangeNothing: neither what git and others obey, nor what git would
// not have written, nor files that only a commit, a tag, a stash or the index has.
func TestGitAttacksChangeNothing(t *testing.T) {
	a, dir := gitProject(t, nil)
	forgedIndexes(t, dir)
	before := inventory(t, dir)
	for name, line := range gitAttacks() {
		t.Run(name, func(t *testing.T) {
			out, told, err := lineOn(t, a, line)
			if err != nil || out.ExitCode != 0 {
				t.Fatalf("it did not run: %+v, %v", out, err)
			}
			if !strings.HasPrefix(told, "Nothing that the command changed was applied: ") {
				t.Errorf("told %q", told)
			}
			if now := inventory(t, dir); now != before {
				t.Fatalf("it changed the project:\n%s\nbefore:\n%s", now, before)
			}
		})
	}
}

// TestNewRepositoriesAreLeftOut: a repository that a command makes in the project has
// settings of its own, which a person's git would obey. The files beside it are kept.
func TestNewRepositoriesAreLeftOut(t *testing.T) {
	a, dir := gitProject(t, nil)
	for name, line := range map[string]string{
		"git init":          `git init -q sub && git -C sub config core.fsmonitor ./x && echo y > sub/y`,
		"another spelling":  `mkdir -p sub/.GIT && echo x > sub/.GIT/config && echo y > sub/y`,
		"a file":            `mkdir sub && echo 'gitdir: ../.git' > sub/.git && echo y > sub/y`,
		"a link":            `mkdir sub && ln -s ../.git sub/.git && echo y > sub/y`,
		"a clone":           `git clone -q . sub 2>/dev/null; mkdir -p sub; echo y > sub/y`,
		"a bare one":        `mkdir sub && echo y > sub/y && git init -q --bare sub/b`,
		"a bare one by cp":  `mkdir sub && echo y > sub/y && cp -r .git sub/b`,
		"the top of a tree": `mkdir sub && echo y > sub/y && cp .git/HEAD sub/HEAD && cp -r .git/objects .git/refs sub`,
	} {
		t.Run(name, func(t *testing.T) {
			out, told, err := lineOn(t, a, line)
			if err != nil || out.ExitCode != 0 {
				t.Fatalf("%+v, told %q, %v", out, told, err)
			}
			found := ""
			err = filepath.WalkDir(filepath.Join(dir, "sub"), func(path string, d os.DirEntry, err error) error {
				if err == nil && (strings.EqualFold(d.Name(), ".git") || d.Name() == "HEAD" || d.Name() == "config") {
					found += path + " "
				}
				return nil
			})
			if err != nil || found != "" {
				t.Errorf("%s is there (told %q), %v", found, told, err)
			}
			gitHere(t, dir, "fsck", "--full", "--strict")
			if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestHistoryIsAskedAboutInYolo: what a repository loses is asked about in every mode,
// and so is what others obey.
func TestHistoryIsAskedAboutInYolo(t *testing.T) {
	a, dir := gitProject(t, func(c *settings.Config) { c.Mode = "yolo" })
	before := inventory(t, dir)
	for _, line := range []string{`git reset -q --hard HEAD~1`, `git branch -D main 2>/dev/null; git switch -q other && git branch -qD main`, `git config core.fsmonitor ./x`, smuggled(".envrc") + ` && git commit -qm x`} {
		if out, told, err := lineOn(t, a, line); err != nil || out.ExitCode != 0 || !strings.HasPrefix(told, "Nothing") {
			t.Errorf("%q: %+v, told %q, %v", line, out, told, err)
		}
		if now := inventory(t, dir); now != before {
			t.Fatalf("%q changed the project", line)
		}
	}
	if _, told, err := lineOn(t, a, `echo x > a; git commit -qam x`); err != nil || told != "" {
		t.Errorf("told %q, %v", told, err)
	}
}

// TestPlanDropsCommits: in the mode plan a commit is made on the layer and dropped.
func TestPlanDropsCommits(t *testing.T) {
	a, dir := gitProject(t, func(c *settings.Config) { c.Mode = "plan" })
	before := inventory(t, dir)
	out, told, err := lineOn(t, a, `git commit -q --allow-empty -m x && git log -1 --format=%s`)
	if err != nil || out.Stdout != "x\n" || !strings.Contains(told, "the mode is plan") {
		t.Errorf("%+v, told %q, %v", out, told, err)
	}
	if inventory(t, dir) != before {
		t.Error("it was applied")
	}
}
