package clientfiles

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func yamlCodec() Codec { return Codec{YAML: testYAML} }

// TestReadEveryClient has one file of each client, as its makers document it:
// programs and addresses, older and newer shapes, with what a person adds.
func TestReadEveryClient(t *testing.T) {
	stdio := func(name, command string, args ...string) Server {
		return Server{Name: name, Command: command, Args: args, Transport: Stdio}
	}
	tests := []struct {
		name, client, text string
		want               []Server
	}{
		{"desktop", ClaudeDesktop, `{
			"globalShortcut": "", // a setting of the program
			"mcpServers": {
				"files": {"command": "npx", "args": ["-y", "@mcp/server-files", "/data"], "env": {"DEBUG": "1"}},
			}
		}`, []Server{{Name: "files", Command: "npx", Args: []string{"-y", "@mcp/server-files", "/data"}, Env: map[string]string{"DEBUG": "1"}, Transport: Stdio}}},
		{"code user and local", ClaudeCode, `{
			"numStartups": 7,
			"mcpServers": {"a": {"type": "stdio", "command": "a"}, "b": {"type": "http", "url": "https://b.example/mcp", "headers": {"X-Key": "${KEY:-none}"}}},
			"projects": {"/home/me/p": {"allowedTools": [], "mcpServers": {"c": {"type": "sse", "url": "${HOST}/sse"}}}, "/home/me/q": {}}
		}`, []Server{
			stdio("a", "a"),
			{Name: "b", URL: "https://b.example/mcp", Transport: HTTP, Headers: map[string]string{"X-Key": "${KEY:-none}"}},
			{Name: "c", URL: "${HOST}/sse", Transport: SSE, Project: "/home/me/p"},
		}},
		{"code plugin", ClaudeCode, `{"db": {"command": "${CLAUDE_PLUGIN_ROOT}/bin/db"}, "$schema": "x"}`, []Server{stdio("db", "${CLAUDE_PLUGIN_ROOT}/bin/db")}},
		{"cursor", Cursor, `{"mcpServers": {
			"a": {"type": "stdio", "command": "${userHome}/bin/a", "args": ["${workspaceFolder}${/}src"], "env": {"T": "${env:TOKEN}"}, "envFile": ".env"},
			"b": {"url": "https://b.example/mcp", "headers": {"Authorization": "Bearer ${env:B}"}, "auth": {"CLIENT_ID": "x"}}}}`, []Server{
			{Name: "a", Command: "${HOME}/bin/a", Args: []string{"${PWD}/src"}, Env: map[string]string{"T": "${TOKEN}"}, Transport: Stdio},
			{Name: "b", URL: "https://b.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${B}"}, OAuth: Login{ClientID: "x"}},
		}},
		{"vscode", VSCode, `{
			"inputs": [{"type": "promptString", "id": "gh token", "password": true}],
			"servers": {
				"a": {"type": "stdio", "command": "a", "cwd": "${workspaceFolder}", "sandboxEnabled": true, "dev": {"watch": "x"}},
				"b": {"type": "http", "url": "https://b.example", "headers": {"Authorization": "Bearer ${input:gh-token}"}},
				"c": {"url": "https://c.example"}}}`, []Server{
			{Name: "a", Command: "a", Cwd: "${PWD}", Transport: Stdio},
			{Name: "b", URL: "https://b.example", Transport: HTTP, Headers: map[string]string{"Authorization": "Bearer ${secret:b-input-gh-token}"}},
			{Name: "c", URL: "https://c.example"},
		}},
		{"vscode settings", VSCode, `{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "a"}}}}`, []Server{stdio("a", "a")}},
		{"windsurf", Windsurf, `{"mcpServers": {
			"a": {"serverUrl": "https://a.example/mcp", "headers": {"K": "${env:K}"}, "disabledTools": ["x"]},
			"b": {"url": "https://b.example/mcp"},
			"c": {"command": "c", "disabled": true}}}`, []Server{
			{Name: "a", URL: "https://a.example/mcp", Transport: HTTP, Headers: map[string]string{"K": "${K}"}, DisabledTools: []string{"x"}},
			{Name: "b", URL: "https://b.example/mcp"},
			{Name: "c", Command: "c", Transport: Stdio, Disabled: true},
		}},
		{"codex", Codex, `
			model = "o9"
			[mcp_servers.a]
			command = "a"
			args = ["-x", 'C:\dir']
			env = { "K" = "v" }
			env_vars = ["HOME", { name = "REMOTE", source = "remote" }]
			cwd = "/srv"
			startup_timeout_sec = 20
			tool_timeout_sec = 1.5
			enabled = false
			enabled_tools = ["r"]
			disabled_tools = ["w"]
			[mcp_servers.a.tools.r]
			approval_mode = "approve"
			[mcp_servers."b c"]
			url = "https://b.example/mcp"
			bearer_token_env_var = "B_TOKEN"
			http_headers = { X-A = "1" }
			env_http_headers = { X-B = "B_VAR" }
			[tui]
			theme = "dark"
			`, []Server{
			{
				Name: "a", Command: "a", Args: []string{"-x", `C:\dir`}, Env: map[string]string{"K": "v", "HOME": "${HOME}", "REMOTE": "${REMOTE}"},
				Cwd: "/srv", Transport: Stdio, Timeout: 1500 * time.Millisecond, Disabled: true, EnabledTools: []string{"r"}, DisabledTools: []string{"w"},
			},
			{Name: "b c", URL: "https://b.example/mcp", Transport: HTTP, Headers: map[string]string{"Authorization": "Bearer ${B_TOKEN}", "X-A": "1", "X-B": "${B_VAR}"}},
		}},
		{"gemini", Gemini, `{"theme": "x", "mcp": {"excluded": ["d"]}, "mcpServers": {
			"a": {"httpUrl": "https://a.example/mcp", "timeout": 2500, "trust": true, "includeTools": ["i"], "excludeTools": ["e"]},
			"b": {"url": "https://b.example/sse"},
			"c": {"url": "https://c.example/mcp", "type": "http"},
			"d": {"command": "node my-server.js", "args": ["--k", "$KEY", "${OTHER}"], "cwd": "./d"}}}`, []Server{
			{Name: "a", URL: "https://a.example/mcp", Transport: HTTP, Timeout: 2500 * time.Millisecond, EnabledTools: []string{"i"}, DisabledTools: []string{"e"}},
			{Name: "b", URL: "https://b.example/sse", Transport: SSE},
			{Name: "c", URL: "https://c.example/mcp", Transport: HTTP},
			{Name: "d", Command: "node", Args: []string{"my-server.js", "--k", "${KEY}", "${OTHER}"}, Cwd: "./d", Transport: Stdio, Disabled: true},
		}},
		{"zed", Zed, `{
			/* settings */ "vim_mode": true,
			"context_servers": {
				"a": {"source": "custom", "command": "a", "args": ["x"], "env": {}},
				"old": {"command": {"path": "/bin/old", "args": ["y"], "env": {"K": "v"}}, "settings": {}},
				"r": {"url": "https://r.example/mcp", "headers": {"K": "v"}, "enabled": false},
			},
		}`, []Server{
			stdio("a", "a", "x"),
			{Name: "old", Command: "/bin/old", Args: []string{"y"}, Env: map[string]string{"K": "v"}, Transport: Stdio},
			{Name: "r", URL: "https://r.example/mcp", Headers: map[string]string{"K": "v"}, Disabled: true},
		}},
		{"opencode v1", OpenCode, `{"$schema": "s", "mcp": {
			"a": {"type": "local", "command": ["bun", "x", "a b"], "environment": {"K": "{env:K}"}, "enabled": false, "timeout": 7000},
			"servers": {"type": "remote", "url": "https://b.example/mcp", "headers": {"Authorization": "Bearer {env:B}"}, "oauth": {}}}}`, []Server{
			{Name: "a", Command: "bun", Args: []string{"x", "a b"}, Env: map[string]string{"K": "${K}"}, Transport: Stdio, Disabled: true, Timeout: 7 * time.Second},
			{Name: "servers", URL: "https://b.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${B}"}},
		}},
		{"opencode v2", OpenCode, `{"mcp": {"timeout": 5, "servers": {
			"a": {"type": "local", "command": ["my a"], "cwd": "/x", "disabled": true}},
			"old": {"type": "remote", "url": "https://o.example"}}}`, []Server{
			{Name: "a", Command: "my a", Cwd: "/x", Transport: Stdio, Disabled: true},
			{Name: "old", URL: "https://o.example"},
		}},
		{"cline", Cline, `{"mcpServers": {
			"a": {"command": "a", "disabled": true, "autoApprove": ["t"], "timeout": 30},
			"b": {"url": "https://b.example/mcp", "type": "streamableHttp"},
			"c": {"url": "https://c.example/sse", "transportType": "sse"}}}`, []Server{
			{Name: "a", Command: "a", Transport: Stdio, Disabled: true, Timeout: 30 * time.Second},
			{Name: "b", URL: "https://b.example/mcp", Transport: HTTP},
			{Name: "c", URL: "https://c.example/sse", Transport: SSE},
		}},
		{"roo", Roo, `{"mcpServers": {"a": {"command": "a", "alwaysAllow": ["t"], "disabledTools": ["d"], "cwd": "/x"}}}`, []Server{
			{Name: "a", Command: "a", Cwd: "/x", Transport: Stdio, DisabledTools: []string{"d"}},
		}},
		{"kilo", Kilo, `{"mcpServers": {"a": {"type": "streamable-http", "url": "https://a.example"}}}`, []Server{{Name: "a", URL: "https://a.example", Transport: HTTP}}},
		{"goose", Goose, gooseFile, []Server{
			{
				Name: "github", Command: "npx", Args: []string{"-y", "server-github"}, Env: map[string]string{"LEVEL": "3", "GH_TOKEN": "${secret:github-keyring-GH_TOKEN}"},
				Transport: Stdio, Timeout: 5 * time.Minute, EnabledTools: []string{"search"},
			},
			{Name: "remote", URL: "https://r.example/mcp", Transport: HTTP, Headers: map[string]string{"Authorization": "Bearer ${secret:remote-keyring-R_KEY}", "X": "fixed"}, Disabled: true},
		}},
		{"crush", Crush, `{"mcp": {
			"a": {"type": "stdio", "command": "a", "args": ["$DIR/x"], "env": {"K": "${K:-d}"}, "timeout": 15, "disabled": true, "disabled_tools": ["t"]},
			"b": {"type": "sse", "url": "https://b.example/sse", "headers": {"Authorization": "Bearer $B"}}}}`, []Server{
			{Name: "a", Command: "a", Args: []string{"${DIR}/x"}, Env: map[string]string{"K": "${K:-d}"}, Transport: Stdio, Timeout: 15 * time.Second, Disabled: true, DisabledTools: []string{"t"}},
			{Name: "b", URL: "https://b.example/sse", Transport: SSE, Headers: map[string]string{"Authorization": "Bearer ${B}"}},
		}},
		{"agenticx", AgenticX, `{"ignored": {"command": "x"}, "mcpServers": {
			"a": {"command": "uvx", "args": ["a"], "timeout": 60, "enabled_tools": ["t"], "assign_to_agents": ["coder"]},
			"b": {"url": "https://b.example/sse"}, "c": {"url": "https://c.example/mcp"}}}`, []Server{
			{Name: "a", Command: "uvx", Args: []string{"a"}, Transport: Stdio, Timeout: time.Minute, EnabledTools: []string{"t"}, Agents: []string{"coder"}},
			{Name: "b", URL: "https://b.example/sse", Transport: SSE},
			{Name: "c", URL: "https://c.example/mcp", Transport: HTTP},
		}},
		{"agenticx root map", AgenticX, `{"a": {"command": "a"}}`, []Server{stdio("a", "a")}},
		{"agent plugins", AgentPlugins, `{"$schema": "` + pluginSchema + `", "mcpServers": {
			"local": {"type": "stdio", "command": "./bin/v", "args": ["${PLUGIN_DATA}/v", "${HOME}"], "cwd": "${PLUGIN_ROOT}"},
			"api": {"type": "streamable-http", "url": "https://x.example/mcp", "headers": {"X": "${PLUGIN_ROOT}"}},
			"old": {"type": "sse", "url": "http://127.0.0.1:8/sse"}}}`, []Server{
			{Name: "local", Command: "./bin/v", Args: []string{"${PLUGIN_DATA}/v", "$${HOME}"}, Cwd: "${PLUGIN_ROOT}", Transport: Stdio},
			{Name: "api", URL: "https://x.example/mcp", Transport: HTTP, Headers: map[string]string{"X": "$${PLUGIN_ROOT}"}},
			{Name: "old", URL: "http://127.0.0.1:8/sse", Transport: SSE},
		}},
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
			for i := range tt.want {
				tt.want[i].Source = tt.client
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Server{}, "Notes", "Dropped"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
		})
	}
	for _, c := range Clients() {
		if !seen[c] && !newer(c) {
			t.Errorf("no sample of %s", c)
		}
	}
}

const gooseFile = `GOOSE_PROVIDER: openai
extensions:
  developer:
    type: builtin
    enabled: true
  github:
    name: github
    type: stdio
    cmd: npx
    args:
      - "-y"
      - server-github
    envs:
      LEVEL: "3"
    env_keys:
      - GH_TOKEN
    timeout: 300
    enabled: true
    available_tools: ["search"]
  remote:
    type: streamable_http
    uri: https://r.example/mcp
    enabled: false
    envs: {"FIX": "fixed"}
    env_keys: ["R_KEY"]
    headers: {"Authorization": "Bearer $R_KEY", "X": "${FIX}"}
# the end
`

func TestReadNotes(t *testing.T) {
	tests := []struct{ client, text, want string }{
		{Cursor, `{"mcpServers":{"a":{"command":"a","envFile":".env"}}}`, "envFile: its file is not read"},
		{VSCode, `{"servers":{"a":{"command":"a","sandbox":{}}}}`, "sandbox: the sandbox is chosen"},
		{VSCode, `{"servers":{"a":{"command":"a","args":["${input:k}"]}}}`, "${input:k} is asked for by the client; it became the secret a-input-k"},
		{ClaudeCode, `{"mcpServers":{"a":{"url":"https://a.example","auth":"x"}}}`, "auth: it is about logging in"},
		{ClaudeCode, `{"mcpServers":{"a":{"command":"a","oauth":{"clientId":"x"}}}}`, "oauth: it is about logging in"},
		{ClaudeCode, `{"mcpServers":{"a":{"url":"https://a.example","headersHelper":"x"}}}`, "headersHelper: it is a program"},
		{ClaudeCode, `{"mcpServers":{"a":{"command":"a","colour":"red"}}}`, "colour: the key is not known here"},
		{Cline, `{"mcpServers":{"a":{"command":"a","autoApprove":["x"]}}}`, "approvals are given in Toolcrib"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"a","env":{"PORT":80}}}}`, "env.PORT was a number and became a text"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"a","env":{"P":null}}}}`, "env.P has no value"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"a","env":{"P":"1","P":"2"}}}}`, "env.P is given twice; the last one counts"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"a","command":"b"}}}`, "command is given twice; the last one counts"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"npx","args":["mcp-remote","${URL}"]}}}`, "passed on as text"},
		{ClaudeDesktop, `{"mcpServers":{"a":{"command":"sh","args":["-c","echo $(date)"]}}}`, "nothing here runs it"},
		{Gemini, `{"mcpServers":{"a":{"command":"node a.js"}}}`, "was a line of 2 words and was split"},
		{Gemini, `{"mcpServers":{"a":{"command":"a","timeout":-1}}}`, "timeout: it is no time"},
		{Windsurf, `{"mcpServers":{"a":{"url":"https://a.example"}}}`, "where Windsurf does not look"},
		{Codex, "[mcp_servers.a]\nurl='https://a.example'\nbearer_token='sesame'\n", "bearer_token is refused by Codex itself"},
		{Codex, "[mcp_servers.a]\ncommand='a'\nstartup_timeout_sec=3\n", "startup_timeout_sec: it says how the client starts"},
		{VSCode, `{"servers":{"a":{"type":"stdio","command":"a","url":"https://a.example"}}}`, "its address was left out"},
		{Goose, gooseFile, "GH_TOKEN is in Goose's keyring"},
	}
	for _, tt := range tests {
		servers, problems := yamlCodec().Read(tt.client, []byte(tt.text))
		if len(servers) == 0 {
			t.Errorf("%s %s: no server; %v", tt.client, tt.text, problems)
			continue
		}
		if notes := strings.Join(append(servers[0].Notes, servers[0].Dropped...), "\n"); !strings.Contains(notes, tt.want) {
			t.Errorf("%s %s: notes %q, want %q in them", tt.client, tt.text, notes, tt.want)
		}
	}
}
