package clientfiles

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ours() Entry { return Entry{Command: "toolcrib", Args: []string{"mcp"}} }

func theirs() Entry {
	return Entry{URL: "http://127.0.0.1:7070/mcp", Headers: map[string]string{"Authorization": "Bearer t0k"}}
}

// TestAddEveryClient: into nothing, again, the other way, out again.
func TestAddEveryClient(t *testing.T) {
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			c := yamlCodec()
			add := func(text []byte, e Entry) []byte {
				t.Helper()
				out, err := c.Add(client, text, "toolcrib", e)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			read := func(text []byte) Server {
				t.Helper()
				servers, problems := c.Read(client, text)
				if len(servers) != 1 || len(problems) != 0 || servers[0].Name != "toolcrib" {
					t.Fatalf("%s\nservers %v, problems %v", text, servers, problems)
				}
				return servers[0]
			}
			first := add(nil, ours())
			if s := read(first); s.Command != "toolcrib" || !slices.Equal(s.Args, []string{"mcp"}) || s.Disabled {
				t.Errorf("%s\nread as %+v", first, s)
			}
			if again := add(first, ours()); !bytes.Equal(first, again) {
				t.Errorf("a second time it became\n%s", again)
			}
			text := first
			if client == ClaudeDesktop {
				if _, err := c.Add(client, first, "toolcrib", theirs()); err == nil || !strings.Contains(err.Error(), "holds only programs") {
					t.Errorf("an address: %v", err)
				}
			} else {
				text = add(first, theirs())
				s := read(text)
				if s.URL != theirs().URL || s.Command != "" || !cmp.Equal(s.Headers, theirs().Headers) || s.Transport == SSE {
					t.Errorf("%s\nread as %+v", text, s)
				}
				if back := add(text, ours()); !bytes.Equal(back, first) {
					t.Errorf("back again it became\n%s", back)
				}
			}
			out, err := c.Remove(client, text, "toolcrib")
			if err != nil {
				t.Fatal(err)
			}
			if servers, problems := c.Read(client, out); len(servers)+len(problems) != 0 {
				t.Errorf("removed: %v, %v", servers, problems)
			}
			if same, err := c.Remove(client, out, "toolcrib"); err != nil || !bytes.Equal(same, out) {
				t.Errorf("removed twice: %s, %v", same, err)
			}
		})
	}
}

// TestEditGolden shows the bytes that come out.
func TestEditGolden(t *testing.T) {
	const remove = "-"
	tests := []struct{ name, client, what, in, want string }{
		{"new", Cursor, "", "", "{\n  \"mcpServers\": {\n    \"toolcrib\": {\n      \"command\": \"toolcrib\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"},
		{
			"tabs and comments", Zed, "",
			"// mine\n{\n\t\"vim_mode\": true, // yes\n\t\"context_servers\": {\n\t\t// the first\n\t\t\"a\": {\"command\": \"a\"} // note\n\t}\n}\n",
			"// mine\n{\n\t\"vim_mode\": true, // yes\n\t\"context_servers\": {\n\t\t// the first\n\t\t\"a\": {\"command\": \"a\"}, // note\n\t\t\"toolcrib\": {\n\t\t\t\"source\": \"custom\",\n\t\t\t\"command\": \"toolcrib\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n",
		},
		{
			"trailing comma, windows lines", Cursor, "",
			"{\r\n    \"mcpServers\": {\r\n        \"a\": {\"command\": \"a\"},\r\n    },\r\n}",
			"{\r\n    \"mcpServers\": {\r\n        \"a\": {\"command\": \"a\"},\r\n        \"toolcrib\": {\r\n            \"command\": \"toolcrib\",\r\n            \"args\": [\"mcp\"]\r\n        },\r\n    },\r\n}",
		},
		{
			"windows lines with a comment", Cursor, "", "{\r\n  \"mcpServers\": {\r\n    \"a\": {\"command\": \"a\"} // c\r\n  }\r\n}",
			"{\r\n  \"mcpServers\": {\r\n    \"a\": {\"command\": \"a\"}, // c\r\n    \"toolcrib\": {\r\n      \"command\": \"toolcrib\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  }\r\n}",
		},
		{"one line", Cursor, "", `{"mcpServers":{"a":{"command":"a"}}}`, `{"mcpServers":{"a":{"command":"a"}, "toolcrib": {"command": "toolcrib", "args": ["mcp"]}}}`},
		{
			"no servers yet", Gemini, "", "{\n  \"theme\": \"dark\"\n}\n",
			"{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"toolcrib\": {\n      \"command\": \"toolcrib\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		},
		{"bare map", ClaudeCode, "", "{\n  \"a\": {\"command\": \"a\"}\n}", "{\n  \"a\": {\"command\": \"a\"},\n  \"toolcrib\": {\n    \"type\": \"stdio\",\n    \"command\": \"toolcrib\",\n    \"args\": [\"mcp\"]\n  }\n}"},
		{"own keys stay", Cline, "", `{"mcpServers":{"toolcrib":{"autoApprove":["x"],"type":"stdio","args":["mcp"],"command":"toolcrib"}}}`, `{"mcpServers":{"toolcrib":{"autoApprove":["x"],"type":"stdio","args":["mcp"],"command":"toolcrib"}}}`},
		{"switched off", Cline, "", `{"mcpServers":{"toolcrib":{"type":"stdio","args":["mcp"],"command":"toolcrib","disabled":true}}}`, `{"mcpServers":{"toolcrib":{"type": "stdio", "command": "toolcrib", "args": ["mcp"]}}}`},
		{"opencode v2", OpenCode, "", `{"mcp":{"servers":{}}}`, "{\"mcp\":{\"servers\":{\n  \"toolcrib\": {\n    \"type\": \"local\",\n    \"command\": [\"toolcrib\", \"mcp\"],\n    \"enabled\": true\n  }\n}}}"},
		{"vscode settings", VSCode, "", `{"mcp":{"servers":{"a":{"command":"a"}}}}`, `{"mcp":{"servers":{"a":{"command":"a"}, "toolcrib": {"type": "stdio", "command": "toolcrib", "args": ["mcp"]}}}}`},
		{"remove the last", Cursor, remove, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}, // note\n    \"toolcrib\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"} // note\n  }\n}"},
		{"remove the first", Cursor, remove, "{\"mcpServers\": {\n  \"toolcrib\": {}, // ours\n  \"a\": {\"command\": \"a\"}\n}}", "{\"mcpServers\": { // ours\n  \"a\": {\"command\": \"a\"}\n}}"},
		{"remove behind a comment", Cursor, remove, "{\"mcpServers\": { // c\n  \"toolcrib\": {}, \"a\": {\"command\": \"a\"}}}", "{\"mcpServers\": { // c\n   \"a\": {\"command\": \"a\"}}}"},
		{
			"codex", Codex, "", "model = \"o9\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"",
			"model = \"o9\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.toolcrib]\ncommand = \"toolcrib\"\nargs = [\"mcp\"]\n",
		},
		{
			"codex, there already", Codex, "", "[mcp_servers.toolcrib]\n# old\ncommand = \"old\" # x\n\n[mcp_servers.toolcrib.env]\nA = \"1\"\n\n# of b\n[b]\nc = 1\n",
			"[mcp_servers.toolcrib]\ncommand = \"toolcrib\"\nargs = [\"mcp\"]\n\n# of b\n[b]\nc = 1\n",
		},
		{"codex, apart", Codex, "", "[mcp_servers.toolcrib]\ncommand = \"old\"\n[b]\nc = 1\n[mcp_servers.toolcrib.env]\nA = \"1\"\n", "[mcp_servers.toolcrib]\ncommand = \"toolcrib\"\nargs = [\"mcp\"]\n[b]\nc = 1\n"},
		{"codex inline", Codex, "", "[mcp_servers]\ntoolcrib = { command = \"old\" } # x\n", "[mcp_servers]\ntoolcrib = { command = \"toolcrib\", args = [\"mcp\"] } # x\n"},
		{"codex remove", Codex, remove, "a = 1\n\n[mcp_servers.toolcrib]\ncommand = \"x\"\n\n[b]\n", "a = 1\n\n[b]\n"},
		{"codex remove inline", Codex, remove, "[mcp_servers]\ntoolcrib = { command = \"old\" } # x\na = { command = \"a\" }\n", "[mcp_servers]\na = { command = \"a\" }\n"},
		{
			"goose", Goose, "", "# head\nextensions:\n    a:\n        type: builtin # x\n\n# tail\nGOOSE_MODE: auto\n",
			"# head\nextensions:\n    a:\n        type: builtin # x\n    toolcrib:\n        name: \"toolcrib\"\n        type: \"stdio\"\n        cmd: \"toolcrib\"\n        args:\n            - \"mcp\"\n        enabled: true\n\n# tail\nGOOSE_MODE: auto\n",
		},
		{
			"goose, none yet", Goose, "", "GOOSE_MODE: auto",
			"GOOSE_MODE: auto\nextensions:\n  toolcrib:\n    name: \"toolcrib\"\n    type: \"stdio\"\n    cmd: \"toolcrib\"\n    args:\n      - \"mcp\"\n    enabled: true\n",
		},
		{"goose, empty", Goose, "", "extensions: {}\nx: 1\n", "extensions:\n  toolcrib:\n    name: \"toolcrib\"\n    type: \"stdio\"\n    cmd: \"toolcrib\"\n    args:\n      - \"mcp\"\n    enabled: true\nx: 1\n"},
		{"goose remove", Goose, remove, "extensions:\n  a:\n    type: builtin\n  toolcrib:\n    type: stdio\n    args:\n      - x\n\n  # of b\n  b:\n    type: builtin\n", "extensions:\n  a:\n    type: builtin\n\n  # of b\n  b:\n    type: builtin\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := yamlCodec()
			got, err := c.Add(tt.client, []byte(tt.in), "toolcrib", ours())
			if tt.what == remove {
				got, err = c.Remove(tt.client, []byte(tt.in), "toolcrib")
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEditRefuses: a file that is not understood is left alone, with a word
// about what to do.
func TestEditRefuses(t *testing.T) {
	tests := []struct{ client, in, want string }{
		{Cursor, `{"mcpServers": {`, "left alone"},
		{Cursor, `[]`, "left alone"},
		{Cursor, `{"mcpServers": []}`, "correct it by hand"},
		{Cursor, `{"mcpServers": {}, "mcpServers": {}}`, "given twice"},
		{Cursor, `{"mcpServers": {"toolcrib": {}, "toolcrib": {}}}`, "given twice"},
		{Codex, "a = ", "left alone"},
		{Codex, "mcp_servers = { a = { command = \"a\" } }\n", "by hand"},
		{Codex, "[mcp_servers]\ntoolcrib.command = \"x\"\n", "dotted keys"},
		{Codex, "mcp_servers = 1\n", "correct it by hand"},
		{Goose, "extensions: {\"a\": {}}\n", "by hand"},
		{Goose, "a: [\n", "left alone"},
		{Goose, "\"extensions\":\n  a: 1\n", "by hand"},
		{ClaudeCode, `{`, "left alone"},
	}
	for _, tt := range tests {
		out, err := yamlCodec().Add(tt.client, []byte(tt.in), "toolcrib", ours())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q (%s)", tt.client, tt.in, err, tt.want, out)
		}
	}
	entries := []struct {
		client, name string
		entry        Entry
		want         string
	}{
		{Cursor, "", ours(), "has no name"},
		{Cursor, "t", Entry{}, "either a command or an address"},
		{ClaudeCode, "workspace", ours(), "reserved"},
		{Cursor, "t", Entry{Command: "a", Env: map[string]string{"K": "${secret:k}"}}, "the secret k is not written"},
		{VSCode, "t", Entry{Command: "a", Env: map[string]string{"K": "${secret:k}"}}, "a secret cannot be written"},
		{Crush, "t", Entry{Command: "a", Args: []string{"$(id)"}}, "would read as a variable or a command"},
		{"emacs", "t", ours(), "not known"},
	}
	for _, tt := range entries {
		if _, err := (Codec{}).Add(tt.client, nil, tt.name, tt.entry); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q", tt.client, tt.name, err, tt.want)
		}
	}
	if _, err := (Codec{}).Remove("emacs", nil, "t"); err == nil {
		t.Error("an unknown client was taken")
	}
	if _, err := (Codec{}).Add(Goose, []byte("a: 1\n"), "t", ours()); err == nil {
		t.Error("YAML was edited with nobody to read it")
	}
}

// TestEditIsReadAgain: a file that reads otherwise than its lines look is not
// handed out, be it only by one key.
func TestEditIsReadAgain(t *testing.T) {
	reads := 0
	c := Codec{YAML: func(text []byte, into any) error {
		reads++
		err := testYAML(text, into)
		if m, ok := (*into.(*any)).(map[string]any); ok && reads > 1 {
			m["other"] = "changed"
		}
		return err
	}}
	if out, err := c.Add(Goose, []byte("extensions:\n  a: 1\nother: kept\n"), "toolcrib", ours()); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("%s, %v", out, err)
	}
}

// TestAddKeepsTheRest: in any file, with comments anywhere, every line of it is
// there after Add, the server is there, and Remove gives what was there before.
func TestAddKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := jsoncObject(t, 0, "  ")
		text := trivia(t) + "{" + trivia(t) + `"before": ` + jsoncValue(t, 1, "") + trivia(t) + ","
		if rapid.Bool().Draw(t, "servers") {
			text += trivia(t) + `"mcpServers"` + trivia(t) + ":" + trivia(t) + inner + trivia(t) + ","
		}
		text += trivia(t) + `"after": ` + jsoncValue(t, 1, "") + trivia(t)
		if rapid.Bool().Draw(t, "comma") {
			text += "," + trivia(t)
		}
		text += "}" + trivia(t)
		before, _, err := parseJSONC([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Codec{}.Add(Cursor, []byte(text), "new one", ours())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !subsequence(text, string(out)) {
			t.Fatalf("%q became %q: something of it is gone", text, out)
		}
		after, _, err := parseJSONC(out)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := after.at([]string{"mcpServers", "new one", "command"}); !ok || got.text != "toolcrib" {
			t.Fatalf("%q: not there", out)
		}
		if again, err := (Codec{}).Add(Cursor, out, "new one", ours()); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("a second time %q became %q, %v", out, again, err)
		}
		removed, err := Codec{}.Remove(Cursor, out, "new one")
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := parseJSONC(removed)
		if err != nil {
			t.Fatal(err)
		}
		if _, had := before.get("mcpServers"); !had {
			before.put("mcpServers", value{kind: kindTable})
		}
		if !v.equal(before, true) {
			t.Fatalf("%q became %q and then %q", text, out, removed)
		}
		if comments(text) != comments(string(removed)) {
			t.Fatalf("%q became %q: comments are gone", text, removed)
		}
	})
}

// subsequence reports whether all bytes of a stand in b in their order.
func subsequence(a, b string) bool {
	i := 0
	for j := 0; j < len(b) && i < len(a); j++ {
		if a[i] == b[j] {
			i++
		}
	}
	return i == len(a)
}

func comments(text string) int { return strings.Count(text, "//") + strings.Count(text, "/*") }

// TestTOMLAddKeepsTheRest: what stands before and behind is not touched, and
// Remove gives the file back.
func TestTOMLAddKeepsTheRest(t *testing.T) {
	parts := []string{
		"# c\n", "\n", "[x]\n", "[[y]]\n", "[mcp_servers.%]\ncommand = '%'\n", "[mcp_servers.%.env]\nA = \"\"\"\n[z]\n\"\"\" # c\n", "[z.%]\nv = [\n1, # x\n]\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("top = 1\n")
		tables := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(t, "n") {
			p := strings.ReplaceAll(rapid.SampledFrom(parts).Draw(t, "part"), "%", string(rune('a'+i)))
			if p == "[x]\n" && tables[p] {
				continue
			}
			tables[p] = true
			b.WriteString(p)
		}
		text := b.String()
		out, err := Codec{}.Add(Codex, []byte(text), "toolcrib", ours())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !strings.HasPrefix(string(out), text) {
			t.Fatalf("%q became %q", text, out)
		}
		if back, err := (Codec{}).Remove(Codex, out, "toolcrib"); err != nil || string(back) != text {
			t.Fatalf("%q became %q and then %q, %v", text, out, back, err)
		}
	})
}

// TestTOMLReplacesOnlyTheEntry: an entry that is there is replaced where it
// stands, in whatever way it is written, and nothing else.
func TestTOMLReplacesOnlyTheEntry(t *testing.T) {
	const entry = "command = \"toolcrib\"\nargs = [\"mcp\"]"
	for in, want := range map[string]string{
		"# a\n  [ mcp_servers . toolcrib ] # b\ncommand = 'x' # c\n[mcp_servers.toolcrib.env]\nk = 1\n\n[z] # d\n": "# a\n[mcp_servers.toolcrib]\n" + entry + "\n\n[z] # d\n",
		"[mcp_servers] # a\ntoolcrib  =  { command = 'x' } # b\nq = {} # c\n":                                      "[mcp_servers] # a\ntoolcrib  =  { command = \"toolcrib\", args = [\"mcp\"] } # b\nq = {} # c\n",
		"[mcp_servers]\n\"toolcrib\" = {\n  command = 'x', # a\n} # b\n# c":                                        "[mcp_servers]\n\"toolcrib\" = { command = \"toolcrib\", args = [\"mcp\"] } # b\n# c",
	} {
		out, err := Codec{}.Add(Codex, []byte(in), "toolcrib", ours())
		if err != nil || string(out) != want {
			t.Errorf("%q became %q, want %q, %v", in, out, want, err)
		}
	}
}
