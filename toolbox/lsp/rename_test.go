package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// renames answers every rename with this JSON, in which DIR is the project.
func renames(r *rig, f *fake, answer string) {
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/rename": func(*fake, json.RawMessage) string {
		return strings.ReplaceAll(answer, "DIR", uriOf(r.root))
	}})
}

const two = `{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}},"newText":"zwei"}`

func TestRename(t *testing.T) {
	const emoji = `{"range":{"start":{"line":1,"character":19},"end":{"line":1,"character":23}},"newText":"fünf"}`
	for name, answer := range map[string]string{
		"changes":   `{"changes":{"DIR/a.x":[` + emoji + `,` + two + `],"DIR/b.x":[` + two + `]}}`,
		"documents": `{"documentChanges":[{"textDocument":{"uri":"DIR/b.x","version":null},"edits":[` + two + `,` + two + `]},{"textDocument":{"uri":"DIR/a.x","version":1},"edits":[` + two + `,` + emoji + `]}]}`,
	} {
		f := &fake{}
		r := scripted(t, f)
		r.write("b.x", "\uFEFFone two\r\nthree")
		renames(r, f, answer)
		in, err := json.Marshal(args{"file": "a.x", "line": 1, "symbol": "two", "new_name": "zwei"})
		if err != nil {
			t.Fatal(err)
		}
		env := r.env("1")
		preview, err := r.tool("lsp_rename").Preview(t.Context(), env, in)
		if err != nil || !strings.Contains(preview, "-one two") || !strings.Contains(preview, "+one zwei") || !strings.Contains(preview, "b.x") {
			t.Fatalf("%s: %v\n%s", name, err, preview)
		}
		if r.read("a.x") != "one two\nthree 👋🏽 four e\u0301 five\n" {
			t.Fatal("looking has changed it")
		}
		result, err := r.tool("lsp_rename").Run(t.Context(), env, in)
		if err != nil || result.Failed {
			t.Fatalf("%s: %v %v", name, err, result)
		}
		if a, b := r.read("a.x"), r.read("b.x"); a != "one zwei\nthree 👋🏽 four e\u0301 fünf\n" || b != "\uFEFFone zwei\r\nthree" {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
}

// TestHostileRename: one edit that may not be made, and none is.
func TestHostileRename(t *testing.T) {
	outside := t.TempDir()
	for name, tt := range map[string]struct{ answer, want string }{
		"outside":       {`{"changes":{"DIR/a.x":[` + two + `],"file:///etc/hosts":[` + two + `]}}`, "outside the granted"},
		"going up":      {`{"changes":{"DIR/a.x":[` + two + `],"DIR/../../../../../../etc/hosts":[` + two + `]}}`, "outside the granted"},
		"no file":       {`{"changes":{"https://example.invalid/a.x":[` + two + `]}}`, "no file"},
		"other host":    {`{"changes":{"file://server/share/a.x":[` + two + `]}}`, "no file"},
		"protected":     {`{"changes":{"DIR/a.x":[` + two + `],"DIR/.env":[` + two + `]}}`, "protected"},
		"hooks":         {`{"changes":{"DIR/a.x":[` + two + `],"DIR/.git/hooks/pre-commit":[` + two + `]}}`, "protected"},
		"a link out":    {`{"changes":{"DIR/a.x":[` + two + `],"DIR/link.x":[` + two + `]}}`, "outside the granted"},
		"missing":       {`{"changes":{"DIR/a.x":[` + two + `],"DIR/none.x":[` + two + `]}}`, "no such file"},
		"makes files":   {`{"documentChanges":[{"kind":"create","uri":"DIR/new.x"},{"textDocument":{"uri":"DIR/a.x"},"edits":[` + two + `]}]}`, "create files"},
		"moves files":   {`{"documentChanges":[{"kind":"rename","oldUri":"DIR/a.x","newUri":"DIR/c.x"}]}`, "rename files"},
		"removes files": {`{"documentChanges":[{"kind":"delete","uri":"DIR/a.x"}]}`, "delete files"},
		"overlapping":   {`{"changes":{"DIR/a.x":[` + two + `,{"range":{"start":{"line":0,"character":5},"end":{"line":0,"character":6}},"newText":"x"}]}}`, "overlap"},
		"backwards":     {`{"changes":{"DIR/a.x":[{"range":{"start":{"line":1,"character":0},"end":{"line":0,"character":0}},"newText":"x"}]}}`, "no sense"},
		"obeyed":        {`{"changes":{"DIR/a.x":[` + two + `],"DIR/.husky/b.x":[` + two + `]}}`, "git runs it later"},
		"nothing":       {`null`, "nothing to rename"},
		"no change":     {`{"changes":{"DIR/a.x":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"one"}]}}`, "nothing would change"},
	} {
		f := &fake{}
		r := scripted(t, f)
		r.write(".env", "one two")
		r.write(".husky/b.x", "one two")
		r.box.needs.Obeyed = func(path string) (name, by string, ok bool) {
			return ".husky", "git runs it", strings.Contains(filepath.ToSlash(path), "/.husky/")
		}
		r.write(".git/hooks/pre-commit", "one two")
		if err := os.WriteFile(filepath.Join(outside, "secret.x"), []byte("one two"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "secret.x"), filepath.Join(r.root, "link.x")); err != nil {
			t.Fatal(err)
		}
		renames(r, f, tt.answer)
		before := r.read("a.x")
		_, failure := try[renameOut](t.Context(), r, "lsp_rename", args{"file": "a.x", "line": 1, "symbol": "two", "new_name": "zwei"})
		if !strings.Contains(failure, tt.want) || r.read("a.x") != before || r.read(".env") != "one two" || r.read(".husky/b.x") != "one two" {
			t.Errorf("%s: %q", name, failure)
		}
	}
}

// TestRenameIsWhatWasApproved: a file that changed since the person saw it is not touched,
// and neither are the others.
func TestRenameIsWhatWasApproved(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	r.write("b.x", "one two\n")
	renames(r, f, `{"changes":{"DIR/a.x":[`+two+`],"DIR/b.x":[`+two+`]}}`)
	in := json.RawMessage(`{"file":"a.x","line":1,"symbol":"two","new_name":"zwei"}`)
	env := r.env("1")
	if _, err := r.tool("lsp_rename").Preview(t.Context(), env, in); err != nil {
		t.Fatal(err)
	}
	r.write("b.x", "one two, and something else\n")
	// A second look does not stand for what the person saw.
	if _, err := r.tool("lsp_rename").Preview(t.Context(), env, in); err != nil {
		t.Fatal(err)
	}
	before := r.read("a.x")
	if _, err := r.tool("lsp_rename").Run(t.Context(), env, in); err == nil || !strings.Contains(err.Error(), "approved") || r.read("a.x") != before {
		t.Errorf("%v", err)
	}
	// The server proposes something else than it did.
	env = r.env("2")
	if _, err := r.tool("lsp_rename").Preview(t.Context(), env, in); err != nil {
		t.Fatal(err)
	}
	renames(r, f, `{"changes":{"DIR/a.x":[`+strings.Replace(two, "zwei", "evil", 1)+`]}}`)
	if _, err := r.tool("lsp_rename").Run(t.Context(), env, in); err == nil || !strings.Contains(err.Error(), "approved") || r.read("a.x") != before {
		t.Errorf("%v", err)
	}
}

// TestRenameAllOrNothing: a file that cannot be written leaves the others as they were.
func TestRenameAllOrNothing(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	r.write("z/b.x", "one two\n")
	r.dirs = append(r.dirs, files.Dir{Path: filepath.Join(r.root, "z")}) // to read only
	renames(r, f, `{"changes":{"DIR/a.x":[`+two+`],"DIR/z/b.x":[`+two+`]}}`)
	before := r.read("a.x")
	_, failure := try[renameOut](t.Context(), r, "lsp_rename", args{"file": "a.x", "line": 1, "symbol": "two", "new_name": "zwei"})
	if !strings.Contains(failure, "reading only") || r.read("a.x") != before || r.read("z/b.x") != "one two\n" {
		t.Errorf("%q", failure)
	}
	// One that changes in the middle: the first is put back.
	p := plan{files: []planned{
		{path: filepath.Join(r.root, "a.x"), before: before, after: "new", was: files.StampOf([]byte(before))},
		{path: filepath.Join(r.root, "c.x"), before: "c", after: "new", was: files.StampOf([]byte("not this"))},
	}}
	r.write("c.x", "c")
	if err := p.apply(r.env("1").Files); err == nil || r.read("a.x") != before || r.read("c.x") != "c" || !strings.Contains(err.Error(), "Nothing was renamed") {
		t.Errorf("%v, %q", err, r.read("a.x"))
	}
}

// TestHiddenStaysHidden: a line with a secret is shown with a mark.
func TestHiddenStaysHidden(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	r.box.needs.Shown = func(text string, from, to int) (string, error) {
		return strings.ReplaceAll(text[from:to], "hunter22", "[redacted]"), nil
	}
	r.write("a.x", "one two hunter22\n")
	renames(r, f, `{"changes":{"DIR/a.x":[`+two+`]}}`)
	preview, err := r.tool("lsp_rename").Preview(t.Context(), r.env("1"), json.RawMessage(`{"file":"a.x","line":1,"symbol":"two","new_name":"zwei"}`))
	if err != nil || strings.Contains(preview, "hunter22") || !strings.Contains(preview, "+one zwei [redacted]") {
		t.Errorf("%v %s", err, preview)
	}
	// A change inside of what is hidden is told, and another one looks different.
	hidden := func(text string) string {
		t.Helper()
		renames(r, f, `{"changes":{"DIR/a.x":[{"range":{"start":{"line":0,"character":8},"end":{"line":0,"character":16}},"newText":"`+text+`"}]}}`)
		preview, err := r.tool("lsp_rename").Preview(t.Context(), r.env(text), json.RawMessage(`{"file":"a.x","line":1,"symbol":"two","new_name":"zwei"}`))
		if err != nil || !strings.Contains(preview, "changes in what is hidden") || strings.Contains(preview, "hunter22") {
			t.Errorf("%v %s", err, preview)
		}
		return preview
	}
	r.box.needs.Shown = func(string, int, int) (string, error) { return "[redacted]", nil }
	if hidden("other1") == hidden("other2") {
		t.Error("two changes look the same")
	}
	r.box.needs.Shown = func(text string, from, to int) (string, error) {
		return strings.ReplaceAll(text[from:to], "hunter22", "[redacted]"), nil
	}
	places(r, f, "textDocument/definition", `[{"uri":"FILE","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`)
	if out := ask[definitionOut](r, "lsp_goto_definition", args{"file": "a.x", "line": 1, "symbol": "two"}); out.Definitions[0].Text != "one two [redacted]" {
		t.Error(out)
	}
}
