package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenTree builds the tree that the rows of files and commands were recorded
// in, as testdata/golden/README.md tells, and gives its root.
func goldenTree(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "root")
	for name, text := range map[string]string{
		"root/a.txt": "hello\nworld foo\n", "root/b.py": "x = 1\r\ny = 2\r\n", "root/sub/c.py": "foo bar\nnothing\nfoo",
		"root/sub/deep/d.md": "Foo\u2028foo after LS\ffoo after FF\n", "root/.hid/h.txt": "foo hidden\n", "root/.dot": "foo dot\n",
		"root/bin.dat": "\xff\xfe foo \x00", "root/empty": "", "root/new/x": "", "outside/secret.txt": "foo SECRET\n", "fsroot/x": "", "SKILL.md": "",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.txt": "../outside/secret.txt", "linkdir": "../outside"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestGoldenMachineRows makes every recorded call on files and of commands by
// the command line: guard, sandbox, journal and all.
func TestGoldenMachineRows(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/golden/ovos_files_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	root, home := goldenTree(t), t.TempDir()
	text = bytes.ReplaceAll(bytes.TrimSpace(text), []byte("$ROOT"), []byte(root))
	rows := bytes.Split(text, []byte("\n"))
	if len(rows) < 58 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, line := range rows {
		var row goldenRow
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		var in struct{ Command string }
		if err := json.Unmarshal(row.Kwargs, &in); err != nil {
			t.Fatal(err)
		}
		row.withoutHoles(root, in.Command)
		dir := root
		if row.Toolbox == "ovos-shell-tools" {
			dir = filepath.Dir(root)
		}
		var out, errs bytes.Buffer
		c := &command{
			in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, dir: dir, environ: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home},
		}
		status := c.run(t.Context(), append(row.Config.flags(), "call", "--dialect", "ovos", row.Name, "--json", string(row.Kwargs)))
		row.checkMachine(t, out.String(), errs.String(), status)
	}
}

// withoutHoles is what the row should have been: nothing of what lies outside,
// and only what is allowed.
func (row *goldenRow) withoutHoles(root, command string) {
	notPermitted := func(word string) map[string]any {
		return map[string]any{"stdout": "", "stderr": "Command not permitted by allowed_commands policy: '" + word + "'.", "returncode": -1.0, "success": false}
	}
	switch command {
	case "lsblk --version":
		row.Result = notPermitted("lsblk")
	case "ls; echo pwned":
		row.Result = notPermitted("ls;")
	case "(sleep 31337 &) ; echo bg": // what is left in the background is ended, and the output is not lost
		row.Result = map[string]any{"stdout": "bg\n", "stderr": "", "returncode": 0.0, "success": true}
	}
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
		if row.Result[key] = list; row.Result["total"] != nil {
			row.Result["total"] = float64(len(list))
		}
	}
}

func (row *goldenRow) checkMachine(t *testing.T, stdout, stderr string, status int) {
	t.Helper()
	if row.Error != "" {
		if status == 0 || !strings.Contains(stderr, row.Error) {
			t.Errorf("%s %s: status %d, %q, want %q", row.Name, row.Kwargs, status, stderr, row.Error)
		}
		return
	}
	want := 0
	if row.Name == "run_command" && row.Result["success"] == false { // it is told by the exit status too
		want = 1
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != want {
		t.Errorf("%s %s: status %d, %q, %q", row.Name, row.Kwargs, status, stdout, stderr)
		return
	}
	for _, side := range []map[string]any{got, row.Result} {
		if matches, ok := side["matches"].([]any); ok { // of any order
			slices.SortFunc(matches, func(a, b any) int { return strings.Compare(jsonText(t, a), jsonText(t, b)) })
		}
	}
	if diff := cmp.Diff(row.Result, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", row.Name, row.Kwargs, diff)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
