package layer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func all(Change) bool { return true }

// repo is a project in a repository of Git that ignores two directories and some files.
const repo = project + `
	git init -q .; printf 'node_modules/\n*.o\n/build\n' > .gitignore; mkdir -p node_modules/x/y build; echo 1 > node_modules/x/1; echo 2 > node_modules/x/y/2
	echo o > m.o; echo o > src/n.o; echo 3 > build/3; echo kept > build/kept; git add -f build/kept a; git add src/x`

// TestEveryDeletionIsListed: what Git ignores is a line for each tree, by the ignore
// files that were there before the command, and everything else has a line of its own.
func TestEveryDeletionIsListed(t *testing.T) {
	g := newGround(t, repo)
	root := g.tree.Root
	s := g.run(`echo '*' > .gitignore; rm -r node_modules build src m.o a; mkdir -p node_modules/z; echo new > node_modules/z/new; echo n > n`)
	shown := s.Show(all, none)
	for _, line := range []string{
		"deleted " + root + "/node_modules (ignored by Git: 2 files, 4 bytes)", "deleted " + root + "/build (ignored by Git: 1 files, 2 bytes)",
		"deleted " + root + "/build/kept", "deleted " + root + "/src/x", "deleted " + root + "/src/deep/file", "deleted " + root + "/a",
		"deleted 2 files that Git ignores, such as " + root + "/m.o (4 bytes)",
		"created " + root + "/node_modules (ignored by Git: 1 files, 4 bytes)", "created " + root + "/n (2 bytes", "+++ " + root + "/n\n@@ -0,0 +1 @@\n+n\n",
	} {
		if !strings.Contains(shown, line) {
			t.Errorf("no line %q in\n%s", line, shown)
		}
	}
	for _, hidden := range []string{"/node_modules/x/1", "/build/3", "+new\n"} {
		if strings.Contains(shown, hidden) {
			t.Errorf("%q is in\n%s", hidden, shown)
		}
	}
	// Outside of a repository, and where the index cannot be read, nothing is ignored.
	for name, before := range map[string]string{
		"no repository": `rm -rf .git`, "a broken index": `echo broken > .git/index`, "an index elsewhere": `rm -rf .git; echo gitdir: /x > .git`, "a link": `mv .gitignore i; ln -s i .gitignore`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, repo+"\n"+before)
			if shown := g.run(`rm -r node_modules`).Show(all, none); !strings.Contains(shown, "deleted "+g.tree.Root+"/node_modules/x/1\n") {
				t.Errorf("a deletion is hidden:\n%s", shown)
			}
		})
	}
}

// TestUnreadableFilesAreShown: what a command takes the right away to read is shown, told
// from others and known as moved like everything else, and keeps its permissions.
func TestUnreadableFilesAreShown(t *testing.T) {
	g := newGround(t, project)
	s := g.run(`echo hidden > n; chmod 0 n; mv a moved; chmod 0 moved`)
	root := g.tree.Root
	shown := s.Show(all, none)
	for _, line := range []string{"+hidden\n", root + "/moved (moved from " + root + "/a)"} {
		if !strings.Contains(shown, line) {
			t.Errorf("no %q in\n%s", line, shown)
		}
	}
	digest := s.Digest(all)
	if c, _ := s.Find(root + "/n"); c.After.Mode.Perm() != 0 {
		t.Errorf("n has the permissions %v", c.After.Mode)
	} else if info, err := os.Lstat(s.File(c)); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("n has %v by now: %v", info.Mode(), err)
	}
	if other := g.run(`rm -f n; echo HIDDEN > n; chmod 0 n`).Digest(all); other == digest {
		t.Error("another content has the same digest")
	}
}

// TestManyChangesAreBounded: 50,000 files do not make a question that nobody can read, and
// what is left out is counted and can be read.
func TestManyChangesAreBounded(t *testing.T) {
	g := newGround(t, ``)
	root := g.tree.Root
	s := &Set{trees: []Tree{g.tree}, ListFile: filepath.Join(g.dir, "list")}
	add := func(kind Kind, mode fs.FileMode, format string, args ...any) {
		c := Change{Kind: kind, rel: fmt.Sprintf(format, args...), Before: Entry{Mode: mode, id: identity{Inode: 1}}}
		if c.Path = filepath.Join(root, c.rel); kind == Created {
			c.Before, c.After = Entry{}, c.Before
		}
		s.Changes = append(s.Changes, c)
	}
	for d := range 5 {
		add(Deleted, fs.ModeDir, "d%d", d)
		for i := range 10000 {
			add(Deleted, 0o644, "d%d/%05d", d, i)
		}
	}
	for i := range 9000 {
		add(Deleted, 0o644, "few/%05d-with-a-rather-long-name", i)
	}
	for i := range 3000 {
		add(Created, 0o644, "new-%05d", i)
	}
	shown := s.Show(all, none)
	if len(shown) > 200<<10 {
		t.Errorf("%d bytes", len(shown))
	}
	for _, line := range []string{"deleted " + root + "/d1 (the directory with everything in it: 10000 files, 0 bytes)", "more that are not listed here. Look at them before you answer.", "created: ", "The whole list is in " + s.ListFile} {
		if !strings.Contains(shown, line) {
			t.Errorf("no %q in\n%.2000s", line, shown)
		}
	}
	text, err := os.ReadFile(s.ListFile)
	if err != nil || strings.Count(string(text), "deleted ") != 59005 || strings.Count(string(text), "created ") != 3000 {
		t.Errorf("%d deletions of 59005, %d new files, %v", strings.Count(string(text), "deleted "), strings.Count(string(text), "created "), err)
	}
	listed := strings.Count(shown, "deleted "+root+"/few/")
	if !strings.Contains(shown, fmt.Sprintf("deleted: %d more that are not listed here", 9000-listed)) {
		t.Errorf("%d are listed, and the others are not counted", listed)
	}
	// A list of moderate length is whole.
	s.Changes = s.Changes[50_005:50_505]
	if shown := s.Show(all, none); strings.Count(shown, "deleted ") != 500 || strings.Contains(shown, "not listed") {
		t.Errorf("%d lines", strings.Count(shown, "deleted "))
	}
}

// TestFloor: what no mode allows unasked, and what every mode may do.
func TestFloor(t *testing.T) {
	const many = `mkdir src doc; for i in 1 2 3 4 5 6 7 8; do echo $i > src/$i; echo d$i > doc/$i; done`
	const git = many + `; git init -q .; git add .; git -c user.name=n -c user.email=e commit -qm one; printf 'out/\n' > .gitignore; mkdir out; seq 100 | sed 's,^,out/,' | xargs touch`
	bare := git + `; git clone -q --bare . bare.git; find .git -delete`
	for name, c := range map[string]struct {
		before, script string
		asks           string
	}{
		"half":                         {many, `rm -r src`, ""},
		"more than half":               {many, `rm -r src doc/1`, "most of"},
		"all":                          {many, `find . -delete`, "most of"},
		"all emptied":                  {many, `for f in src/* doc/*; do : > $f; done`, "most of"},
		"all made links":               {many, `for f in src/* doc/*; do ln -sf /dev/null $f; done`, "most of"},
		"all made directories":         {many, `for f in src/* doc/*; do rm $f; mkdir $f; done`, "most of"},
		"all written anew":             {many, `for f in src/* doc/*; do echo other > $f; done`, ""},
		"all moved":                    {many, `mkdir all; mv src doc all`, ""},
		"moved and others instead":     {many, `mkdir all; mv src doc all; echo x > all/src/1`, ""},
		"few":                          {`for i in 1 2 3 4 5 6 7 8 9; do echo $i > $i; done`, `rm *`, ""},
		"ten":                          {`for i in 1 2 3 4 5 6 7 8 9 10; do echo $i > $i; done`, `rm [1-6] `, "most of"},
		"what git ignores":             {git, `rm -r out`, ""},
		"the sources but not the rest": {git, `rm -r src doc`, "most of"},
		"made to be ignored":           {git + `; echo '*' > .gitignore; git rm -rq --cached .`, `rm -r src doc`, ""},
		"all made to be ignored":       {git + `; echo '*' > .gitignore; git rm -rq --cached .`, `rm -r src doc out`, "most of"},
		"an old ignore file":           {git + `; rm -r out; echo '*' > .gitignore; git rm -rq --cached .`, `rm -r src doc`, "most of"},
		"a new ignore file":            {git, `echo '*' > .gitignore; rm -r src doc`, "most of"},
		"the history":                  {git, `rm -rf .git`, "the history of"},
		"its objects":                  {git, `rm -rf .git/objects/*`, "the history of"},
		"its objects emptied":          {git, `chmod -R u+w .git/objects; find .git/objects -type f | while read f; do : > $f; done`, "the history of"},
		"its directory of objects":     {git, `rm -rf .git/objects; mkdir .git/objects`, "the history of"},
		"its references":               {git, `rm -rf .git/refs`, "the history of"},
		"its head":                     {git, `rm .git/HEAD`, "the history of"},
		"a bare repository":            {bare, `rm -rf bare.git`, "the history of"},
		"a bare one moved":             {bare, `mv bare.git other.git`, ""},
		"collected":                    {git, `git -c user.name=n -c user.email=e commit -q --allow-empty -m two; git gc -q`, ""},
		"committed":                    {git, `echo x > src/1; git -c user.name=n -c user.email=e commit -qam two`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, c.before)
			why := strings.Join(g.run(c.script).Floor(), "; ")
			if c.asks == "" && why != "" || !strings.Contains(why, c.asks) {
				t.Errorf("%q, want %q", why, c.asks)
			}
		})
	}
}

// TestAPersonDecidesAConflict: what the person takes is applied over what somebody else
// wrote, which undo brings back, and what came after the decision is a conflict again.
func TestAPersonDecidesAConflict(t *testing.T) {
	g := newGround(t, project)
	since := g.now()
	g.on(`echo mine > a; echo mine > b; rm -r src`)
	g.live(`echo theirs > a; echo theirs > b; echo theirs > src/new`)
	theirs := listing(t, g.tree.Root)
	read := func() *Set {
		s, err := Read(t.Context(), []Tree{g.tree}, since)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := read()
	if err := s.Apply(t.Context(), Options{Record: g.record()}); err == nil {
		t.Fatal("it was applied undecided")
	}
	if shown := s.Show(all, none); !strings.Contains(shown, "-theirs\n+mine\n") {
		t.Errorf("the versions are not shown:\n%s", shown)
	}
	for _, c := range s.Changes {
		if c.Conflict && filepath.Base(c.Path) != "b" {
			s.Overwrite(c.Path)
		}
	}
	if err := s.Apply(t.Context(), Options{Record: g.record()}); err == nil || !strings.Contains(err.Error(), "/b") {
		t.Fatalf("of b nobody has decided: %v", err)
	}
	if err := s.Apply(t.Context(), Options{Record: g.record(), Accept: func(c Change) bool { return filepath.Base(c.Path) != "b" }}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(g.tree.Root, "a")); err != nil || string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := g.undo(); err != nil {
		t.Fatal(err)
	}
	if now := listing(t, g.tree.Root); now != theirs {
		t.Errorf("undone:\n%s\nthe person left:\n%s", now, theirs)
	}
}

// TestOverwriteIsForWhatWasShown: somebody who writes once more after the decision loses
// nothing.
func TestOverwriteIsForWhatWasShown(t *testing.T) {
	g := newGround(t, project)
	since := g.now()
	g.on(`echo mine > a`)
	g.live(`echo theirs > a`)
	s, err := Read(t.Context(), []Tree{g.tree}, since)
	if err != nil {
		t.Fatal(err)
	}
	s.Overwrite(filepath.Join(g.tree.Root, "a"))
	g.now()
	g.live(`echo more >> a`)
	refusedFor(t, s.Apply(t.Context(), Options{Record: g.record()}), filepath.Join(g.tree.Root, "a"), false)
	if text, err := os.ReadFile(filepath.Join(g.tree.Root, "a")); err != nil || string(text) != "theirs\nmore\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func none(Change) bool { return false }
