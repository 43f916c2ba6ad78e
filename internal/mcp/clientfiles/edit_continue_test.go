package clientfiles

import (
	"strings"
	"testing"
)

const commentedContinue = `# my settings
name: Main
version: 1.0.0
schema: v1
models:
  - name: m # the one at work
    provider: openai

mcpServers: # two of them
  # the data base
  - name: sqlite
    command: npx
    args:
      - "-y"
      - mcp-sqlite # with a dash
    env:
      KEY: "1"

  # a block of the hub
  - uses: someone/block
  - name: web
    type: streamable-http
    url: https://w.example/mcp

# what follows
context:
  - provider: code
`

// TestContinueTakeOut: a server goes out of the list and comes back, and no comment and no
// other item moves.
func TestContinueTakeOut(t *testing.T) {
	codec := yamlCodec()
	list, err := codec.Entries(Continue, []byte(commentedContinue))
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	out, err := codec.TakeOut(Continue, []byte(commentedContinue), Held{Name: "sqlite"})
	want := strings.Replace(commentedContinue, "  - name: sqlite\n    command: npx\n    args:\n      - \"-y\"\n      - mcp-sqlite # with a dash\n    env:\n      KEY: \"1\"\n", "", 1)
	if err != nil || string(out) != want {
		t.Fatalf("%v:\n%s", err, out)
	}
	if out, err = codec.TakeOut(Continue, out, Held{Name: "web"}); err != nil || strings.Contains(string(out), "w.example") || !strings.Contains(string(out), "- uses: someone/block\n\n# what follows\n") {
		t.Fatalf("%v:\n%s", err, out)
	}
	back := out
	for _, name := range []string{"sqlite", "web"} {
		if back, err = codec.PutBack(Continue, back, []byte(commentedContinue), Held{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := codec.Read(Continue, []byte(commentedContinue))
	after, _ := codec.Read(Continue, back)
	if len(before) != 2 || len(after) != 2 || after[0].Command != "npx" || after[0].Env["KEY"] != "1" || after[1].URL != before[1].URL {
		t.Errorf("%+v\n%s", after, back)
	}
}

func TestContinueAdd(t *testing.T) {
	codec := yamlCodec()
	for name, text := range map[string]string{
		"a list":            commentedContinue,
		"no list":           "name: Main\n",
		"an empty list":     "mcpServers: [] # none yet\nname: Main\n",
		"nothing in it":     "mcpServers:\nname: Main\n",
		"no newline":        "name: Main\nmcpServers:\n  - name: a\n    command: a",
		"a last item":       "name: Main\nmcpServers:\n  - name: a\n    command: a\n",
		"ends of Windows":   "name: Main\r\nmcpServers:\r\n  - name: a\r\n    command: a\r\n",
		"comments below it": "mcpServers:\n  - name: a\n    command: a\n  # nothing else\n\nname: Main\n",
	} {
		out, err := codec.Add(Continue, []byte(text), "toolcrib", ours())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := codec.Add(Continue, out, "toolcrib", ours()); err != nil || string(again) != string(out) {
			t.Errorf("%s: added twice, it is\n%s\n%v", name, again, err)
		}
		servers, _ := codec.Read(Continue, out)
		if len(servers) == 0 || servers[len(servers)-1].Name != "toolcrib" {
			t.Errorf("%s: %+v\n%s", name, servers, out)
		}
		back, err := codec.Remove(Continue, out, "toolcrib")
		if strings.Contains(text, "- name") && err == nil && strings.TrimRight(string(back), "\r\n") != strings.TrimRight(text, "\r\n") || err != nil {
			t.Errorf("%s: taken out again, it is\n%s\n%v", name, back, err)
		}
	}
	if out, err := codec.TakeOut(Continue, []byte("mcpServers: # mine\n  - name: a\n    command: a\nname: Main\n"), Held{Name: "a"}); err != nil || string(out) != "mcpServers: [] # mine\nname: Main\n" {
		t.Errorf("%q, %v", out, err)
	}
	for name, text := range map[string]string{
		"on one line": `mcpServers: [{"name": "a", "command": "a"}]` + "\n",
		"twice":       "mcpServers:\n  - name: a\n    command: a\n  - name: a\n    command: b\n",
	} {
		if out, err := codec.TakeOut(Continue, []byte(text), Held{Name: "a"}); err == nil {
			t.Errorf("%s: it became %q", name, out)
		}
	}
}

// FuzzContinueTakeOut: what goes out is gone, and every other item stays as it was.
func FuzzContinueTakeOut(f *testing.F) {
	f.Add(commentedContinue)
	f.Add("mcpServers:\n- name: a\n  command: a\n-\n  name: b\n  url: https://b.example\n")
	f.Add("mcpServers:\n  - name: a\n    env:\n      T: |\n        - name: b\n    command: a\n  - name: b\n    command: b\n")
	f.Add("mcpServers: []\n")
	f.Fuzz(func(t *testing.T, text string) {
		codec := yamlCodec()
		list, err := codec.Entries(Continue, []byte(text))
		if err != nil {
			return
		}
		before, _ := codec.Read(Continue, []byte(text))
		for _, held := range list {
			out, err := codec.TakeOut(Continue, []byte(text), held)
			if err != nil {
				continue // it is left, and told
			}
			left, _ := codec.Read(Continue, out)
			for _, s := range left {
				if s.Name == held.Name {
					t.Fatalf("%q is still in %q", held.Name, out)
				}
			}
			if len(left) != len(before)-1 && len(before) > 0 && len(left) != len(before) {
				t.Fatalf("%q became %q", text, out)
			}
		}
	})
}
