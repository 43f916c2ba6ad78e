package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// counting says yes to everything, and takes down what it was asked.
type counting struct{ asked []string }

func (c *counting) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	c.asked = append(c.asked, q.Call.Tool+" "+string(q.Input))
	return toolcrib.Answer{Decision: toolcrib.Allow}, nil
}

const foreseenAPI = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://127.0.0.1:1"}],
"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}}},
"paths":{"/pets":{"post":{"operationId":"addPet","security":[{"key":[]}],"responses":{"200":{"description":"ok"}}}}}}`

// TestNothingIsAskedInVain: where it is known before that a call fails, nobody is
// asked about it, and the refusal says what to do.
func TestNothingIsAskedInVain(t *testing.T) {
	asked := &counting{}
	s := openToolShop(t, map[string]string{
		"sends.sh": "#!/bin/sh\n# toolcrib:\n#   description: Sends something.\n#   effects: [writes, secrets]\n#   secrets: {TOKEN: no_such_token}\necho sent\n",
		"boxed.sh": "#!/bin/sh\n# toolcrib:\n#   description: Runs in a container.\n#   effects: [writes]\n#   sandbox: container\necho done\n",
	}, func(cfg *settings.Config, n *Needs, s *toolShop) {
		cfg.Mode = "default"
		n.Approver, n.Settings = asked, filepath.Join(s.home, ".config", "toolcrib", "config.yaml")
		script := filepath.Join(s.base, "script")
		plant(t, script, "#!/no/such/interpreter\n")
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		cfg.MCPServers = map[string]settings.MCPServer{
			"gone":    {Command: "no-such-program-anywhere"},
			"moved":   {Command: filepath.Join(s.base, "moved")},
			"broken":  {Command: script},
			"locked":  {Command: "/bin/true", Env: map[string]string{"KEY": "${secret:no_such_key}"}},
			"unset":   {Command: "/bin/true", Args: []string{"${NO_SUCH_VARIABLE_HERE}"}},
			"remote":  {URL: "http://127.0.0.1:1/", Headers: map[string]string{"Authorization": "Bearer ${secret:no_such_bearer}"}},
			"imaged":  {Command: "x", Sandbox: "container", Image: "example.com/none:1"},
			"working": {Command: "/bin/cat"},
		}
		cfg.OpenAPI = map[string]settings.OpenAPI{
			"far":     {Document: foreseenAPI},
			"keyless": {Document: foreseenAPI, Hosts: []string{"127.0.0.1"}, Auth: map[string]settings.OpenAPIAuth{"key": {Secret: "no_such_api_key"}}},
		}
		cfg.Vault.Grants = map[string][]string{"keyless": {"no_such_api_key"}, "web": {"brave_api_key"}}
		cfg.Toolboxes.Web.Enabled, cfg.Toolboxes.Web.Engine = true, "brave"
		cfg.Toolboxes.Shell.AllowShell = true
		cfg.Toolboxes.Codemode.Enabled = true
		cfg.Grant.Hosts = []string{"api.search.brave.com"}
		cfg.Grant.Write, cfg.Grant.Read = []string{s.dir}, []string{s.home}
	})
	plant(t, filepath.Join(s.dir, "odd.txt"), "no servers here")
	plant(t, filepath.Join(s.dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	s.Crib.Guards = append(s.Crib.Guards, cribtest.Ask("to see"))
	if _, faults := s.Reload(t.Context()); len(faults) > 0 {
		t.Log(faults)
	}
	for _, tt := range []struct {
		tool, input string
		want        []string // words of the refusal
	}{
		{"mcp_connect", `{"name":"nobody"}`, []string{"there is no MCP server"}},
		{"mcp_connect", `{"name":"gone"}`, []string{"was not found in PATH", "toolcrib hub test gone"}},
		{"mcp_connect", `{"name":"moved"}`, []string{"there is no such file", "toolcrib hub test moved"}},
		{"mcp_connect", `{"name":"broken"}`, []string{"/no/such/interpreter", "not on this machine"}},
		{"mcp_connect", `{"name":"locked"}`, []string{"toolcrib secret set no_such_key"}},
		{"mcp_connect", `{"name":"unset"}`, []string{"NO_SUCH_VARIABLE_HERE", "set it"}},
		{"mcp_connect", `{"name":"remote"}`, []string{"toolcrib secret set no_such_bearer"}},
		{"mcp_connect", `{"name":"imaged"}`, []string{"container"}},
		{"mcp_import", `{"source_path":"none.json"}`, []string{"none.json"}},
		{"mcp_import", `{"source_path":"odd.txt"}`, []string{"toolcrib hub import --from"}},
		{"sends", `{}`, []string{"toolcrib secret set no_such_token"}},
		{"boxed", `{}`, []string{"sandbox.container.image"}},
		{"far__addPet", `{}`, []string{"openapi.far.hosts"}},
		{"keyless__addPet", `{}`, []string{"toolcrib secret set no_such_api_key"}},
		{"web_search", `{"query":"x"}`, []string{"toolcrib secret set brave_api_key"}},
		{"web_fetch", `{"url":"http://example.com/"}`, []string{"grant.hosts"}},
		{"write_file", `{"path":"../elsewhere","content":"x"}`, []string{"grant"}},
		{"write_file", `{"path":"` + filepath.Join(s.home, "x") + `","content":"x"}`, []string{"grant.write"}},
		{"edit_file", `{"path":"none.txt","old_text":"a","new_text":"b"}`, []string{"none.txt"}},
		{"run_command", `{"command":"ls","working_dir":"../.."}`, []string{"grant"}},
		{"command_input", `{"job":"none","text":"x"}`, []string{"there is no job"}},
		{"stop_command", `{"job":"none"}`, []string{"start_command"}},
		{"run_script", `{"code":"return ("}`, []string{"SyntaxError"}},
	} {
		asked.asked = nil
		got, err := callText(t, s.App, tt.tool, tt.input)
		said := got
		if err != nil {
			said = err.Error()
		}
		if len(asked.asked) > 0 {
			t.Errorf("%s %s: a person was asked %q, and then: %s", tt.tool, tt.input, asked.asked, said)
		}
		for _, want := range tt.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s %s: %q is not said in: %s", tt.tool, tt.input, want, said)
			}
		}
	}
	// What may work is asked about, by this guard also what a command changed.
	for _, tt := range []struct {
		tool, input string
		times       int
	}{{"write_file", `{"path":"new.txt","content":"x"}`, 1}, {"run_command", `{"command":"touch y"}`, 2}, {"run_command", `{"command":"ls"}`, 1}, {"run_script", `{"code":"return 1"}`, 1}} {
		asked.asked = nil
		if got, err := callText(t, s.App, tt.tool, tt.input); err != nil || len(asked.asked) != tt.times {
			t.Errorf("%s: asked %d times, %s, %v", tt.tool, len(asked.asked), got, err)
		}
	}
}
