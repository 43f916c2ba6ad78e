package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGenuineSetup: real servers in the file of a client come behind Toolcrib with one
// command. A real client that is given that file reaches them, by the rules, and no
// server stands in it any more; undoing gives back every byte.
func TestGenuineSetup(t *testing.T) {
	p := peers(t)
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	servers := map[string]any{}
	for _, name := range []string{"everything", "memory"} {
		servers[name] = map[string]any{"command": p.node, "args": []string{p.server(name)}, "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(home, "memory.json")}}
	}
	before, err := json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	vars := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "TOOLCRIB_")
	})
	vars = append(vars, "HOME="+home)
	toolcrib := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "toolcrib", args...)
		cmd.Dir, cmd.Env = home, vars
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	said := toolcrib("setup", "--yes")
	if !strings.Contains(said, "Servers that work: 2 of 2") || !strings.Contains(said, "No server in your own client files goes round Toolcrib") {
		t.Fatal(said)
	}
	after, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(after), "server-") {
		t.Fatalf("%s, %v", after, err)
	}
	var written struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(after, &written); err != nil || len(written.Servers) != 1 {
		t.Fatalf("%s, %v", after, err)
	}
	entry := written.Servers["toolcrib"]
	if filepath.Base(entry.Command) != "toolcrib" { // this test is the program only by that name
		if entry.Command, err = exec.LookPath("toolcrib"); err != nil {
			t.Fatal(err)
		}
	}
	client := inspector{peers: p, home: home, way: append([]string{entry.Command}, entry.Args...)}
	refused := client.do(t, exitFailed, "--method", "tools/call", "--tool-name", "everything__echo", "--tool-args-json", `{"message": "hello"}`)
	if !refused.Result.IsError || !strings.Contains(refused.text(), "Question q-") {
		t.Errorf("it was not asked about: %+v", refused)
	}
	toolcrib("policy", "allow", "everything/echo")
	if got := client.call(t, "everything__echo", map[string]any{"message": "hello"}); !strings.Contains(got.text(), "hello") {
		t.Errorf("%+v", got)
	}
	if list := toolcrib("journal"); strings.Count(list, "everything__echo") != 2 {
		t.Errorf("%s", list)
	}
	toolcrib("setup", "--undo")
	if now, err := os.ReadFile(file); err != nil || string(now) != string(before) {
		t.Errorf("%s, %v", now, err)
	}
}
