//go:build unix

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

// tree builds what the rows of files and commands were recorded in.
func tree(t *testing.T) (root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "root")
	for name, content := range map[string]string{
		"root/a.txt": "hello\nworld foo\n", "root/b.py": "x = 1\r\ny = 2\r\n", "root/sub/c.py": "foo bar\nnothing\nfoo",
		"root/sub/deep/d.md": "Foo\u2028foo after LS\ffoo after FF\n", "root/.hid/h.txt": "foo hidden\n", "root/.dot": "foo dot\n",
		"root/bin.dat": "\xff\xfe foo \x00", "root/empty": "", "outside/secret.txt": "foo SECRET\n",
	} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, "new"), 0o755),
		os.Symlink("../outside/secret.txt", filepath.Join(root, "link.txt")), os.Symlink("../outside", filepath.Join(root, "linkdir"))); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRecordedFileRows(t *testing.T) {
	root := tree(t)
	_, free := open(t, setup{root: root, write: true})
	_, shut := open(t, setup{root: root, opt: dialect.Options{ReadOnly: true}})
	list := rows(t, "ovos_files_rows.jsonl", "ovos-filesystem-tools", root)
	if len(list) != 38 {
		t.Errorf("%d rows", len(list))
	}
	for _, r := range list {
		s := free
		if r.Config.AllowWrite != nil && !*r.Config.AllowWrite {
			s = shut
		}
		r.withoutHoles(root)
		s.check(r, persona(r), "ovos.tools.invoke")
	}
}

// withoutHoles takes out of a recorded answer what lies outside.
func (r *row) withoutHoles(root string) {
	for _, key := range []string{"entries", "files", "matches"} {
		list, ok := r.Result[key].([]any)
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
		if r.Result[key] = list; r.Result["total"] != nil {
			r.Result["total"] = float64(len(list))
		}
	}
}
