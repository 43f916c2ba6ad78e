package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestBuiltinProfiles(t *testing.T) {
	fetch := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web", Effects: reads | network}, Box: "web", Native: "web_fetch"}
	for _, tt := range []struct {
		spec                  toolcrib.Entry
		minimal, coding, full bool
	}{
		{fileTool("read_file"), true, true, true},
		{fileTool("search_files"), true, true, true},
		{fileTool("write_file"), false, true, true},
		{fileTool("delete_file"), false, true, true},
		{shellTool("run_command"), false, false, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "interact", Effects: asks}, Box: "interact", Native: "ask_user"}, true, true, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "math", Effects: toolcrib.Pure}, Box: "math", Native: "x"}, true, true, true},
		{fetch, false, false, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp", Effects: writes}, Box: "s", Native: "write_file"}, false, false, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs"}, Box: "files", Native: "x"}, false, false, true}, // undeclared
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "exec"}, Box: "shell", Native: "x"}, false, false, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "exec", Effects: runs | toolcrib.UsesSecrets}, Box: "shell", Native: "x"}, false, false, true},
		{toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs", Effects: reads | network}, Box: "files", Native: "upload"}, false, false, true},
	} {
		for name, want := range map[string]bool{ProfileMinimal: tt.minimal, ProfileCoding: tt.coding, ProfileFull: tt.full} {
			p, ok := BuiltinProfile(name)
			if got := p.Has(&tt.spec, nil); !ok || got != want {
				t.Errorf("%s, %s/%s: %v", name, tt.spec.Box, tt.spec.Native, got)
			}
			for _, s := range p.Include { // what is told of a profile means the same
				again, err := ParseSelector(s.String())
				if err != nil || again.Picks(&tt.spec) != s.Picks(&tt.spec) {
					t.Errorf("%s is written as %q: %v", name, s, err)
				}
			}
		}
	}
	if _, ok := BuiltinProfile("Full"); ok {
		t.Error("a profile that nobody knows")
	}
}

func selectors(t testing.TB, texts ...string) []Selector {
	t.Helper()
	list, err := ParseSelectors(texts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOwnProfiles(t *testing.T) {
	evil := toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs", Effects: reads}, Box: "evil", Native: "read_file"}
	for _, tt := range []struct {
		include, exclude []string
		spec             toolcrib.Entry
		want             bool
	}{
		{[]string{"read_file"}, nil, fileTool("read_file"), true},
		{[]string{"read_file"}, nil, evil, false}, // a name that someone else took
		{[]string{"*_file"}, nil, evil, false},
		{[]string{"*_file"}, nil, fileTool("write_file"), true},
		{[]string{"evil/read_file"}, nil, evil, true},
		{[]string{"group:fs"}, nil, evil, true},
		{[]string{"group:fs"}, []string{"read_file"}, evil, false},
		{[]string{"*"}, []string{"effect:writes"}, fileTool("write_file"), false},
		{[]string{"*"}, []string{"effect:writes"}, toolcrib.Entry{Box: "x", Native: "y"}, false}, // undeclared may write
		{[]string{"*"}, []string{"effect:pure"}, fileTool("read_file"), true},
		{[]string{"effects:reads"}, nil, fileTool("write_file"), false},
		{[]string{"group:fs+effects:reads"}, nil, fileTool("search_files"), false},
		{[]string{"files/*"}, []string{"files/write_*"}, fileTool("write_file"), false},
		{[]string{"box:files"}, nil, fileTool("write_file"), true},
		{nil, nil, fileTool("read_file"), false},
	} {
		p := Profile{Include: selectors(t, tt.include...), Exclude: selectors(t, tt.exclude...)}
		if got := p.Has(&tt.spec, []string{"files"}); got != tt.want {
			t.Errorf("%v without %v, %s/%s: %v", tt.include, tt.exclude, tt.spec.Box, tt.spec.Native, got)
		}
	}
	if (&Profile{Include: make([]Selector, 1)}).Has(&evil, []string{"evil"}) {
		t.Error("an empty selector picks something")
	}
}

func TestVisibility(t *testing.T) {
	v := &Visibility{
		Own:      []string{"files", "shell"},
		Profiles: map[string]Profile{"mine": {Include: selectors(t, "read_file", "mcp__s")}},
		Profile: func(c toolcrib.Caller) []string {
			if c.Agent == "" {
				return []string{"full"}
			}
			return strings.Split(c.Agent, "&")
		},
		Tokens:   map[string]bool{"ann": true, "bob": true, "ci": true, "none": true, "acme:bob": true, "acme:ann": true, "other:bob": true},
		Disabled: selectors(t, "delete_file"),
		Assigned: []Assignment{{Tools: selectors(t, "shell/*"), Agents: []string{"coding", "full"}}},
		Enabled:  map[string][]Selector{"ci": selectors(t, "read_file", "shell/*"), "none": nil},
		Owned:    []Ownership{{Tools: selectors(t, "mcp__s"), Organisation: "acme"}},
	}
	mcp := toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp"}, Box: "s", Native: "x"}
	evil := toolcrib.Entry{Box: "evil", Native: "read_file"}
	if v.Visible(toolcrib.Caller{}, &evil) {
		t.Error("something is visible before Prepare")
	}
	if err := v.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		agent, subject string
		spec           toolcrib.Entry
		want           bool
		why            string
	}{
		{"", "ann", fileTool("write_file"), true, ""},
		{"minimal", "ann", fileTool("write_file"), false, "profile \"minimal\""},
		{"", "ann", fileTool("delete_file"), false, "disabled"},
		{"", "ann", toolcrib.Entry{Spec: toolcrib.Spec{Effects: reads}, Box: "evil", Native: "delete_file"}, false, "disabled"},
		{"", "ann", shellTool("run_command"), false, "assigned to other agents"},
		{"coding", "ann", shellTool("run_command"), false, "profile \"coding\""},
		{"full", "ann", shellTool("run_command"), true, ""},
		{"full", "ci", shellTool("run_command"), true, ""},
		{"coding", "ci", fileTool("write_file"), false, "token \"ci\""},
		{"full", "ci", evil, false, "token \"ci\""},
		{"", "none", fileTool("read_file"), false, "token \"none\""},
		{"", "acme:bob", mcp, true, ""},
		{"", "ann", mcp, false, "organisation"},
		{"", "", mcp, false, "organisation"},
		{"mine", "acme:bob", mcp, true, ""},
		{"mine", "ann", fileTool("read_file"), true, ""},
		{"mine", "ann", evil, false, "profile \"mine\""},
		{"full&coding", "acme:ann", fileTool("read_file"), true, ""},
		{"full&coding", "acme:ann", mcp, false, "profile \"coding\""},
		{"coding&full", "acme:ann", mcp, false, "profile \"coding\""},
		{"nobody", "ann", fileTool("read_file"), false, "profile \"nobody\""},
	} {
		org, _, _ := strings.Cut(tt.subject, ":")
		caller := toolcrib.Caller{Agent: tt.agent, Subject: tt.subject, Token: tt.subject, Organisation: org}
		got, why := v.Visible(caller, &tt.spec), v.Why(caller, &tt.spec)
		if got != tt.want || !strings.Contains(why, tt.why) || (why == "") != got {
			t.Errorf("%s of %s, %s/%s: %v, %s", tt.agent, tt.subject, tt.spec.Box, tt.spec.Native, got, why)
		}
	}
	if v.Visible(toolcrib.Caller{Subject: "acme:bob"}, &mcp) {
		t.Error("an owned tool is visible where no organisation is known")
	}
	zero := &Visibility{}
	if err := zero.Prepare(); err != nil || zero.Visible(toolcrib.Caller{}, &mcp) {
		t.Error("without a profile more is visible than what looks", err)
	}
	for _, bad := range []*Visibility{{Profiles: map[string]Profile{"full": {}}}, {Profiles: map[string]Profile{"": {}}}, {Owned: []Ownership{{}}}} {
		if bad.Prepare() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestSelectorRefuses(t *testing.T) {
	if _, err := ParseSelectors([]string{"ok", "b ad", "group:"}); err == nil || !strings.Contains(err.Error(), "b ad") || !strings.Contains(err.Error(), "group:") {
		t.Errorf("%v", err)
	}
}

func BenchmarkVisible(b *testing.B) {
	specs := []toolcrib.Entry{fileTool("read_file"), fileTool("write_file"), shellTool("run_command"), {Spec: toolcrib.Spec{Group: "mcp"}, Box: "s", Native: "x"}}
	for _, name := range []string{ProfileMinimal, ProfileCoding, ProfileFull, "mine"} {
		b.Run(name, func(b *testing.B) {
			v := &Visibility{Own: []string{"files"}, Profile: func(toolcrib.Caller) []string { return []string{name} }, Profiles: map[string]Profile{"mine": {
				Include: selectors(b, "group:fs", "get_*", "files/*", "mcp__a", "mcp__b", "mcp__c__x_*", "effects:reads"), Exclude: selectors(b, "effect:destroys", "*_x"),
			}}}
			if err := v.Prepare(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v.Visible(toolcrib.Caller{}, &specs[i%len(specs)])
			}
		})
	}
}

func FuzzSelector(f *testing.F) {
	for _, s := range slices.Concat(rulePool(), []string{"*", "group:fs+effects:reads", "a/b", "box:x", "effect:pure", "mcp__a__b*", "?"}) {
		f.Add(s)
	}
	mcp := toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp"}, Box: "s", Native: "x"}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil {
			return
		}
		again, err := ParseSelector(s.String())
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, s, err)
		}
		for _, spec := range []toolcrib.Entry{mcp, fileTool("read_file"), shellTool("run_command"), {}} {
			if s.Picks(&spec) != again.Picks(&spec) || s.picksForCertain(&spec, []string{"files"}) && !s.Picks(&spec) {
				t.Errorf("%q: two readings of %+v", text, spec)
			}
		}
	})
}
