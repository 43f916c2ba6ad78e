package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// coder is an MCP client of the whole program, in the directory of a project.
type coder struct {
	session *mcp.ClientSession
	root    string
	program *exec.Cmd
}

// enterProject starts a toolcrib in a project, with a home and these settings of its own.
func enterProject(t *testing.T, home, root, settings string) coder {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("toolcrib", "mcp")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "TOOLCRIB_HOME="+home, "HOME="+home)
	client := mcp.NewClient(&mcp.Implementation{Name: "coder", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return coder{session, root, cmd}
}

// ask calls a tool, reads its answer and tells how long it took.
func (c coder) ask(t *testing.T, name string, arguments map[string]any, out any) time.Duration {
	t.Helper()
	start := time.Now()
	result, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	took := time.Since(start)
	if err != nil {
		t.Fatalf("%s %v: %v", name, arguments, err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil || result.IsError {
		said, _ := json.Marshal(result.Content)
		t.Fatalf("%s %v: %v %s", name, arguments, err, said)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return took
}

func (c coder) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(c.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// spot is a place in an answer.
type spot struct {
	Path         string
	Line, Column int
	EndLine      int `json:"end_line"`
	EndColumn    int `json:"end_column"`
	Message      string
}

type spots struct {
	Definitions, References, Diagnostics []spot
	Hover                                string
	Incomplete                           bool
}

// where writes places, relative to the project.
func (c coder) where(list []spot) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s:%d:%d-%d", strings.TrimPrefix(s.Path, c.root+"/"), s.Line, s.Column, s.EndColumn))
	}
	return strings.Join(out, " ")
}

// sampleCase is what one server is asked about its sample.
type sampleCase struct {
	file       string
	line       int
	symbol     string
	definition string
	references string
	hover      string
	wrong      [2]string // what is replaced in the file, and by what
	message    string
	at         string // where the mistake is
}

// try asks a server everything: what it finds, what it says after an edit and after its
// repair, and after it was killed.
func (c coder) try(t *testing.T, s sampleCase, server string) {
	t.Helper()
	place := map[string]any{"file": s.file, "line": s.line, "symbol": s.symbol}
	var got spots
	first := c.ask(t, "lsp_goto_definition", place, &got)
	if where := c.where(got.Definitions); where != s.definition {
		t.Errorf("%s is defined in %s, want %s", s.symbol, where, s.definition)
	}
	c.ask(t, "lsp_find_references", place, &got)
	if where := c.where(got.References); where != s.references {
		t.Errorf("%s is used in %s, want %s", s.symbol, where, s.references)
	}
	c.ask(t, "lsp_hover", place, &got)
	if !strings.Contains(got.Hover, s.hover) {
		t.Errorf("%s is %q", s.symbol, got.Hover)
	}
	later := c.ask(t, "lsp_hover", place, &got)
	good, err := os.ReadFile(filepath.Join(c.root, s.file))
	if err != nil {
		t.Fatal(err)
	}
	diagnose := func(what, message, at string) {
		t.Helper()
		got = spots{}
		took := c.ask(t, "lsp_diagnostics", map[string]any{"file": s.file}, &got)
		for got.Incomplete { // a busy machine
			got = spots{}
			took += c.ask(t, "lsp_diagnostics", map[string]any{"file": s.file}, &got)
		}
		t.Logf("%s: diagnostics %s after %v", server, what, took.Round(time.Millisecond))
		if message == "" && len(got.Diagnostics) == 0 {
			return
		}
		if len(got.Diagnostics) != 1 || !strings.Contains(got.Diagnostics[0].Message, message) || c.where(got.Diagnostics) != at {
			t.Errorf("%s: %+v, want %s at %s", what, got.Diagnostics, message, at)
		}
	}
	diagnose("of a good file", "", "")
	c.write(t, s.file, strings.Replace(string(good), s.wrong[0], s.wrong[1], 1))
	diagnose("after an edit", s.message, s.at)
	c.write(t, s.file, string(good))
	diagnose("after its repair", "", "")
	killed := 0
	for _, p := range descendants(c.program.Process.Pid) {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)); err == nil && strings.Contains(string(text), server) {
			if process, err := os.FindProcess(p.pid); err == nil && process.Kill() == nil {
				killed++
			}
		}
	}
	if killed == 0 {
		t.Errorf("no process of %s was found", server)
	}
	again := c.ask(t, "lsp_goto_definition", place, &got)
	if where := c.where(got.Definitions); where != s.definition {
		t.Errorf("after its end %s is defined in %s, want %s", s.symbol, where, s.definition)
	}
	t.Logf("%s: first answer %v, later ones %v, after it was killed %v", server, first.Round(time.Millisecond), later.Round(100*time.Microsecond), again.Round(time.Millisecond))
}

// TestGenuineLanguageServers: those of TypeScript and Python, in the sandbox. Emoji and
// combining letters stand before what is looked for.
func TestGenuineLanguageServers(t *testing.T) {
	p := peers(t)
	settings := fmt.Sprintf("toolboxes:\n  lsp:\n    enabled: true\n    start_timeout: 2m\n    servers:\n"+
		"      typescript: {command: %q, args: [%q, --stdio], read: [%[3]q]}\n      pyright: {command: %[1]q, args: [%[4]q, --stdio], read: [%[3]q]}\n",
		p.node, p.script("typescript-language-server", "lib/cli.mjs"), p.modules, p.script("pyright", "langserver.index.js"))
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := enterProject(t, t.TempDir(), root, settings)
	c.write(t, "ts/tsconfig.json", `{"compilerOptions":{"strict":true,"target":"es2020","types":[]}}`)
	c.write(t, "ts/a.ts", "export function greet(name: string): string { return \"e\u0301👋🏽\" + name; }\n")
	c.write(t, "ts/b.ts", "import { greet } from \"./a\";\nexport const x = \"e\u0301👩‍👩‍👧\"; export const y = greet(x);\n")
	c.write(t, "py/pyproject.toml", "[project]\nname = \"sample\"\n")
	c.write(t, "py/shapes.py", "def area(width: int, height: int) -> int:\n    \"\"\"Area of a rectangle.\"\"\"\n    return width * height\n")
	c.write(t, "py/main.py", "from shapes import area\n\ntext = \"e\u0301👩‍👩‍👧\"; total = area(2, 3)\n")
	for server, s := range map[string]sampleCase{
		"typescript-language-server": {
			file: "ts/b.ts", line: 2, symbol: "greet", definition: "ts/a.ts:1:17-22", references: "ts/a.ts:1:17-22 ts/b.ts:1:10-15 ts/b.ts:2:46-51",
			hover: "greet(name: string): string", wrong: [2]string{"greet(x)", "greet(3)"}, message: "not assignable", at: "ts/b.ts:2:52-53",
		},
		"pyright": {
			file: "py/main.py", line: 3, symbol: "area", definition: "py/shapes.py:1:5-9", references: "py/main.py:1:20-24 py/main.py:3:27-31 py/shapes.py:1:5-9",
			hover: "Area of a rectangle", wrong: [2]string{"2, 3", "\"2\", 3"}, message: "cannot be assigned", at: "py/main.py:3:32-35",
		},
	} {
		t.Run(server, func(t *testing.T) { c.try(t, s, server) })
	}
}
