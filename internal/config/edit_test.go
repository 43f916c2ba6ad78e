package config

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func TestSetEntry(t *testing.T) {
	value := map[string]any{"command": "npx", "args": []string{"-y", "x"}}
	entry := "  s:\n    args:\n      - -y\n      - x\n    command: npx\n"
	for name, c := range map[string]struct{ given, want string }{
		"nothing":        {"", "mcp_servers:\n" + entry},
		"other settings": {"mode: plan # mine\n", "mode: plan # mine\n\nmcp_servers:\n" + entry},
		"no line end":    {"mode: plan", "mode: plan\n\nmcp_servers:\n" + entry},
		"empty block":    {"mcp_servers: {}\nmode: plan\n", "mcp_servers:   \n" + entry + "mode: plan\n"},
		"null block":     {"mcp_servers:\nmode: plan\n", "mcp_servers:\n" + entry + "mode: plan\n"},
		"others":         {"mcp_servers:\n  # first\n  a:\n    url: x\nmode: plan\n", "mcp_servers:\n" + entry + "  # first\n  a:\n    url: x\nmode: plan\n"},
		"in its place":   {"mcp_servers:\n  s:\n    url: x\n    # old\n  b:\n    url: y\n", "mcp_servers:\n" + entry + "  b:\n    url: y\n"},
	} {
		got, err := SetEntry([]byte(c.given), "mcp_servers", "s", value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for name, bad := range map[string]string{
		"braces": "mcp_servers: {a: {url: x}}\n", "no block": "mcp_servers: 3\n", "broken": "a: [\n", "a list": "- a\n",
	} {
		if _, err := SetEntry([]byte(bad), "mcp_servers", "s", value); err == nil {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestRemoveEntry(t *testing.T) {
	for given, want := range map[string]string{
		"mcp_servers:\n  s:\n    url: x\n":                             "mcp_servers: {}\n",
		"mcp_servers:\n  s:\n    url: x\n\nmode: plan\n":               "mcp_servers: {}\n\nmode: plan\n",
		"# c\nmcp_servers:\n  a:\n    url: y\n  s: # no\n    url: x\n": "# c\nmcp_servers:\n  a:\n    url: y\n",
		"mode: plan\n": "mode: plan\n",
	} {
		got, _, err := RemoveEntry([]byte(given), "mcp_servers", "s")
		if err != nil || string(got) != want {
			t.Errorf("%q: %v %q", given, err, got)
		}
	}
}

// TestEditKeepsTheRest: whatever is put in and taken out, every other setting
// says what it said.
func TestEditKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte("# a file\nmode: plan\nlimits:\n  timeout: 5s # short\n")
		held := map[string]bool{}
		names := rapid.SampledFrom([]string{"a", "b-c", "d e", "x: y", "é", "true", "7"})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			name := names.Draw(t, "name")
			var err error
			if rapid.Bool().Draw(t, "put") {
				text, err = SetEntry(text, "mcp_servers", name, map[string]any{"url": "http://" + name, "args": []string{"#", "- x", "${A}"}})
				held[name] = true
			} else {
				text, _, err = RemoveEntry(text, "mcp_servers", name)
				delete(held, name)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		var got struct {
			Mode    string
			Limits  map[string]string
			Servers map[string]struct {
				URL  string
				Args []string
			} `yaml:"mcp_servers"`
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got.Mode != "plan" || got.Limits["timeout"] != "5s" || len(got.Servers) != len(held) || !strings.HasPrefix(string(text), "# a file\n") || !strings.Contains(string(text), "# short") {
			t.Fatalf("%+v\n%s", got, text)
		}
		for name := range held {
			if s := got.Servers[name]; s.URL != "http://"+name || len(s.Args) != 3 {
				t.Fatalf("%s: %+v\n%s", name, s, text)
			}
		}
	})
}
