package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestAskedAbout: places that rules ask about are held for programs, but for a
// rule about all that is granted, which would leave them nothing to do.
func TestAskedAbout(t *testing.T) {
	for rule, want := range map[string][2][]string{
		"write_file(./deploy/**)":    {nil, {"/work/deploy/**"}},
		"read_file(./private/**)":    {{"/work/private/**"}, nil},
		"write_file(./**)":           {nil, nil},
		"write_file(/**)":            {nil, nil},
		"files/*(./**)":              {nil, nil},
		"write_file(./src/*.tf)":     {nil, {"/work/src/*.tf"}},
		"write_file":                 {nil, nil},
		"run_command(npm publish *)": {nil, nil},
	} {
		rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Ask: []string{rule}}}}, RuleOptions{Base: "/Work"})
		if err != nil {
			t.Fatal(err)
		}
		whole := &toolcrib.Grant{Dirs: []files.Dir{{Path: "/Work", Write: true}}}
		asked := rules.askedAbout(&toolcrib.Review{Spec: shellTool("run_command")}, whole)
		if diff := cmp.Diff(want, [2][]string{asked.Denied, asked.Fixed}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
		if len(asked.Unmade) > 0 {
			t.Errorf("%s: what a person may allow is undone", rule)
		}
		if asked := rules.askedAbout(&toolcrib.Review{Spec: *fileSpec("write_file")}, whole); !asked.nothing() {
			t.Errorf("%s: %v for a tool for files", rule, asked)
		}
	}
}

// TestUnmadePlaces: what rules deny to be written is kept free where it is missing,
// by the name that was written; a rule about reading or removing makes nothing.
func TestUnmadePlaces(t *testing.T) {
	for rule, want := range map[string]Taken{
		"write_file(./Deploy/**)":    {Fixed: []string{"/work/deploy/**"}, Unmade: []string{"/Work/Deploy/**"}},
		"files/*(./Deploy/**)":       {Denied: []string{"/work/deploy/**"}, Unmade: []string{"/Work/Deploy/**"}},
		"write_file(*.tf)":           {Fixed: []string{"/**/*.tf"}, Unmade: []string{"/**/*.tf"}},
		"read_file(./Deploy/**)":     {Denied: []string{"/work/deploy/**"}},
		"delete_file(./Deploy/**)":   {Fixed: []string{"/work/deploy/**"}},
		"run_command(npm publish *)": {},
		"write_file":                 {},
	} {
		rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Deny: []string{rule}}}}, RuleOptions{Base: "/Work"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rules.outOfReach(&toolcrib.Review{Spec: shellTool("run_command")}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
		if own := rules.outOfReach(&toolcrib.Review{Spec: *fileSpec("write_file")}); len(own.Unmade) > 0 {
			t.Errorf("%s: %v for a tool for files, which is held by its paths", rule, own.Unmade)
		}
	}
}
