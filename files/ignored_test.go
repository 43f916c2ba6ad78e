package files

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ignoredTree is a tree with a protected file in it. The text of a link begins with "-> ".
type ignoredTree map[string]string

func (tree ignoredTree) make(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range tree {
		full := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(full), 0o700)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = errors.Join(err, os.Symlink(target, full))
		} else if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(full, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(full, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// guarded is what FirstGuarded finds for a search that goes by .gitignore files.
func (tree ignoredTree) guarded(t *testing.T, dir, below string) string {
	t.Helper()
	protection, err := NewProtection("", DefaultProtected()...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir, Protected: protection})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := f.FirstGuarded(t.Context(), below, Search{Globs: []string{"!.git"}, Ignores: true})
	if err != nil {
		t.Errorf("%v: %v", tree, err)
	}
	return found
}

// rgReads reports whether the real rg reads a file named .env below a directory. Known is
// false where rg is not installed.
func rgReads(t *testing.T, dir string) (reads, known bool) {
	t.Helper()
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Log("rg is not installed: only the table was checked")
		return false, false
	}
	cmd := exec.CommandContext(t.Context(), rg, "--no-config", "--hidden", "--no-follow", "--glob", "!.git", "-l", "SECRET=", ".")
	cmd.Dir = dir
	out, _ := cmd.Output() // its status says whether it found something
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		if filepath.Base(line) == ".env" {
			return true, true
		}
	}
	return false, true
}

// TestOnlyWhatRgIgnoresIsIgnored: a protected file counts as left out of a search only if
// rg leaves it out, whatever the ignore files of the tree look like.
func TestOnlyWhatRgIgnoresIsIgnored(t *testing.T) {
	t.Parallel()
	const head = "ref: refs/heads/main\n"
	base := ignoredTree{".git/HEAD": head, ".gitignore": ".env\n", ".env": "SECRET=1", "sub/.env": "SECRET=2", "sub/main.go": "package main"}
	with := func(more ignoredTree) ignoredTree {
		tree := ignoredTree{}
		for _, one := range []ignoredTree{base, more} {
			maps.Copy(tree, one)
		}
		for name, text := range tree {
			if text == "gone" {
				delete(tree, name)
			}
		}
		return tree
	}
	for name, c := range map[string]struct {
		more  ignoredTree
		below string
		reads bool // rg may be stricter, never laxer
	}{
		"plain":                         {},
		"below":                         {below: "sub", reads: true}, // the rules above the search are not looked at
		"no repository":                 {more: ignoredTree{".git/HEAD": "gone"}, reads: true},
		"a repository that is a file":   {more: ignoredTree{".git/HEAD": "gone", ".git": "gitdir: elsewhere\n"}},
		"a dangling link as repository": {more: ignoredTree{".git/HEAD": "gone", ".git": "-> nowhere"}, reads: true},
		"nested repository":             {more: ignoredTree{"sub/.git/HEAD": head}, reads: true},
		"nested worktree":               {more: ignoredTree{"sub/.git": "gitdir: elsewhere\n"}, reads: true},
		"nested link to a repository":   {more: ignoredTree{"sub/.git": "-> ../.git"}, reads: true},
		"nested Jujutsu repository":     {more: ignoredTree{"sub/.jj/": ""}, reads: true},
		"nested with rules of its own":  {more: ignoredTree{"sub/.git/HEAD": head, "sub/.gitignore": ".env\n"}},
		"deep in a nested repository":   {more: ignoredTree{"sub/.git/HEAD": head, "sub/.gitignore": ".env\n", "sub/a/b/.env": "SECRET=3"}},
		"taken back":                    {more: ignoredTree{"sub/.gitignore": "!.env\n"}, reads: true},
		"taken back by a link":          {more: ignoredTree{"sub/.gitignore": "-> rules", "sub/rules": "!.env\n"}, reads: true},
		"a dangling link":               {more: ignoredTree{"sub/.gitignore": "-> nowhere"}, reads: true},
		"a directory":                   {more: ignoredTree{"sub/.gitignore/x": ""}, reads: true},
		"taken back at the end":         {more: ignoredTree{"sub/.gitignore": strings.Repeat("#"+strings.Repeat("x", 1022)+"\n", 1024) + "!.env\n"}, reads: true},
		"rg stops at a broken line":     {more: ignoredTree{".gitignore": "\xff\n.env\n"}, reads: true},
		"a broken comment":              {more: ignoredTree{".gitignore": "# \xff\n.env\n"}, reads: true},
		"taken back with braces":        {more: ignoredTree{"sub/.gitignore": "!{.env,x}\n"}, reads: true},
		"taken back with a class":       {more: ignoredTree{"sub/.gitignore": "!.en[v]\n"}, reads: true},
		"taken back with a tab":         {more: ignoredTree{"sub/.gitignore": "!.env\t\n"}, reads: true},
		"taken back with a backslash":   {more: ignoredTree{"sub/.gitignore": "!\\.env\n"}, reads: true},
		"taken back behind a mark":      {more: ignoredTree{"sub/.gitignore": "\ufeff!.env\n"}, reads: true},
		"taken back with returns":       {more: ignoredTree{"sub/.gitignore": "!.env\r\r\n"}, reads: true},
		"taken back by .ignore":         {more: ignoredTree{".ignore": "!.env\n"}, reads: true},
		"taken back by .rgignore":       {more: ignoredTree{"sub/.rgignore": "!.env\n"}, reads: true},
		"taken back by a linked ignore": {more: ignoredTree{"sub/.ignore": "-> rules", "sub/rules": "!.env\n"}, reads: true},
		"taken back by info/exclude":    {more: ignoredTree{".git/info/exclude": "!.env\n"}}, // .gitignore comes first
		"ignored by info/exclude":       {more: ignoredTree{".gitignore": "x\n", ".git/info/exclude": ".env\n"}, reads: true},
		"the usual Python rules":        {more: ignoredTree{".gitignore": "# Bytecode, caché\n__pycache__/\n*.py[cod]\n*$py.class\n\n/build/\n.env\n.env.*\n"}},
		"the usual Node rules":          {more: ignoredTree{".gitignore": "node_modules/\r\n.env*\r\n!.env.example\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := with(c.more)
			dir := tree.make(t)
			found := tree.guarded(t, dir, cmp.Or(c.below, "."))
			if (found != "") != c.reads {
				t.Errorf("found %q, want one: %v", found, c.reads)
			}
			if reads, known := rgReads(t, filepath.Join(dir, c.below)); known && reads && found == "" {
				t.Error("rg reads it")
			}
		})
	}
}

// TestUnreadableIgnoreFileIgnoresNothing: rules that cannot be read may take others back.
func TestUnreadableIgnoreFileIgnoresNothing(t *testing.T) {
	t.Parallel()
	tree := ignoredTree{".git/HEAD": "ref: x\n", ".gitignore": ".env\n", "sub/.env": "SECRET=1", "sub/.gitignore": "!.env\n"}
	dir := tree.make(t)
	// A file that is protected by another name cannot be opened by anybody.
	if err := errors.Join(os.Remove(filepath.Join(dir, "sub", ".gitignore")), os.Link(filepath.Join(dir, "sub", ".env"), filepath.Join(dir, "sub", ".gitignore"))); err != nil {
		t.Fatal(err)
	}
	// The link itself is guarded too: it is excluded, so that only the rules count.
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(".env\n.gitignore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := tree.guarded(t, dir, "."); found == "" {
		t.Error("the rules above it still count")
	}
}

// TestGeneratedIgnoreRulesAgainstRg holds generated rules against the real rg, where it
// is installed.
func TestGeneratedIgnoreRulesAgainstRg(t *testing.T) {
	t.Parallel()
	parts := []string{".env", ".en?", ".e*", "*", "**", "***", "/", "!", "sub", "{.env,x}", "[.]env", "[!x]env", "\\", " ", "\t", "\r", "#", "a", ".", "\ufeff", "\xff", "é", "env", "?"}
	random := rand.New(rand.NewPCG(7, 19))
	rules := func() string {
		var text strings.Builder
		for range 1 + random.IntN(3) {
			for range 1 + random.IntN(4) {
				text.WriteString(parts[random.IntN(len(parts))])
			}
			text.WriteString("\n")
		}
		return text.String()
	}
	if _, known := rgReads(t, t.TempDir()); !known {
		return
	}
	var left int
	for range 150 {
		tree := ignoredTree{".git/HEAD": "ref: x\n", ".gitignore": []string{".env\n", ""}[random.IntN(2)] + rules(), "sub/a/.env": "SECRET=1"}
		if random.IntN(2) == 0 {
			tree["sub/.gitignore"] = rules()
		}
		dir := tree.make(t)
		found := tree.guarded(t, dir, ".")
		if found == "" {
			left++
		}
		if reads, _ := rgReads(t, dir); reads && found == "" {
			t.Errorf("rg reads the file with %q", tree)
		}
	}
	if left == 0 {
		t.Error("nothing was ever left out")
	}
}
