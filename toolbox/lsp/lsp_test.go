package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

func TestToolbox(t *testing.T) {
	f := &fake{}
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return scripted(t, f).box })
	for name, open := range map[string]func() error{
		"negative": func() error {
			_, err := Open(t.Context(), Config{Idle: -1}, Needs{Find: func(string) (string, error) { return "", nil }, Scan: scanned})
			return err
		},
		"nothing to find programs with": func() error { _, err := Open(t.Context(), Config{}, Needs{Scan: scanned}); return err },
		"a server without files": func() error {
			_, err := Open(t.Context(), Config{Servers: []Server{{Name: "a", Command: "b"}}}, Needs{Find: func(string) (string, error) { return "", nil }, Scan: scanned})
			return err
		},
	} {
		if open() == nil {
			t.Errorf("%s: it opened", name)
		}
	}
}

func TestAbsent(t *testing.T) {
	none := func(name string) (string, error) { return "", errors.New("there is no " + name) }
	some := func(name string) (string, error) { return "/bin/" + name, nil }
	for name, tt := range map[string]struct {
		needs Needs
		want  string
	}{
		"no sandbox":   {Needs{Find: some, Scan: scanned}, "no sandbox"},
		"no program":   {Needs{Find: none, Scan: scanned, Run: (&fake{}).run}, "gopls"},
		"all is there": {Needs{Find: some, Scan: scanned, Run: (&fake{}).run}, ""},
	} {
		box, err := Open(t.Context(), Config{}, tt.needs)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := box.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, tool := range tools {
			if tool.Name != ToolNames()[i] {
				t.Errorf("%s is not the name of %s", ToolNames()[i], tool.Name)
			}
		}
		group, why := box.Absent()
		if group != Group || !strings.Contains(why["lsp_hover"], tt.want) || (tt.want == "") != (len(tools) == 6) {
			t.Errorf("%s: %d tools, absent %v", name, len(tools), why)
		}
	}
}

// places answers a question for locations with this JSON, in which FILE is the file.
func places(r *rig, f *fake, method, answer string) {
	f.script(map[string]func(*fake, json.RawMessage) string{method: func(*fake, json.RawMessage) string {
		return strings.ReplaceAll(answer, "FILE", at(r, "a.x"))
	}})
}

func TestDefinitionForms(t *testing.T) {
	const two = `{"start":{"line":0,"character":4},"end":{"line":0,"character":7}}`
	for name, tt := range map[string]struct{ answer, want string }{
		"null":      {`null`, "[]"},
		"none":      {`[]`, "[]"},
		"one":       {`{"uri":"FILE","range":` + two + `}`, "[a.x 1:5-1:8 one two]"},
		"list":      {`[{"uri":"FILE","range":` + two + `}]`, "[a.x 1:5-1:8 one two]"},
		"link":      {`[{"targetUri":"FILE","targetRange":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"targetSelectionRange":` + two + `}]`, "[a.x 1:5-1:8 one two]"},
		"bare link": {`[{"targetUri":"FILE","targetRange":` + two + `}]`, "[a.x 1:5-1:8 one two]"},
		// Behind an emoji of two characters and four units, and a letter of two characters.
		"UTF-16":    {`[{"uri":"FILE","range":{"start":{"line":1,"character":19},"end":{"line":1,"character":23}}}]`, "[a.x 2:18-2:22 three 👋🏽 four e\u0301 five]"},
		"beyond":    {`[{"uri":"FILE","range":{"start":{"line":900,"character":1},"end":{"line":900,"character":900}}}]`, "[a.x 3:1-3:1 ]"},
		"negative":  {`[{"uri":"FILE","range":{"start":{"line":-5,"character":-1},"end":{"line":-1,"character":-1}}}]`, "[a.x 1:1-1:1 one two]"},
		"outside":   {`[{"uri":"file:///etc/passwd","range":` + two + `}]`, "[/etc/passwd 1:5-1:8  outside]"},
		"no file":   {`[{"uri":"https://example.invalid/x","range":` + two + `},{"uri":"jdt://contents/x","range":` + two + `},{"uri":"%%%"},{"uri":"file://host/etc/passwd","range":` + two + `}]`, "[]"},
		"protected": {`[{"uri":"DIR/.env","range":` + two + `}]`, "[.env 1:5-1:8  outside]"},
		"dots":      {`[{"uri":"DIR/../../../../../../../../../etc/passwd","range":` + two + `}]`, "[/etc/passwd 1:5-1:8  outside]"},
	} {
		f := &fake{}
		r := scripted(t, f)
		r.write(".env", "PASSWORD=hunter22\n")
		places(r, f, "textDocument/definition", strings.ReplaceAll(tt.answer, "DIR", uriOf(r.root)))
		out := ask[definitionOut](r, "lsp_goto_definition", args{"file": "a.x", "line": 1, "symbol": "two"})
		var got []string
		for _, p := range out.Definitions {
			s := fmt.Sprintf("%s %d:%d-%d:%d %s", strings.TrimPrefix(p.Path, r.root+"/"), p.Line, p.Column, p.EndLine, p.EndColumn, p.Text)
			if p.Outside {
				s += " outside"
			}
			got = append(got, s)
		}
		if fmt.Sprint(got) != tt.want || out.Count != len(got) {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// TestColumns: a place goes to the server in the units that it counts in.
func TestColumns(t *testing.T) {
	for name, tt := range map[string]struct {
		caps string
		in   args
		want string
	}{
		"first":            {"", args{"line": 1, "column": 1}, `{"line":0,"character":0}`},
		"UTF-16":           {"", args{"line": 2, "symbol": "five"}, `{"line":1,"character":19}`},
		"UTF-16 by column": {"", args{"line": 2, "column": 18}, `{"line":1,"character":19}`},
		"UTF-8":            {`"positionEncoding":"utf-8",` + allCaps, args{"line": 2, "symbol": "five"}, `{"line":1,"character":24}`},
		"UTF-32":           {`"positionEncoding":"utf-32",` + allCaps, args{"line": 2, "symbol": "five"}, `{"line":1,"character":17}`},
		"end of line":      {"", args{"line": 1, "column": 8}, `{"line":0,"character":7}`},
	} {
		var got string
		f := &fake{caps: tt.caps, answer: map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(_ *fake, params json.RawMessage) string {
			got = string(params)
			return `{"contents":["plain",{"language":"go","value":"x"},{"kind":"markdown","value":"*y*"}]}`
		}}}
		r := scripted(t, f)
		tt.in["file"] = "a.x"
		out := ask[hoverOut](r, "lsp_hover", tt.in)
		if out.Hover != "plain\n\n```go\nx\n```\n\n*y*" || !strings.Contains(got, `"position":`+tt.want) {
			t.Errorf("%s: %q, asked %s", name, out.Hover, got)
		}
	}
	r := scripted(t, &fake{caps: `"positionEncoding":"ebcdic"`})
	if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "ebcdic") {
		t.Error(failure)
	}
}

func TestBadPlaces(t *testing.T) {
	r := scripted(t, &fake{})
	r.write("b.y", "")
	r.write("bad.x", "\xff\xfe")
	r.write(".env", "A=b")
	for name, tt := range map[string]struct {
		in   args
		want string
	}{
		"no line":    {args{"file": "a.x", "line": 99, "column": 1}, "there is no line 99"},
		"no column":  {args{"file": "a.x", "line": 1, "column": 99}, "there is no column 99 in line 1, which has 7"},
		"no place":   {args{"file": "a.x", "line": 1}, "give symbol"},
		"no symbol":  {args{"file": "a.x", "line": 1, "symbol": "wo"}, "not in line 1, which is: one two"},
		"no file":    {args{"file": "none.x", "line": 1, "column": 1}, "no such file"},
		"no server":  {args{"file": "b.y", "line": 1, "column": 1}, "toolboxes.lsp.servers"},
		"no text":    {args{"file": "bad.x", "line": 1, "column": 1}, "UTF-8"},
		"a folder":   {args{"file": ".", "line": 1, "column": 1}, "not a file"},
		"outside":    {args{"file": "/etc/passwd", "line": 1, "column": 1}, "outside the granted"},
		"protected":  {args{"file": ".env", "line": 1, "column": 1}, "protected"},
		"going up":   {args{"file": "../../../../../../etc/passwd", "line": 1, "column": 1}, "outside the granted"},
		"no handles": {nil, "no directory was granted"},
	} {
		if tt.in == nil {
			_, err := r.tool("lsp_hover").Run(t.Context(), &toolcrib.Env{}, json.RawMessage(`{"file":"a.x","line":1,"column":1}`))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", tt.in); !strings.Contains(failure, tt.want) {
			t.Errorf("%s: %q", name, failure)
		}
	}
}

// TestChangesAreTold: whoever changes a file, the server knows it before the next answer.
func TestChangesAreTold(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	r.write("other.x", "x")
	hover := func(file string) { ask[hoverOut](r, "lsp_hover", args{"file": file, "line": 1, "column": 1}) }
	hover("a.x")
	if !f.heard("textDocument/didOpen", at(r, "a.x"), `"languageId":"ex"`, `"version":1`, "one two") {
		t.Fatal(f.seen)
	}
	r.write("a.x", "changed\n")
	hover("a.x")
	if !f.heard("textDocument/didChange", at(r, "a.x"), `"version":2`, `"text":"changed\n"`) {
		t.Error("the change of an open file was not told:", f.seen)
	}
	r.write("a.x", "changed again\n")
	r.write("new.x", "")
	if err := os.Remove(filepath.Join(r.root, "other.x")); err != nil {
		t.Fatal(err)
	}
	r.write("plain.txt", "of no use to it")
	hover("new.x")
	for _, want := range [][]string{
		{"textDocument/didChange", at(r, "a.x"), `"version":3`}, {"textDocument/didOpen", at(r, "new.x")},
		{"workspace/didChangeWatchedFiles", `{"uri":"` + at(r, "new.x") + `","type":1}`, `{"uri":"` + at(r, "other.x") + `","type":3}`},
	} {
		if !f.heard(want[0], want[1:]...) {
			t.Errorf("%v was not told: %v", want, f.seen)
		}
	}
	if f.heard("workspace/didChangeWatchedFiles", "plain.txt") {
		t.Error("a file that it does not go by was told")
	}
	if err := os.Remove(filepath.Join(r.root, "a.x")); err != nil {
		t.Fatal(err)
	}
	hover("new.x")
	if !f.heard("textDocument/didClose", at(r, "a.x")) {
		t.Error("a file that is gone is still open")
	}
}

// TestServerQuestions: what a server asks is answered, and gives it nothing.
func TestServerQuestions(t *testing.T) {
	f := &fake{}
	got := map[string]string{}
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(f *fake, _ json.RawMessage) string {
		for method, params := range map[string]string{
			"workspace/configuration":        `{"items":[{"section":"a"},{"section":"a.b"},{"section":"c"},{}]}`,
			"workspace/workspaceFolders":     `null`,
			"client/registerCapability":      `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles"}]}`,
			"window/workDoneProgress/create": `{"token":1}`,
			"workspace/applyEdit":            `{"edit":{"changes":{"file:///etc/passwd":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"x"}]}}}`,
			"window/showDocument":            `{"uri":"file:///etc/passwd"}`,
			"window/showMessageRequest":      `{"message":"?"}`,
			"workspace/readFile":             `{"uri":"file:///etc/passwd"}`,
		} {
			answer, err := f.current.Call(context.Background(), method, json.RawMessage(params), nil)
			if got[method] = string(answer); err != nil {
				got[method] = "refused"
			}
		}
		return "null"
	}})
	r := scripted(t, f)
	ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
	for method, want := range map[string]string{
		"workspace/configuration": `[{"b":7},7,null,{"a":{"b":7}}]`, "client/registerCapability": "null", "window/workDoneProgress/create": "null",
		"workspace/workspaceFolders": `[{"name":"project","uri":"` + uriOf(r.root) + `"}]`,
		"workspace/applyEdit":        `{"applied":false,"failureReason":"edits are made by the person's tools only"}`,
		"window/showDocument":        `{"success":false}`, "window/showMessageRequest": "null", "workspace/readFile": "refused",
	} {
		if got[method] != want {
			t.Errorf("%s: %s", method, got[method])
		}
	}
}

// TestGrantsApart: who was granted less never asks a server that sees more.
func TestGrantsApart(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	r.write("in/b.x", "b")
	hover := func(file string) { ask[hoverOut](r, "lsp_hover", args{"file": file, "line": 1, "column": 1}) }
	hover("in/b.x")
	hover("a.x")
	if f.started() != 1 {
		t.Fatalf("%d servers", f.started())
	}
	whole := r.dirs
	r.dirs = []files.Dir{{Path: filepath.Join(r.root, "in"), Write: true}}
	hover("in/b.x")
	if want := fmt.Sprintf("[%sfalse %s/infalse]", r.root, r.root); f.started() != 2 || fmt.Sprint(f.dirs) != want {
		t.Errorf("%d servers, which see %v, want %s", f.started(), f.dirs, want)
	}
	r.dirs = whole
	r.opt.Denied = []string{filepath.ToSlash(r.root) + "/in"}
	hover("a.x")
	if f.started() != 3 {
		t.Errorf("%d servers", f.started())
	}
	if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "in/b.x", "line": 1, "column": 1}); failure == "" {
		t.Error("a denied file was asked about")
	}
}

func TestIdleServersEnd(t *testing.T) {
	f := &fake{}
	cfg := config()
	cfg.Idle, cfg.Most = 30*time.Millisecond, 2
	r := newRig(t, cfg, f.run)
	for _, dir := range []string{"a", "b", "c"} {
		r.write(dir+"/top", "")
		r.write(dir+"/f.x", "f")
		ask[hoverOut](r, "lsp_hover", args{"file": dir + "/f.x", "line": 1, "column": 1})
		r.box.pool.mu.Lock()
		if n := len(r.box.pool.servers); n > 2 {
			t.Errorf("%d servers at once", n)
		}
		r.box.pool.mu.Unlock()
	}
	eventually(t, "the servers stay", func() bool {
		r.box.pool.mu.Lock()
		defer r.box.pool.mu.Unlock()
		return len(r.box.pool.servers) == 0
	})
	if !f.heard("exit") {
		t.Error("it was not told to end")
	}
	ask[hoverOut](r, "lsp_hover", args{"file": "a/f.x", "line": 1, "column": 1})
}

func TestSymbols(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	const two = `{"start":{"line":0,"character":4},"end":{"line":0,"character":7}}`
	f.script(map[string]func(*fake, json.RawMessage) string{
		"textDocument/documentSymbol": func(*fake, json.RawMessage) string {
			return `[{"name":"Outer","kind":5,"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":3}},"selectionRange":` + two + `,"children":[{"name":"inner","kind":6,"range":` + two + `,"selectionRange":` + two + `}]}]`
		},
		"workspace/symbol": func(*fake, json.RawMessage) string {
			return `[{"name":"two","kind":12,"containerName":"c","location":{"uri":"` + at(r, "a.x") + `","range":` + two + `}},` +
				`{"name":"far","kind":99,"location":{"uri":"file:///etc/passwd","range":` + two + `}}]`
		},
	})
	if got := fmt.Sprint(ask[symbolsOut](r, "lsp_symbols", args{"file": "a.x"}).Symbols); got != fmt.Sprintf("[{Outer class  %[1]s/a.x 1 5 2} {inner method Outer %[1]s/a.x 1 5 1}]", r.root) {
		t.Error(got)
	}
	if got := ask[symbolsOut](r, "lsp_symbols", args{"file": "a.x", "query": "INN"}); got.Count != 1 {
		t.Error(got)
	}
	if got := fmt.Sprint(ask[symbolsOut](r, "lsp_symbols", args{"query": "two"}).Symbols); got != fmt.Sprintf("[{two function c %s/a.x 1 5 1}]", r.root) {
		t.Error(got)
	}
	if _, failure := try[symbolsOut](t.Context(), r, "lsp_symbols", args{}); failure == "" {
		t.Error("nothing was asked for, and answered")
	}
}
