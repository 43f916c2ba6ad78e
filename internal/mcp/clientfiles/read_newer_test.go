package clientfiles

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// newer are the clients whose samples stand here.
func newer(client string) bool {
	return slices.Contains([]string{Kiro, CopilotCLI, Junie, Amp, Continue, AmazonQ, LMStudio}, client)
}

const continueYAML = `name: Main
version: 1.0.0
schema: v1
models:
  - name: m
    provider: openai
mcpServers:
  - name: sqlite
    command: npx
    args: ["-y", "mcp-sqlite", "/db"]
    env:
      KEY: ${{ secrets.SQLITE_KEY }}
      PLAIN: ${HOME}
    cwd: /srv
    connectionTimeout: 5000
  - name: web
    type: streamable-http
    url: https://w.example/mcp
    apiKey: ${{ inputs.WEB }}
    requestOptions:
      headers: {"X-A": "1"}
      verifySsl: false
  - uses: someone/block
`

// TestReadNewerClients has one file of each client, as its makers document it or
// its program reads it, and what has to be named as dropped.
func TestReadNewerClients(t *testing.T) {
	tests := []struct {
		name, client, text string
		want               []Server
		dropped            []string
	}{
		{"kiro", Kiro, `{"mcpServers": {
			"a": {"command": "uvx", "args": ["a@1", "${HOME}"], "env": {"K": "${K}", "L": "${L:-x}"}, "timeout": 60000, "disabled": true, "autoApprove": ["read"], "disabledTools": ["drop", "wipe"]},
			"b": {"url": "https://b.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "oauthScopes": ["x"]}}}`, []Server{
			{
				Name: "a", Command: "uvx", Args: []string{"a@1", "$${HOME}"}, Env: map[string]string{"K": "${K}", "L": "$${L:-x}"}, Transport: Stdio,
				Timeout: time.Minute, Disabled: true, DisabledTools: []string{"drop", "wipe"},
			},
			{Name: "b", URL: "https://b.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, OAuth: Login{Scopes: []string{"x"}}},
		}, []string{"autoApprove: approvals are given in Toolcrib"}},
		{"copilot", CopilotCLI, `{"mcpServers": {
			"all": {"type": "local", "command": "a", "args": ["-x"], "env": {"K": "${K:-d}"}, "tools": ["*"], "timeout": 30000},
			"some": {"type": "http", "url": "https://s.example/mcp", "headers": {"H": "$H"}, "tools": ["get", "list"]},
			"none": {"type": "stdio", "command": "n", "args": [], "tools": []},
			"old": {"type": "sse", "url": "https://o.example/sse", "filterMapping": "none"}}}`, []Server{
			{Name: "all", Command: "a", Args: []string{"-x"}, Env: map[string]string{"K": "${K:-d}"}, Transport: Stdio, Timeout: 30 * time.Second},
			{Name: "some", URL: "https://s.example/mcp", Transport: HTTP, Headers: map[string]string{"H": "${H}"}, EnabledTools: []string{"get", "list"}},
			{Name: "none", Command: "n", Transport: Stdio, Disabled: true},
			{Name: "old", URL: "https://o.example/sse", Transport: SSE},
		}, []string{"filterMapping: the key is not known here"}},
		{"junie", Junie, `{"mcpServers": {
			"a": {"command": "npx", "args": ["-y", "a"], "env": {"K": "v"}, "enabled": false},
			"b": {"url": "https://b.example/mcp", "headers": {"H": "v"}, "enabled": true},
			"c": {"command": "c", "enabled": "false"}}}`, []Server{
			{Name: "a", Command: "npx", Args: []string{"-y", "a"}, Env: map[string]string{"K": "v"}, Transport: Stdio, Disabled: true},
			{Name: "b", URL: "https://b.example/mcp", Headers: map[string]string{"H": "v"}},
			{Name: "c", Command: "c", Transport: Stdio, Disabled: true},
		}, nil},
		{"amp", Amp, `{"amp.dangerouslyAllowAll": true, // Amp's own
			"amp.tools.disable": ["builtin:edit_file", "mcp__b__wipe", "mcp__other__x", "browser_{open,shut}"],
			"amp.mcpServers": {
				"a-1": {"command": "npx", "args": ["${DIR}"], "env": {"K": "${K}"}, "includeTools": ["nav_*", "shot"]},
				"b": {"url": "${HOST}/mcp", "headers": {"H": "${H}"}, "includeTools": []}}}`, []Server{
			{
				Name: "a-1", Command: "npx", Args: []string{"${DIR}"}, Env: map[string]string{"K": "${K}"}, Transport: Stdio,
				EnabledTools: []string{"nav_*", "shot"}, DisabledTools: []string{"browser_open", "browser_shut"},
			},
			{Name: "b", URL: "${HOST}/mcp", Headers: map[string]string{"H": "${H}"}, DisabledTools: []string{"wipe", "browser_open", "browser_shut"}},
		}, nil},
		{"continue", Continue, continueYAML, []Server{
			{
				Name: "sqlite", Command: "npx", Args: []string{"-y", "mcp-sqlite", "/db"}, Cwd: "/srv", Transport: Stdio,
				Env: map[string]string{"KEY": "${secret:sqlite-input-SQLITE_KEY}", "PLAIN": "$${HOME}"},
			},
			{Name: "web", URL: "https://w.example/mcp", Transport: HTTP, Headers: map[string]string{"Authorization": "Bearer ${secret:web-input-WEB}", "X-A": "1"}},
		}, []string{"connectionTimeout: it says how the client starts", "requestOptions.verifySsl: the key is not known here"}},
		{"continue json", Continue, `{"mcpServers": {"a": {"command": "a", "args": ["${X}"], "env": {"K": "${K}"}}, "b": {"type": "http", "url": "https://b.example", "headers": {"H": "v"}}}}`, []Server{
			{Name: "a", Command: "a", Args: []string{"$${X}"}, Env: map[string]string{"K": "${K}"}, Transport: Stdio},
			{Name: "b", URL: "https://b.example", Transport: HTTP, Headers: map[string]string{"H": "v"}},
		}, nil},
		{"amazon q", AmazonQ, `{"mcpServers": {
			"a": {"command": "${HOME}/bin/a", "args": ["${env:X}"], "env": {"K": "${env:K}"}, "timeout": 120000, "disabled": true},
			"b": {"type": "http", "url": "https://b.example/mcp", "headers": {"H": "${env:H}"}}}}`, []Server{
			{Name: "a", Command: "${HOME}/bin/a", Args: []string{"$${env:X}"}, Env: map[string]string{"K": "${K}"}, Transport: Stdio, Timeout: 2 * time.Minute, Disabled: true},
			{Name: "b", URL: "https://b.example/mcp", Transport: HTTP, Headers: map[string]string{"H": "${H}"}},
		}, nil},
		{"lm studio", LMStudio, `{"mcpServers": {"hf": {"url": "https://hf.example/mcp", "headers": {"Authorization": "Bearer <YOUR_TOKEN>"}}, "a": {"command": "a", "timeout": 60000}}}`, []Server{
			{Name: "hf", URL: "https://hf.example/mcp", Headers: map[string]string{"Authorization": "Bearer <YOUR_TOKEN>"}},
			{Name: "a", Command: "a", Transport: Stdio, Timeout: time.Minute},
		}, nil},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.client] = true
		t.Run(tt.name, func(t *testing.T) {
			got, problems := yamlCodec().Read(tt.client, []byte(tt.text))
			for _, p := range problems {
				if !p.Skipped {
					t.Errorf("problem: %s", p)
				}
			}
			var dropped []string
			for i := range got {
				dropped = append(dropped, got[i].Dropped...)
			}
			for i := range tt.want {
				tt.want[i].Source = tt.client
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Server{}, "Notes", "Dropped"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if len(dropped) != len(tt.dropped) {
				t.Errorf("dropped %q, want %q", dropped, tt.dropped)
			}
			for _, want := range tt.dropped {
				if !slices.ContainsFunc(dropped, func(d string) bool { return strings.HasPrefix(d, want) }) {
					t.Errorf("dropped %q, want %q among them", dropped, want)
				}
			}
		})
	}
	for _, c := range Clients() {
		if newer(c) && !seen[c] {
			t.Errorf("no sample of %s", c)
		}
	}
}

// TestReadContinueTellsWhatItLeaves: what is no server with a name is told.
func TestReadContinueTellsWhatItLeaves(t *testing.T) {
	for text, want := range map[string]string{
		continueYAML:                    "uses a block",
		"mcpServers:\n  - command: a\n": "mcpServers[0] has no name",
		"mcpServers:\n  - name: a\n    command: a\n  - name: a\n    command: b\n": "given twice",
		`{"command": "a"}`: "one server without a name",
		"mcpServers:\n  - name: a\n    requestOptions: 1\n    url: https://a.example\n": "requestOptions is a number",
	} {
		_, problems := yamlCodec().Read(Continue, []byte(text))
		if len(problems) != 1 || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%s: %v, want %q", text, problems, want)
		}
	}
}
