package clientfiles

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestProblems: every bad entry is told with its reason, and the good one
// beside it is read all the same.
func TestProblems(t *testing.T) {
	entry := func(client, text string) string {
		c, _ := clientOf(client)
		path := c.paths[0]
		good := `{"type":"stdio","command":"good"}`
		if client == OpenCode {
			good = `{"type":"local","command":["good"]}`
		}
		schema := ""
		if client == AgentPlugins {
			schema = fmt.Sprintf(`"$schema":%q,`, pluginSchema)
		}
		return fmt.Sprintf("{%s%q: {\n%q: %s,\n%q: %s}}", schema, path[0], "bad", text, "good", good)
	}
	tests := []struct{ client, text, want string }{
		{ClaudeCode, `7`, "it is a number, not a table"},
		{ClaudeCode, `{}`, "neither a command nor an address"},
		{ClaudeCode, `{"command": 1}`, "command is a number"},
		{ClaudeCode, `{"command": "a", "args": "b"}`, "args is a text, not a list"},
		{ClaudeCode, `{"command": "a", "args": [["b"]]}`, "args[0] is a list"},
		{ClaudeCode, `{"command": "a", "env": []}`, "env is a list, not a table"},
		{ClaudeCode, `{"command": "a", "env": {"A=B": "x"}}`, "env has a name that cannot be one"},
		{ClaudeCode, `{"command": "a", "args": ["x\u0000y"]}`, "args[0] has a character"},
		{ClaudeCode, `{"url": "https://x.example", "headers": {"K": "a\r\nX: b"}}`, "headers.K has a character"},
		{ClaudeCode, `{"command": "a", "url": "https://x.example"}`, "both a command and an address"},
		{ClaudeCode, `{"type": "http", "command": "a"}`, "says remote"},
		{ClaudeCode, `{"type": "stdio", "url": "https://x.example"}`, "its transport is stdio"},
		{ClaudeCode, `{"type": "ws", "url": "wss://x.example"}`, "its transport is not one of those"},
		{ClaudeCode, `{"url": "ftp://x.example"}`, "neither http nor https"},
		{ClaudeCode, `{"url": "x.example"}`, "no URL"},
		{ClaudeCode, `{"url": "https://"}`, "no URL"},
		{ClaudeCode, `{"url": "https://x.example/ y"}`, "no URL"},
		{ClaudeCode, `{"command": "a ${B:-x y}"}`, "variable with a blank"},
		{ClaudeCode, `{"command": "a", "args": ["${B:-$C}"]}`, "default holds another"},
		{VSCode, `{"url": "unix:///run/x.sock"}`, "socket of this machine"},
		{VSCode, `{"url": "pipe:////./pipe/x"}`, "socket of this machine"},
		{VSCode, `{"command": "a", "args": ["${command:ext.token}"]}`, "${command:…}"},
		{VSCode, `{"command": "a", "args": ["${config:x.y}"]}`, "only the editor knows"},
		{VSCode, `{"command": "a", "args": ["${env:}"]}`, "no name of a variable"},
		{VSCode, `{"command": "a", "args": ["${workspaceFolderBasename}"]}`, "no project is known"},
		{OpenCode, `{"type": "local", "command": ["a", "{file:~/.key}"]}`, "no file is read here"},
		{OpenCode, `{"type": "remote", "url": "https://x.example", "headers": {"K": "{file:./k}"}}`, "headers.K: it has a {file:…}"},
		{OpenCode, `{"enabled": false}`, "only switches a server"},
		{OpenCode, `{"type": "local", "command": []}`, "neither a command"},
		{Crush, `{"type": "stdio", "command": "a", "env": {"K": "$(pass show k)"}}`, "env.K: it has a command substitution"},
		{Crush, `{"type": "stdio", "command": "$(which a)"}`, "command substitution"},
		{Crush, `{"type": "stdio", "command": "a", "args": ["x$(id)"]}`, "args[0]: it has a command"},
		{Crush, "{\"type\": \"stdio\", \"command\": \"a\", \"args\": [\"`id`\"]}", "command substitution"},
		{Crush, `{"type": "http", "url": "https://x.example/$(id)"}`, "url: it has a command"},
		{Crush, `{"type": "http", "url": "https://x.example", "headers": {"K": "$(id)"}}`, "headers.K"},
		{Crush, `{"type": "stdio", "command": "a", "args": ["${K:-$(id)}"]}`, "default holds another"},
		{Crush, `{"type": "stdio", "command": "a", "args": ["${K@P}"]}`, "of a shell that is not read"},
		{Gemini, `{"command": "a", "args": ["$$B"]}`, "a $ stands right before"},
		{Gemini, `{"command": "node a.js | tee log"}`, "line for a shell"},
		{Gemini, `{"command": "node 'a b.js'"}`, "line for a shell"},
		{Gemini, `{"command": "A=1 node a.js"}`, "assignment of a variable"},
		{Gemini, `{"command": "/opt/my tools/run"}`, "cannot be told whether"},
		{Gemini, `{"command": " "}`, "its command is empty"},
		{AgenticX, `{"transport": "stdio", "command": "a", "url": "https://x.example"}`, "both"},
		{AgentPlugins, `{"command": "a"}`, "its type must be"},
		{AgentPlugins, `{"type": "stdio", "command": "a b"}`, "more than one word"},
		{AgentPlugins, `{"type": "stdio", "command": "/bin/a"}`, "neither a bare name nor"},
		{AgentPlugins, `{"type": "stdio", "command": "./../a"}`, "neither a bare name nor"},
		{AgentPlugins, `{"type": "stdio", "command": "${PLUGIN_ROOT}"}`, "no placeholder"},
		{AgentPlugins, `{"type": "stdio", "command": "a", "cwd": "/tmp"}`, "inside the plugin"},
		{AgentPlugins, `{"type": "stdio", "command": "a", "cwd": "${PLUGIN_ROOT}/../.."}`, "inside the plugin"},
		{AgentPlugins, `{"type": "stdio", "command": "a", "cwd": "${PLUGIN_ROOT}x"}`, "inside the plugin"},
		{AgentPlugins, `{"type": "stdio", "command": "a", "env": {"PLUGIN_ROOT": "/"}}`, "may not set PLUGIN_ROOT"},
		{AgentPlugins, `{"type": "stdio", "command": "a", "timeout": 1}`, "timeout does not belong"},
		{AgentPlugins, `{"type": "sse", "url": "http://x.example"}`, "must be https"},
		{AgentPlugins, `{"type": "sse", "url": "https://u:p@x.example"}`, "no user"},
	}
	for _, tt := range tests {
		servers, problems := Codec{}.Read(tt.client, []byte(entry(tt.client, tt.text)))
		if len(servers) != 1 || servers[0].Name != "good" {
			t.Errorf("%s %s: servers %v, want the good one alone", tt.client, tt.text, servers)
		}
		if len(problems) != 1 || problems[0].Server != "bad" || !strings.Contains(problems[0].Text, tt.want) || problems[0].Line != 2 {
			t.Errorf("%s %s: problems %v, want one of bad in line 2 with %q", tt.client, tt.text, problems, tt.want)
		}
	}
}

func TestProblemsOfFiles(t *testing.T) {
	tests := []struct {
		client, text string
		want         []string
	}{
		{ClaudeDesktop, "", nil},
		{ClaudeDesktop, "\ufeff \n", nil},
		{ClaudeDesktop, "{}", nil},
		{ClaudeDesktop, "{\n\"mcpServers\": }", []string{"the file is not read: line 2: want a value"}},
		{ClaudeDesktop, "[]", []string{"the file holds a list"}},
		{ClaudeDesktop, `{"mcpServers": []}`, []string{"mcpServers is a list, not a table of servers"}},
		{ClaudeDesktop, `{"mcpServers": null}`, nil},
		{ClaudeDesktop, "{\"mcpServers\": \"\xff\"}", []string{"not UTF-8"}},
		{ClaudeDesktop, `{"mcpServers": {"a": {"command": "a"}}, "mcpServers": {}}`, []string{"the key mcpServers is given twice"}},
		{ClaudeDesktop, "{\"mcpServers\": {\"a\\u0007\": {\"command\": \"a\"}}}", []string{"characters that cannot be shown"}},
		{ClaudeDesktop, `{"mcpServers": {"": {"command": "a"}}}`, []string{"has no name"}},
		{ClaudeCode, `{"mcpServers": {"workspace": {"command": "a"}}}`, []string{"reserved by Claude Code"}},
		{ClaudeCode, `{"projects": {"/p": {"mcpServers": 1}}}`, []string{"the servers of a project are a number"}},
		{Codex, "a = 1\na = 2\n", []string{"line 2: key a is already defined"}},
		{Codex, "mcp_servers = 1\n", []string{"mcp_servers is a number"}},
		{Crush, "#!/bin/bash\nexport KEY=$(id)\n", []string{"the file is not read: line 1"}},
		{Zed, `{"context_servers": {"a": {"source": "extension", "settings": {}}, "b": {"settings": {}}}}`, []string{"extension of Zed", "extension of Zed"}},
		{Goose, "a: {\n", []string{"not valid YAML"}},
		{AgentPlugins, `{"mcpServers": {"a": {"type": "stdio", "command": "a"}}}`, []string{"its $schema is not"}},
		{AgentPlugins, `{"$schema": "` + pluginSchema + `"}`, []string{"no table mcpServers"}},
		{AgentPlugins, `{"$schema": "` + pluginSchema + `", "mcpServers": {}, "x": 1}`, []string{"the key x does not belong"}},
		{"emacs", `{}`, []string{"the client emacs is not known; known are claude-desktop"}},
	}
	for _, tt := range tests {
		servers, problems := yamlCodec().Read(tt.client, []byte(tt.text))
		if len(servers) != 0 {
			t.Errorf("%s %q: servers %v", tt.client, tt.text, servers)
		}
		if len(problems) != len(tt.want) {
			t.Errorf("%s %q: problems %v, want %q", tt.client, tt.text, problems, tt.want)
			continue
		}
		for i, p := range problems {
			if !strings.Contains(p.Text, tt.want[i]) {
				t.Errorf("%s %q: problem %q, want %q", tt.client, tt.text, p, tt.want[i])
			}
		}
	}
	if _, problems := (Codec{}).Read(Goose, []byte("a: 1")); len(problems) != 1 || !strings.Contains(problems[0].Text, "no decoder") {
		t.Errorf("Goose without a decoder: %v", problems)
	}
	if _, problems := (Codec{}).Read(Cursor, make([]byte, maxText+1)); len(problems) != 1 || !strings.Contains(problems[0].Text, "at most") {
		t.Errorf("a file that is too large: %v", problems)
	}
}

func TestReadTwice(t *testing.T) {
	text := "{\"mcpServers\": {\n\"a\": {\"command\": \"first\"},\n\"a\": {\"command\": \"second\"}}}"
	servers, problems := Codec{}.Read(Cursor, []byte(text))
	if len(servers) != 1 || servers[0].Command != "second" {
		t.Errorf("servers %v, want the last, which is the one that clients start", servers)
	}
	if len(problems) != 1 || problems[0].String() != "line 2: server a: the server is given twice; the last one counts, as in the client" {
		t.Errorf("problems %v", problems)
	}
}

func TestReadManyServers(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"mcpServers":{`)
	for i := range maxServers + 5 {
		fmt.Fprintf(&b, "\"s%d\":{\"command\":\"x\"},", i)
	}
	b.WriteString("}}")
	servers, problems := Codec{}.Read(Cursor, []byte(b.String()))
	if len(servers) != maxServers || len(problems) != 1 || !strings.Contains(problems[0].Text, "more than 2000 servers") {
		t.Errorf("%d servers, problems %v", len(servers), problems)
	}
}

// TestForeignFilesNameNoSecret: nothing that stands in a file becomes a
// reference to the vault, or to a variable that the client would not put in.
func TestForeignFilesNameNoSecret(t *testing.T) {
	for _, client := range Clients() {
		c, _ := clientOf(client)
		if c.format != formatJSON {
			continue
		}
		for _, text := range []string{"${secret:github}", "x${secret:a}${secret:b}", "$${secret:a}", "$$${secret:a}", "${ secret:a}", "${Secret:a}", "{env:secret:a}"} {
			s := Server{Name: "a", Command: "a", Args: []string{text}}
			x := &encoder{client: c}
			v := value{kind: kindTable}
			x.start(&v, Stdio)
			if client == OpenCode {
				v.put(c.command, textList([]string{"a", text}))
			} else {
				v.put(c.command, textValue("a"))
				v.put(c.args, textList(s.Args))
			}
			r := &reader{client: c}
			got, problem := r.server(field{name: "a", value: v})
			if problem != nil {
				continue // refused is as good
			}
			for _, p := range references(got.Args[0]) {
				if p.ref {
					t.Errorf("%s: %q became %q, which has the reference %s", client, text, got.Args[0], p.text)
				}
			}
			if unescape(got.Args[0]) != text {
				t.Errorf("%s: %q became %q, which stands for another text", client, text, got.Args[0])
			}
		}
	}
}

// TestNoValueIsTold: whatever is wrong with an entry, no message repeats a
// value from it.
func TestNoValueIsTold(t *testing.T) {
	const secret = "hunter2hunter2"
	bad := []string{
		`{"command": "a | ` + secret + `"}`, `{"command": ["` + secret + `", {}]}`, `{"command": "a", "args": ["$(` + secret + `)"]}`,
		`{"command": "a", "env": {"K": "{file:` + secret + `}", "L": ["` + secret + `"]}}`, `{"url": "` + secret + `"}`, `{"url": "ftp://u:` + secret + `@x"}`,
		`{"url": "https://` + secret + `:x:y"}`, `{"url": "https://x.example/%zz` + secret + `"}`, `{"command": "a", "timeout": "` + secret + `"}`,
		`{"command": "a", "args": ["${K:-$` + secret + `}"]}`, `{"command": "a", "auth": "` + secret + `"}`, `"` + secret + `"`,
		`{"command": "a", "headers": {"K": "` + secret + `"}}`, `{"command": "a", "bearer_token": "` + secret + `"}`, `{"command": "` + secret + `" "x"}`,
	}
	for _, client := range Clients() {
		c, _ := clientOf(client)
		if c.format != formatJSON {
			continue
		}
		for _, b := range bad {
			text := fmt.Sprintf(`{"$schema": %q, %q: {"a": %s}}`, pluginSchema, c.paths[0][0], b)
			servers, problems := Codec{}.Read(client, []byte(text))
			said := fmt.Sprint(problems)
			for _, s := range servers {
				said += strings.Join(s.Notes, "\n")
			}
			if strings.Contains(said, secret) {
				t.Errorf("%s %s: %s", client, b, said)
			}
			if !utf8.ValidString(said) {
				t.Errorf("%s %s: a message is not UTF-8", client, b)
			}
		}
	}
}

func TestCodecKnowsPlaces(t *testing.T) {
	c := Codec{Home: "/home/me", Project: "/home/me/${p}"}
	servers, problems := c.Read(Cursor, []byte(`{"mcpServers":{"a":{"command":"${userHome}/x","args":["${workspaceFolder}/y","${workspaceFolderBasename}"]}}}`))
	if len(problems) != 0 || len(servers) != 1 {
		t.Fatalf("servers %v, problems %v", servers, problems)
	}
	want := []string{"/home/me/x", "/home/me/$${p}/y", "$${p}"}
	if diff := cmp.Diff(want, append([]string{servers[0].Command}, servers[0].Args...)); diff != "" {
		t.Error(diff)
	}
}

func TestSplitCommand(t *testing.T) {
	file := func(string) bool { return true }
	none := func(string) bool { return false }
	node := func(path string) bool { return path == "/usr/bin/node" }
	tests := []struct {
		command string
		args    bool
		exists  func(string) bool
		want    []string
	}{
		{"npx", false, nil, []string{"npx"}},
		{" npx ", false, nil, []string{"npx"}},
		{"npx -y a --p=1", false, nil, []string{"npx", "-y", "a", "--p=1"}},
		{"my program", false, file, []string{"my program"}},
		{"my program", false, none, []string{"my", "program"}},
		{"/Applications/My App/bin/x", true, nil, []string{"/Applications/My App/bin/x"}},
		{`C:\Program Files\nodejs\node.exe`, false, nil, []string{`C:\Program Files\nodejs\node.exe`}},
		{`C:\node.exe x.exe`, false, nil, nil},
		{"/usr/bin/node x.js", false, node, []string{"/usr/bin/node", "x.js"}},
		{"/usr/bin/node x.js", false, none, nil},
		{"/Applications/My App/bin/x", true, none, []string{"/Applications/My App/bin/x"}},
		{"/usr/bin/node x.js", false, nil, nil},
		{`node C:\x\y.js`, false, nil, []string{"node", `C:\x\y.js`}},
		{`node my\ file.js`, false, nil, nil},
		{"${HOME}/bin/x y", false, nil, []string{"${HOME}/bin/x", "y"}},
		{"a $${B} c", false, nil, nil},
		{"a; b", false, nil, nil},
		{"a && b", false, nil, nil},
		{"a > b", false, nil, nil},
		{"a *.js", false, nil, nil},
		{"a ~/x", false, nil, nil},
		{"a\nb", false, nil, nil},
		{"a %PATH%", false, nil, nil},
	}
	for _, tt := range tests {
		got, err := splitCommand(tt.command, tt.args, tt.exists)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("%q: %v, %v", tt.command, diff, err)
		}
	}
}
