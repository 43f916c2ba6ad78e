package clientfiles

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestExportRoundTrip: what a client's file can hold comes back as it was.
func TestExportRoundTrip(t *testing.T) {
	plain := []Server{
		{Name: "a", Command: "npx", Args: []string{"-y", "a b", `"q"`, "é"}, Env: map[string]string{"K": "v\nw", "L": ""}, Transport: Stdio},
		{Name: "b c", Command: "/opt/b", Transport: Stdio},
	}
	remote := []Server{
		{Name: "r", URL: "https://r.example/mcp", Transport: HTTP, Headers: map[string]string{"X-A": "1", "Authorization": "Bearer x"}},
	}
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			c, _ := clientOf(client)
			c = c.forText(nil)
			servers := append([]Server{}, plain...)
			if client == AgentPlugins {
				servers[1].Command = "./b"
			}
			if !c.local {
				servers = append(servers, remote...)
			}
			for i := range servers {
				servers[i].Source = client
			}
			if c.timeout != "" {
				servers[0].Timeout = 90 * time.Second
			}
			if c.enabledTools != "" {
				servers[0].EnabledTools = []string{"t"}
			}
			if c.disabledTools != "" {
				servers[0].DisabledTools = []string{"u"}
			}
			if c.enabled+c.disabled != "" {
				servers[1].Disabled = true
			}
			if c.cwd != "" && client != AgentPlugins {
				servers[1].Cwd = "/srv/x y"
			}
			if client == AgenticX {
				servers[0].Agents = []string{"coder"}
			}
			text, lost, err := Export(client, servers)
			if err != nil || len(lost) != 0 {
				t.Fatalf("%v, lost %q", err, lost)
			}
			got, problems := yamlCodec().Read(client, text)
			if len(problems) != 0 {
				t.Errorf("problems %v in\n%s", problems, text)
			}
			if slices.Contains([]string{OpenCode, Cursor, Zed, Kiro, Junie, Amp, LMStudio}, client) {
				servers[len(servers)-1].Transport = "" // their files do not say
			}
			sortKeysLost := cmpopts.SortSlices(func(a, b Server) bool { return a.Name < b.Name })
			if diff := cmp.Diff(servers, got, cmpopts.IgnoreFields(Server{}, "Notes"), cmpopts.EquateEmpty(), sortKeysLost); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, text)
			}
			if guess, ok := Detect("servers"+map[format]string{formatJSON: ".json", formatTOML: ".toml", formatYAML: ".yaml"}[c.format], text); !ok {
				t.Errorf("not detected (%s):\n%s", guess, text)
			}
		})
	}
}

// TestExportVariables: each client gets its own way of writing, reads it back
// as ours, and is told what it cannot have.
func TestExportVariables(t *testing.T) {
	s := Server{
		Name: "s", Command: "x", Args: []string{"${HOME}/y"}, Transport: Stdio,
		Env: map[string]string{"TOKEN": "${TOKEN}", "KEY": "${secret:s-KEY}", "HOST": "${HOST:-h}"},
	}
	tests := []struct {
		client string
		text   []string
		lost   []string
	}{
		{ClaudeCode, []string{`"${HOME}/y"`, `"HOST": "${HOST:-h}"`, `"TOKEN": "${TOKEN}"`, `"KEY": "${S_KEY}"`}, []string{"the secret s-KEY is not written: give it to Claude Code as the variable S_KEY"}},
		{Cursor, []string{`"${env:HOME}/y"`, `"HOST": "${env:HOST}"`, `"KEY": "${env:S_KEY}"`}, []string{"the default of ${HOST} was left out", "S_KEY"}},
		{VSCode, []string{`"KEY": "${input:s-KEY}"`, `"id": "s-KEY"`, `"password": true`}, []string{"the default of ${HOST}"}},
		{OpenCode, []string{`"{env:HOME}/y"`, `"TOKEN": "{env:TOKEN}"`}, []string{"default", "S_KEY"}},
		{Crush, []string{`"${HOME}/y"`, `"HOST": "${HOST:-h}"`}, []string{"S_KEY"}},
		{ClaudeDesktop, nil, []string{"args[0] has a variable or secret, and Claude Desktop puts none in there", "it was left out"}},
		{AgentPlugins, nil, []string{"args[0] has a variable", "it was left out"}},
	}
	for _, tt := range tests {
		text, lost, err := Export(tt.client, []Server{s})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.text {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s in\n%s", tt.client, want, text)
			}
		}
		for _, want := range tt.lost {
			if !strings.Contains(strings.Join(lost, "\n"), want) {
				t.Errorf("%s: lost %q, want %q in it", tt.client, lost, want)
			}
		}
		if servers, problems := (Codec{}).Read(tt.client, text); len(problems) != 0 || len(servers) != min(1, len(tt.text)) {
			t.Errorf("%s: %v, %v", tt.client, servers, problems)
		}
	}
}

// TestExportSecretDefault: a default that is a secret is never written.
func TestExportSecretDefault(t *testing.T) {
	text, lost, err := Export(ClaudeCode, []Server{{Name: "s", Command: "x", Transport: Stdio, Env: map[string]string{"A": "${A:-${secret:s-A}}"}}})
	if err != nil || !strings.Contains(string(text), `"A": "${A}"`) || len(lost) != 1 || !strings.Contains(lost[0], "the default of ${A} was left out") {
		t.Errorf("%s, %q, %v", text, lost, err)
	}
}

func TestExportNamedVariables(t *testing.T) {
	s := []Server{
		{Name: "p", Command: "x", Transport: Stdio, Env: map[string]string{"TOKEN": "${TOKEN}", "KEY": "${secret:KEY}", "OTHER": "${TOKEN}", "LIT": "1"}},
		{Name: "r", URL: "https://r.example", Transport: HTTP, Headers: map[string]string{"Authorization": "Bearer ${R}", "X-K": "${secret:k}", "X-L": "1"}},
	}
	text, lost, err := Export(Codex, s)
	if err != nil {
		t.Fatal(err)
	}
	want := `[mcp_servers.p]
command = "x"
env = { LIT = "1" }
env_vars = ["KEY", "TOKEN"]

[mcp_servers.r]
url = "https://r.example"
bearer_token_env_var = "R"
env_http_headers = { X-K = "K" }
http_headers = { X-L = "1" }
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	said := strings.Join(lost, "\n")
	for _, w := range []string{"the secret KEY is not written", "env.OTHER was left out", "the secret k is not written: give it to Codex as the variable K"} {
		if !strings.Contains(said, w) {
			t.Errorf("lost %q, want %q", said, w)
		}
	}
	text, _, err = Export(Goose, s)
	if err != nil {
		t.Fatal(err)
	}
	servers, problems := yamlCodec().Read(Goose, text)
	if len(problems) != 0 || len(servers) != 2 || servers[0].Env["KEY"] != "${secret:p-keyring-KEY}" || servers[1].Headers["Authorization"] != "Bearer ${secret:r-keyring-R}" {
		t.Errorf("%s\n%v, %v", text, servers, problems)
	}
}

func TestExportLoses(t *testing.T) {
	tests := []struct {
		client string
		server Server
		want   string
	}{
		{ClaudeDesktop, Server{URL: "https://x.example"}, "holds only programs"},
		{ClaudeDesktop, Server{Command: "a", Disabled: true}, "switched off"},
		{ClaudeDesktop, Server{Command: "a", Timeout: time.Second}, "timeout cannot be said"},
		{ClaudeDesktop, Server{Command: "a", Cwd: "/x"}, "directory cannot be said"},
		{ClaudeDesktop, Server{Command: "a", DisabledTools: []string{"t"}}, "shows tools that are hidden here"},
		{ClaudeDesktop, Server{Command: "a", Agents: []string{"t"}}, "every agent"},
		{Codex, Server{URL: "https://x.example/sse", Transport: SSE}, "does not speak SSE"},
		{OpenCode, Server{URL: "https://x.example/sse", Transport: SSE}, "cannot say that it speaks SSE"},
		{Cline, Server{Command: "a", Timeout: 1500 * time.Millisecond}, "rounded to seconds"},
		{Gemini, Server{Command: "a", Args: []string{"$HOME"}}, "would read as a variable"},
		{ClaudeCode, Server{Command: "a", Args: []string{"$${HOME}"}}, "would read as a variable"},
		{OpenCode, Server{Command: "a", Args: []string{"{file:x}"}}, "would read as a variable"},
		{AgentPlugins, Server{URL: "http://x.example"}, "must be https"},
		{AgentPlugins, Server{Command: "/bin/a"}, "neither a bare name"},
		{Cursor, Server{Command: "a", URL: "https://x.example"}, "either a command or an address"},
		{Cursor, Server{Command: "a b | c"}, "line for a shell"},
		{Cursor, Server{Command: "a b"}, "taken for several words"},
	}
	for _, tt := range tests {
		tt.server.Name = "s"
		text, lost, err := Export(tt.client, []Server{tt.server, {Name: "ok", Command: "ok"}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(lost, "\n"), tt.want) {
			t.Errorf("%s %+v: lost %q, want %q", tt.client, tt.server, lost, tt.want)
		}
		servers, problems := Codec{}.Read(tt.client, text)
		if len(problems) != 0 || len(servers) == 0 || servers[len(servers)-1].Name != "ok" {
			t.Errorf("%s %+v: %v, %v in\n%s", tt.client, tt.server, servers, problems, text)
		}
	}
	if _, _, err := Export("emacs", nil); err == nil {
		t.Error("an unknown client was taken")
	}
	if _, _, err := Export(Cursor, []Server{{Name: "a", Command: "a"}, {Name: "a", Command: "b"}}); err == nil {
		t.Error("two servers of one name were taken")
	}
}

// TestExportHoldsOrTells: for any server and client, what comes back is what
// went out, or something was told.
func TestExportHoldsOrTells(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "x", "a b", "${V}", "$V", "$${V}", "${V:-d}", "{env:V}", "{file:x}", "$(id)", "`id`", "${secret:s}", "$", "$$", "${", "é\"\\\n", "p${V}q", "${env:X}", "%V%"})
	env := rapid.MapOf(rapid.SampledFrom([]string{"V", "K", "a.b"}), texts)
	rapid.Check(t, func(t *rapid.T) {
		s := Server{Name: rapid.SampledFrom([]string{"a", "b c", "true", "1", "x.y", `q"`}).Draw(t, "name")}
		if rapid.Bool().Draw(t, "program") {
			s.Command, s.Transport = rapid.SampledFrom([]string{"x", "./x", "/a b/c"}).Draw(t, "command"), Stdio
			s.Args, s.Env = rapid.SliceOfN(texts, 0, 3).Draw(t, "args"), env.Draw(t, "env")
		} else {
			s.URL, s.Headers = "https://x.example/"+rapid.SampledFrom([]string{"", "${V}", "$V", "{env:V}"}).Draw(t, "path"), env.Draw(t, "headers")
			s.Transport = rapid.SampledFrom([]string{HTTP, SSE}).Draw(t, "transport")
		}
		client := rapid.SampledFrom(Clients()).Draw(t, "client")
		text, lost, err := Export(client, []Server{s})
		if err != nil {
			t.Fatal(err)
		}
		c := yamlCodec()
		c.Exists = func(path string) bool { return path == "/a b/c" }
		servers, problems := c.Read(client, text)
		if len(problems) != 0 {
			t.Fatalf("%v in\n%s", problems, text)
		}
		if len(lost) > 0 || client == Goose { // its variables come back as secrets of its keyring
			return
		}
		if len(servers) != 1 {
			t.Fatalf("it is gone and nothing was told:\n%s", text)
		}
		got := servers[0]
		got.Notes, got.Source = nil, ""
		if got.Transport == "" {
			got.Transport = s.Transport
		}
		if client == VSCode { // its inputs come back as secrets of the server's own
			own := strings.NewReplacer("${secret:s}", "${secret:"+inputSecret(s.Name, "s")+"}")
			for i := range s.Args {
				s.Args[i] = own.Replace(s.Args[i])
			}
			for _, m := range []map[string]string{s.Env, s.Headers} {
				for k := range m {
					m[k] = own.Replace(m[k])
				}
			}
		}
		if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s\n%s", client, diff, text)
		}
	})
}
