//go:build unix

package dialect

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

// recorded is one row of testdata/golden/ovos_files_rows.jsonl.
type recorded struct {
	Toolbox string
	Config  struct {
		AllowWrite      *bool    `json:"allow_write"`
		AllowShell      bool     `json:"allow_shell"`
		MaxTimeout      int      `json:"max_timeout"`
		AllowedCommands []string `json:"allowed_commands"`
	}
	Name   string
	Kwargs json.RawMessage
	Result map[string]any
	Error  string
}

// rows reads the rows of one toolbox, with $ROOT filled in.
func rows(t *testing.T, toolbox, root string) []recorded {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/golden/ovos_files_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("$ROOT"), []byte(root))
	var list []recorded
	for line := range bytes.Lines(text) {
		var row recorded
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if row.Toolbox == toolbox {
			list = append(list, row)
		}
	}
	return list
}

// recordedTree builds the tree of testdata/golden/README.md.
func recordedTree(t *testing.T) string {
	t.Helper()
	top := newTree(t)
	root := filepath.Join(top, "root")
	for name, content := range map[string]string{
		"root/a.txt": "hello\nworld foo\n", "root/b.py": "x = 1\r\ny = 2\r\n", "root/sub/c.py": "foo bar\nnothing\nfoo",
		"root/sub/deep/d.md": "Foo\u2028foo after LS\ffoo after FF\n", "root/.hid/h.txt": "foo hidden\n", "root/.dot": "foo dot\n",
		"root/bin.dat": "\xff\xfe foo \x00", "root/empty": "", "outside/secret.txt": "foo SECRET\n",
	} {
		put(t, filepath.Join(top, name), content)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, "new"), 0o755),
		os.Symlink("../outside/secret.txt", filepath.Join(root, "link.txt")), os.Symlink("../outside", filepath.Join(root, "linkdir"))); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRecordedFileRows(t *testing.T) {
	root := recordedTree(t)
	open := newRoom(t, setup{root: root, write: true})
	shut := newRoom(t, setup{root: root, opt: Options{ReadOnly: true}})
	list := rows(t, "ovos-filesystem-tools", root)
	if len(list) != 38 {
		t.Errorf("%d rows", len(list))
	}
	for _, row := range list {
		r := open
		if row.Config.AllowWrite != nil && !*row.Config.AllowWrite {
			r = shut
		}
		row.withoutHoles(root)
		r.check(t, row)
	}
}

// withoutHoles takes out of a recorded answer what lies outside.
func (row *recorded) withoutHoles(root string) {
	for _, key := range []string{"entries", "files", "matches"} {
		list, ok := row.Result[key].([]any)
		if !ok {
			continue
		}
		list = slices.DeleteFunc(list, func(v any) bool {
			if m, ok := v.(map[string]any); ok {
				v = m["file"]
			}
			path, _ := v.(string)
			return strings.Contains(path, "..") || strings.HasPrefix(path, root+"/linkdir/") || key != "entries" && path == root+"/link.txt"
		})
		row.Result[key] = list
		if row.Result["total"] != nil {
			row.Result["total"] = float64(len(list))
		}
	}
}

// check makes the call of a row and compares.
func (r *room) check(t *testing.T, row recorded) {
	t.Helper()
	result, refusal := r.call(t, OVOS, row.Name, row.Kwargs)
	if row.Error != "" {
		if !strings.HasPrefix(refusal, row.Error) {
			t.Errorf("%s %s: refused with %q, want %q; %v", row.Name, row.Kwargs, refusal, row.Error, result)
		}
		return
	}
	if result == nil {
		t.Errorf("%s %s: refused with %q", row.Name, row.Kwargs, refusal)
		return
	}
	var got map[string]any
	if err := json.Unmarshal(result.Value, &got); err != nil {
		t.Fatal(err)
	}
	for _, side := range []map[string]any{got, row.Result} {
		if matches, ok := side["matches"].([]any); ok { // of any order
			slices.SortFunc(matches, func(a, b any) int { return strings.Compare(string(mustJSON(a)), string(mustJSON(b))) })
		}
	}
	if diff := cmp.Diff(row.Result, got); diff != "" {
		t.Errorf("%s %s (-recorded +ours):\n%s", row.Name, row.Kwargs, diff)
	}
}
