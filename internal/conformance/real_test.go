package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inspector is the Inspector's command line as a client of one toolcrib.
type inspector struct {
	peers peerSet
	home  string
	way   []string // how it reaches the toolcrib
}

// result is as much of an answer as is looked at.
type result struct {
	Result struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
		Resources []struct {
			URI string `json:"uri"`
		} `json:"resources"`
		Prompts []struct {
			Name string `json:"name"`
		} `json:"prompts"`
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
			Data []byte `json:"data"`
			MIME string `json:"mimeType"`
		} `json:"content"`
		Contents []struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"contents"`
		Messages json.RawMessage `json:"messages"`
	} `json:"result"`
}

// text is all texts of a result.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Result.Content {
		b.WriteString(c.Text)
	}
	for _, c := range r.Result.Contents {
		b.WriteString(c.Text)
	}
	return b.String()
}

// exitFailed is how it ends when a tool has failed.
const exitFailed = 5

// do runs the client once. One that ends with another status ends the test.
func (i inspector) do(t *testing.T, status int, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := append([]string{i.peers.inspector(), "--cli", "--format", "json", "--quiet", "--connect-timeout", "90000"}, i.way...)
	cmd := exec.CommandContext(ctx, i.peers.node, append(all, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+i.home) // where it keeps a catalog of its own
	cmd.Dir = i.home
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var r result
	if jerr := json.Unmarshal(out.Bytes(), &r); cmd.ProcessState.ExitCode() != status || jerr != nil {
		t.Fatalf("%s: %v, %v\n%s%s", strings.Join(args, " "), err, jerr, &out, &errs)
	}
	return r
}

// call calls a tool; one that fails ends the test.
func (i inspector) call(t *testing.T, tool string, arguments map[string]any) result {
	t.Helper()
	if arguments == nil {
		arguments = map[string]any{}
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	r := i.do(t, 0, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", string(text))
	if r.Result.IsError {
		t.Fatalf("%s failed: %s", tool, r.text())
	}
	return r
}

// realServers configures the four servers as people do, over stdio. The mark
// is in the environment of each.
func realServers(p peerSet, folder, mark string) string {
	server := func(kind, args, env string) string {
		return fmt.Sprintf("{command: %q, args: [%q%s], env: {TOOLCRIB_TEST_MARK: %q%s}}", p.node, p.server(kind), args, mark, env)
	}
	return fmt.Sprintf(`mode: yolo
hub: {wait: 2m}
mcp_servers:
  everything: %s
  filesystem: %s
  memory: %s
  thinking: %s
`, server("everything", "", ""), server("filesystem", fmt.Sprintf(", %q", folder), ""),
		server("memory", "", fmt.Sprintf(", MEMORY_FILE_PATH: %q", filepath.Join(folder, "memory.jsonl"))), server("sequential-thinking", "", ""))
}

// Servers that people use, called by a client that people use, over each way
// into toolcrib. Nothing is left running afterwards.
func TestGenuineServers(t *testing.T) {
	p := peers(t)
	for _, way := range []string{"http-legacy", "http-modern", "stdio"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			mark := "toolcrib-test-" + filepath.Base(filepath.Dir(folder)) + "-" + way
			t.Cleanup(func() { // runs after the gateway was ended
				if left := gone(marked(mark), 10*time.Second); len(left) > 0 {
					t.Errorf("servers were left running: %s", strings.Join(left, ", "))
				}
			})
			i := inspector{peers: p, home: t.TempDir()}
			config := realServers(p, folder, mark)
			if era, ok := strings.CutPrefix(way, "http-"); ok {
				i.way = []string{"--transport", "http", "--protocol-era", era, "--server-url", gateway(t, config)}
			} else {
				dir, _ := home(t, config)
				i.way = []string{"-e", "TOOLCRIB_HOME=" + dir, "-e", "HOME=" + dir, "--cwd", dir, toolcribPath(t), "mcp"}
			}
			callServers(t, i, folder)
			if way == "http-legacy" {
				useOthers(t, i, folder)
			}
			if way != "stdio" && len(marked(mark)) == 0 && os.Getenv("CI") == "true" {
				t.Error("no server runs: what is looked for at the end would not be found")
			}
		})
	}
}

// callServers calls a tool of each server.
func callServers(t *testing.T, i inspector, folder string) {
	names := map[string]int{}
	for _, tool := range i.do(t, 0, "--method", "tools/list").Result.Tools {
		server, _, _ := strings.Cut(tool.Name, "__")
		names[server]++
		if len(tool.InputSchema) == 0 {
			t.Errorf("%s has no schema", tool.Name)
		}
	}
	if names["everything"] < 10 || names["filesystem"] < 10 || names["memory"] < 9 || names["thinking"] != 1 {
		t.Fatalf("tools by server: %v", names)
	}
	if r := i.call(t, "everything__echo", map[string]any{"message": "through the crib"}); !strings.Contains(r.text(), "Echo: through the crib") {
		t.Errorf("echo: %+v", r)
	}
	file := filepath.Join(folder, "note.txt")
	i.call(t, "filesystem__write_file", map[string]any{"path": file, "content": "written by a server"})
	if text, err := os.ReadFile(file); err != nil || string(text) != "written by a server" {
		t.Errorf("the file: %q, %v", text, err)
	}
	i.call(t, "memory__create_entities", map[string]any{"entities": []map[string]any{{"name": "crib", "entityType": "room", "observations": []string{"tools hang there"}}}})
	if text, err := os.ReadFile(filepath.Join(folder, "memory.jsonl")); err != nil || !strings.Contains(string(text), "tools hang there") {
		t.Errorf("the memory: %q, %v", text, err)
	}
	if r := i.call(t, "thinking__sequentialthinking", map[string]any{"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}); !strings.Contains(r.text()+string(r.Result.Structured), "thoughtNumber") {
		t.Errorf("thinking: %+v", r)
	}
}

// useOthers uses what is no plain tool: an image, a structured result, a
// resource, a prompt, and a failure.
func useOthers(t *testing.T, i inspector, folder string) {
	r := i.call(t, "everything__get-tiny-image", nil)
	image := false
	for _, c := range r.Result.Content {
		image = image || c.Type == "image" && c.MIME == "image/png" && bytes.HasPrefix(c.Data, []byte("\x89PNG"))
	}
	if !image {
		t.Errorf("there is no image in %+v", r)
	}
	if r := i.call(t, "everything__get-structured-content", map[string]any{"location": "Chicago"}); !strings.Contains(string(r.Result.Structured), "temperature") {
		t.Errorf("structured content: %s", r.Result.Structured)
	}
	outside, err := json.Marshal(map[string]string{"path": filepath.Join(filepath.Dir(folder), "elsewhere.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if r := i.do(t, exitFailed, "--method", "tools/call", "--tool-name", "filesystem__read_text_file", "--tool-args-json", string(outside)); !r.Result.IsError || !strings.Contains(r.text(), "outside allowed directories") {
		t.Errorf("a failure of a server: %+v", r)
	}
	resources := i.do(t, 0, "--method", "resources/list").Result.Resources
	if len(resources) == 0 {
		t.Fatal("no resources are listed")
	}
	if r := i.do(t, 0, "--method", "resources/read", "--uri", resources[0].URI); len(r.Result.Contents) != 2 || r.Result.Contents[1].URI != resources[0].URI || r.Result.Contents[1].Text == "" || !strings.HasPrefix(r.Result.Contents[0].Text, "[untrusted: ") {
		t.Errorf("resource: %+v", r)
	}
	prompts := i.do(t, 0, "--method", "prompts/list").Result.Prompts
	for _, prompt := range prompts {
		if strings.HasSuffix(prompt.Name, "simple-prompt") {
			if r := i.do(t, 0, "--method", "prompts/get", "--prompt-name", prompt.Name); !strings.Contains(string(r.Result.Messages), "simple prompt") {
				t.Errorf("prompt: %s", r.Result.Messages)
			}
			return
		}
	}
	t.Errorf("prompts: %+v", prompts)
}
