package gitindex_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitindex"
)

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestRead reads what git writes, in every form that it has for it.
func TestRead(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to write an index")
	}
	long := strings.Repeat("long/", 900) + "sub"
	for hash, format := range map[int]string{gitindex.SHA1: "sha1", gitindex.SHA256: "sha256"} {
		for version := 2; version <= 4; version++ {
			for _, split := range []bool{false, true} {
				t.Run(fmt.Sprint(format, version, split), func(t *testing.T) {
					dir := t.TempDir()
					git(t, dir, "init", "-q", "--object-format="+format)
					commit := strings.Repeat("1", 2*hash)
					for _, name := range []string{"a/file", "a/sub", "b", "deep/er/abcdefgh", "deep/er/abcdefghi", "z", long} {
						kind := "100644"
						if strings.HasSuffix(name, "sub") {
							kind = "160000"
						}
						git(t, dir, "update-index", "--add", "--cacheinfo", kind+","+commit+","+name)
					}
					git(t, dir, "update-index", "--index-version", fmt.Sprint(version))
					if split {
						git(t, dir, "update-index", "--split-index")
					}
					if version > 2 {
						git(t, dir, "update-index", "--skip-worktree", "a/sub")
					}
					var links []string
					for file := "index"; file != ""; {
						data, err := os.ReadFile(filepath.Join(dir, ".git", file))
						if err != nil {
							t.Fatal(err)
						}
						index, err := gitindex.Read(data, hash)
						if err != nil {
							t.Fatalf("%s: %v", file, err)
						}
						for _, l := range index.Links {
							links = append(links, l.Path)
							if !split && l.Path == "a/sub" && l.Skip != (version > 2) {
								t.Errorf("skip is %v", l.Skip)
							}
						}
						if other := gitindex.SHA1 + gitindex.SHA256 - hash; len(index.Links) > 0 {
							if wrong, err := gitindex.Read(data, other); err == nil {
								t.Errorf("with the other hash: %v", wrong)
							}
						}
						file = index.Shared
					}
					slices.Sort(links)
					if want := []string{"a/sub", long}; !slices.Equal(slices.Compact(links), want) {
						t.Errorf("%.100q", links)
					}
				})
			}
		}
	}
}

// TestIndexNames: an entry is as long as git takes it to be.
func TestIndexNames(t *testing.T) {
	entry := func(mode, flags uint16, name string) string {
		fixed := make([]byte, 62)
		fixed[26], fixed[27] = byte(mode>>8), byte(mode)
		fixed[60], fixed[61] = byte(flags>>8), byte(flags)
		text := string(fixed) + name
		return text + strings.Repeat("\x00", 8-len(text)%8)
	}
	index := func(version byte, entries ...string) []byte {
		return []byte("DIRC\x00\x00\x00" + string(version) + "\x00\x00\x00" + string(rune(len(entries))) + strings.Join(entries, "") + strings.Repeat("h", gitindex.SHA1))
	}
	if got, err := gitindex.Read(index(2, entry(0x81a4, 3, "abc"), entry(0xe000, 8, "abcd/fgh")), gitindex.SHA1); err != nil || len(got.Links) != 1 || got.Links[0].Path != "abcd/fgh" {
		t.Errorf("plain: %v, %v", got, err)
	}
	for name, data := range map[string][]byte{
		"a submodule outside":    index(2, entry(0xe000, 5, "../ab")),
		"a submodule that is it": index(2, entry(0xe000, 3, "a/.")),
		"a longer name":          index(2, entry(0x81a4, 9, "aa\x00aaaaaa")),
		"a shorter name":         index(2, entry(0x81a4, 2, "abc")),
		"a name of any length":   index(2, entry(0x81a4, 0xfff, "abc")),
		"no name":                index(2, entry(0x81a4, 0, "")),
		"flags of version three": index(2, entry(0x81a4, 0x4003, "abc")),
		"version four":           index(4, entry(0x81a4, 3, "abc")),
		"more than it says":      append(index(2), []byte(entry(0x81a4, 3, "abc"))...),
	} {
		if _, err := gitindex.Read(data, gitindex.SHA1); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// FuzzRead: no index makes it fail or run away.
func FuzzRead(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+strings.Repeat("\x00", 100)), true)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"+strings.Repeat("\x01", 100)), false)
	f.Fuzz(func(t *testing.T, data []byte, small bool) {
		hash := gitindex.SHA256
		if small {
			hash = gitindex.SHA1
		}
		index, err := gitindex.Read(data, hash)
		if err != nil {
			return
		}
		for _, l := range index.Links {
			if !filepath.IsLocal(filepath.FromSlash(l.Path)) {
				t.Errorf("a submodule at %q", l.Path)
			}
		}
		entries, _, err := gitindex.Entries(data, hash)
		for i, e := range entries {
			if i > 0 && err == nil && entries[i-1].Name > e.Name {
				t.Errorf("%q stands behind %q", e.Name, entries[i-1].Name)
			}
		}
		var names []string
		err = gitindex.Names(data, hash, func(name string) { names = append(names, name) })
		for _, name := range names {
			if err == nil && index.Improper == "" && name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
				t.Errorf("nothing is said of %q", name)
			}
		}
	})
}
