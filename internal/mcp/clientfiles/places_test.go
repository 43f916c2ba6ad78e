package clientfiles

import (
	"slices"
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	tests := []struct {
		goos, home string
		env        map[string]string
		client     string
		want       string
	}{
		{"linux", "/home/me", nil, ClaudeDesktop, "/home/me/.config/Claude/claude_desktop_config.json"},
		{"darwin", "/Users/me", nil, ClaudeDesktop, "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", `C:\Users\me`, map[string]string{"APPDATA": `C:\Users\me\AppData\Roaming`}, ClaudeDesktop, `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json`},
		{"windows", `C:\Users\me`, nil, ClaudeDesktop, `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json`},
		{"linux", "/home/me", nil, ClaudeCode, "/home/me/.claude.json"},
		{"linux", "/home/me", map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, ClaudeCode, "/c/.claude.json"},
		{"linux", "/home/me", nil, Cursor, "/home/me/.cursor/mcp.json"},
		{"linux", "/home/me", nil, VSCode, "/home/me/.config/Code/User/mcp.json"},
		{"darwin", "/Users/me", nil, VSCode, "/Users/me/Library/Application Support/Code/User/mcp.json"},
		{"linux", "/home/me", nil, Windsurf, "/home/me/.codeium/windsurf/mcp_config.json"},
		{"linux", "/home/me", nil, Codex, "/home/me/.codex/config.toml"},
		{"linux", "/home/me", map[string]string{"CODEX_HOME": "/x/"}, Codex, "/x/config.toml"},
		{"linux", "/home/me", nil, Gemini, "/home/me/.gemini/settings.json"},
		{"darwin", "/Users/me", nil, Zed, "/Users/me/.config/zed/settings.json"},
		{"windows", `C:\u`, nil, Zed, `C:\u\AppData\Roaming\Zed\settings.json`},
		{"linux", "/home/me", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, OpenCode, "/cfg/opencode/opencode.json"},
		{"linux", "/home/me", nil, Cline, "/home/me/.cline/data/settings/cline_mcp_settings.json"},
		{"linux", "/home/me", map[string]string{"CLINE_MCP_SETTINGS_PATH": "/c.json"}, Cline, "/c.json"},
		{"linux", "/home/me", nil, Roo, "/home/me/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"},
		{"linux", "/home/me", nil, Kilo, "/home/me/.config/Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"},
		{"linux", "/home/me", nil, Goose, "/home/me/.config/goose/config.yaml"},
		{"windows", `C:\u`, nil, Goose, `C:\u\AppData\Roaming\Block\goose\config\config.yaml`},
		{"linux", "/home/me", nil, Crush, "/home/me/.config/crush/crush.json"},
		{"linux", "/home/me", nil, AgenticX, "/home/me/.agenticx/mcp.json"},
		{"linux", "/home/me", nil, Kiro, "/home/me/.kiro/settings/mcp.json"},
		{"linux", "/home/me", nil, CopilotCLI, "/home/me/.copilot/mcp-config.json"},
		{"linux", "/home/me", map[string]string{"COPILOT_HOME": "/co"}, CopilotCLI, "/co/mcp-config.json"},
		{"darwin", "/Users/me", nil, Junie, "/Users/me/.junie/mcp/mcp.json"},
		{"linux", "/home/me", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, Amp, "/cfg/amp/settings.json"},
		{"darwin", "/Users/me", nil, Amp, "/Users/me/.config/amp/settings.json"},
		{"linux", "/home/me", nil, Continue, "/home/me/.continue/mcpServers"},
		{"windows", `C:\u`, nil, AmazonQ, `C:\u\.aws\amazonq\mcp.json`},
		{"windows", `C:\u`, nil, LMStudio, `C:\u\.lmstudio\mcp.json`},
	}
	for _, tt := range tests {
		env := func(name string) string { return tt.env[name] }
		places := Places(tt.goos, tt.home, env, "")
		i := slices.IndexFunc(places, func(p Place) bool { return p.Client == tt.client })
		if i < 0 || places[i].Path != tt.want || places[i].Scope != ScopeUser {
			t.Errorf("%s %s %v: %+v, want %s", tt.goos, tt.client, tt.env, places[max(i, 0)], tt.want)
		}
	}
}

func TestPlacesOfProjects(t *testing.T) {
	var got []string
	for _, p := range Places("linux", "/home/me", nil, "/src/p") {
		if p.Scope == ScopeProject {
			got = append(got, p.Client+" "+strings.TrimPrefix(p.Path, "/src/p/"))
		}
	}
	want := []string{
		"claude-code .mcp.json", "cursor .cursor/mcp.json", "vscode .vscode/mcp.json", "codex .codex/config.toml", "gemini .gemini/settings.json", "zed .zed/settings.json",
		"opencode opencode.json", "opencode opencode.jsonc", "roo .roo/mcp.json", "kilo .kilocode/mcp.json", "crush .crush.json", "crush crush.json",
		"kiro .kiro/settings/mcp.json", "junie .junie/mcp/mcp.json", "amp .amp/settings.json", "amp .amp/settings.jsonc", "continue .continue/mcpServers", "amazon-q .amazonq/mcp.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, p := range Places("linux", "", nil, "") {
		t.Errorf("without a home there is %+v", p)
	}
}

// TestPlacesAreDetected: where a file lies says whose it is.
func TestPlacesAreDetected(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range Places(goos, "/home/me", nil, "/src/p") {
			if strings.Contains(p.Path, "crushrc") {
				t.Errorf("a script is among the places: %s", p.Path)
			}
			if p.Dir {
				p.Path += "/any.json"
			}
			if got, ok := Detect(p.Path, nil); !ok || got != p.Client {
				t.Errorf("%s is taken for %s's, it is %s's", p.Path, got, p.Client)
			}
		}
	}
}

func TestDetectByContent(t *testing.T) {
	tests := []struct{ file, text, want string }{
		{"x.json", `{"context_servers": {}}`, Zed},
		{"x.json", `{"servers": {"a": {"command": "a"}}, "inputs": []}`, VSCode},
		{"x.json", `{"mcp": {"servers": {"a": {"command": "a"}}}}`, VSCode},
		{"x.json", `{"mcp": {"servers": {"a": {"command": ["a"]}}}}`, OpenCode},
		{"x.json", `{"mcp": {"a": {"type": "local", "command": ["a"]}}}`, OpenCode},
		{"x.json", `{"mcp": {"a": {"type": "stdio", "command": "a"}}}`, Crush},
		{"x.json", `{"mcpServers": {"a": {"serverUrl": "u"}}}`, Windsurf},
		{"x.json", `{"mcpServers": {"a": {"httpUrl": "u"}}}`, Gemini},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "autoApprove": []}}}`, Cline},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "alwaysAllow": []}}}`, Roo},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "assign_to_agents": []}}}`, AgenticX},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "envFile": "x"}}}`, Cursor},
		{"x.json", `{"mcpServers": {"a": {"command": "a"}}, "projects": {}}`, ClaudeCode},
		{"x.json", `{"projects": {"/p": {}}}`, ClaudeCode},
		{"x.json", `{"mcpServers": {"a": {"command": "a"}}}`, ClaudeCode},
		{"x.json", `{"a": {"command": "a"}}`, ClaudeCode},
		{"mcp.json", `{"$schema": "` + pluginSchema + `", "mcpServers": {}}`, AgentPlugins},
		{"x.toml", "[mcp_servers.a]\ncommand = 'a'\n", Codex},
		{"x.yaml", "a: 1\nextensions:\n  b: 1\n", Goose},
		{`C:\p\.vscode\mcp.json`, "", VSCode},
		{"x.json", `{"amp.mcpServers": {"a": {"command": "a"}}}`, Amp},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "autoApprove": [], "disabledTools": ["x"]}}}`, Kiro},
		{"x.json", `{"mcpServers": {"a": {"command": "a", "tools": ["x"]}}}`, CopilotCLI},
		{"x.yaml", "name: x\nmcpServers:\n  - name: a\n    command: a\n", Continue},
		{"/p/amp/.vscode/settings.json", "", VSCode},
		{"x.toml", "[a]\n", ""},
		{"x.yaml", "a:\n  extensions: 1\n", ""},
		{"x.json", `{"a": 1}`, ""},
		{"x.json", `{"mcpServers": {}}`, ""},
		{"x.json", `[]`, ""},
		{"x.json", `{`, ""},
		{"/home/me/.config/crush/crushrc", `{"mcp": {"a": {"type": "stdio", "command": "a"}}}`, ""},
		{"x.sh", `{"mcp": {"a": {"type": "stdio", "command": "a"}}}`, ""},
	}
	for _, tt := range tests {
		got, ok := Detect(tt.file, []byte(tt.text))
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s %s: %q %v, want %q", tt.file, tt.text, got, ok, tt.want)
		}
	}
}
