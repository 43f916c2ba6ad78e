//go:build corpus

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// goplsVersion is the newest that this version of Go builds.
const goplsVersion = "v0.23.0"

// gopls builds it once for this machine, which takes two minutes: that is why this is
// no part of what every change is held against.
func gopls(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "toolcrib-test", "gopls-"+goplsVersion)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	program := filepath.Join(dir, "gopls")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.CommandContext(t.Context(), "go", "install", "golang.org/x/tools/gopls@"+goplsVersion)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building gopls: %v\n%s", err, out)
	}
	return program
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestGenuineGopls asks gopls about this very repository, and holds its answers against
// those of its own command line; and clangd about a sample.
func TestGenuineGopls(t *testing.T) {
	program, modules := gopls(t), goEnv(t, "GOMODCACHE")
	settings := fmt.Sprintf("sandbox:\n  toolchains: [%q]\n  memory: 4GiB\ntoolboxes:\n  lsp:\n    enabled: true\n    start_timeout: 2m\n    servers:\n"+
		"      gopls: {command: %q, read: [%q], env: {GOMODCACHE: %[3]q, GOPROXY: 'off'}}\n", filepath.Join(goEnv(t, "GOROOT"), "bin"), program, modules)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := enterProject(t, home, root, settings)
	place := map[string]any{"file": "toolbox.go", "line": lineOf(t, filepath.Join(root, "toolbox.go"), "type Toolbox interface"), "symbol": "Toolbox"}
	var got spots
	cold := c.ask(t, "lsp_goto_definition", place, &got)
	c.ask(t, "lsp_find_references", place, &got)
	cmd := exec.CommandContext(t.Context(), program, "references", "-d", fmt.Sprintf("toolbox.go:%d:6", place["line"]))
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(strings.ReplaceAll(string(out), root+"/", ""))
	have := strings.Fields(c.where(got.References))
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) || len(want) < 50 {
		t.Errorf("references:\n%v\nand by its own command line:\n%v", have, want)
	}
	t.Logf("%d references, and by its own command line %d", len(have), len(want))
	if err := c.session.Close(); err != nil {
		t.Fatal(err)
	}
	c = enterProject(t, home, root, settings)
	first := c.ask(t, "lsp_goto_definition", place, &got)
	var later []time.Duration
	for _, name := range []string{"Reads", "Writes", "Destroys", "Runs", "Network", "AsksPerson", "UsesSecrets"} { // the same twice would be a loop
		place := map[string]any{"file": "effects.go", "line": lineOf(t, filepath.Join(root, "effects.go"), "\t"+name+" "), "symbol": name}
		took := c.ask(t, "lsp_hover", place, &got)
		if name != "Reads" { // the file is read by then
			later = append(later, took, c.ask(t, "lsp_goto_definition", place, &got))
		}
	}
	slices.Sort(later)
	t.Logf("gopls on this repository: first answer %v with cold caches, %v again; later ones %v (median), %v (worst)", cold, first, later[len(later)/2], later[len(later)-1])

	sample, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c = enterProject(t, t.TempDir(), sample, settings)
	c.write(t, "go.mod", "module sample\n\ngo 1.26\n")
	c.write(t, "a.go", "package sample\n\n// Größe is a size.\nfunc Größe() int { return 1 }\n")
	c.write(t, "b.go", "package sample\n\nvar x, y = \"e\u0301👩‍👩‍👧\", Größe()\n")
	c.try(t, sampleCase{
		file: "b.go", line: 3, symbol: "Größe", definition: "a.go:4:6-11", references: "a.go:4:6-11 b.go:3:23-28",
		hover: "is a size", wrong: [2]string{"Größe()", "Größe(2)"}, message: "too many arguments", at: "b.go:3:29-30",
	}, "gopls")
	c.write(t, "c/compile_flags.txt", "-std=c11\n")
	c.write(t, "c/sum.c", "int sum(int a, int b) { return a + b; }\n")
	c.write(t, "c/main.c", "int sum(int a, int b);\nint main(void) { const char *s = \"e\u0301👩‍👩‍👧\"; (void)s; return sum(1, 2); }\n")
	c.try(t, sampleCase{
		file: "c/main.c", line: 2, symbol: "sum", definition: "c/main.c:1:5-8", references: "c/main.c:1:5-8 c/main.c:2:61-64",
		hover: "int sum(int a, int b)", wrong: [2]string{"1, 2", "1, zwei"}, message: "undeclared", at: "c/main.c:2:68-72",
	}, "clangd")
}

// lineOf is that of a text in a file.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := bytes.Cut(data, []byte(text))
	if !ok {
		t.Fatalf("%s is not in %s", text, file)
	}
	return 1 + bytes.Count(before, []byte("\n"))
}
