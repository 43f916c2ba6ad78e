package skill

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLenientLoading(t *testing.T) {
	for name, c := range map[string]struct{ text, name, description, body string }{
		"plain":                   {"---\nname: pdf\ndescription: Reads PDFs\n---\nBody\n", "pdf", "Reads PDFs", "Body"},
		"unquoted colon":          {"---\nname: web-search\ndescription: Search the web: use for facts\n---\nx", "web-search", "Search the web: use for facts", "x"},
		"double quotes":           {"---\nname: \"a b\"\ndescription: \"says \\\"hi\\\": and\\tmore\" # note\n---\n", "a b", "says \"hi\": and\tmore", ""},
		"single quotes":           {"---\nname: 'it''s'\ndescription: 'x: y'\n---\n", "it's", "x: y", ""},
		"odd quote":               {"---\nname: n\ndescription: \"never ends\n---\n", "n", "\"never ends", ""},
		"quote inside":            {"---\nname: n\ndescription: \"Do\" this: now\n---\n", "n", "\"Do\" this: now", ""},
		"folded":                  {"---\nname: n\ndescription: >-\n  one\n  two\n\n  three\n---\n", "n", "one two\nthree", ""},
		"literal":                 {"---\nname: n\ndescription: |\n  one\n    two\n---\n", "n", "one\n  two", ""},
		"several lines":           {"---\nname: n\ndescription: one\n  two\n  three: four\n---\n", "n", "one two three: four", ""},
		"next line":               {"---\nname: n\ndescription:\n  one: two three\n---\n", "", "", ""},
		"next line text":          {"---\nname: n\ndescription:\n  one two\n  three\n---\n", "n", "one two three", ""},
		"byte order":              {"\ufeff---\nname: n\ndescription: d\n---\nb", "n", "d", "b"},
		"windows":                 {"---\r\nname: n\r\ndescription: d\r\n---\r\nb\r\nc\r\n", "n", "d", "b\nc"},
		"blank first":             {"\n\n--- \nname: n\ndescription: d\n---  \nb", "n", "d", "b"},
		"no end line":             {"---\nname: n\ndescription: d\n---", "n", "d", ""},
		"no space":                {"---\nname:n\ndescription:d\n---\n", "n", "d", ""},
		"nested name":             {"---\nname: outer\nmetadata:\n  name: inner\n  description: no\ndescription: d\n---\n", "outer", "d", ""},
		"last counts":             {"---\nname: a\nname: b\ndescription: d\n---\n", "b", "d", ""},
		"no name":                 {"---\ndescription: d\n---\n", "folder", "d", ""},
		"rule in body":            {"---\nname: n\ndescription: d\n---\na\n---\nb", "n", "d", "a\n---\nb"},
		"tab":                     {"---\nname: n\ndescription: d\n\tmore\n---\n", "n", "d more", ""},
		"starts odd":              {"---\nname: n\ndescription: @you `do` [this]\n---\n", "n", "@you `do` [this]", ""},
		"hidden letters":          {"---\nname: n\ndescription: a\u202eb\u200bc\U000e0041d\x07\n---\n", "n", "a[U+202E]b[U+200B]c[U+E0041]d[U+0007]", ""},
		"letters that look empty": {"---\nname: n\ndescription: a\U000e0159\u3164\u2800b ❤\ufe0f\n---\n", "n", "a[U+E0159][U+3164][U+2800]b ❤\ufe0f", ""},
		"control name":            {"---\nname: \"a\\nb\"\ndescription: d\n---\n", "a b", "d", ""},

		"no front matter":       {"# How to cut\n\nUse this for films.\nAnd more.\n\nNot this.\n", "folder", "How to cut: Use this for films. And more.", "# How to cut\n\nUse this for films.\nAnd more.\n\nNot this."},
		"no front, no heading":  {"Cut it.\n## Later\nx\n", "folder", "Cut it.", "Cut it.\n## Later\nx"},
		"description from text": {"---\nname: n\n---\n# T\n\nWhat for.\n", "n", "T: What for.", "# T\n\nWhat for."},

		"no description":    {"---\nname: n\n---\n", "", "", ""},
		"empty description": {"---\nname: n\ndescription: \"\"\n---\n", "", "", ""},
		"only rules":        {"====\n", "", "", ""},
		"no end":            {"---\nname: n\ndescription: d\n", "", "", ""},
		"not for models":    {"---\nname: n\ndescription: d\ndisable-model-invocation: true\n---\n", "", "", ""},
		"bytes":             {"---\nname: n\ndescription: \xff\n---\n", "", "", ""},
		"huge":              {"---\nname: n\ndescription: d\nx: " + strings.Repeat("y", maxFront) + "\n---\n", "", "", ""},
		"empty":             {"", "", "", ""},
	} {
		s := Skill{dir: "folder"}
		b := &Box{}
		_, err := b.describe(&s, []byte(c.text))
		if (err == nil) != (c.description != "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		_, body, err := split([]byte(c.text))
		if err != nil || s.Name != c.name || s.Description != c.description || body != c.body {
			t.Errorf("%s: %q, %q, %q, %v", name, s.Name, s.Description, body, err)
		}
	}
}

// TestDecoderGoesFirst: what it can read is read by it, the rest line by line.
func TestDecoderGoesFirst(t *testing.T) {
	b := &Box{needs: Needs{YAML: func(text []byte, into any) error {
		if strings.Contains(string(text), ": use") {
			return errors.New("mapping values are not allowed here")
		}
		return json.Unmarshal([]byte(`{"name":7,"description":"decoded","allowed-tools":["Read","Bash(git log:*)",{"x":1}]}`), into)
	}}}
	var s Skill
	if _, err := b.describe(&s, []byte("---\nname: a\ndescription: d\n---\n")); err != nil || s.Name != "7" || s.Description != "decoded" || len(s.AllowedTools) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := b.describe(&s, []byte("---\nname: a\ndescription: Search: use it\n---\n")); err != nil || s.Description != "Search: use it" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAllowedToolsOfEveryForm(t *testing.T) {
	for text, want := range map[string][]string{
		"Bash(git:*) Bash(jq:*) Read":             {"Bash(git:*)", "Bash(jq:*)", "Read"},
		"Read, Write,Bash(npm run test:*, x)":     {"Read", "Write", "Bash(npm run test:*, x)"},
		"[Read, \"Write\"]":                       {"Read", "Write"},
		"\n- Read\n- 'Bash(git log:*)'":           {"Read", "Bash(git log:*)"},
		"\n  - Read\n  - Write":                   {"Read", "Write"},
		"":                                        nil,
		strings.Repeat("x ", 300):                 strings.Fields(strings.Repeat("x ", 100)),
		"Bash(" + strings.Repeat("y", 1000) + ")": {"Bash(" + strings.Repeat("y", 195) + "…"},
		") Read ((":                               {")", "Read", "(("},
	} {
		got := words(loose("allowed-tools: " + text)["allowed-tools"])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// FuzzFrontMatter: whatever a file holds, reading it ends, and what is shown of
// it is bounded and can be seen.
func FuzzFrontMatter(f *testing.F) {
	for _, text := range []string{
		"---\nname: n\ndescription: d\n---\nb", "---\na: >\n  x\n\n  y\nb: |+2\n z\n---\n", "---\nname: 'a''b' # c\ndescription: [a, \"b\"]\n---",
		"---\nmetadata:\n  a: b\n- x\n---\n", "---\ndescription: \"\\u202e\\x00\"\n---\n", "\ufeff---\r\n---\r\n", "---\nname: |\n\tx\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Skill
		if _, err := (&Box{}).describe(&s, text); err != nil {
			return
		}
		if s.Name == "" || s.Description == "" || utf8.RuneCountInString(s.Name) > maxName+1 || utf8.RuneCountInString(s.Description) > maxDescription+1 {
			t.Errorf("name %q, description of %d bytes", s.Name, len(s.Description))
		}
		for _, shown := range append([]string{s.Name, s.Description, s.License, s.Compatibility}, s.AllowedTools...) {
			if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
				t.Errorf("%q is shown", shown)
			}
		}
	})
}
