//go:build unix

package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/toolbox/files"
)

// These tests hold the words of the adapters against the real tools, whose
// texts the adapters have to recognise.

func TestReadAnswers(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "one\r\ntwo\rthree\n")
	put(t, root+"/bom", "\xef\xbb\xbfx")
	put(t, root+"/bin", "ok\xff\xfe")
	put(t, root+"/image", "\x89PNG\r\n\x1a\n")
	put(t, root+"/.env", "KEY=1")
	put(t, root+"/it's", "")
	if err := os.Symlink("loop", root+"/loop"); err != nil {
		t.Fatal(err)
	}
	r := newRoom(t, setup{root: root, write: true})
	long := strings.Repeat("x/", 3000)
	for path, want := range map[string]ovosReadAnswer{
		"a.txt":         {"one\ntwo\nthree\n", root + "/a.txt"},
		root + "/a.txt": {"one\ntwo\nthree\n", root + "/a.txt"},
		"bom":           {"\ufeffx", root + "/bom"},
		"bin":           {"Error reading file: 'utf-8' codec can't decode byte 0xff in position 2: invalid start byte", root + "/bin"},
		"image":         {"Error reading file: 'utf-8' codec can't decode byte 0x89 in position 0: invalid start byte", root + "/image"},
		"it's/x":        {"Error reading file: [Errno 20] Not a directory: \"" + root + "/it's/x\"", root + "/it's/x"},
		".":             {"Error reading file: [Errno 21] Is a directory: '" + root + "'", root},
		"no/such":       {"Error reading file: [Errno 2] No such file or directory: '" + root + "/no/such'", root + "/no/such"},
		"loop":          {"Error reading file: [Errno 40] Too many levels of symbolic links: '" + root + "/loop'", root + "/loop"},
		long:            {"Error reading file: [Errno 36] File name too long: '" + filepath.Join(root, long) + "'", filepath.Join(root, long)},
		".env":          {"Access denied: path '.env' is protected.", ".env"},
		"/etc/passwd":   {"Access denied: path '/etc/passwd' is outside the sandbox root.", "/etc/passwd"},
		"../x'y":        {"Access denied: path '../x'y' is outside the sandbox root.", "../x'y"},
		"a\x00.txt":     {"Access denied: path 'a\x00.txt' is outside the sandbox root.", "a\x00.txt"},
	} {
		if got, want := r.say(t, OVOS, "read_file", ovosRead{path}), string(mustJSON(want)); got != want {
			t.Errorf("%.40q:\ngot  %.300s\nwant %.300s", path, got, want)
		}
	}
}

func TestLongReadsSayThatTheyAreCut(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a", strings.Repeat("é", 100))
	r := newRoom(t, setup{root: root, files: files.Config{MaxRead: 100}})
	var got ovosReadAnswer
	if err := json.Unmarshal([]byte(r.say(t, OVOS, "read_file", ovosRead{"a"})), &got); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("é", 37) + "\n... (truncated: one answer holds the first 74 of 200 bytes)"; got.Content != want {
		t.Errorf("%q", got.Content)
	}
}

func TestWriteAnswers(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "old")
	put(t, root+"/dir/x", "")
	put(t, root+"/fixed", "old")
	if err := os.Chmod(root+"/fixed", 0o444); err != nil {
		t.Fatal(err)
	}
	r := newRoom(t, setup{root: root, write: true})
	long := strings.Repeat("x", 5000)
	for path, want := range map[string]ovosWriteAnswer{
		"new/deep/f": {true, root + "/new/deep/f", "File written successfully."},
		"a.txt":      {true, root + "/a.txt", "File written successfully."},
		"dir":        {false, "dir", "Error writing file: [Errno 21] Is a directory: '" + root + "/dir'"},
		"":           {false, "", "Error writing file: [Errno 21] Is a directory: '" + root + "'"},
		"dir/x/y":    {false, "dir/x/y", "Error writing file: [Errno 17] File exists: '" + root + "/dir/x'"},
		"fixed":      {false, "fixed", "Error writing file: [Errno 13] Permission denied: '" + root + "/fixed'"},
		long:         {false, long, "Error writing file: [Errno 36] File name too long: '" + root + "/" + long + "'"},
		".env":       {false, ".env", "Access denied: path '.env' is protected."},
		"../x":       {false, "../x", "Access denied: path '../x' is outside the sandbox root."},
		"a\x00":      {false, "a\x00", "Access denied: path 'a\x00' is outside the sandbox root."},
	} {
		if got, want := r.say(t, OVOS, "write_file", ovosWrite{path, "new\r\n"}), string(mustJSON(want)); got != want {
			t.Errorf("%.40q:\ngot  %.300s\nwant %.300s", path, got, want)
		}
	}
	if text, err := os.ReadFile(root + "/a.txt"); string(text) != "new\r\n" {
		t.Errorf("%q, %v", text, err)
	}
	// Somebody else's change is not written over.
	r.say(t, OVOS, "read_file", ovosRead{"a.txt"})
	put(t, root+"/a.txt", "theirs")
	if got := r.say(t, OVOS, "write_file", ovosWrite{"a.txt", "mine"}); !strings.Contains(got, `"success":false`) || !strings.Contains(got, "Error writing file: the file changed since you last read it") {
		t.Error(got)
	}
}

func TestReadOnlyIsToldInBand(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "old")
	const disabled = `","message":"Write access is disabled (allow_write=False)."}`
	granted := newRoom(t, setup{root: root})
	told := newRoom(t, setup{root: root, opt: Options{ReadOnly: true}})
	for _, path := range []string{"a.txt", "new/x", root + "/a.txt"} {
		for _, r := range []*room{granted, told} {
			if got := r.say(t, OVOS, "write_file", ovosWrite{path, "new"}); got != `{"success":false,"path":"`+path+disabled {
				t.Errorf("%s: %s", path, got)
			}
		}
	}
	if got := told.say(t, OVOS, "write_file", ovosWrite{"../x", "new"}); got != `{"success":false,"path":"../x`+disabled {
		t.Error(got)
	}
	if spec, _ := told.Tool(toolcrib.Caller{Dialect: OVOS}, "write_file"); spec.Description != "Write UTF-8 text content to a file (currently disabled — allow_write=False)." {
		t.Error(spec.Description)
	}
}

// A refusal that is not about the path stays one: it must not look like an
// empty directory or a file without content.
func TestOtherRefusalsStay(t *testing.T) {
	root := newTree(t)
	r := newRoom(t, setup{root: root, write: true, guards: []toolcrib.Guard{cribtest.Deny(`"x" is outside the granted directories`)}})
	for tool, input := range map[string]any{
		"read_file": ovosRead{"a"}, "write_file": ovosWrite{"a", ""}, "list_directory": ovosList{".", "*"}, "find_files": ovosFind{"*", "."},
	} {
		if got := r.say(t, OVOS, tool, input); !strings.HasPrefix(got, "refused: RuntimeError: Tool execution failed for '"+tool+"'") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestNowhereIsEmpty(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "a.txt")
	r := newRoom(t, setup{root: root})
	for path, shown := range map[string]string{
		"..": "..", "/etc": "/etc", "a\x00": `a\u0000`, "missing": root + "/missing", "a.txt": root + "/a.txt", "a.txt/x": root + "/a.txt/x",
	} {
		if got := r.say(t, OVOS, "list_directory", ovosList{path, "*"}); got != `{"entries":[],"path":"`+shown+`"}` {
			t.Errorf("list_directory %q: %s", path, got)
		}
		if got := r.say(t, OVOS, "find_files", ovosFind{"*", path}); got != `{"files":[],"total":0}` {
			t.Errorf("find_files %q: %s", path, got)
		}
		if got := r.say(t, OVOS, "search_in_files", ovosGrep{"a", path, "**/*"}); got != `{"matches":[],"total":0}` {
			t.Errorf("search_in_files %q: %s", path, got)
		}
	}
}

func TestSearchAnswers(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "one\ntwo two\n")
	put(t, root+"/sub/a.txt", "one\n")
	put(t, root+"/sub/sub", "one\n")
	r := newRoom(t, setup{root: root})
	match := func(file, number, line string) ovosMatch { return ovosMatch{root + "/" + file, number, line} }
	for _, tt := range []struct {
		in   ovosGrep
		want []ovosMatch
	}{
		{ovosGrep{"one", ".", "*.txt"}, []ovosMatch{match("a.txt", "1", "one")}},
		{ovosGrep{"one", ".", "a.txt"}, []ovosMatch{match("a.txt", "1", "one")}},
		{ovosGrep{"one", ".", "sub/*.txt"}, []ovosMatch{match("sub/a.txt", "1", "one")}},
		{ovosGrep{"one", "sub", "sub"}, []ovosMatch{match("sub/sub", "1", "one")}},
		{ovosGrep{"", ".", "*"}, []ovosMatch{match("a.txt", "1", "one"), match("a.txt", "2", "two two")}},
		{ovosGrep{`two\Z`, ".", "**/*"}, []ovosMatch{match("a.txt", "2", "two two")}},
		{ovosGrep{"(?P<n>t)wo", ".", "**/*"}, []ovosMatch{match("a.txt", "2", "two two")}},
		{ovosGrep{"one", ".", "**"}, []ovosMatch{}},
		{ovosGrep{"one", ".", "../*"}, []ovosMatch{}},
		{ovosGrep{"one", "a.txt", "*"}, []ovosMatch{}},
		{ovosGrep{"(", ".", "/bad"}, []ovosMatch{}},
		{ovosGrep{"one", "..", "/bad"}, []ovosMatch{}},
	} {
		if got, want := r.say(t, OVOS, "search_in_files", tt.in), string(mustJSON(ovosGrepAnswer{Matches: tt.want, Total: len(tt.want)})); got != want {
			t.Errorf("%+v:\ngot  %s\nwant %s", tt.in, got, want)
		}
	}
	// Found by nobody but Python: that nothing was found would be a wrong answer.
	if got := r.say(t, OVOS, "search_in_files", ovosGrep{`(two) \1`, ".", "*"}); !strings.HasPrefix(got, "refused: RuntimeError: Tool execution failed") && !strings.Contains(got, `"total":1`) {
		t.Error(got)
	}
}

func TestTruncatedListsSaySo(t *testing.T) {
	root := newTree(t)
	for _, name := range []string{"a", "b", "c"} {
		put(t, filepath.Join(root, name), "")
	}
	r := newRoom(t, setup{root: root, files: files.Config{MaxFound: 2, MaxAnswer: 10}})
	if got := r.say(t, OVOS, "list_directory", ovosList{".", "*"}); !strings.HasSuffix(got, `"truncated":true}`) {
		t.Error(got)
	}
	if got := r.say(t, OVOS, "find_files", ovosFind{"*", "."}); !strings.HasSuffix(got, `"total":3,"truncated":true}`) {
		t.Error(got)
	}
}

// TestErrnoTexts: the numbers are those of this system.
func TestErrnoTexts(t *testing.T) {
	for text, want := range map[string]syscall.Errno{
		"no such file or directory": syscall.ENOENT, "the operating system does not permit it": syscall.EACCES, "not a directory": syscall.ENOTDIR,
		"it is a directory": syscall.EISDIR, "the disk is full": syscall.ENOSPC,
	} {
		if got := strings.ToLower(errno(text)); !strings.HasSuffix(got, "] "+want.Error()) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if errno("something else") != "" {
		t.Error("every failure has a number")
	}
}
