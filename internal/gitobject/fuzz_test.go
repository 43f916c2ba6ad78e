package gitobject_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// FuzzLoose: whatever lies in the place of a loose object, what is read has its name.
func FuzzLoose(f *testing.F) {
	f.Add(deflated("blob 5\x00good\n"))
	f.Add(deflated("tree 3\x00abc"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name, _ := gitobject.ParseID(strings.Repeat("ab", 20))
		s := gitobject.New(memory{gitobject.LooseName(name): data}, &gitobject.Budget{Bytes: 1 << 20})
		if o, err := s.Read(name, 1<<20); err == nil && gitobject.Hash(o) != name {
			t.Errorf("%q was read", o.Data)
		}
		if _, err := s.VerifyLoose(name); err == nil {
			t.Error("a hash was met by chance")
		}
	})
}

// FuzzPack: whatever lies in a pack and in its index, what is read has its name.
func FuzzPack(f *testing.F) {
	m := load(f, func() string {
		dir := repository(f)
		git(f, dir, "repack", "-adfq")
		return dir
	}())
	stem := ""
	for name := range m {
		if s, ok := strings.CutSuffix(strings.TrimPrefix(name, "objects/pack/"), ".pack"); ok {
			stem = s
		}
	}
	pack, index := m["objects/pack/"+stem+".pack"], m["objects/pack/"+stem+".idx"]
	for i := range 40 {
		f.Add(pack, index, uint16(i*7))
	}
	f.Fuzz(func(t *testing.T, pack, index []byte, which uint16) {
		dir := memory{"objects/pack/" + stem + ".pack": pack, "objects/pack/" + stem + ".idx": index}
		s := gitobject.New(dir, &gitobject.Budget{Bytes: 1 << 22})
		at := 8 + 1024 + int(which)*20
		if len(index) >= at+20 {
			name := gitobject.ID(index[at : at+20])
			if o, err := s.Read(name, 1<<20); err == nil && gitobject.Hash(o) != name {
				t.Errorf("%s was read as %q", name, o.Data)
			}
		}
		_, _ = s.VerifyPack(stem)
	})
}

// FuzzTree: a tree that is understood is written the same, but for modes with zeros
// before them, which old programs wrote.
func FuzzTree(f *testing.F) {
	f.Add([]byte("100644 a\x00iiiiiiiiiiiiiiiiiiii40000 b\x00jjjjjjjjjjjjjjjjjjjj"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := gitobject.ParseTree(data)
		if err != nil {
			return
		}
		if again := gitobject.FormatTree(list); !bytes.Equal(again, data) && len(again) >= len(data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}

func FuzzCommit(f *testing.F) {
	f.Add([]byte("tree " + strings.Repeat("a", 40) + "\nparent " + strings.Repeat("b", 40) + "\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nmessage\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := gitobject.ParseCommit(data)
		if err == nil && !bytes.HasPrefix(data, []byte("tree "+c.Tree.String()+"\n")) {
			t.Errorf("the tree of %q is %s", data, c.Tree)
		}
	})
}
