package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// jupyterPackages has Jupyter Server and all that it needs, of exact versions.
const jupyterPackages = "testdata/openapi/jupyter.txt"

// jupyter starts a Jupyter Server. It gives its address, its files, its token and its document.
func jupyter(t *testing.T) (address, root, token, document string) {
	t.Helper()
	e := packagesOf(t, "jupyter", jupyterPackages)
	root, token = t.TempDir(), "a1b2c3d4e5f60718293a4b5c6d7e8f90"
	at := freeAddress(t)
	cmd := exec.Command(e.python, "-m", "jupyter_server", "--ip=127.0.0.1", "--port="+at[strings.LastIndexByte(at, ':')+1:], "--ServerApp.port_retries=0", "--no-browser", "--allow-root",
		"--IdentityProvider.token="+token, "--ServerApp.root_dir="+root)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "HOME="+t.TempDir(), "JUPYTER_PLATFORM_DIRS=1")
	launch(t, cmd).await(t, `Jupyter Server [0-9.]+ (is running at)`)
	return "http://" + at, root, token, filepath.Join(e.site, "jupyter_server", "services", "api", "api.yaml")
}

// scripted is an agent that knows what it wants: a client of MCP with the tools of an API.
type scripted struct {
	t       *testing.T
	session *mcp.ClientSession
}

// tool finds the tool for a request, as a model would by its description.
func (s *scripted) tool(request string) string {
	s.t.Helper()
	for tool, err := range s.session.Tools(s.t.Context(), nil) {
		if err != nil {
			s.t.Fatal(err)
		}
		if strings.HasSuffix(tool.Description, "("+request+")") {
			return tool.Name
		}
	}
	s.t.Fatalf("no tool does %s", request)
	return ""
}

// call calls the tool of a request.
func (s *scripted) call(request string, arguments map[string]any) *mcp.CallToolResult {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: s.tool(request), Arguments: arguments})
	if err != nil {
		s.t.Fatalf("%s: %v", request, err)
	}
	return r
}

// try gives what a model sees, and whether the call failed.
func (s *scripted) try(request string, arguments map[string]any) (string, bool) {
	s.t.Helper()
	r := s.call(request, arguments)
	return shownText(r), r.IsError
}

func shownText(r *mcp.CallToolResult) string {
	var out strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out.WriteString(text.Text + "\n")
		}
	}
	return out.String()
}

// do calls a tool that has to succeed, and reads its answer.
func (s *scripted) do(request string, arguments map[string]any) map[string]any {
	s.t.Helper()
	r := s.call(request, arguments)
	if r.IsError {
		s.t.Fatalf("%s: %s", request, shownText(r))
	}
	out, _ := r.StructuredContent.(map[string]any) // an empty answer is told in words
	return out
}

// TestGenuineServerByDocument: a scripted agent does ten tasks on a Jupyter Server, by the document that
// comes with it (Swagger 2.0, YAML) and nothing else. What it did is looked up on the server's disk.
func TestGenuineServerByDocument(t *testing.T) {
	address, root, token, document := jupyter(t)
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	dir, env := home(t, `
vault: {grants: {jupyter: [jupyter_token]}}
permissions: {allow: ["jupyter__*"]}
safety: {labels: {jupyter: [private, untrusted]}} # it is our own server: what it is sent does not leave
expose: full
`)
	env = append(env, "TOOLCRIB_VAULT_KEY="+key)
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(toolcribPath(t), args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("toolcrib %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("token "+token, "secret", "set", "jupyter_token")
	t.Log(run("", "openapi", "add", "jupyter", document, "--base-url", address, "--key", "Authorization=jupyter_token", "--yes"))
	cmd := exec.Command(toolcribPath(t), "mcp")
	cmd.Dir, cmd.Env = dir, env
	session, err := mcp.NewClient(&mcp.Implementation{Name: "scripted", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the program is ended with it
	s := &scripted{t: t, session: session}
	onDisk := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const contents, checkpoints = "/api/contents/{path}", "/api/contents/{path}/checkpoints"
	put := func(path, content string) map[string]any {
		t.Helper()
		return s.do("PUT "+contents, map[string]any{"path": map[string]any{"path": path}, "body": map[string]any{"type": "file", "format": "text", "content": content}})
	}
	tasks := []struct {
		name string
		do   func(t *testing.T)
	}{
		{"who am I, and is the server up", func(t *testing.T) {
			if r := s.do("GET /api/status", nil); r["kernels"] != float64(0) {
				t.Errorf("%v", r)
			}
			if r := s.do("GET /api/me", map[string]any{"_select": ".identity.username"}); r["selected"] == "" {
				t.Errorf("%v", r)
			}
		}},
		{"make a folder", func(t *testing.T) {
			s.do("PUT "+contents, map[string]any{"path": map[string]any{"path": "reports"}, "body": map[string]any{"type": "directory"}})
			if info, err := os.Stat(filepath.Join(root, "reports")); err != nil || !info.IsDir() {
				t.Errorf("%v, %v", info, err)
			}
		}},
		{"write a file into it", func(t *testing.T) {
			put("reports/größe & 100%.txt", "first\n")
			if got := onDisk("reports/größe & 100%.txt"); got != "first\n" {
				t.Errorf("%q", got)
			}
		}},
		{"read it back, and no more than its text", func(t *testing.T) {
			r := s.do("GET "+contents, map[string]any{"path": "reports/größe & 100%.txt", "type": "file", "format": "text", "_select": ".content"})
			if r["selected"] != "first\n" {
				t.Errorf("%v", r)
			}
		}},
		{"have a notebook made", func(t *testing.T) {
			r := s.do("POST "+contents, map[string]any{"path": "reports", "type": "notebook"})
			if r["path"] != "reports/Untitled.ipynb" || !strings.Contains(onDisk("reports/Untitled.ipynb"), "nbformat") {
				t.Errorf("%v", r)
			}
		}},
		{"rename it", func(t *testing.T) {
			s.do("PATCH "+contents, map[string]any{"path": map[string]any{"path": "reports/Untitled.ipynb"}, "body": map[string]any{"path": "reports/plan.ipynb"}})
			if _, err := os.Stat(filepath.Join(root, "reports", "Untitled.ipynb")); err == nil || !strings.Contains(onDisk("reports/plan.ipynb"), "nbformat") {
				t.Errorf("it has its old name: %v", err)
			}
		}},
		{"list the folder", func(t *testing.T) {
			r := s.do("GET "+contents, map[string]any{"path": "reports", "_select": "[.content[].name] | sort"})
			if text, _ := json.Marshal(r["selected"]); string(text) != `["größe \u0026 100%.txt","plan.ipynb"]` {
				t.Errorf("%s", text)
			}
		}},
		{"keep a checkpoint, spoil the file and go back", func(t *testing.T) {
			put("notes.txt", "good")
			id, _ := s.do("POST "+checkpoints, map[string]any{"path": "notes.txt"})["id"].(string)
			put("notes.txt", "spoiled")
			if got := onDisk("notes.txt"); got != "spoiled" || id == "" {
				t.Fatalf("%q, checkpoint %q", got, id)
			}
			s.do("POST "+checkpoints+"/{checkpoint_id}", map[string]any{"path": "notes.txt", "checkpoint_id": id})
			if got := onDisk("notes.txt"); got != "good" {
				t.Errorf("%q", got)
			}
		}},
		{"open a terminal and close it", func(t *testing.T) {
			name, _ := s.do("POST /api/terminals", nil)["name"].(string)
			if r := s.do("GET /api/terminals", map[string]any{"_select": "map(.name)"}); !slices.Equal(r["selected"].([]any), []any{name}) {
				t.Errorf("%v, made %q", r, name)
			}
			s.do("DELETE /api/terminals/{terminal_id}", map[string]any{"terminal_id": name})
			if r := s.do("GET /api/terminals", map[string]any{"_select": "length"}); r["selected"] != float64(0) {
				t.Errorf("%v", r)
			}
		}},
		{"delete a file, and see that it is gone", func(t *testing.T) {
			s.do("DELETE "+contents, map[string]any{"path": "notes.txt"})
			if _, err := os.Stat(filepath.Join(root, "notes.txt")); err == nil {
				t.Error("it is still there")
			}
			text, failed := s.try("GET "+contents, map[string]any{"path": "notes.txt"})
			if !failed || !strings.Contains(text, "404") || !strings.Contains(text, "does not exist") {
				t.Errorf("%v: %s", failed, text)
			}
		}},
	}
	for _, task := range tasks {
		t.Run(task.name, func(t *testing.T) {
			was := s.t
			s.t = t
			defer func() { s.t = was }()
			task.do(t)
		})
	}
	// What leads out of a value's place does not leave the machine.
	for _, path := range []string{"../config", "reports/../../etc", ".."} {
		if text, failed := s.try("GET "+contents, map[string]any{"path": path}); !failed || strings.Contains(text, "The API answered") {
			t.Errorf("%s: %s", path, text)
		}
	}
	// Without the token the server refuses; the token stands nowhere but in the vault.
	resp, err := http.Get(address + "/api/status") //nolint:noctx // the test ends with it
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %s, %v", resp.Status, err)
	}
	if text := run("", "journal", "export"); strings.Contains(text, token) || strings.Count(text, "jupyter__") < 10 {
		t.Errorf("the journal has the token, or too few calls:\n%.2000s", text)
	}
}
