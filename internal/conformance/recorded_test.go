package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordedRow is what a genuine toolbox answered when it was recorded. See
// testdata/golden/README.md of the repository.
type recordedRow struct {
	Toolbox, Name string
	Config        struct {
		AllowWrite *bool `json:"allow_write"`
	}
	Kwargs json.RawMessage
	Result map[string]any
	Error  string
}

// recordedTree is what the rows of files were recorded in. None of them changes it.
func recordedTree(t testing.TB) (root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "root")
	for name, content := range map[string]string{
		"a.txt": "hello\nworld foo\n", "b.py": "x = 1\r\ny = 2\r\n", "sub/c.py": "foo bar\nnothing\nfoo", "sub/deep/d.md": "Foo\u2028foo after LS\ffoo after FF\n",
		".hid/h.txt": "foo hidden\n", ".dot": "foo dot\n", "bin.dat": "\xff\xfe foo \x00", "empty": "", "new/": "", "../outside/secret.txt": "foo SECRET\n",
	} {
		file := filepath.Join(root, name)
		if err = os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err == nil && !strings.HasSuffix(name, "/") {
			err = os.WriteFile(file, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("../outside/secret.txt", filepath.Join(root, "link.txt")), os.Symlink("../outside", filepath.Join(root, "linkdir"))); err != nil {
		t.Fatal(err)
	}
	return root
}

// recordedRows are those of the clock, of math and of files that need no settings of
// their own.
func recordedRows(t testing.TB, root string) (list []recordedRow) {
	t.Helper()
	for _, file := range []string{"ovos_rows.jsonl", "ovos_files_rows.jsonl"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("$ROOT"), []byte(root))) {
			var r recordedRow
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if r.Toolbox != "ovos-shell-tools" && r.Config.AllowWrite == nil {
				list = append(list, r)
			}
		}
	}
	if len(list) < 140 {
		t.Fatalf("there are %d rows", len(list))
	}
	return list
}

// asRecorded compares answers with the recorded ones.
func (s *beside) asRecorded(t *testing.T, ours bool, rows []recordedRow) {
	t.Helper()
	rows = slices.DeleteFunc(slices.Clone(rows), func(r recordedRow) bool { return !r.holds(ours) })
	var calls []batteryCall
	for _, r := range rows {
		calls = append(calls, batteryCall{entry: r.Toolbox, tool: r.Name, args: r.Kwargs})
	}
	same := 0
	s.bothWays(t, ours, calls, func(i int, way string, got reply) {
		r := rows[i]
		want := reply{Result: settled(r.Result, r.Result), Error: r.Error}
		if r.Result == nil {
			want.Result = nil
		}
		if result, is := got.Result.(map[string]any); is {
			got.Result = settled(result, r.Result)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v by %s (-recorded +now):\n%s", calls[i], way, diff)
			return
		}
		same++
	})
	t.Logf("%d recorded answers are the same; by us: %v", same, ours)
}

// holds reports whether the recorded answer is to be had today. Genuine toolboxes solve
// equations in another way with sympy than without; ours gives nothing of what lies
// outside, to which links of the tree lead.
func (r recordedRow) holds(ours bool) bool {
	if r.Name == "solve_equation" {
		return ours && !bytes.Contains(r.Kwargs, []byte("(x-0.5)**2"))
	}
	for _, key := range []string{"entries", "files", "matches"} {
		list, _ := r.Result[key].([]any)
		for _, found := range list {
			if m, is := found.(map[string]any); is {
				found = m["file"]
			}
			if path, _ := found.(string); ours && (strings.Contains(path, "secret.txt") || key != "entries" && strings.HasSuffix(path, "link.txt")) {
				return false
			}
		}
	}
	return true
}

// settled is a result without what may differ from the recorded one.
func settled(result, recorded map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range result {
		text, _ := value.(string)
		switch {
		case key == "method": // of solving an equation
			continue
		case recorded["iso"] != nil: // the clock
			value = text != ""
		case key == "error" && strings.HasPrefix(text, "Syntax error:"): // goes on in the words of a version of Python
			value = "Syntax error:"
		case key == "matches": // in the order of the directory
			list, _ := value.([]any)
			list = slices.Clone(list)
			slices.SortFunc(list, func(a, b any) int {
				x, _ := json.Marshal(a) // they come from JSON
				y, _ := json.Marshal(b)
				return bytes.Compare(x, y)
			})
			value = list
		}
		out[key] = value
	}
	return out
}
