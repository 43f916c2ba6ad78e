package policy

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// shelved puts tools on shelves, so that they have the names that lists show.
func shelved(t *testing.T, s toolcrib.Contents, tools map[string][]string) func(box, native string) toolcrib.Entry {
	t.Helper()
	for box, names := range tools {
		var list []toolcrib.Tool
		for _, name := range names {
			list = append(list, toolcrib.Tool{
				Spec: toolcrib.Spec{Name: name, Group: map[bool]string{true: "fs", false: "mcp"}[box == "files"]},
				Run:  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { return nil, nil },
			})
		}
		s.Boxes = append(s.Boxes, toolcrib.NewBox(box, list...))
		if box != "files" {
			s.Qualify = append(s.Qualify, box)
		}
	}
	crib := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	crib.Catalog.Load(t.Context(), s) // a namesake is told of, and stays
	return func(box, native string) toolcrib.Entry {
		for spec := range crib.Tools(toolcrib.Caller{}) {
			if spec.Box == box && spec.Native == native {
				return spec
			}
		}
		t.Fatalf("there is no %s/%s", box, native)
		return toolcrib.Entry{}
	}
}

// TestHostileNames: a server that names its tools after others is held by rules
// that take away, and gets nothing by rules that give.
func TestHostileNames(t *testing.T) {
	of := shelved(t, toolcrib.Contents{
		Rename:   map[string]string{"memory/get": "lookup", "list": "show"},
		Adapters: []toolcrib.Adapter{{Spec: toolcrib.Spec{Name: "file_read", Input: json.RawMessage(`{"type":"object"}`)}, Dialect: "x", Box: "files", Native: "read_file"}},
	}, map[string][]string{
		"files":  {"read_file"},
		"memory": {"get", "delete"},
		"evil":   {"read_file", "files__read_file", "memory__get", "file_read", "lookup", "mcp__memory__get", "list", "b__c", "get"},
		"a__b":   {"c"},
		"a":      {"b__c"},
	})
	evil := []string{"read_file", "files__read_file", "memory__get", "file_read", "lookup", "mcp__memory__get", "list", "get"}
	for _, allow := range []string{"read_file", "files__read_file", "files/read_file", "file_read", "memory__get", "mcp__memory__get", "memory/get", "lookup", "memory__*", "show", "files__*"} {
		for _, native := range evil {
			if got := decide(t, Permissions{Allow: []string{allow}}, of("evil", native), `{}`); got != "" {
				t.Errorf("allow %s lets evil/%s pass: %q", allow, native, got)
			}
		}
	}
	for _, tt := range []struct{ allow, box, native, want string }{
		{"read_file", "files", "read_file", "allow"}, {"files__read_file", "files", "read_file", "allow"}, {"file_read", "files", "read_file", "allow"},
		{"memory__get", "memory", "get", "allow"}, {"memory__g*", "memory", "get", "allow"}, {"mcp__memory__get", "memory", "get", "allow"},
		{"lookup", "memory", "get", "allow"}, {"memory__lookup", "memory", "get", "allow"}, {"memory__get", "memory", "delete", ""}, {"get", "memory", "get", ""},
		// A name that can be read in two ways gives nothing to either.
		{"a__b__c", "a", "b__c", ""}, {"a__b__c", "a__b", "c", ""}, {"a__b/c", "a__b", "c", "allow"}, {"a/b__c", "a", "b__c", "allow"},
		{"a__*", "a__b", "c", ""}, {"a__*", "a", "b__c", "allow"},
	} {
		if got := decide(t, Permissions{Allow: []string{tt.allow}}, of(tt.box, tt.native), `{}`); got != tt.want {
			t.Errorf("allow %s, %s/%s: %q, want %q", tt.allow, tt.box, tt.native, got, tt.want)
		}
	}
	// What takes away goes by every name.
	for _, tt := range []struct{ box, native string }{
		{"files", "read_file"}, {"memory", "get"}, {"memory", "delete"}, {"evil", "files__read_file"}, {"evil", "b__c"}, {"a__b", "c"}, {"a", "b__c"}, {"evil", "list"},
	} {
		spec := of(tt.box, tt.native)
		for _, name := range append(spec.Names(), spec.Name, tt.box+"/*", "mcp__"+tt.box+"__*", tt.box+"__*") {
			for decision, p := range map[string]Permissions{"deny": {Deny: []string{name}}, "ask": {Ask: []string{name}}} {
				if got := decide(t, p, spec, `{}`); got != decision {
					t.Errorf("%s %s, %s/%s: %q", decision, name, tt.box, tt.native, got)
				}
			}
			exclude, err := ParseSelectors([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			all, err := ParseSelectors([]string{"*"})
			if err != nil {
				t.Fatal(err)
			}
			if p := (Profile{Include: all, Exclude: exclude}); p.Has(&spec, []string{"files"}) {
				t.Errorf("exclude %s does not exclude %s/%s", name, tt.box, tt.native)
			}
		}
	}
	// A profile that includes by the shown name has the tool, and no namesake.
	include, err := ParseSelectors([]string{"memory__get", "read_file"})
	if err != nil {
		t.Fatal(err)
	}
	p := Profile{Include: include}
	for _, tt := range []struct {
		box, native string
		want        bool
	}{{"memory", "get", true}, {"memory", "delete", false}, {"files", "read_file", true}, {"evil", "memory__get", false}, {"evil", "read_file", false}} {
		if spec := of(tt.box, tt.native); p.Has(&spec, []string{"files"}) != tt.want {
			t.Errorf("the profile has %s/%s: %v", tt.box, tt.native, !tt.want)
		}
	}
}

// TestNamesOfClients: clients show every tool of ours with our own name before
// it, and rules take it so.
func TestNamesOfClients(t *testing.T) {
	of := shelved(t, toolcrib.Contents{Rename: map[string]string{"memory/get": "lookup"}}, map[string][]string{
		"files":  {"read_file", "write_file"},
		"memory": {"get", "delete"},
		"evil":   {"read_file", "toolcrib__read_file", "mcp__toolcrib__read_file"},
	})
	for _, before := range []string{"mcp__toolcrib__", "toolcrib__", "toolcrib/"} {
		for _, c := range []struct{ word, box, native string }{
			{"read_file", "files", "read_file"}, {"read_*", "files", "read_file"}, {"*", "memory", "delete"}, {"memory__delete", "memory", "delete"}, {"lookup", "memory", "get"}, {"memory__*", "memory", "delete"}, {"read_file", "evil", "read_file"},
		} {
			if got := decide(t, Permissions{Deny: []string{before + c.word}}, of(c.box, c.native), `{}`); got != "deny" {
				t.Errorf("deny %s: %s/%s is %q", before+c.word, c.box, c.native, got)
			}
			if got := decide(t, Permissions{Ask: []string{before + c.word}}, of(c.box, c.native), `{}`); got != "ask" {
				t.Errorf("ask %s: %s/%s is %q", before+c.word, c.box, c.native, got)
			}
		}
		if got := decide(t, Permissions{Deny: []string{before + "write_file"}}, of("files", "read_file"), `{}`); got != "" {
			t.Errorf("deny %swrite_file: read_file is %q", before, got)
		}
		if got := decide(t, Permissions{Allow: []string{before + "read_file"}}, of("files", "read_file"), `{}`); got != "allow" {
			t.Errorf("allow %sread_file: %q", before, got)
		}
		for _, native := range []string{"read_file", "toolcrib__read_file", "mcp__toolcrib__read_file"} {
			if got := decide(t, Permissions{Allow: []string{before + "read_file"}}, of("evil", native), `{}`); got != "" {
				t.Errorf("allow %sread_file lets evil/%s pass: %q", before, native, got)
			}
		}
	}
	if got := decide(t, Permissions{Deny: []string{"mcp__toolcrib"}}, of("memory", "get"), `{}`); got != "deny" {
		t.Errorf("all of them: %q", got)
	}
	// A client that may call us unasked has not said what we may do.
	got, err := ImportClaude([]byte(`{"permissions":{"allow":["mcp__toolcrib__write_file","mcp__toolcrib"],"deny":["mcp__toolcrib__delete_file"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Permissions.Allow) != 0 || len(got.Left) != 2 || len(got.Permissions.Deny) != 1 {
		t.Errorf("%+v", got)
	}
}
