package clientfiles

import (
	"strings"
	"testing"
)

func ourHooks(client string) []Hook {
	before, after, _ := HookEvents(client)
	var out []Hook
	for _, e := range before {
		out = append(out, Hook{e, "/bin/toolcrib hook " + client + " || exit 2", 60})
	}
	for _, e := range after {
		out = append(out, Hook{e, "/bin/toolcrib hook " + client, 60})
	}
	return out
}

// TestHooksComeAndGo: nothing else in a file changes, and nothing is left.
func TestHooksComeAndGo(t *testing.T) {
	for name, text := range map[string]string{
		"settings":       "{\n  \"model\": \"x\"\n}\n",
		"comments":       "{\n\t// one\n\t\"a\": 1, // two\n\t\"b\": [1, 2,], /* three */\n}\n",
		"one line":       `{"a": {"b": 1}}`,
		"other hooks":    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]} // mine\n    ],\n    \"BeforeTool\": [{\"hooks\": []}]\n  },\n  \"z\": null\n}\n",
		"other events":   "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a hook claude-code\"}]}]}}",
		"windows":        "{\r\n  \"a\": 1\r\n}\r\n",
		"a comma behind": "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}]},], \"BeforeTool\": [{\"a\": 1},],},}",
	} {
		for _, client := range []string{ClaudeCode, Codex, Gemini} {
			with, err := AddHooks(client, []byte(text), ourHooks(client))
			if err != nil {
				t.Errorf("%s, %s: %v", name, client, err)
				continue
			}
			if n := strings.Count(string(with), "/bin/toolcrib hook "+client); n != len(ourHooks(client)) {
				t.Errorf("%s, %s: %d hooks in\n%s", name, client, n, with)
			}
			again, err := AddHooks(client, with, ourHooks(client))
			if err != nil || string(again) != string(with) {
				t.Errorf("%s, %s: not the same the second time: %s, %v", name, client, again, err)
			}
			moved := ourHooks(client)
			moved[0].Command = "/new/toolcrib hook " + client
			if newer, err := AddHooks(client, with, moved); err != nil || strings.Count(string(newer), " hook "+client) != strings.Count(string(with), " hook "+client) || !strings.Contains(string(newer), "/new/") {
				t.Errorf("%s, %s: not brought up to date: %s, %v", name, client, newer, err)
			}
			without, err := RemoveHooks(client, with)
			if err != nil || string(without) != text {
				t.Errorf("%s, %s: left\n%q, %v, was\n%q", name, client, without, err, text)
			}
		}
	}
	if made, err := AddHooks(Codex, nil, ourHooks(Codex)); err != nil || !strings.HasPrefix(string(made), "{\n  \"hooks\": {\n    \"PreToolUse\": [\n") {
		t.Errorf("%s, %v", made, err)
	} else if gone, err := RemoveHooks(Codex, made); err != nil || string(gone) != "{}\n" {
		t.Errorf("%q, %v", gone, err)
	}
	for _, bad := range []string{"[]", "{", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, `{"hooks": {}, "hooks": {}}`, `{"hooks": {"PreToolUse": [], "PreToolUse": []}}`} {
		if out, err := AddHooks(ClaudeCode, []byte(bad), ourHooks(ClaudeCode)); err == nil {
			t.Errorf("%s became %s", bad, out)
		}
	}
	if _, err := AddHooks(OpenCode, nil, nil); err == nil {
		t.Error("opencode has no hooks")
	}
}

// FuzzHooks: a file is left alone, or has the hooks, and loses them again without
// anything else having changed.
func FuzzHooks(f *testing.F) {
	f.Add(`{"a": [1, {"hooks": []}], "hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}, 3]}} // x`)
	f.Add("{\n// a\n}")
	f.Add(`{"hooks": {"PostToolUse": [],},}`)
	f.Fuzz(func(t *testing.T, text string) {
		root, _, err := parseJSONC([]byte(text))
		if err != nil {
			return
		}
		with, err := AddHooks(ClaudeCode, []byte(text), ourHooks(ClaudeCode))
		if err != nil {
			return
		}
		without, err := RemoveHooks(ClaudeCode, with)
		if err != nil {
			t.Fatalf("%q: %v", with, err)
		}
		left, _, err := parseJSONC(without)
		if err != nil || !withoutHooks(ClaudeCode, left).equal(withoutHooks(ClaudeCode, root), true) {
			t.Fatalf("%q became %q, %v", text, without, err)
		}
	})
}
