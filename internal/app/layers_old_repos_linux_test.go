package app

import "testing"

// TestOldNewRepositories: no repository that a program made is one in which git starts
// what it wrote.
func TestOldNewRepositories(t *testing.T) {
	set := func(line string) string { return "git init -q new; printf '" + line + "\\n' >>new/.git/config" }
	cases := [][]string{ // a name, where the person then uses git, and the scripts of two programs
		{"git init", "new", "git init -q new; touch new/x"},
		{"git clone", "new", "git clone -q nested/repo new"},
		{"a bare clone", "new", "git clone -q --bare nested/repo new"},
		{"a first commit", "new", "git init -q new; cd new; touch x; git add x; git commit -qm x; git branch y; git tag z"},
		{"what other tools write", "new", "git init -q new; cd new; for s in branch.main.vscode-merge-base branch.main.gh-merge-base branch.main.description remote.origin.gh-resolved; do git config $s main; done; git config push.default simple; git config fetch.prune true; git config color.ui auto; git config lfs.repositoryformatversion 0"},
		{"a program for a remote", "new", "git init -q new; git -C new config branch.main.remote 'ext::touch MARK'; evil new/x"},
		{"in a new directory", "new", "evil new"},
		{"in an old one", "src", "evil src"},
		{"deep down", "a/b/c/d", "evil a/b/c/d"},
		{"one in the other", "a/b", "evil a; evil a/b; evil a/.git/c"},
		{"by a file", "new", "evil new; mv new/.git meta; echo 'gitdir: ../meta' >new/.git"},
		{"by a link", "new", "evil new; mv new/.git meta; ln -s ../meta new/.git"},
		{"by a file, later", "src", "git init -q new; mv new/.git new/meta; echo 'gitdir: meta' >src/.git; echo 'gitdir: ../new/meta' >src/.git", "echo '[core] fsmonitor = \"touch MARK; false\"' >>new/meta/config"},
		{"a bare one", "new", "evil x; mv x/.git new; printf '[core]\n\tbare = false\n\tworktree = ..\n' >>new/config"},
		{"the directory is one", "src", "git init -q --bare x; mv x/* src/; printf '[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch MARK; false\"\n' >>src/config"},
		{"a common directory", "new", "evil x; git init -q new; mv x/.git/* x; printf '../../x\n' >new/.git/commondir; rm new/.git/config"},
		{"a pager", "new", set("[core]\n\tpager = touch MARK")},
		{"an alias", "new", set("[alias]\n\tstatus = !touch MARK")},
		{"more settings", "new", set("[include]\n\tpath = /x/y")},
		{"settings on one line", "new", set("[user]name=x[core]fsmonitor=touch MARK")},
		{"a line that goes on", "new", set("[user]\n\tname = x\\\\\n[core]\n\tfsmonitor = touch MARK")},
		{"a helper", "new", set("[credential]\n\thelper = !touch MARK")},
		{"another transport", "new", set("[remote \"origin\"]\n\turl = ext::sh -c touch% MARK")},
		{"another transport in quotes", "new", set("[remote \"origin\"]\n\turl = ext:\":\"sh -c touch% MARK")},
		{"the granted directory itself", "src", "mkdir objects refs; touch HEAD", "touch file"},
		{"settings of a work tree", "new", "git init -q new; printf '[extensions]\n\tworktreeConfig = true\n' >>new/.git/config; printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >new/.git/config.worktree"},
		{"a hook", "new", "git init -q new; printf '#!/bin/sh\ntouch MARK\n' >new/.git/hooks/post-index-change; chmod +x new/.git/hooks/*"},
		{"hooks by a link", "new", "git init -q new; rm -rf new/.git/hooks; mkdir h; printf '#!/bin/sh\ntouch MARK\n' >h/post-index-change; chmod +x h/*; ln -s ../../h new/.git/hooks"},
		{"settings with another name", "new", "git init -q new; ln new/.git/config c", "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>c"},
		{"settings by a link", "new", "git init -q new; mv new/.git/config c; ln -s ../../c new/.git/config", "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>c"},
		{"by a second program", "new", "git init -q new", "printf '[core]\n\tfsmonitor = \"touch MARK; false\"\n' >>new/.git/config; mv new n2; evil new"},
		{"put back", "new", "evil new", "put() { rm -rf $1/.git/HEAD; mv $1/.git/HEAD.set-aside* $1/.git/HEAD; }; put new; cp -r new n2; rm -rf new; mv n2 new; put new; cp -r new n3; put n3; ln -s n3 l"},
		{"with a submodule", "b/lib", "git init -q a; cd a; touch x; git add x; git commit -qm x; cd ..; git init -q b; cd b; git -c protocol.file.allow=always submodule --quiet add ../a lib; git commit -qm x"},
		{"a common directory past a link", "new", "git init -q new; mkdir -p other/d; evil other/common; mv other/common/.git/* other/common/; rm other/common/HEAD; ln -s ../../other/d new/.git/lnk; echo lnk/../common >new/.git/commondir; rm new/.git/config"},
		{"a common directory, later", "new", "git init -q new; rm new/.git/config; echo ../../common >new/.git/commondir", "evil x; rm x/.git/HEAD; mv x/.git common"},
		{"by a file, to what is made later", "new", "mkdir new; echo 'gitdir: ../meta' >new/.git", "evil x; mv x/.git meta"},
		{"by a link to a file", "new", "mkdir -p new q/r; git init -q good; evil x; mv x/.git good/.git/inner; echo 'gitdir: ../good/.git/inner' >q/r/file; ln -s ../q/r/file new/.git"},
		{"inside of another", "new", "git init -q good; evil x; mv x/.git good/.git/inner; ln -s good/.git/inner new; printf '[core]\n\tbare = false\n\tworktree = ..\n' >>new/config"},
		{"too deep", "new", "d=$(printf 'a/%.0s' $(seq 140)); evil $d; ln -s $d new"},
		{"too deep, later", "new", "d=deep/$(printf 'a/%.0s' $(seq 140)); mkdir -p $d", "mv deep old; d=deep/$(printf 'a/%.0s' $(seq 140)); evil $d; ln -s $d new"},
		{"below a protected name", "new", "evil .ssh/x; ln -s .ssh/x new"},
		{"below another protected name", "new", "evil h/my.env; ln -s h/my.env new"},
		{"with names in the way", "new", "evil new; mkdir new/.git/HEAD.set-aside; for i in $(seq 2 99); do mkdir new/.git/HEAD.set-aside.$i; done"},
		{"closed", "new", "evil new; chmod 555 new/.git"},
		{"closed above", "new", "evil a/b; ln -s a/b new; chmod 311 a"},
		{"behind a pipe", "new", "git init -q a; mkfifo a/.git/commondir; evil new"},
		{"behind a file without end", "new", "git init -q a; truncate -s 1G a/.git/commondir; evil new"},
		{"an empty common directory, later", "new", "git init -q new; mkdir common; rm -rf new/.git/config new/.git/objects; echo ../../common >new/.git/commondir", "evil x; mv x/.git/* common; rm common/HEAD"},
		{"in what looks like a placeholder", "x/.github/s", "mkdir x; mkdir -m 1755 x/.github x/.github/s; evil x/.github/s"},
		{"in a placeholder", ".github/foo", "mkdir -m 1755 .github/foo; evil .github/foo"},
		{"it can only be entered", "new", "evil new; chmod 111 new/.git"},
		{"a pipe for settings", "new", "evil new; git init -q a; rm a/.git/config; mkfifo a/.git/config"},
		{"files elsewhere, in quotes", "new", "git init -q new; mkdir -p 'new/.git/\"..'/'x\"'; echo 'gitdir: ../../' >'new/.git/\"../x\"/.git'; printf '[core]\n\tworktree = \"../x\"\n' >>new/.git/config"},
		{"a work tree", "new", "git clone -q nested/repo new; cd new; git worktree add -q ../wt"},
		{"in what looks like one for an agent", "x/.claude/r", "mkdir x; mkdir -m 1755 x/.claude; evil x/.claude/r"},
		{"a work tree elsewhere", "new", set("[core]\n\tworktree = ../../..")},
		{"over a link that is led elsewhere later", "new", "git init -q --bare good/x; ln -s good lnk; mkdir -p new/.git; cp good/x/HEAD new/.git; echo ../../lnk/x >new/.git/commondir", "rm lnk; evil e; mkdir evil; mv e/.git evil/x; rm evil/x/HEAD; ln -s evil lnk"},
		{"over a link beside it", "new", "git init -q --bare common; mkdir d; ln -s d lnk; mkdir -p new/.git; cp common/HEAD new/.git; echo ../../lnk/../common >new/.git/commondir", "evil e; mkdir -p o/d; mv e/.git o/common; rm o/common/HEAD lnk; ln -s o/d lnk"},
		{"by a link over a link", "new", "git init -q --bare good/x; ln -s good lnk; mkdir new; ln -s ../lnk/x new/.git", "rm lnk; evil e; mkdir evil; mv e/.git evil/x; ln -s evil lnk"},
		{"out of what is granted", "new", "mkdir -p new/.git; echo ref: refs/heads/x >new/.git/HEAD; echo OUTSIDE >new/.git/commondir"},
		{"by a file, out of what is granted", "new", "mkdir new; echo gitdir: OUTSIDE >new/.git"},
		{"by a set-aside one", "new", "evil x", "mkdir -p new/.git; echo ref: refs/heads/master >new/.git/HEAD; echo ../../x/.git >new/.git/commondir"},
		{"another work tree of one with hooks", "new", "mkdir -p new/.hooks; echo 'gitdir: ../hooked/.git' >new/.git; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file"},
		{"the same by a link", "new", "mkdir -p new/.hooks; ln -s ../hooked/.git new/.git; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file"},
		{"the same by a common directory", "new", "mkdir -p new/.hooks new/.git; cp hooked/.git/HEAD hooked/.git/index new/.git; echo ../../hooked/.git >new/.git/commondir; printf '#!/bin/sh\ntouch MARK\n' >new/.hooks/post-index-change; chmod +x new/.hooks/*; cp hooked/file new/; touch new/file"},
		{"by one without a HEAD", "new", "evil x; rm x/.git/HEAD", "mkdir -p new/.git; echo ref: refs/heads/master >new/.git/HEAD; echo ../../x/.git >new/.git/commondir"},
		{"it can be listed but not entered", "a/new", "evil a/new; chmod 444 a"},
		{"a rebase to go on with", "new", "git init -q new; mkdir new/.git/rebase-merge; echo 'exec touch MARK' >new/.git/rebase-merge/git-rebase-todo"},
	}
	onGround(t, treeGround, nil, func(g *ground) {
		for i, c := range cases {
			if g.mode == "default" && i%8 != 0 || testing.Short() && i%4 != 1 { // they are dropped there for other reasons
				continue
			}
			g.swapped(c[0], c[1], c[2:]...)
		}
	})
}
