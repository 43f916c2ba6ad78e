package files

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

func TestReadFile(t *testing.T) {
	d := newDesk(t, Config{MaxRead: 40})
	d.put(t, "lines", "one\ntwo\r\nthree\nfour")
	d.put(t, "empty", "")
	d.put(t, "long", strings.Repeat("0123456789", 10)+"\nsecond\n")
	d.put(t, "many", strings.Repeat("line of 13..\n", 9))
	d.put(t, "bom", "\ufeffwith a mark\n")
	d.put(t, "latin", "caf\xe9\n")
	d.put(t, "damaged", "caf\xc3\xa9 \xff\n")
	d.put(t, "utf16", "\xff\xfeh\x00i\x00\r\x00\n\x00\xac\x20")
	d.put(t, "utf16be", "\xfe\xff\x00h\x00i")
	d.put(t, "binary", "a\x00b")
	d.put(t, "wide", strings.Repeat("é", 30))
	for _, tt := range []struct {
		in   map[string]any
		want string // content|lines/total|truncated|encoding|note
	}{
		{map[string]any{"path": "lines"}, "one\ntwo\r\nthree\nfour|4/4|false|utf-8|"},
		{map[string]any{"path": "lines", "start_line": 2, "end_line": 3}, "two\r\nthree\n|2/4|false|utf-8|"},
		{map[string]any{"path": "lines", "start_line": 4, "end_line": 99}, "four|1/4|false|utf-8|"},
		{map[string]any{"path": "lines", "start_line": 5}, "|0/4|false|utf-8|the file has only 4 lines"},
		{map[string]any{"path": "empty"}, "|0/0|false|utf-8|"},
		{map[string]any{"path": "many"}, strings.Repeat("line of 13..\n", 3) + "|3/9|true|utf-8|lines 1 to 3 of 9; go on with start_line 4"},
		{map[string]any{"path": "many", "start_line": 8}, strings.Repeat("line of 13..\n", 2) + "|2/9|false|utf-8|"},
		{map[string]any{"path": "many", "start_line": 4, "end_line": 5}, strings.Repeat("line of 13..\n", 2) + "|2/9|false|utf-8|"},
		{map[string]any{"path": "long"}, strings.Repeat("0123456789", 4) + "|1/2|true|utf-8|line 1 is longer than one answer holds; only its beginning is given"},
		{map[string]any{"path": "long", "start_line": 2}, "second\n|1/2|false|utf-8|"},
		{map[string]any{"path": "wide"}, strings.Repeat("é", 20) + "|1/1|true|utf-8|line 1 is longer than one answer holds; only its beginning is given"},
		{map[string]any{"path": "bom"}, "with a mark\n|1/1|false|utf-8|"},
		{map[string]any{"path": "latin"}, "café\n|1/1|false|latin-1|"},
		{map[string]any{"path": "latin", "encoding": "utf-8"}, "caf\ufffd\n|1/1|false|utf-8|"},
		{map[string]any{"path": "damaged"}, "café \ufffd\n|1/1|false|utf-8|bytes that are no UTF-8 are shown as \ufffd; edit_file keeps them"},
		{map[string]any{"path": "utf16"}, "hi\r\n€|2/2|false|utf-16le|"},
		{map[string]any{"path": "utf16be"}, "hi|1/1|false|utf-16be|"},
		{map[string]any{"path": "binary"}, "|0/0|false|binary|this is a binary file; encoding base64 gives its bytes"},
		{map[string]any{"path": "binary", "encoding": "base64"}, base64.StdEncoding.EncodeToString([]byte("a\x00b")) + "|0/0|false|base64|"},
		{map[string]any{"path": "long", "encoding": "base64"}, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789", 3))) + "|0/0|true|base64|the first 30 bytes; more cannot be read as base64"},
	} {
		out := d.must(t, "read_file", tt.in)
		note, _ := out["note"].(string)
		got := fmt.Sprintf("%s|%v/%v|%v|%s|%s", out["content"], out["lines"], out["total_lines"], out["truncated"], out["encoding"], note)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, diff)
		}
	}
	if out := d.must(t, "read_file", map[string]any{"path": filepath.Join(d.read, "..", "work", "lines")}); out["path"] != filepath.Join(d.dir, "lines") || out["size_bytes"] != 19.0 {
		t.Errorf("%v", out)
	}
	d.fails(t, "before start_line", "read_file", map[string]any{"path": "lines", "start_line": 3, "end_line": 2})
	d.fails(t, "no such file", "read_file", map[string]any{"path": "nothing"})
	d.fails(t, "is a directory", "read_file", map[string]any{"path": "."})
	d.fails(t, "denied", "read_file", map[string]any{"path": "../out"})
}

// TestPages: the pages of a file put together are the file, whatever the size
// of a page.
func TestPages(t *testing.T) {
	text := ""
	for i := range 200 {
		text += fmt.Sprintf("%d %s\n", i, strings.Repeat("x", i*7%31))
	}
	for _, size := range []int64{40, 64, 1000, 8 << 10} {
		d := newDesk(t, Config{MaxRead: size})
		d.put(t, "f", text)
		got, start := "", 1
		for range 300 {
			out := d.must(t, "read_file", map[string]any{"path": "f", "start_line": start})
			got += out["content"].(string)
			start += int(out["lines"].(float64))
			if out["truncated"] == false {
				break
			}
		}
		if got != text {
			t.Errorf("pages of %d bytes make %d bytes of %d", size, len(got), len(text))
		}
	}
}

func TestReadImage(t *testing.T) {
	d := newDesk(t, Config{MaxImage: 100})
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 20)
	d.put(t, "small.png", png)
	d.put(t, "large.jpg", "\xff\xd8\xff"+strings.Repeat("\x00", 200))
	result, err := d.Call(t.Context(), toolcrib.Call{Tool: "read_file", Input: json.RawMessage(`{"path":"small.png"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Content) != 1 || result.Content[0].Type != "image" || result.Content[0].MIME != "image/png" || string(result.Content[0].Data) != png {
		t.Errorf("got %+v", result.Content)
	}
	if out := d.must(t, "read_file", map[string]any{"path": "large.jpg"}); !strings.Contains(out["note"].(string), "too large") {
		t.Errorf("%v", out)
	}
}

func TestWriteFile(t *testing.T) {
	d := newDesk(t, Config{})
	out := d.must(t, "write_file", map[string]any{"path": "x/y/new.txt", "content": "one\ntwo"})
	want := map[string]any{
		"path": filepath.Join(d.dir, "x", "y", "new.txt"), "success": true, "lines": 2.0, "bytes_written": 7.0, "message": "File created.",
		"diff": "--- x/y/new.txt\n+++ x/y/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n",
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	out = d.must(t, "write_file", map[string]any{"path": "x/y/new.txt", "content": "\nthree\n", "append": true})
	if got := content(t, filepath.Join(d.dir, "x", "y", "new.txt")); got != "one\ntwo\nthree\n" || out["lines"] != 3.0 || !strings.Contains(out["diff"].(string), "+three") {
		t.Errorf("%q, %v", got, out)
	}
	out = d.must(t, "write_file", map[string]any{"path": "x/y/new.txt", "content": "one\ntwo\nthree\n"})
	if out["bytes_written"] != 0.0 || out["diff"] != "" || out["success"] != true {
		t.Errorf("writing what is there: %v", out)
	}
	out = d.must(t, "write_file", map[string]any{"path": "empty", "content": ""})
	if out["message"] != "File created." || content(t, filepath.Join(d.dir, "empty")) != "" {
		t.Errorf("an empty file: %v", out)
	}
	failed, fault := d.call(t, "write_file", map[string]any{"path": "x", "content": "a"})
	if fault == "" || failed["success"] != false || failed["message"] != fault {
		t.Errorf("writing a directory: %v, %s", failed, fault)
	}
	d.fails(t, "reading only", "write_file", map[string]any{"path": filepath.Join(d.read, "new"), "content": "a"})
}

// TestChanged: a file that is not as its caller saw it is not touched.
func TestChanged(t *testing.T) {
	d := newDesk(t, Config{})
	path := d.put(t, "f", "old\n")
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "old", "new_text": "unread"}) // never read: nothing to compare with
	d.must(t, "read_file", map[string]any{"path": "./f"})
	write(t, path, "other\n")
	for _, call := range []struct {
		tool string
		in   map[string]any
	}{
		{"edit_file", map[string]any{"path": path, "old_text": "other", "new_text": "x"}},
		{"write_file", map[string]any{"path": "f", "content": "x"}},
		{"write_file", map[string]any{"path": "f", "content": "x", "append": true}},
		{"delete_file", map[string]any{"path": "f"}},
	} {
		d.fails(t, "changed since you last read it", call.tool, call.in)
	}
	if content(t, path) != "other\n" {
		t.Error("it was changed all the same")
	}
	d.must(t, "read_file", map[string]any{"path": "f", "start_line": 1, "end_line": 1})
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "other", "new_text": "mine"})
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "mine", "new_text": "mine too"}) // our own change is known
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.fails(t, "changed", "write_file", map[string]any{"path": "f", "content": "x"})
	d.fails(t, "no such file", "read_file", map[string]any{"path": "f"})
	d.must(t, "write_file", map[string]any{"path": "f", "content": "x"}) // now it is known to be gone
	// Another conversation knows nothing of all this.
	write(t, path, "again\n")
	_, err := d.Call(t.Context(), toolcrib.Call{Tool: "edit_file", Input: json.RawMessage(`{"path":"f","old_text":"again","new_text":"y"}`), Caller: toolcrib.Caller{Subject: "bob"}})
	if err != nil || content(t, path) != "y\n" {
		t.Errorf("%v, %q", err, content(t, path))
	}
}

func TestDeleteFile(t *testing.T) {
	d := newDesk(t, Config{})
	d.put(t, "f", "text\n")
	d.put(t, "dir/g", "text\n")
	for path, kind := range map[string]string{"f": "file", "dir/g": "file"} {
		out := d.must(t, "delete_file", map[string]any{"path": path})
		if diff := cmp.Diff(map[string]any{"path": filepath.Join(d.dir, path), "deleted": true, "type": kind}, out); diff != "" {
			t.Error(diff)
		}
	}
	if out := d.must(t, "delete_file", map[string]any{"path": "dir"}); out["type"] != "directory" {
		t.Errorf("%v", out)
	}
	slots, err := os.ReadDir(d.trash)
	if err != nil || len(slots) != 3 {
		t.Errorf("%d in the trash, %v", len(slots), err)
	}
	d.fails(t, "no such file", "delete_file", map[string]any{"path": "f"})
	d.put(t, "full/x", "")
	d.fails(t, "not empty", "delete_file", map[string]any{"path": "full"})
}

func TestListAndFind(t *testing.T) {
	d := newDesk(t, Config{MaxFound: 4})
	for _, name := range []string{"b.go", "a.txt", ".hidden", "dir/c.go", "dir/sub/d.go", "dir/sub/e.txt", ".git/HEAD", ".gitignore", "build/x.go", "dir/.gitignore", "dir/sub/skip.go", ".env", "z/y.go"} {
		d.put(t, name, "")
	}
	write(t, filepath.Join(d.dir, ".gitignore"), "build/\n*.txt\n")
	write(t, filepath.Join(d.dir, "dir", ".gitignore"), "/sub/skip.go\n!e.txt\n")
	write(t, filepath.Join(d.dir, ".git", "info", "exclude"), "z\n")
	if err := os.Symlink("b.go", filepath.Join(d.dir, "link.go")); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		in   map[string]any
		want string
	}{
		{map[string]any{}, ".git/ .gitignore .hidden a.txt b.go build/ dir/ link.go z/"},
		{map[string]any{"pattern": "*.go"}, "b.go link.go"},
		{map[string]any{"recursive": true, "pattern": "*.go"}, "b.go link.go build/x.go dir/c.go dir/sub/d.go dir/sub/skip.go z/y.go"},
		{map[string]any{"recursive": true, "pattern": "dir/**"}, "dir/ dir/.gitignore dir/c.go dir/sub/ dir/sub/d.go dir/sub/e.txt dir/sub/skip.go"},
		{map[string]any{"recursive": true, "gitignore": true}, ".git/ .gitignore .hidden b.go dir/ link.go dir/.gitignore dir/c.go dir/sub/ dir/sub/d.go dir/sub/e.txt"},
		{map[string]any{"path": "dir", "recursive": true, "gitignore": true}, ".gitignore c.go sub/ sub/d.go sub/e.txt"},
		{map[string]any{"path": "dir/sub", "gitignore": true}, "d.go e.txt"},
		{map[string]any{"path": ".git", "recursive": true}, "HEAD info/ info/exclude"},
		{map[string]any{"recursive": true, "limit": 3}, ".git/ .gitignore .hidden …"},
	} {
		out := d.must(t, "list_files", tt.in)
		if got := listing(out, "files"); got != tt.want || out["count"] != float64(len(out["files"].([]any))) {
			t.Errorf("list_files %v:\n%s\nwant\n%s", tt.in, got, tt.want)
		}
	}
	for _, tt := range []struct {
		in    map[string]any
		want  string
		total int
	}{
		{map[string]any{"glob": "*.go"}, "b.go link.go", 2},
		{map[string]any{"glob": "**/*.go"}, "b.go link.go build/x.go dir/c.go …", 7},
		{map[string]any{"glob": "dir/*/*.go", "gitignore": true}, "dir/sub/d.go", 1},
		{map[string]any{"glob": "*.{txt,md}"}, "a.txt", 1},
		{map[string]any{"glob": "dir"}, "", 0},
		{map[string]any{"glob": "**/.env"}, "", 0},
	} {
		out := d.must(t, "find_files", tt.in)
		if got := strings.ReplaceAll(listing(out, "files"), d.dir+"/", ""); got != tt.want || out["total"] != float64(tt.total) {
			t.Errorf("find_files %v: %s, %v; want %s, %d", tt.in, got, out["total"], tt.want, tt.total)
		}
	}
	d.fails(t, "not a directory", "list_files", map[string]any{"path": "b.go"})
	d.fails(t, "cannot hold ..", "find_files", map[string]any{"glob": "../*"})
	d.fails(t, "malformed", "list_files", map[string]any{"pattern": "[a"})
}

// listing joins a list, with a mark at the end if there is more.
func listing(out map[string]any, key string) string {
	var names []string
	for _, v := range out[key].([]any) {
		names = append(names, v.(string))
	}
	if out["truncated"] == true {
		names = append(names, "…")
	}
	return strings.Join(names, " ")
}

func TestSearchFiles(t *testing.T) {
	d := newDesk(t, Config{})
	d.put(t, "a.go", "package a\nfunc One() {}\n// one more\n")
	d.put(t, "dir/b.go", "one\ntwo\nONE three\n")
	d.put(t, "dir/c.txt", "one\n")
	d.put(t, "bin", "one\x00\n")
	d.put(t, ".git/x", "one\n")
	d.put(t, ".env", "one\n")
	d.put(t, "skip/d.go", "one\n")
	d.put(t, ".gitignore", "skip\n")
	for _, tt := range []struct {
		in   map[string]any
		want string
	}{
		{map[string]any{"pattern": "one"}, "a.go:3 dir/b.go:1 dir/c.txt:1 skip/d.go:1"},
		{map[string]any{"pattern": "one", "ignore_case": true, "file_pattern": "*.go"}, "a.go:2 a.go:3 dir/b.go:1 dir/b.go:3 skip/d.go:1"},
		{map[string]any{"pattern": "^(one|two)$", "regex": true, "gitignore": true}, "dir/b.go:1 dir/b.go:2 dir/c.txt:1"},
		{map[string]any{"pattern": "one", "path": "dir"}, "b.go:1 c.txt:1"},
		{map[string]any{"pattern": "ONE", "path": "dir/b.go"}, "b.go:3"},
		{map[string]any{"pattern": "one", "limit": 2}, "a.go:3 dir/b.go:1 …"},
		{map[string]any{"pattern": "one", "limit": 4}, "a.go:3 dir/b.go:1 dir/c.txt:1 skip/d.go:1"},
		{map[string]any{"pattern": "one", "path": "dir/b.go", "limit": 1, "ignore_case": true}, "b.go:1 …"},
		{map[string]any{"pattern": "nowhere"}, ""},
	} {
		for range 3 {
			out := d.must(t, "search_files", tt.in)
			var got []string
			for _, m := range out["matches"].([]any) {
				m := m.(map[string]any)
				got = append(got, fmt.Sprintf("%s:%v", m["file"], m["line"]))
			}
			if out["count"] != float64(len(got)) {
				t.Errorf("count %v of %d", out["count"], len(got))
			}
			if out["truncated"] == true {
				got = append(got, "…")
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%v: %s; want %s", tt.in, s, tt.want)
			}
		}
	}
	out := d.must(t, "search_files", map[string]any{"pattern": "two", "context": 1})
	want := map[string]any{"file": "dir/b.go", "line": 2.0, "content": "two", "before": []any{"one"}, "after": []any{"ONE three"}}
	if diff := cmp.Diff(want, out["matches"].([]any)[0]); diff != "" {
		t.Error(diff)
	}
	d.fails(t, "regular expression", "search_files", map[string]any{"pattern": "(?<=a", "regex": true})
	d.fails(t, "no such file", "search_files", map[string]any{"pattern": "a", "path": "gone"})
}

// TestSearchManyFiles: a folder with many files, answers that fill up.
func TestSearchManyFiles(t *testing.T) {
	d := newDesk(t, Config{MaxAnswer: 20_000})
	for i := range 500 {
		d.put(t, fmt.Sprintf("f%03d", i), strings.Repeat("a needle in here\n", 3))
	}
	var first []byte
	for range 5 {
		out := d.must(t, "search_files", map[string]any{"pattern": "needle", "limit": 10000})
		if out["truncated"] != true || out["count"].(float64) < 200 {
			t.Fatalf("%v, %v", out["truncated"], out["count"])
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, text) {
			t.Error("the same search answers differently")
		}
		first = text
	}
}
