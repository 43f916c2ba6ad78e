package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var allowPath = []string{"permissions", "allow"}

func TestAddItem(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{
		"nothing":        {"", "permissions:\n  allow:\n    - x(a *)\n"},
		"comments":       {"# mine\n", "# mine\n\npermissions:\n  allow:\n    - x(a *)\n"},
		"other settings": {"mode: plan # mine\n", "mode: plan # mine\n\npermissions:\n  allow:\n    - x(a *)\n"},
		"no line end":    {"mode: plan", "mode: plan\n\npermissions:\n  allow:\n    - x(a *)\n"},
		"no list":        {"permissions:\n  deny: [y]\nmode: plan\n", "permissions:\n  allow:\n    - x(a *)\n  deny: [y]\nmode: plan\n"},
		"null block":     {"permissions:\nmode: plan\n", "permissions:\n  allow:\n    - x(a *)\nmode: plan\n"},
		"empty block":    {"permissions: {} # none\n", "permissions: # none\n  allow:\n    - x(a *)\n"},
		"null list":      {"permissions:\n  allow:\n  deny:\n    - y\n", "permissions:\n  allow:\n    - x(a *)\n  deny:\n    - y\n"},
		"empty list":     {"permissions:\n  allow: []   # none yet\n", "permissions:\n  allow: # none yet\n    - x(a *)\n"},
		"a list":         {"permissions:\n  allow:\n    - y # why\n    # last\n\n  deny: [z]\n", "permissions:\n  allow:\n    - y # why\n    - x(a *)\n    # last\n\n  deny: [z]\n"},
		"not indented":   {"permissions:\n  allow:\n  - y\nmode: plan\n", "permissions:\n  allow:\n  - y\n  - x(a *)\nmode: plan\n"},
		"at the end":     {"permissions:\n    allow:\n        - y", "permissions:\n    allow:\n        - y\n        - x(a *)\n"},
		"folded":         {"permissions:\n  allow:\n    - >-\n      y\n      z\nmode: plan\n", "permissions:\n  allow:\n    - >-\n      y\n      z\n    - x(a *)\nmode: plan\n"},
		"brackets":       {"permissions:\n  allow: [y, 'z]'] # ]\n", "permissions:\n  allow: [y, 'z]', \"x(a *)\"] # ]\n"},
		"a last comma":   {"permissions:\n  allow: [y,]\n", "permissions:\n  allow: [y,\"x(a *)\"]\n"},
		"many lines":     {"permissions:\n  allow: [\n    y, # one\n    z\n  ]\nmode: plan\n", "permissions:\n  allow: [\n    y, # one\n    z\n  , \"x(a *)\"]\nmode: plan\n"},
		"braces":         {"permissions: {deny: [y]}\n", "permissions: {allow: [\"x(a *)\"], deny: [y]}\n"},
		"empty in it":    {"permissions: {allow: []}\n", "permissions: {allow: [\"x(a *)\"]}\n"},
		"all in braces":  {"{mode: plan}\n", "{permissions: {allow: [\"x(a *)\"]}, mode: plan}\n"},
		"Windows":        {"permissions:\r\n  allow:\r\n    - y\r\n", "permissions:\r\n  allow:\r\n    - y\r\n    - x(a *)\r\n"},
		"an anchor":      {"permissions:\n  allow: &a\n    - y\n", "permissions:\n  allow: &a\n    - y\n    - x(a *)\n"},
		"a head":         {"---\n", "---\npermissions:\n  allow:\n    - x(a *)\n"},
	} {
		got, at, err := AddItem([]byte(c.given), allowPath, "x(a *)")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", name, err, got)
			continue
		}
		if lines := strings.Split(string(got), "\n"); !strings.Contains(lines[at.Line-1], "x(a *)") || strings.TrimRight(lines[at.Line-1], "\r") != at.Text {
			t.Errorf("%s: it is said to stand at %+v", name, at)
		}
		if _, there, err := HasItem(got, allowPath, "x(a *)"); !there || err != nil {
			t.Errorf("%s: it is not found: %v", name, err)
		}
		// And out again: what it meant before is what it means then.
		back, was, err := RemoveItem(got, allowPath, "x(a *)")
		if err != nil || !was {
			t.Errorf("%s: it cannot be taken out: %v\n%s", name, err, got)
			continue
		}
		if !same(bared(mustTop(t, back), allowPath, -1), bared(mustTop(t, []byte(c.given)), allowPath, -1)) {
			t.Errorf("%s: taken out:\n%s", name, back)
		}
	}
}

func mustTop(t *testing.T, text []byte) *yaml.Node {
	t.Helper()
	root, err := topLevel(text)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestAddItemRefuses: what cannot be changed line by line is left alone, and the
// person is told what to write.
func TestAddItemRefuses(t *testing.T) {
	for name, bad := range map[string]string{
		"no list": "permissions:\n  allow: x\n", "no block": "permissions: 3\n", "a list": "- a\n", "broken": "a: [\n", "tabs": "permissions:\n\tallow: [x]\n",
		"two documents": "mode: plan\n---\nmode: yolo\n", "twice": "permissions:\n  allow: [a]\n  allow: [b]\n",
		"an alias":         "permissions:\n  deny: &d [x]\n  allow: *d\n",
		"an alias to it":   "permissions:\n  allow: &a [x]\n  deny: *a\n",
		"a block taken in": "base: &b\n  allow: [y]\npermissions:\n  <<: *b\n",
		"Latin-1":          "mode: plan # \xe9\n", "old Mac": "mode: plan\rprofile: x\n", "an end": "mode: plan\n...\n",
	} {
		if got, _, err := AddItem([]byte(bad), allowPath, "x"); err == nil {
			t.Errorf("%s: written:\n%s", name, got)
		}
	}
	if _, _, err := AddItem(nil, allowPath, " "); err == nil {
		t.Error("nothing was written")
	}
}

// TestRemoveItemLeavesComments: a line that a person wrote more into is theirs.
func TestRemoveItemLeavesComments(t *testing.T) {
	for name, text := range map[string]string{
		"a comment":       "permissions:\n  allow:\n    - x # mine\n    - y\n",
		"the only one":    "permissions:\n  allow:\n    - x # mine\n",
		"an anchor":       "permissions:\n  allow:\n    - &x x\n    - y\n  deny:\n    - *x\n",
		"on several line": "permissions:\n  allow:\n    - >-\n      x\n    - y\n",
	} {
		if got, was, err := RemoveItem([]byte(text), allowPath, "x"); err == nil {
			t.Errorf("%s: %v\n%s", name, was, got)
		}
	}
	if _, was, err := RemoveItem([]byte("permissions:\n  deny: [x]\n"), allowPath, "x"); was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
}

// FuzzAddItem: after any edit a file means what it meant, and the item; no comment
// is lost, and what was written can be taken out again.
func FuzzAddItem(f *testing.F) {
	for _, text := range []string{
		"", "mode: plan", "permissions: {}\r\n", "permissions:\n  allow: [a, 'b]'] # c\n", "permissions:\n  allow:\n  - a\n  # x\n\n# y\nmode: plan\n",
		"permissions: {deny: [x]} # z\n", "{a: {b: c}}", "---\n# c\npermissions:\n  allow: # d\n", "permissions:\n  allow:\n    - |\n      # no comment\n",
		"permissions: &p\n  allow: &a [x]\nother: *a\n", "\"permissions\": ~\n", "? permissions\n: allow: [a]\n", "permissions: !!map\n  allow: !!seq [a]\n", "permissions:\n  allow:\n    - - a\n",
	} {
		f.Add([]byte(text), "run_command(go test *)")
	}
	f.Add([]byte("permissions:\n  allow: [a]\n"), "x: 'y' # \"z\u2028\\")
	f.Fuzz(func(t *testing.T, text []byte, item string) {
		out, at, err := AddItem(text, allowPath, item)
		if err != nil {
			return
		}
		was, is := map[any]any{}, map[any]any{}
		if err := errors.Join(yaml.Unmarshal(text, &was), yaml.Unmarshal(out, &is)); err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		list := allowed(is)
		if len(list) == 0 || list[len(list)-1] != item || !slices.EqualFunc(list[:len(list)-1], allowed(was), reflect.DeepEqual) || len(is) < len(was) {
			t.Fatalf("%q became %q", text, out)
		}
		if strings.Count(string(out), "#") < strings.Count(string(text), "#") {
			t.Fatalf("a comment was lost: %q became %q", text, out)
		}
		if at.Line < 1 || !strings.Contains(string(out), at.Text) {
			t.Fatalf("%+v in %q", at, out)
		}
		back, ok, err := RemoveItem(out, allowPath, item)
		if err != nil || !ok {
			return // refused, and told
		}
		if !same(bared(mustTop(t, back), allowPath, -1), bared(mustTop(t, text), allowPath, -1)) {
			t.Fatalf("%q became %q, and then %q", text, out, back)
		}
	})
}

// allowed reads the list in another way than the editor does.
func allowed(file map[any]any) []any {
	var list any
	switch block := file["permissions"].(type) {
	case map[string]any:
		list = block["allow"]
	case map[any]any:
		list = block["allow"]
	}
	items, _ := list.([]any)
	return items
}
