package clientfiles

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fileWith writes a file of a client with one server s, whose entry has more
// keys than the client may know.
func fileWith(t interface{ Fatalf(string, ...any) }, name string, more value) []byte {
	cl, _ := clientOf(name)
	cl = cl.forText(nil)
	x := &encoder{client: cl}
	v, ok := x.server(Server{Name: "s", Command: "x", Transport: Stdio})
	if !ok {
		t.Fatalf("%s: %q", name, x.lost)
	}
	for _, f := range more.fields {
		if i := v.index(f.name); i >= 0 {
			v.fields[i].value = f.value
		} else {
			v.put(f.name, f.value)
		}
	}
	table, root := value{kind: kindTable}, newRoot(cl)
	table.put("s", v)
	root.put(cl.paths[0][0], table)
	switch cl.format {
	case formatTOML:
		return []byte(tomlTableText([]string{cl.paths[0][0], "s"}, v, "\n") + "\n")
	case formatYAML:
		return []byte(strings.Join(yamlLines(root, "", "  "), "\n") + "\n")
	case formatJSON:
	}
	return []byte(style{unit: "  ", eol: "\n"}.json(root, "") + "\n")
}

func readOne(t interface{ Fatalf(string, ...any) }, client string, text []byte) Server {
	servers, problems := yamlCodec().Read(client, text)
	if len(servers) != 1 || len(problems) > 0 {
		t.Fatalf("%s: %v, %v of\n%s", client, servers, problems, text)
	}
	return servers[0]
}

// open are the clients whose entries may have any key.
func open() []string {
	return slices.DeleteFunc(Clients(), func(c string) bool { return c == AgentPlugins })
}

// TestUsualKeysSurviveFromAnyFile: entries are copied from one client's file to
// another's, and what narrows them counts there too.
func TestUsualKeysSurviveFromAnyFile(t *testing.T) {
	var more value
	more.put("enabled_tools", textList([]string{"read", "list"}))
	more.put("disabledTools", textList([]string{"drop"}))
	more.put("excludeTools", textValue("wipe, burn"))
	more.put("assign_to_agents", textList([]string{"coder"}))
	more.put("timeout", intValue(90))
	more.put("enabled", boolValue(false))
	for _, client := range open() {
		s := readOne(t, client, fileWith(t, client, more))
		cl, _ := clientOf(client)
		timeout := 90 * time.Second
		if cl.timeout == "timeout" {
			timeout = 90 * cl.unit
		}
		if !slices.Equal(s.EnabledTools, []string{"read", "list"}) || !slices.Equal(s.Agents, []string{"coder"}) || s.Timeout != timeout || !s.Disabled {
			t.Errorf("%s: %+v", client, s)
		}
		for _, tool := range []string{"drop", "wipe", "burn"} {
			if !slices.Contains(s.DisabledTools, tool) {
				t.Errorf("%s: %s is not off in %q", client, tool, s.DisabledTools)
			}
		}
	}
}

func TestNarrowingKeys(t *testing.T) {
	tests := []struct {
		client, entry string
		off           bool
		enabled       string
		disabled      string
		note          string
	}{
		{ClaudeCode, `"tools": ["a", "b"]`, false, "a b", "", ""},
		{ClaudeCode, `"tools": ["a", "*"]`, false, "", "", ""},
		{ClaudeCode, `"tools": "a"`, false, "a", "", ""},
		{ClaudeCode, `"tools": []`, true, "", "", "leave none"},
		{ClaudeCode, `"enabled_tools": []`, false, "", "", ""},
		{ClaudeCode, `"tools": {"a": false, "b": {"enabled": false}, "c": true, "d": {"approval": "never"}}`, false, "", "a b", "approvals are given"},
		{ClaudeCode, `"tools": [{"name": "a"}]`, false, "", "", "tools: it is not a list of names"},
		{ClaudeCode, `"enabledTools": ["a", "b"], "allowedTools": ["b", "c"]`, false, "b", "", ""},
		{ClaudeCode, `"enabledTools": ["a"], "allowedTools": ["b"]`, true, "", "", "leave none"},
		{ClaudeCode, `"enabled": "no"`, true, "", "", "not true or false"},
		{ClaudeCode, `"disabled": 1`, true, "", "", "not true or false"},
		{ClaudeCode, `"disabled": "false"`, true, "", "", "not true or false"},
		{ClaudeCode, `"isActive": false`, true, "", "", ""},
		{ClaudeCode, `"enabled": true, "disabled": true`, true, "", "", ""},
		{ClaudeCode, `"enabled": null, "disabled": false`, false, "", "", ""},
		{Gemini, `"includeTools": ["*", "a", "get_*", "mcp__s"]`, false, "a", "", "would mean more tools here"},
		{Gemini, `"includeTools": ["*"]`, true, "", "", "leave none"},
		{Gemini, `"includeTools": []`, true, "", "", "leave none"},
		{Amp, `"includeTools": ["get_*"]`, false, "get_*", "", ""},
		{CopilotCLI, `"tools": ["*", "a"]`, false, "", "", ""},
		{ClaudeCode, `"readOnly": true`, false, "", "", "readOnly: the key is not known here; if it narrows"},
		{ClaudeCode, `"timeout": "soon"`, false, "", "", "timeout: it is no time"},
		{ClaudeCode, `"timeout": 60`, false, "", "", "taken for seconds"},
		{ClaudeCode, `"timeout": 60000`, false, "", "", "taken for milliseconds"},
	}
	for _, tt := range tests {
		cl, _ := clientOf(tt.client)
		s := readOne(t, tt.client, fmt.Appendf(nil, `{%q: {"s": {"command": "x", %s}}}`, cl.paths[0][0], tt.entry))
		said := strings.Join(append(s.Notes, s.Dropped...), "\n")
		if s.Disabled != tt.off || strings.Join(s.EnabledTools, " ") != tt.enabled || strings.Join(s.DisabledTools, " ") != tt.disabled || !strings.Contains(said, tt.note) {
			t.Errorf("%s %s: off %v, only %q, without %q, said %q", tt.client, tt.entry, s.Disabled, s.EnabledTools, s.DisabledTools, said)
		}
	}
}

// TestListsOfTheWholeFile: what stands beside the servers narrows them too.
func TestListsOfTheWholeFile(t *testing.T) {
	tests := []struct {
		client, text string
		off          bool
		enabled      string
		disabled     string
	}{
		{OpenCode, `{"tools": {"s_wipe": false, "s_read": true, "bash": false}, "mcp": {"s": {"type": "local", "command": ["x"]}}}`, false, "", "wipe"},
		{OpenCode, `{"tools": {"s_*": false}, "mcp": {"s": {"type": "local", "command": ["x"]}}}`, true, "", ""},
		{OpenCode, `{"tools": {"*": false}, "mcp": {"s": {"type": "local", "command": ["x"]}}}`, true, "", ""},
		{Gemini, `{"tools": {"exclude": ["wipe", "mcp__s__burn", "mcp__other__x", "s__drop"]}, "mcpServers": {"s": {"command": "x"}}}`, false, "", "wipe burn drop"},
		{Gemini, `{"excludeTools": ["wipe"], "mcpServers": {"s": {"command": "x"}}}`, false, "", "wipe"},
		{Amp, `{"amp.tools.enable": ["mcp__s__read", "builtin:Bash"], "amp.mcpServers": {"s": {"command": "x"}}}`, false, "read", ""},
		{Amp, `{"amp.tools.enable": ["builtin:Bash"], "amp.mcpServers": {"s": {"command": "x"}}}`, true, "", ""},
		{Amp, `{"amp.tools.disable": ["mcp__s"], "amp.mcpServers": {"s": {"command": "x"}}}`, false, "", "*"},
		{Amp, `{"amp.tools.disable": ["mcp__*", "{a,b}_{c,d}"], "amp.mcpServers": {"s": {"command": "x"}}}`, false, "", "mcp__* a_* b_*"},
		{Amp, `{"amp.mcpPermissions": [{"matches": {"command": "*"}, "action": "reject"}], "amp.mcpServers": {"s": {"command": "x"}}}`, true, "", ""},
		{Amp, `{"amp.mcpPermissions": [{"matches": {"command": "*"}, "action": "allow"}], "amp.mcpServers": {"s": {"command": "x"}}}`, false, "", ""},
		{ClaudeCode, `{"mcpServers": {"s": {"command": "x"}}, "projects": {"/p": {"disabledMcpServers": ["s"]}}}`, true, "", ""},
		{ClaudeCode, `{"mcpServers": {"s": {"command": "x"}}, "projects": {"/q": {"disabledMcpServers": ["s"]}}}`, false, "", ""},
	}
	for _, tt := range tests {
		servers, problems := Codec{Project: "/p"}.Read(tt.client, []byte(tt.text))
		if len(servers) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", tt.text, servers, problems)
		}
		s := servers[0]
		if s.Disabled != tt.off || strings.Join(s.EnabledTools, " ") != tt.enabled || strings.Join(s.DisabledTools, " ") != tt.disabled {
			t.Errorf("%s %s: off %v, only %q, without %q", tt.client, tt.text, s.Disabled, s.EnabledTools, s.DisabledTools)
		}
	}
}

// TestLongLists: a list that is too long is no reason to offer all tools.
func TestLongLists(t *testing.T) {
	long := strings.Repeat(`"x", `, maxNames) + `"x"`
	for client, text := range map[string]string{
		ClaudeCode: `{"mcpServers": {"s": {"command": "x", "disabledTools": [` + long + `]}}}`,
		Kiro:       `{"mcpServers": {"s": {"command": "x", "disabledTools": [` + long + `]}}}`,
		Gemini:     `{"excludeTools": [` + long + `], "mcpServers": {"s": {"command": "x"}}}`,
		Amp:        `{"amp.tools.disable": [` + long + `], "amp.mcpServers": {"s": {"command": "x"}}}`,
	} {
		servers, problems := Codec{}.Read(client, []byte(text))
		if len(problems) == 0 && (len(servers) != 1 || !servers[0].Disabled) {
			t.Errorf("%s: %d servers, switched on", client, len(servers))
		}
	}
}

func TestSwitchedOff(t *testing.T) {
	text := []byte(`{"disabledMcpjsonServers": ["a"], "projects": {"/p": {"disabledMcpjsonServers": ["b"], "disabledMcpServers": ["a", 1]}, "/q": {"disabledMcpServers": ["c"]}}}`)
	got, err := SwitchedOff(text, "/p")
	if err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := SwitchedOff([]byte("{"), "/p"); err == nil {
		t.Error("a broken file says nothing")
	}
}

// offers is what Toolcrib makes of a server's lists.
func (s Server) offers(tool string) bool {
	match := func(p string) bool { ok, _ := path.Match(p, tool); return ok }
	return !s.Disabled && (len(s.EnabledTools) == 0 || slices.ContainsFunc(s.EnabledTools, match)) && !slices.ContainsFunc(s.DisabledTools, match)
}

// TestImportNeverWidens: whatever an entry says, what is read of it offers no
// more than the client would by its own keys, and a further key takes away or
// changes nothing.
func TestImportNeverWidens(t *testing.T) {
	tools := []string{"a", "b", "ab", "get_a"}
	keys := []string{
		"enabled", "disabled", "isActive", "tools", "enabledTools", "enabled_tools", "includeTools", "excludeTools", "disabledTools", "disabled_tools",
		"allowedTools", "available_tools", "autoApprove", "alwaysAllow", "trust", "odd",
	}
	name := rapid.SampledFrom([]string{"a", "b", "ab", "get_*", "*", "c", "", "mcp__s"})
	some := rapid.Custom(func(t *rapid.T) value {
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return boolValue(rapid.Bool().Draw(t, "bool"))
		case 1:
			return textValue(name.Draw(t, "text"))
		case 2:
			var v value
			v.put("a", boolValue(rapid.Bool().Draw(t, "tool")))
			return v
		}
		return textList(rapid.SliceOfN(name, 0, 3).Draw(t, "list"))
	})
	rapid.Check(t, func(t *rapid.T) {
		client := rapid.SampledFrom(open()).Draw(t, "client")
		cl, _ := clientOf(client)
		var entry value
		read := func() (Server, bool) {
			servers, _ := yamlCodec().Read(client, fileWith(t, client, entry))
			if len(servers) == 0 { // it is not taken over at all
				return Server{Disabled: true}, false
			}
			return servers[0], true
		}
		before, _ := read()
		for range rapid.IntRange(1, 4).Draw(t, "keys") {
			key := rapid.SampledFrom(keys).Draw(t, "key")
			if entry.index(key) >= 0 {
				continue
			}
			entry.put(key, some.Draw(t, "value"))
			after, ok := read()
			for _, tool := range tools {
				// Copilot's own file begins with all tools.
				if after.offers(tool) && !before.offers(tool) {
					t.Fatalf("%s: %s made %s one of the tools: %+v, then %+v", client, key, tool, before, after)
				}
				if after.offers(tool) && !clientOffers(cl, entry, tool) {
					t.Fatalf("%s does not offer %s, and here it is: %+v of %s", client, tool, after, fileWith(t, client, entry))
				}
			}
			if v, _ := entry.get(key); ok && key == "odd" && !slices.ContainsFunc(after.Dropped, func(d string) bool { return strings.HasPrefix(d, key) }) {
				t.Fatalf("%s: %v is dropped and not named: %+v", client, v, after)
			}
			before = after
		}
	})
}

// clientOffers is what the client itself makes of its own keys.
func clientOffers(cl client, entry value, tool string) bool {
	if v, ok := entry.get(cl.enabled); ok && v.kind == kindBool && v.text == "false" {
		return false
	}
	if v, ok := entry.get(cl.disabled); ok && v.kind == kindBool && v.text == "true" {
		return false
	}
	has := func(v value) bool {
		return slices.ContainsFunc(v.list, func(w value) bool {
			ok, _ := path.Match(w.text, tool)
			return w.text == tool || cl.patterns && ok
		})
	}
	if v, ok := entry.get(cl.disabledTools); ok && has(v) {
		return false
	}
	v, ok := entry.get(cl.enabledTools)
	return !ok || v.kind != kindList || len(v.list) == 0 && cl.emptyAll || has(v)
}
