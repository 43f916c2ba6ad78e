package gitindex_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitindex"
)

// TestProper: git itself would refuse the same names.
func TestProper(t *testing.T) {
	for _, name := range []string{"a", "a/b", ".gitignore", ".github/x", "git", "a.git", "...", "a/..b", "b\\c", "git~2", "x:.git", "naïve/ü", ".gi"} {
		if !gitindex.Proper(name) {
			t.Errorf("%q is not taken", name)
		}
	}
	for _, name := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../../b", "a/./b", ".git", ".GIT/hooks/x", "sub/.git/config", "a\x00b",
		"git~1/x", "GIT~1", ".git./x", ".git . ", ".git::$INDEX_ALLOCATION/config", "a\\.git\\x", ".g\u200cit/config", "\ufeff.git/x"} {
		if gitindex.Proper(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

// TestImproper: a name that leads elsewhere is found in every form of an index.
func TestImproper(t *testing.T) {
	entry := func(mode uint16, name string) string {
		fixed := make([]byte, 62)
		fixed[26], fixed[27], fixed[61] = byte(mode>>8), byte(mode), byte(len(name))
		text := string(fixed) + name
		return text + strings.Repeat("\x00", 8-len(text)%8)
	}
	index := func(entries ...string) []byte {
		return []byte("DIRC\x00\x00\x00\x02\x00\x00\x00" + string(rune(len(entries))) + strings.Join(entries, "") + strings.Repeat("h", gitindex.SHA1))
	}
	for want, data := range map[string][]byte{
		"":              index(entry(0x81a4, "a/b"), entry(0x4000, "c/")),
		"../../home/.x": index(entry(0x81a4, "a"), entry(0x81ed, "../../home/.x")),
		".git/config":   index(entry(0x81a4, ".git/config"), entry(0x81a4, "../b")),
		"..":            index(entry(0xa000, "..")),
		"c/..":          index(entry(0x4000, "c/../")),
	} {
		if got, err := gitindex.Read(data, gitindex.SHA1); err != nil || got.Improper != want {
			t.Errorf("%v, %v, want %q", got, err, want)
		}
	}
}

// TestThreads: git reads a large index with several threads, by a table. A
// forged table, or a forged end, is not taken.
func TestThreads(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to write an index")
	}
	for _, version := range []string{"2", "4"} {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		var list strings.Builder
		for i := range 25_000 {
			fmt.Fprintf(&list, "100644 %040d\tdir%d/file%d\n", 1, i%100, i)
		}
		c := exec.CommandContext(t.Context(), "git", "-c", "index.threads=4", "-c", "index.version="+version, "update-index", "--add", "--index-info")
		c.Dir, c.Stdin = dir, strings.NewReader(list.String())
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := gitindex.Read(data, gitindex.SHA1); err != nil || got.Improper != "" {
			t.Fatalf("version %s: %v, %v", version, got, err)
		}
		table, end := bytes.LastIndex(data, []byte("IEOT")), bytes.LastIndex(data, []byte("EOIE"))
		if table < 0 || end < 0 {
			t.Skip("this git writes no table")
		}
		for name, at := range map[string]int{"where entries begin": table + 8 + 4 + 8, "how many they are": table + 8 + 4 + 4, "where they end": end + 8} {
			forged := bytes.Clone(data)
			binary.BigEndian.PutUint32(forged[at:], binary.BigEndian.Uint32(forged[at:])+8)
			if _, err := gitindex.Read(forged, gitindex.SHA1); err == nil {
				t.Errorf("version %s: %s is forged, and it is taken", version, name)
			}
		}
		// Git looks for the end where it is, also if another extension lies around it.
		forged := bytes.Clone(data)
		binary.BigEndian.PutUint32(forged[end+8:], uint32(table+16))
		copy(forged[table:], "XEOT")
		binary.BigEndian.PutUint32(forged[table+4:], uint32(len(data)-gitindex.SHA1-table-8))
		if _, err := gitindex.Read(forged, gitindex.SHA1); err == nil {
			t.Errorf("version %s: an end in another extension is taken", version)
		}
	}
}
