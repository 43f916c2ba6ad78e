package app

import (
	"path/filepath"
	"strings"
)

// writtenGround is a project with a repository, and files of which forged indexes are made.
func writtenGround(g *ground) {
	g.put(map[string]string{"evil": "evil", "../other/private/file": maskedText})
	treeGround(g)
	g.shell(g.outside, "mkdir tree; cd private; git init -q; git add .; git commit -qm x")
	g.shell(g.dir, "git init -q old; cd old; echo x > file; git add .; git commit -qm x")
	hash := gitHere(g.t, g.dir, "hash-object", "--no-filters", "evil")
	g.shell(g.base, "git init -q forge; git -C forge hash-object -w --no-filters "+filepath.Join(g.dir, "evil")+"; cp -r forge/.git/objects work/objects.dir")
	g.put(map[string]string{"evil.idx": indexOf(g.t, hash, "../../other/file", "../../other/new", "../old/.git/hooks/post-index-change")})
}

// writtenOnes: whatever repository a program made, a person's git commands in it write,
// copy and run nothing that it could not reach itself.
func (g *ground) writtenOnes() {
	g.t.Helper()
	const work = "git init -q new; cd new; touch file; git add file; git commit -qm x; "
	cases := [][]string{ // a name, where the person then uses git, and the scripts of two programs
		{"git init", "new", "git init -q new"},
		{"commits, a stash, a tag", "new", work + "echo x >file; git stash -q; git stash pop -q; git tag a; git branch b"},
		{"a clone with links", "new", "git init -q x; cd x; touch file; git add .; git commit -qm x; cd ..; git clone -q -l x new; find new/.git/objects -links +1 | grep -q ."},
		{"a clone from beside it", "a/b/c", "mkdir -p a/b; cd a; git clone -q ../old b/c; cd ..; git -C a/b/c remote get-url origin | grep -qF .."},
		{"a clone that shares", "new", "git clone -q -s old new"},
		{"another work tree", "wt", work + "git worktree add -q ../wt"},
		{"a submodule", "new/lib", work + "git -c protocol.file.allow=always submodule --quiet add $PWD/../old lib; git commit -qm y"},
		{"a split index", "new", work + "git update-index --split-index"},
		{"other hashes", "new", "git init -q --object-format=sha256 new; cd new; touch x; git add x"},
		{"a conflict", "new", work + "git config rerere.enabled true; git checkout -qb b; echo b >file; git commit -qam b; git checkout -q -; echo a >file; git commit -qam a; ! git merge b; test -s .git/MERGE_RR"},
		{"a mirror", "new", "git clone -q --mirror old new; git -C new config core.bare"},
		{"a clone of a build", "new", "git clone -q --config advice.detachedHead=false --no-checkout old new; cd new; git checkout -q HEAD^{commit}"},
		{"a sparse index", "new", work + "git config index.sparse true; git config core.splitIndex false; git config fetch.parallel 0"},
		{"a remote beside it", "new", "git init -q --bare r.git; "},
		{"a message by a link", "new", work + "ln -sf OUT/file .git/COMMIT_EDITMSG; echo evil >.git/MERGE_MSG"},
		{"a log by a link", "new", work + "rm .git/logs/HEAD; ln -s OUT/file .git/logs/HEAD"},
		{"a directory by a link", "new", work + "mv .git/logs ..; ln -s OUT .git/logs"},
		{"what was fetched by a link", "new", "git clone -q old new; ln -s OUT/file new/.git/FETCH_HEAD"},
		{"a graph by a link", "new", work + "ln -s OUT/file .git/objects/info/commit-graph"},
		{"in a work tree", "wt", work + "git worktree add -q ../wt; ln -s OUT/file .git/worktrees/wt/COMMIT_EDITMSG; ln -s OUT/file .git/worktrees/wt/FETCH_HEAD"},
		{"a message with another name", "new", work + "echo x >../script; ln -f ../script .git/COMMIT_EDITMSG"},
		{"a pipe", "new", work + "mkfifo .git/unused"},
		{"pipes where directories belong", "new", work + "mkfifo .git/remotes; rm -rf .git/branches; mkfifo .git/branches; rm -rf .git/hooks; mkfifo .git/hooks"},
		{"names that lead out", "new", "git init -q new; cp evil.idx new/.git/index; cp -r objects.dir/* new/.git/objects"},
		{"names that lead out, in a split index", "new", work + "git update-index --split-index; cp ../evil.idx .git/sharedindex.*; cp -r ../objects.dir/* .git/objects"},
		{"what a merge left", "new", work + "git config rerere.enabled true; printf '%040d\\t../../out/file\\0' 1 >.git/MERGE_RR"},
		{"in one that runs programs", "new", "mkdir -p a/.git/x; printf '[core]\\n\\tfsmonitor = x\\n' >a/.git/config; evil a/.git/x/y; ln -s a/.git/x/y new"},
		{"in one that is set aside", "new", "evil a; evil a/.git/x/y; ln -s a/.git/x/y new"},
		{"without HEAD, in one", "new", "evil a; evil a/.git/x/y; rm a/.git/x/y/.git/HEAD; ln -s a/.git/x/y new"},
		{"without HEAD", "new", "evil new; rm new/.git/HEAD"},
		{"at the top, without HEAD", ".", "evil x; mv x/.git .; rm .git/HEAD"},
		{"set aside", "new", "evil new"},
		{"files elsewhere, over a link", "tree", "git init -q --bare g; mkdir tree; echo 'gitdir: ../g' >tree/.git; ln -s tree new; git -C g config core.bare false; git -C g config core.worktree ../new; cd tree; echo evil >file; git add .; git commit -qm x; rm file", "rm new; ln -s OUT new"},
		{"files elsewhere, by a detour", "tree", "git init -q --bare g; mkdir -p tree d; echo 'gitdir: ../g' >tree/.git; git -C g config core.bare false; git -C g config core.worktree ../d/../tree; cd tree; echo evil >file; git add .; git commit -qm x; rm file", "rmdir d; ln -s OUT/tree d"},
		{"a common directory by a detour", "new", "git init -q --bare common; mkdir d new new/.git; cp common/HEAD new/.git; echo ../../d/../common >new/.git/commondir", "evil e; mkdir -p o/d; mv e/.git o/common; rm o/common/HEAD; rmdir d; ln -s o/d d"},
		{"by a file, by a detour", "new", "git init -q x; mkdir d new; mv x/.git g; echo 'gitdir: ../d/../g' >new/.git", "evil e; mkdir -p o/d; mv e/.git o/g; rmdir d; ln -s o/d d"},
		{"a remote that was not granted", "new", work + "git remote add origin OUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{"by its address", "new", work + "git remote add origin file://OUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{"by its address with a host", "new", work + "git remote add origin file://localhostOUT/private; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{"by another remark", "new", work + "printf '[remote \"origin\"]\\n\\turl = OUT/private#x\\n\\tfetch = +refs/*:refs/x/*\\n' >>.git/config"},
		{"a remote over a link", "new", work + "ln -s OUT/private ../r; git remote add origin ../r; git config remote.origin.fetch '+refs/*:refs/x/*'"},
		{"a remote that is led elsewhere", "new", work + "git remote add origin ../r; git config remote.origin.fetch '+refs/*:refs/x/*'", "ln -s OUT/private r"},
		{"a remote that is another for each", "new", work + "git remote add origin /proc/self/cwd/r; git config remote.origin.fetch '+refs/*:refs/x/*'; ln -s OUT/private r"},
		{"a remote by a thread", "new", work + "git remote add origin /proc/thread-self/cwd/r; git config remote.origin.fetch '+refs/*:refs/x/*'; ln -s OUT/private r"},
		{"objects that are others for each", "new", work + "echo /proc/self/cwd/r/.git/objects >.git/objects/info/alternates; ln -s OUT/private r"},
		{"a remote that is yet to come", "new", work + "git remote add origin /media/disk/private"},
		{"an address that another program speaks for", "new", work + "git remote add origin evil://x/y"},
		{"refs elsewhere", "new", "git init -q new; printf '[core]\\n\\trepositoryformatversion = 1\\n[extensions]\\n\\trefStorage = files://OUT/tree\\n' >>new/.git/config"},
		{"a remote of a branch", "new", work + "git config branch.master.remote OUT/private; git config branch.main.remote OUT/private"},
		{"a word for a remote", "new", work + "git config branch.master.remote r; git config branch.main.remote r", "ln -s OUT/private new/r"},
		{"objects that are fetched when they are missed", "new", work + "git config remote.origin.promisor true; git config remote.origin.url https://host/data; git config extensions.partialClone origin"},
		{"a mirror with files", "new", work + "git remote add --mirror=push origin ssh://host/x"},
		{"files elsewhere, by another blank", "tree", "git init -q --bare g; mkdir tree; echo 'gitdir: ../g' >tree/.git; nb=$(printf '\\302\\240'); git -C g config core.bare false; git -C g config core.worktree ../tree; cd tree; echo evil >file; git add .; git commit -qm x; rm file; cd ..; sed -i \"s,\\.\\./tree,&$nb,\" g/config; ln -s OUT tree$nb"},
		{"another false", "new", work + "printf '[core]\\n\\tfsmonitor = false\\302\\240\\n' >>.git/config"},
		{"settings of other programs", "new", work + "touch .git/lazygit.yml"},
		{"objects that were not granted", "new", work + "echo OUT/private/.git/objects >.git/objects/info/alternates"},
	}
	for i, c := range cases {
		if g.skips(i, 6) {
			continue
		}
		g.swapped(c[0], c[1], c[2:]...)
	}
}

// oddOnes: whatever lies in a repository that a program made, later commands start, and
// nothing of it is obeyed.
func (g *ground) oddOnes() {
	g.t.Helper()
	const made = "mkdir -p DIR/objects DIR/refs src; echo 'ref: refs/heads/x' >DIR/HEAD; "
	for i, c := range []string{
		made + "ln -s /proc/self/mem DIR/config", made + "ln -s /proc/self/mem DIR/commondir", made + "printf '[include]\\n\\tpath = /proc/self/mem\\n' >DIR/config", made + "rm DIR/HEAD; ln -s /proc/self/mem DIR/config",
		made + "(echo '[alias]'; for i in $(seq 5000); do echo \"a$i = !x\"; done) >DIR/config", made + "printf '[core]\\n\\thooksPath = TOP/src\\n\\tattributesFile = TOP/docs\\n' >DIR/config",
		made + "rm DIR/HEAD; printf '[core]\\n\\thooksPath = TOP/src\\n\\tattributesFile = TOP/docs\\n' >DIR/config",
	} {
		if g.skips(i, 2) {
			continue
		}
		g.odd(c, []string{"sub/.git", "sub", "src/.git"}[i%3])
	}
}

// odd has a program leave an odd repository, and another one work beside it.
func (g *ground) odd(script, dir string) {
	g.t.Helper()
	g.git = []string{".", "sub", "src"}
	g.tried++
	said := g.run(dir, "odd", g.words(strings.ReplaceAll(script, "DIR", dir)))
	said += g.run(dir, "odd", "echo more >> src/x && mkdir docs && echo it works")
	if !strings.Contains(said, "it works") {
		g.t.Errorf("%q in %s: %s", script, dir, said)
	}
	g.judge(script, said)
	g.restore(script)
}
