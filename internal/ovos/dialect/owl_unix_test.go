//go:build unix

package dialect

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/toolbox/interact"
)

// owlTree is the first line of testdata/golden/owl_rows.jsonl: what every row
// finds.
type owlTree struct {
	Tree  map[string]string
	Dirs  []string
	Links map[string]string
	Sizes map[string]int
	Bytes map[string]string // hex
}

// owlRow is one of the other lines.
type owlRow struct {
	Tool   string
	Args   json.RawMessage
	Answer map[string]any
	Raised string
	After  *string
}

func (row owlRow) path() string {
	in, _ := decoded[owlPath](row.Args)
	return in.Path
}

func owlRows(t *testing.T) (owlTree, []json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/golden/owl_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(text))
	var tree owlTree
	if err := json.Unmarshal(lines[0], &tree); err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	for _, line := range lines[1:] {
		rows = append(rows, line)
	}
	return tree, rows
}

// build makes the tree below a directory.
func (tree owlTree) build(t *testing.T, root string) {
	t.Helper()
	for name, text := range tree.Tree {
		put(t, filepath.Join(root, name), text)
	}
	for name, size := range tree.Sizes {
		put(t, filepath.Join(root, name), strings.Repeat("0123456789abcde\n", size/16+1)[:size])
	}
	for name, text := range tree.Bytes {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(root, name), string(data))
	}
	put(t, filepath.Join(root, "tmp", "t.txt"), "t\n")
	for _, dir := range tree.Dirs {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range tree.Links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// owlRoom is a room in which everything below root is granted for writing, so
// that what is refused is refused by OWL's rules.
func owlRoom(t *testing.T, root string, opt Options) *room {
	t.Helper()
	home := filepath.Join(root, "home", "ann")
	opt.Home, opt.tmp = home, filepath.Join(root, "tmp")
	r := newRoom(t, setup{root: filepath.Join(home, "work"), opt: opt, write: true, sandbox: plain{}, guards: []toolcrib.Guard{cribtest.Allow(), newOWLBound(opt)}})
	r.Grant.Dirs = []files.Dir{{Path: root, Write: true}}
	r.Files = files.Options{Base: r.root, Trash: filepath.Join(newTree(t), "trash")}
	return r
}

// owlDiffers says of the rows whose recorded answer is a hole, a loss or an
// accident what we answer instead. The README of the golden files has the
// reasons.
func owlDiffers(row owlRow, work string) (want map[string]any, differs bool) {
	path := row.path()
	var in struct {
		Pattern    string
		OldText    string `json:"old_text"`
		Occurrence int
		StartLine  int `json:"start_line"`
		EndLine    int `json:"end_line"`
	}
	_ = json.Unmarshal(row.Args, &in) // what does not fit is no such row
	fails := func(text string) (map[string]any, bool) { return map[string]any{"error": text}, true }
	reads := func(content string, lines float64) (map[string]any, bool) {
		return map[string]any{"path": path, "content": content, "lines": lines}, true
	}
	link := func(name string) (map[string]any, bool) {
		return map[string]any{"path": work + "/" + name, "deleted": true, "type": "link"}, true
	}
	switch row.Tool {
	case "list_files":
		switch {
		case in.Pattern == ".":
			if row.Raised != "" {
				return fails("Unacceptable pattern: '.'")
			}
		case in.Pattern == "*/":
			row.leaveOut("linkdir", "outdir")
			return row.Answer, true
		case strings.Contains(in.Pattern, ".."):
			return map[string]any{"path": path, "files": []any{}, "count": 0.0}, true
		}
	case "read_file":
		whole, rest := "a\x0bb\x0cc\x1cd\u0085e\u2028f", "g"
		switch {
		case path == "bin.dat":
			return reads("\ufffd foo \x00", 1)
		case path == "latin.txt":
			return reads("foo = '\ufffd'\n", 1)
		case path == "odd.txt" && in.StartLine >= 0 && in.EndLine >= 0 && in.StartLine+in.EndLine > 0 && in.StartLine < 99:
			switch {
			case in.StartLine > 2:
				return reads("", 0)
			case in.StartLine == 2:
				return reads(rest, 1)
			case in.EndLine == 1:
				return reads(whole, 1)
			}
			return reads(whole+"\n"+rest, 2)
		}
	case "write_file":
		switch {
		case strings.Contains(path, "ann2"):
			return fails("Can only write to home directory or /tmp")
		case strings.HasPrefix(path, "out"):
			return fails("Can only write to home directory or /tmp: \"" + path + "\" is outside the granted directories")
		}
	case "edit_file":
		switch {
		case in.Occurrence < 0:
			return fails("Occurrence " + string(mustJSON(in.Occurrence)) + " not found")
		case in.OldText == "":
			return fails("empty separator")
		case path == "bin.dat":
			return fails("Text not found in file")
		case path == "crlf.py": // the line ends stay
			return row.Answer, true
		}
	case "run_command":
		if strings.Contains(row.Raised+string(mustJSON(row.Answer)), "can't decode") {
			return map[string]any{"command": "printf '\\377'", "stdout": "\ufffd", "stderr": "", "exit_code": 0.0}, true
		}
	case "delete_file":
		switch {
		case path == "link.txt", path == "linkdir", path == "gone.txt", path == "out.txt":
			return link(path)
		case strings.Contains(path, "ann2"):
			return fails("Can only delete in home directory or /tmp")
		case strings.HasPrefix(path, "outdir"):
			return fails("Can only delete in home directory or /tmp: \"" + path + "\" is outside the granted directories")
		}
	}
	return row.Answer, false
}

// leaveOut takes names out of a recorded list.
func (row *owlRow) leaveOut(names ...any) {
	list, _ := row.Answer["files"].([]any)
	list = slices.DeleteFunc(list, func(v any) bool { return slices.Contains(names, v) })
	row.Answer["files"], row.Answer["count"] = list, float64(len(list))
}

// TestRecordedOWLRows makes every recorded call, each on a tree of its own if it
// changes something.
func TestRecordedOWLRows(t *testing.T) {
	tree, lines := owlRows(t)
	if len(lines) < 400 {
		t.Fatalf("%d rows", len(lines))
	}
	still := newTree(t)
	tree.build(t, still)
	looking := owlRoom(t, still, Options{})
	for _, line := range lines {
		root, r := still, looking
		if bytes.Contains(line, []byte(`"after"`)) || bytes.Contains(line, []byte(`"run_command"`)) {
			root = newTree(t)
			tree.build(t, root)
			r = owlRoom(t, root, Options{})
		}
		line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("$ROOT"), []byte(root)), []byte("$TMP"), []byte(root+"/tmp"))
		var row owlRow
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if row.Tool == "ask_user" {
			continue // nobody is here; see TestOWLAsks
		}
		if row.Raised != "" {
			row.Answer = map[string]any{"error": row.Raised}
		}
		r.checkOWL(t, row, bytes.Contains(line, []byte(`"after"`)))
	}
}

func (r *room) checkOWL(t *testing.T, row owlRow, changes bool) {
	t.Helper()
	want, differs := owlDiffers(row, r.root)
	result, refusal := r.call(t, OWL, row.Tool, row.Args)
	if result == nil {
		t.Errorf("%s %s: refused with %q, want %v", row.Tool, row.Args, refusal, want)
		return
	}
	var got map[string]any
	if err := json.Unmarshal(result.Value, &got); err != nil {
		t.Fatal(err)
	}
	if _, bad := got["error"]; bad != result.Failed {
		t.Errorf("%s %s: failed is %v", row.Tool, row.Args, result.Failed)
	}
	if size, long := want["content"].(map[string]any); long {
		want["content"] = size["length"]
		text, _ := got["content"].(string)
		got["content"] = float64(len(text))
	}
	if list, ok := got["files"].([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	if n, _ := want["count"].(float64); n > owlShownMatches && row.path() != "many" {
		// Which of them come first is the order of the directory, which is no fact.
		list, _ := got["matches"].([]any)
		if got["matches"] = want["matches"]; len(list) != owlShownMatches {
			t.Errorf("%s %s: %d matches are given", row.Tool, row.Args, len(list))
		}
	} else if list, ok := got["matches"].([]any); ok {
		slices.SortStableFunc(list, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["file"].(string), b.(map[string]any)["file"].(string))
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s (-recorded +ours):\n%s", row.Tool, row.Args, diff)
	}
	if !changes || differs {
		return
	}
	path := row.path()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.root, path)
	}
	text, err := os.ReadFile(path)
	switch {
	case row.After == nil && err == nil:
		t.Errorf("%s %s: there is a file now: %q", row.Tool, row.Args, text)
	case row.After != nil && (err != nil || string(text) != *row.After):
		t.Errorf("%s %s: the file holds %q, want %q (%v)", row.Tool, row.Args, text, *row.After, err)
	}
}

// TestOWLBound: no word and no link leads past the home directory and /tmp, and
// nothing is given that is not granted.
func TestOWLBound(t *testing.T) {
	root := newTree(t)
	tree, _ := owlRows(t)
	tree.build(t, root)
	r := owlRoom(t, root, Options{})
	const no = "Can only write to home directory or /tmp"
	for _, path := range []string{
		root + "/home/ann2/x", root + "/home/annex", root + "/tmpfoo/x", root + "/tmp/../srv/x", "../../../srv/x", root + "/home/ann/../ann2/x",
		"/etc/x", root, "outdir/../srv/x", "out.txt",
	} {
		if got := r.say(t, OWL, "write_file", ovosWrite{path, "x"}); !strings.Contains(got, no) {
			t.Errorf("%s: %s", path, got)
		}
		if got := r.say(t, OWL, "delete_file", owlPath{path}); path != "out.txt" && !strings.Contains(got, `"error":"`) {
			t.Errorf("deleting %s: %s", path, got)
		}
	}
	// The same in the words of other dialects is not bound by it.
	if got := r.say(t, "", "write_file", ovosWrite{root + "/srv/x", "x"}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	// Where only a part is granted, that is all there is, whatever OWL allows.
	r.Grant.Dirs = []files.Dir{{Path: r.root, Write: true}}
	if got := r.say(t, OWL, "write_file", ovosWrite{root + "/home/ann/x", "x"}); !strings.Contains(got, no+": ") || !strings.Contains(got, "outside the granted directories") {
		t.Error(got)
	}
	// Where nothing of it is granted, nothing is left.
	r.Grant.Dirs = []files.Dir{{Path: root + "/srv", Write: true}}
	if got := r.say(t, OWL, "write_file", ovosWrite{root + "/srv/x", "x"}); !strings.Contains(got, no) {
		t.Error(got)
	}
	if text, err := os.ReadFile(root + "/srv/s.txt"); err != nil || string(text) != "foo\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOWLRefusals: a person's no is no answer of a tool, and what is protected
// is told in band.
func TestOWLRefusals(t *testing.T) {
	root := newTree(t)
	put(t, root+"/.env", "A=1\n")
	r := newRoom(t, setup{root: root, opt: Options{Home: root, MaxTimeout: 1e9}, write: true, sandbox: plain{}})
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"read_file", map[string]any{"path": ".env"}, `{"error":"\".env\" is protected`},
		{"read_file", map[string]any{"path": "/etc/passwd"}, `{"error":"\"/etc/passwd\" is outside`},
		{"read_file", map[string]any{"path": "a\x00b"}, `{"error":"`},
		{"read_file", map[string]any{"path": "a", "start_line": "1"}, "refused: start_line: "},
		{"read_file", map[string]any{"path": "a", "more": 1}, "refused: more: "},
		{"analyze_image", map[string]any{}, "refused: Tool not available: analyze_image: "},
		{"run_command", map[string]any{"command": "sleep 30"}, `{"error":"Command timed out (1s)"}`},
		{"run_command", map[string]any{"command": "pwd", "working_dir": ""}, `{"error":"[Errno 2] No such file or directory: ''"}`},
		{"run_command", map[string]any{"command": "a\x00b"}, `{"error":"embedded null byte"}`},
	} {
		if got := r.say(t, OWL, tt.tool, tt.in); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %v: %s, want %s", tt.tool, tt.in, got, tt.want)
		}
	}
	r.Guards = []toolcrib.Guard{cribtest.Ask("it reads")}
	r.Approver = &cribtest.Person{Script: []cribtest.Reply{{Answer: toolcrib.Answer{Message: "not now"}}}}
	if got := r.say(t, OWL, "list_files", owlPath{"."}); got != "refused: a person said no: not now" {
		t.Error(got)
	}
}

// TestOWLAsks: what is a place holder in OWL is asked here.
func TestOWLAsks(t *testing.T) {
	box, err := interact.Open(t.Context(), interact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRoom(t, setup{root: newTree(t)})
	if _, faults := r.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}, Adapters: Adapters(Options{})}); faults != nil {
		t.Fatal(faults)
	}
	ask := map[string]any{"question": "Which one?", "options": []string{"a", "b"}}
	if got := r.say(t, OWL, "ask_user", ask); !strings.HasPrefix(got, "refused: nobody is there to be asked") {
		t.Error(got)
	}
	r.Approver = &cribtest.Person{Script: []cribtest.Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Allow, Message: "b"}}}}
	if got := r.say(t, OWL, "ask_user", ask); got != `{"answer":"b"}` {
		t.Error(got)
	}
}

// TestOWLContracts: the definition that OWL's page shows is ours, and every
// parameter has the default of its function.
func TestOWLContracts(t *testing.T) {
	want := map[string]string{
		"list_files": `path! pattern="*" recursive=false`, "read_file": "path! start_line end_line", "write_file": "path! content!",
		"edit_file": "path! old_text! new_text! occurrence=1", "delete_file": "path!", "search_files": `path! pattern! file_pattern="*.py"`,
		"run_command": "command! working_dir", "ask_user": "question! options",
	}
	for _, a := range Adapters(Options{}) {
		if a.Dialect != OWL {
			continue
		}
		var s struct {
			Properties map[string]struct{ Default json.RawMessage }
			Required   []string
		}
		if err := json.Unmarshal(a.Input, &s); err != nil {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(want[a.Name]) {
			name, def, _ := strings.Cut(strings.TrimSuffix(word, "!"), "=")
			p, ok := s.Properties[name]
			if !ok || string(p.Default) != def || slices.Contains(s.Required, name) != strings.HasSuffix(word, "!") {
				t.Errorf("%s: %s is %s", a.Name, word, a.Input)
			}
			delete(s.Properties, name)
		}
		if len(s.Properties) > 0 || want[a.Name] == "" {
			t.Errorf("%s: unknown, or it has more: %s", a.Name, a.Input)
		}
		delete(want, a.Name)
		if a.Name == "read_file" {
			shown := string(mustJSON(Contract(OWL, toolcrib.Entry{Spec: a.Spec})))
			page := `{"type":"function","function":{"name":"read_file","description":"Read the contents of a file","parameters":{"type":"object","properties":{` +
				`"path":{"type":"string","description":"File path to read"},"start_line":{"type":"integer","description":"Start line (1-indexed)"},` +
				`"end_line":{"type":"integer","description":"End line"}},"required":["path"],"additionalProperties":false}}}`
			if diff := cmp.Diff(page, shown); diff != "" {
				t.Error(diff)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
