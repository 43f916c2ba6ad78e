package clientfiles

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadRefusesControlCharacters: no text of a server steers a terminal or
// ends a line of our file, wherever it stands.
func TestReadRefusesControlCharacters(t *testing.T) {
	places := map[string]string{
		"command": `{"command": %s}`, "argument": `{"command": "c", "args": [%s]}`, "directory": `{"command": "c", "cwd": %s}`,
		"variable": `{"command": "c", "env": {"A": %s}}`, "name of a variable": `{"command": "c", "env": {%s: "a"}}`,
		"address": `{"url": %s}`, "header": `{"url": "https://a.example", "headers": {"A": %s}}`,
		"name of a header": `{"url": "https://a.example", "headers": {%s: "a"}}`,
		"tool":             `{"command": "c", "enabled_tools": [%s]}`, "agent": `{"command": "c", "assign_to_agents": [%s]}`,
	}
	read := func(place, text string) ([]Server, []Problem) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return (Codec{}).Read(AgenticX, fmt.Appendf(nil, `{"mcpServers": {"a": `+places[place]+`}}`, quoted))
	}
	for place := range places {
		for _, r := range "\x00\x07\x1b\r\x7f\u0085\u009b\u2028\u2029" {
			servers, problems := read(place, "https://a.example/canary"+string(r)+"b")
			if len(servers) != 0 || len(problems) != 1 || strings.Contains(problems[0].Text, "canary") && place != "name of a variable" {
				t.Errorf("%s with %U: %+v, %v", place, r, servers, problems)
			}
		}
		lines := place == "argument" || place == "variable"
		for _, r := range "\n\t" {
			if servers, _ := read(place, "https://a.example"+string(r)+"b"); (len(servers) == 1) != lines && !(place == "command" && r == '\t') { // which parts two words
				t.Errorf("%s with %U: %+v", place, r, servers)
			}
		}
		if servers, problems := read(place, "https://a.example/é"); len(servers) != 1 {
			t.Errorf("%s: %v", place, problems)
		}
	}
}

// TestInputsNameNoSecretOfOthers: what a client asks for becomes a secret of the
// server's own, whatever it is called.
func TestInputsNameNoSecretOfOthers(t *testing.T) {
	servers, problems := (Codec{}).Read(VSCode, []byte(`{"servers": {
		"evil": {"command": "c", "env": {"A": "${input:github-GITHUB_TOKEN}", "B": "x${input:a b}"}},
		"github": {"command": "c", "env": {"A": "${input:GITHUB_TOKEN}"}}}}`))
	if len(problems) > 0 || len(servers) != 2 {
		t.Fatalf("%v, %v", servers, problems)
	}
	want := []string{"evil-input-github-GITHUB_TOKEN", secretName("evil-input-a b")}
	if diff := cmp.Diff(want, SecretNames(servers[0])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"github-input-GITHUB_TOKEN"}, SecretNames(servers[1])); diff != "" {
		t.Error(diff)
	}
	servers, problems = yamlCodec().Read(Goose, []byte("extensions:\n  evil:\n    type: stdio\n    cmd: c\n    env_keys: [\"GITHUB_TOKEN\"]\n"))
	if len(problems) > 0 || len(servers) != 1 || !slices.Equal(SecretNames(servers[0]), []string{"evil-keyring-GITHUB_TOKEN"}) {
		t.Errorf("%v, %v", servers, problems)
	}
}

func TestSecretNamesOfServer(t *testing.T) {
	s := Server{
		Command: "${secret:a}", Args: []string{"x${secret:b}${secret:a}", "$${secret:plain}", "${VAR}"}, Cwd: "${secret:c}",
		Env: map[string]string{"K": "${secret:d}", "L": "x${V:-${secret:g}}y"}, URL: "https://${secret:e}", Headers: map[string]string{"H": "Bearer ${secret:f}"},
	}
	if diff := cmp.Diff([]string{"a", "c", "e", "b", "d", "g", "f"}, SecretNames(s)); diff != "" {
		t.Error(diff)
	}
}
