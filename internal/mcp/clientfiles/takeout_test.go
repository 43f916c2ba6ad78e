package clientfiles

import (
	"slices"
	"strings"
	"testing"
)

// TestTakeOutOfAProject: a server that Claude Code keeps for one project goes out and comes
// back, and nothing else moves.
func TestTakeOutOfAProject(t *testing.T) {
	text := `{"mcpServers": {"a": {"command": "a"}}, "projects": {"/p": {"mcpServers": {"a": {"command": "local"}, "b": {"url": "https://b.example"}}, "n": 1}, "/q": {}}}`
	held := Held{Project: "/p", Name: "a"}
	out, err := Codec{}.TakeOut(ClaudeCode, []byte(text), held)
	if err != nil || strings.Contains(string(out), "local") || !strings.Contains(string(out), `"a": {"command": "a"}`) {
		t.Fatalf("%s, %v", out, err)
	}
	back, err := Codec{}.PutBack(ClaudeCode, out, []byte(text), held)
	if err != nil || !sameServers(back, []byte(text), ClaudeCode) {
		t.Errorf("%s, %v", back, err)
	}
	again, err := Codec{}.PutBack(ClaudeCode, back, []byte(text), held)
	if err != nil || string(again) != string(back) {
		t.Errorf("%s, %v", again, err)
	}
}

func sameServers(a, b []byte, client string) bool {
	list := func(text []byte) (names []string) {
		servers, _ := Codec{}.Read(client, text)
		for _, s := range servers {
			names = append(names, strings.Join(append([]string{s.Project, s.Name, s.Command, s.URL}, s.Args...), "\x00"))
		}
		slices.Sort(names)
		return names
	}
	return slices.Equal(list(a), list(b))
}

// FuzzTakeOut: what goes out is gone, the others stay, and put back it is read as before.
func FuzzTakeOut(f *testing.F) {
	for _, text := range []string{
		`{"mcpServers": {"a": {"command": "a"}, /* x */ "b": {"url": "https://b.example"},},}`,
		"{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"a\"}\r\n\t}\r\n}",
		`{"projects": {"/p": {"mcpServers": {"a\u001b[2J": {"command": "x"}}}}}`,
		`{"a": {"command": "a"}, "b": {"command": "b"}}`,
		`{"mcpServers": {"": {"command": "x"}, "a": 1, "a": {"command": "y"}}}`,
	} {
		f.Add(text, 0)
	}
	f.Add("[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.\"b c\"]\nurl = \"https://b.example\"\n", 1)
	f.Add("mcp_servers = {a = {command = \"a\"}}", 1)
	f.Add(`{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}, "b": {"type": "remote", "url": "https://b.example"}}}`, 2)
	f.Fuzz(func(t *testing.T, text string, which int) {
		client := []string{ClaudeCode, Codex, OpenCode, Zed}[uint(which)%4]
		codec := Codec{}
		list, err := codec.Entries(client, []byte(text))
		if err != nil {
			return
		}
		for _, held := range list {
			out, err := codec.TakeOut(client, []byte(text), held)
			if err != nil {
				continue // it is left, and told
			}
			left, err := codec.Entries(client, out)
			if err != nil {
				t.Fatalf("%q became %q: %v", text, out, err)
			}
			if string(out) != text && slices.Contains(left, held) && len(left) >= len(list) {
				t.Fatalf("%q is still in %q", held.Name, out)
			}
			if back, err := codec.PutBack(client, out, []byte(text), held); err == nil && string(out) != text && !sameServers(back, []byte(text), client) {
				t.Fatalf("%q\nwithout %q\n%q\nand with it again\n%q", text, held.Name, out, back)
			}
		}
	})
}
