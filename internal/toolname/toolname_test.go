package toolname

import (
	"slices"
	"strings"
	"testing"
)

func TestCalled(t *testing.T) {
	memory := Tool{Box: "memory", Native: "delete_entities", Shown: []string{"memory__delete_entities", "forget"}, Exact: []string{"memory__delete_entities_1a2b3c4d5e6f"}}
	files := Tool{Box: "files", Native: "read_file", Shown: []string{"file_read"}}
	nested := Tool{Box: "my__srv", Native: "get", Shown: []string{"my__srv__get"}}
	prefixed := Tool{Box: "mcp__x", Native: "get"}
	for _, tt := range []struct {
		tool    Tool
		pattern string
		want    bool
	}{
		{memory, "delete_entities", true}, {memory, "memory__delete_entities", true}, {memory, "memory/delete_entities", true},
		{memory, "mcp__memory__delete_entities", true}, {memory, "mcp__memory", true}, {memory, "forget", true}, {memory, "memory/forget", true},
		{memory, "memory__forget", true}, {memory, "memory__*", true}, {memory, "memory__delete_*", true}, {memory, "mem*", true}, {memory, "mcp__mem*", true},
		{memory, "mcp__memory__*", true}, {memory, "*_entities", true}, {memory, "[a-d]elete_entities", true}, {memory, "memory/*", true}, {memory, "*/forget", true},
		{memory, "memory__delete_entities_1a2b3c4d5e6f", true}, {memory, "*", true},
		{memory, "memory", false}, {memory, "memory__create", false}, {memory, "mcp__mem", false}, {memory, "other/delete_entities", false}, {memory, "Memory__delete_entities", false},
		{files, "files__read_file", true}, {files, "files__read_*", true}, {files, "files/file_read", true}, {files, "file_*", true},
		{files, "fil*", true}, // it is shown as file_read
		{files, "files*", false}, {files, "mcp__f*", true}, {files, "m*", false}, {files, "write_file", false},
		{nested, "mcp__my__srv__get", true}, {nested, "mcp__my__srv", false}, {nested, "my__srv/get", true}, {nested, "mcp__my__srv__*", true},
		{prefixed, "mcp__x__get", true}, {prefixed, "mcp__x", true}, {prefixed, "mcp__x/get", true}, {prefixed, "x__get", false},
	} {
		if got := tt.tool.Called(tt.pattern); got != tt.want {
			t.Errorf("%s/%s by %q: %v", tt.tool.Box, tt.tool.Native, tt.pattern, got)
		}
	}
	for _, tool := range []Tool{memory, files, nested, prefixed} {
		for _, name := range tool.Names() {
			if !tool.Called(name) {
				t.Errorf("%s/%s does not answer to its name %s", tool.Box, tool.Native, name)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for word, want := range map[string]string{
		"memory__get": "memory|get", "memory__get_*": "memory|get_*", "a_b__c": "a_b|c",
		"a__b__c": "", "a___b": "", "__a": "", "a__": "", "a": "", "m*__get": "", "": "", "____": "",
	} {
		box, name, ok := Split(word)
		if got := box + "|" + name; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", word, got, ok)
		}
		if strings.Count(word, "__") == 2 && word[0] == 'a' && !Ambiguous(word) {
			t.Errorf("%q can be read in two ways", word)
		}
	}
}

// FuzzCalled: a tool answers to all its names, however they are chosen, and a
// name that can be split for a gift means one box only.
func FuzzCalled(f *testing.F) {
	f.Add("memory", "get", "forget", "m*")
	f.Add("a__b", "c", "a__b__c", "a__b__c")
	f.Add("mcp__x", "_y", "", "mcp__*")
	f.Fuzz(func(t *testing.T, box, native, shown, pattern string) {
		if strings.ContainsAny(box+native+shown, wild+"/") || box == "" || native == "" {
			return
		}
		tool := Tool{Box: box, Native: native, Shown: []string{shown}}
		for _, name := range tool.Names() {
			if !tool.Called(name) {
				t.Fatalf("%+v does not answer to %q", tool, name)
			}
		}
		if tool.Called(pattern) && !IsPattern(pattern) && !strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, mcpPrefix) && !slices.Contains(tool.Names(), pattern) {
			t.Fatalf("%+v answers to %q, which is none of %q", tool, pattern, tool.Names())
		}
		if got, _, ok := Split(box + separator + native); ok && got != box {
			t.Fatalf("%q of %q is split as one of %q", native, box, got)
		}
	})
}

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		shown, box, native string
		bare               bool
		want               string
	}{
		{"read_file", "files", "read_file", true, "read_file"},
		{"bash_exec", "shell", "run_command", true, "bash_exec"},
		{"shop__order", "shop", "order", false, "shop__order"},
		{"order", "shop", "order", false, "shop/order"},
		{"deploy", "project", "deploy", false, "project/deploy"},
		{"parrot__echo", "ovosbox", "parrot__echo", true, "ovosbox/parrot__echo"},
		{"ovosbox__parrot__echo", "ovosbox", "parrot__echo", false, "ovosbox/parrot__echo"},
		{"shop__deep__order", "shop", "deep__order", false, "shop/deep__order"},
		{"shop__long_1a2b3c4d5e6f", "shop", "long_name", false, "shop/long_name"},
		{"buy", "shop", "order", false, "buy"},                // the settings call it so
		{"mcp__github", "mcp", "github", false, "mcp/github"}, // not every tool of a server github
		{"mcp__files__read", "mcp__files", "read", false, "mcp__files/read"},
		{"parrot__echo", "", "", true, "parrot__echo"},
	} {
		got := Typed(c.shown, c.box, c.native, c.bare)
		if got != c.want {
			t.Errorf("%s of %s/%s: %s, want %s", c.shown, c.box, c.native, got, c.want)
		}
		if called, box := Shapes(got); c.box != "" && box == c.box && !slices.Contains(called, c.shown) && c.shown != "shop__long_1a2b3c4d5e6f" {
			t.Errorf("%s is called %q of %s, not %s", got, called, box, c.shown)
		}
	}
	for word, want := range map[string]string{
		"read_file": "read_file|", "files/read_file": "read_file files__read_file|files", "mcp__toolcrib__read_file": "read_file|", "toolcrib/read_file": "read_file|",
		"mcp__shop__order": "order shop__order mcp__shop__order|shop", "shop__order": "order shop__order|shop", "a__b__c": "a__b__c|", "a/": "a/|", "/a": "/a|", "": "|",
		"mcp__toolcrib": "mcp__toolcrib|",
	} {
		if called, box := Shapes(word); strings.Join(called, " ")+"|"+box != want {
			t.Errorf("%q: %q of %q", word, called, box)
		}
	}
}
