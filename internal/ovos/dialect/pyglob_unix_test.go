//go:build unix

package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patternTree holds names that are awkward in patterns.
func patternTree(t testing.TB) string {
	t.Helper()
	root := newTree(t)
	for _, name := range []string{"a.txt", "sub/c.py", "sub/deep/d.md", ".hid/h", ".dot", "[a", "x^", `back\sl`, "a{b", "c,d", "-", "]"} {
		put(t, filepath.Join(root, name), "")
	}
	for link, to := range map[string]string{"l.txt": "a.txt", "ld": "sub", "out": ".."} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestPatternsAgainstPython: the entries are what pathlib of CPython 3.11
// gives, without what lies behind the links to directories.
func TestPatternsAgainstPython(t *testing.T) {
	root := patternTree(t)
	r := newRoom(t, setup{root: root})
	const dirs = ". .hid sub sub/deep"
	for pattern, want := range map[string]string{
		"*": `- .dot .hid [a ] a.txt a{b back\sl c,d l.txt ld out sub x^`, "**": dirs, "**/": dirs, "**/**": dirs, "**/.": dirs,
		"*/": ".hid sub", "a.txt": "a.txt", "a.txt/": "", "sub/": "sub", "sub/.": "sub", "./sub": "sub", "sub/**": "sub sub/deep", "sub//c.py": "sub/c.py",
		"**/*/": ".hid sub sub/deep", "**/c.py": "sub/c.py", "*/c.py": "sub/c.py", "a.txt/*": "", "a.txt/**": "", "nope/**": "", "sub/*": "sub/c.py sub/deep", "**/d*": "sub/deep sub/deep/d.md",
		"[a": "[a", "[^x]^": "x^", "[^x]*": "x^", "[!x]^": "", "[!ab]{b": "", "[!x]{b": "a{b", "[z-a]*": "", "[!z-a].txt": "a.txt l.txt", "[": "", "[]": "", "[!]": "", "[]]": "]", "[[]a": "[a", "[a-c].txt": "a.txt",
		"[a-]": "-", "[--a]": "- ]", "[:a:].txt": "a.txt", "[[:alpha:]].txt": "", `back\sl`: `back\sl`, `back\*`: `back\sl`, `[\]*`: "", `bac[k]\[s]l`: `back\sl`,
		"a{b": "a{b", "{a,b}*": "", "a[{]b": "a{b", "c,d": "c,d", "c[,]d": "c,d", "?,?": "c,d", "*.PY": "", "a\x00*": "", "\x00": "",
		"..": "", "sub/../a.txt": "", "*/..": "", "out/*": "", "ld/*": "", "../*": "",
		"": "", ".": "", "./": "", "/": "", "/etc/*": "", "***": "", "a**": "", "**a": "", "sub/**b": "",
	} {
		entries := []string{}
		for name := range strings.FieldsSeq(want) {
			entries = append(entries, filepath.Join(root, name))
		}
		got := r.say(t, OVOS, "list_directory", ovosList{".", pattern})
		if diff := cmp.Diff(string(mustJSON(ovosListAnswer{Entries: entries, Path: root})), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestFindPatterns(t *testing.T) {
	root := patternTree(t)
	r := newRoom(t, setup{root: root})
	for pattern, want := range map[string]string{
		"*.txt": "a.txt l.txt", "**/*.*": ".dot a.txt l.txt sub/c.py sub/deep/d.md", "sub/*": "sub/c.py", "**": "", "*/": "", "../*": "", "out/*": "", "[!a]*.txt": "l.txt",
	} {
		found := []string{}
		for name := range strings.FieldsSeq(want) {
			found = append(found, filepath.Join(root, name))
		}
		if diff := cmp.Diff(string(mustJSON(ovosFindAnswer{Files: found, Total: len(found)})), r.say(t, OVOS, "find_files", ovosFind{pattern, "."})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", pattern, diff)
		}
	}
	for pattern, cause := range map[string]string{
		"": "Unacceptable pattern: ''", ".": "Unacceptable pattern: '.'", "/etc/*": "Non-relative patterns are unsupported", "**a": "Invalid pattern: '**' can only be an entire path component",
	} {
		want := "refused: RuntimeError: Tool execution failed for 'find_files' in ToolBox 'ovos-filesystem-tools': " + cause
		if got := r.say(t, OVOS, "find_files", ovosFind{pattern, "."}); got != want {
			t.Errorf("%q: %s", pattern, got)
		}
		// What is wrong with the path counts more.
		if got := r.say(t, OVOS, "find_files", ovosFind{pattern, ".."}); got != `{"files":[],"total":0}` {
			t.Errorf("%q outside: %s", pattern, got)
		}
	}
}

// FuzzPaths makes calls with any path and pattern: none may break an adapter
// or the native tool behind it, and none may name anything outside.
func FuzzPaths(f *testing.F) {
	for _, seed := range [][2]string{
		{".", "*"}, {"", "**"}, {"sub", "../*"}, {"..", "**/*"}, {"/etc", "*"}, {"out", "*"}, {".", "out/*"}, {"ld", "[!a-z]*"}, {"a\x00b", "a\x00"}, {".", "{a,b}/[[:alpha:]]"},
		{".", `[\]]\`}, {"sub/..", "[z-a][!z-a]"}, {"sub/../..", "**/**/"}, {strings.Repeat("x/", 3000), strings.Repeat("[", 100)}, {"~", "[]-a]"},
	} {
		f.Add(seed[0], seed[1])
	}
	root := patternTree(f)
	r := newRoom(f, setup{root: root})
	f.Fuzz(func(t *testing.T, path, pattern string) {
		for tool, input := range map[string]any{
			"list_directory": ovosList{path, pattern}, "find_files": ovosFind{pattern, path}, "read_file": ovosRead{path}, "run_command": ovosRun{pattern, path, "1"},
		} {
			result, refusal := r.call(t, OVOS, tool, mustJSON(input))
			if result == nil {
				known := strings.Contains(refusal, "pattern") || strings.Contains(refusal, "Pattern") || strings.HasPrefix(refusal, "ValueError")
				if !known || strings.Contains(refusal, "no form in this dialect") || strings.Contains(refusal, "broke") {
					t.Fatalf("%s %q %q: %s", tool, path, pattern, refusal)
				}
				continue
			}
			var got struct {
				Entries, Files []string
			}
			if err := json.Unmarshal(result.Value, &got); err != nil {
				t.Fatal(err)
			}
			for _, name := range append(got.Entries, got.Files...) {
				if name != root && !strings.HasPrefix(name, root+"/") || strings.Contains(name, "..") || strings.Contains(name, root+"/out/") {
					t.Fatalf("%s %q %q found %q", tool, path, pattern, name)
				}
			}
		}
	})
}
