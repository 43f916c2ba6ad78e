package gitobject_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

func store(dir gitobject.Dir) *gitobject.Store {
	return gitobject.New(dir, &gitobject.Budget{Bytes: 1 << 28})
}

// TestObjectsAreReadAsGitReadsThem: every object of a repository, loose, packed as a
// whole and packed as a difference, in both forms of those.
func TestObjectsAreReadAsGitReadsThem(t *testing.T) {
	dir := repository(t)
	for name, pack := range map[string][]string{
		"loose":              nil,
		"packed":             {"repack", "-adfq", "--depth=50"},
		"with names of base": {"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50"},
		"large offsets":      {"-c", "pack.indexVersion=2", "repack", "-adfq"},
	} {
		if pack != nil {
			git(t, dir, pack...)
			git(t, dir, "prune-packed")
		}
		m := load(t, dir)
		s := store(m)
		count := 0
		for line := range strings.Lines(git(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
			name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
			o, err := s.Read(id(t, name), 1<<20)
			if err != nil || o.Kind.String() != kind || gitobject.Hash(o) != id(t, name) {
				t.Errorf("%s: %v, %v", line, o.Kind, err)
			}
			count++
		}
		if count < 30 {
			t.Errorf("%s: only %d objects", name, count)
		}
		for file := range m {
			if stem, ok := strings.CutSuffix(strings.TrimPrefix(file, "objects/pack/"), ".pack"); ok {
				if n, err := s.VerifyPack(stem); err != nil || n != count {
					t.Errorf("%s: %d objects, %v", name, n, err)
				}
			}
			if loose, ok := gitobject.ParseLooseName(file); ok {
				if _, err := s.VerifyLoose(loose); err != nil {
					t.Error(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDiffIsThatOfGit: files that became directories and directories that became
// files, links, modes and submodules.
func TestDiffIsThatOfGit(t *testing.T) {
	dir := repository(t)
	git(t, dir, "rm", "-qr", "src", "src.go")
	write(t, filepath.Join(dir, "src"), "a file now")
	write(t, filepath.Join(dir, "src.go", "x"), "a directory now")
	git(t, dir, "add", "-A")
	git(t, dir, "update-index", "--chmod=+x", "big")
	git(t, dir, "update-index", "--add", "--cacheinfo", "120000,"+git(t, dir, "hash-object", "-w", "src")+",link")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+git(t, dir, "rev-parse", "HEAD")+",sub/module")
	git(t, dir, "commit", "-qm", "all of it")
	s := store(load(t, dir))
	commits := strings.Fields(git(t, dir, "rev-list", "HEAD"))
	for _, pair := range [][2]string{{commits[0], commits[1]}, {commits[1], commits[0]}, {commits[0], commits[8]}, {commits[3], commits[3]}} {
		var trees [2]gitobject.ID
		for i, name := range pair {
			c, err := s.Commit(id(t, name))
			if err != nil {
				t.Fatal(err)
			}
			trees[i] = c.Tree
		}
		list, err := s.Diff(trees[0], trees[1])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, fmt.Sprintf(":%06o %06o %s %s\t%s", c.Old.Mode, c.New.Mode, c.Old.ID, c.New.ID, c.Path))
		}
		var want []string
		for line := range strings.Lines(git(t, dir, "diff-tree", "-r", "--no-renames", pair[0], pair[1])) {
			f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
			want = append(want, strings.Join(f[:4], " ")+"\t"+f[4][strings.IndexByte(f[4], '\t')+1:])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func deflated(text string) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.Bytes()
}

// TestForgedObjectsAreNoObjects: a file that does not have the content of its name, in
// every form in which it may lie.
func TestForgedObjectsAreNoObjects(t *testing.T) {
	good := gitobject.Hash(gitobject.Object{Kind: gitobject.Blob, Data: []byte("good\n")})
	for name, data := range map[string][]byte{
		"other content":    deflated("blob 4\x00evil"),
		"same length":      deflated("blob 5\x00evil\n"),
		"another kind":     deflated("tree 5\x00good\n"),
		"a wrong length":   deflated("blob 6\x00good\n"),
		"a shorter length": deflated("blob 4\x00good\n"),
		"a zero before":    deflated("blob 05\x00good\n"),
		"more behind it":   append(deflated("blob 5\x00good\n"), "evil"...),
		"no content":       nil,
		"not compressed":   []byte("blob 5\x00good\n"),
		"cut off":          deflated("blob 5\x00good\n")[:8],
		"no head":          deflated("good"),
		"endless head":     deflated(strings.Repeat("b", 1000)),
		"a huge length":    deflated("blob 99999999999999\x00good\n"),
		"negative":         deflated("blob -5\x00good\n"),
	} {
		s := store(memory{gitobject.LooseName(good): data})
		if _, err := s.VerifyLoose(good); err == nil {
			t.Errorf("%s: it is taken for good", name)
		}
		if o, err := s.Read(good, 1<<20); err == nil {
			t.Errorf("%s: it was read: %q", name, o.Data)
		}
	}
	s := store(memory{gitobject.LooseName(good): deflated("blob 5\x00good\n")})
	if _, err := s.VerifyLoose(good); err != nil {
		t.Error(err)
	}
}

// TestForgedPacksAreRefused: a pack with another content under a known name, wrong
// checksums, and an index that leads elsewhere.
func TestForgedPacksAreRefused(t *testing.T) {
	dir := repository(t)
	git(t, dir, "repack", "-adfq")
	m := load(t, dir)
	stem := ""
	for name := range m {
		if s, ok := strings.CutSuffix(strings.TrimPrefix(name, "objects/pack/"), ".pack"); ok {
			stem = s
		}
	}
	pack, index := "objects/pack/"+stem+".pack", "objects/pack/"+stem+".idx"
	sealed := func(data []byte) []byte {
		sum := sha1.Sum(data[:len(data)-20])
		return append(slices.Clone(data[:len(data)-20]), sum[:]...)
	}
	count := int(binary.BigEndian.Uint32(m[index][8+255*4:]))
	offsets := 8 + 1024 + count*24
	for name, change := range map[string]func(memory){
		"a byte of the pack":      func(m memory) { m[pack][40] ^= 1 },
		"the checksum":            func(m memory) { m[pack][len(m[pack])-1] ^= 1 },
		"a byte, with a checksum": func(m memory) { m[pack][40] ^= 1; m[pack] = sealed(m[pack]) },
		"two offsets changed, sealed": func(m memory) {
			a, b := m[index][offsets:offsets+4], m[index][offsets+4:offsets+8]
			for i := range a {
				a[i], b[i] = b[i], a[i]
			}
			m[index] = sealed(m[index])
		},
		"two names changed, sealed": func(m memory) {
			at := 8 + 1024
			a, b := m[index][at:at+20], m[index][at+20:at+40]
			for i := range a {
				a[i], b[i] = b[i], a[i]
			}
			m[index] = sealed(m[index])
		},
		"no index":                 func(m memory) { delete(m, index) },
		"an index of version 1":    func(m memory) { m[index] = m[index][8:] },
		"a short index":            func(m memory) { m[index] = m[index][:len(m[index])-40] },
		"a short pack":             func(m memory) { m[pack] = m[pack][:60] },
		"an empty pack":            func(m memory) { m[pack] = nil },
		"a fan that goes down":     func(m memory) { m[index][8] = 0xff; m[index] = sealed(m[index]) },
		"a pack of another number": func(m memory) { m[pack][11]++; m[pack] = sealed(m[pack]) },
	} {
		forged := memory{}
		for k, v := range m {
			forged[k] = slices.Clone(v)
		}
		change(forged)
		if _, err := store(forged).VerifyPack(stem); err == nil {
			t.Errorf("%s: it is taken for good", name)
		}
	}
	if _, err := store(m).VerifyPack(stem); err != nil {
		t.Error(err)
	}
}

// TestBudgetEndsTheWork: trees that hold each other many times over are not unfolded.
func TestBudgetEndsTheWork(t *testing.T) {
	m := memory{}
	put := func(kind gitobject.Kind, data []byte) gitobject.ID {
		o := gitobject.Object{Kind: kind, Data: data}
		m[gitobject.LooseName(gitobject.Hash(o))] = deflated(fmt.Sprintf("%s %d\x00%s", kind, len(data), data))
		return gitobject.Hash(o)
	}
	at, mode := put(gitobject.Blob, []byte("x")), gitobject.ModeFile
	for range 12 {
		var list []gitobject.Entry
		for i := range 10 {
			list = append(list, gitobject.Entry{Mode: mode, Name: fmt.Sprint("d", i), ID: at})
		}
		at, mode = put(gitobject.Tree, gitobject.FormatTree(list)), gitobject.ModeDir
	}
	if _, err := store(m).Diff(gitobject.ID{}, at); !errors.Is(err, gitobject.ErrTooMuch) {
		t.Errorf("a trillion files: %v", err)
	}
	s := gitobject.New(m, &gitobject.Budget{Bytes: 100})
	if _, err := s.Read(at, 1<<20); !errors.Is(err, gitobject.ErrTooMuch) {
		t.Errorf("beyond the budget: %v", err)
	}
	if _, err := store(m).Read(at, 10); !errors.Is(err, gitobject.ErrTooMuch) {
		t.Errorf("larger than asked for: %v", err)
	}
}

func TestOddTrees(t *testing.T) {
	e := func(mode, name string) string { return mode + " " + name + "\x00" + strings.Repeat("i", 20) }
	for text, good := range map[string]bool{
		"": true, e("100644", "a") + e("40000", "b"): true, e("040000", "a"): true, e("100644", "a.b") + e("40000", "a") + e("100644", "a0"): true,
		e("100644", "b") + e("100644", "a"): false, e("100644", "a") + e("100644", "a"): false, e("100644", "a") + e("40000", "a"): false, e("100644", ""): false, e("100644", "a/b"): false,
		e("100777", "a"): false, e("x", "a"): false, e("100644", "a")[:20]: false, "100644": false, e("", "a"): false,
	} {
		if _, err := gitobject.ParseTree([]byte(text)); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
