package policy

import (
	"slices"
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

// TestNarrowed: whatever the verdict on a command is, but for a denial, rules about
// places take those out of its grant.
func TestNarrowed(t *testing.T) {
	for name, c := range map[string]struct {
		mode     Mode
		allow    []string
		decision toolcrib.Decision
	}{
		"allowed by a mode":  {mode: ModeYolo, decision: toolcrib.Allow},
		"allowed by a rule":  {mode: ModeDefault, allow: []string{"run_command"}, decision: toolcrib.Allow},
		"denied by a mode":   {mode: ModePlan, decision: toolcrib.Deny},
		"left to the others": {mode: ModeDefault, decision: toolcrib.Allow}, // which is only a note
	} {
		rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: c.allow, Deny: []string{"read_file(./private/**)"}, Ask: []string{"write_file(./deploy/**)"}}}}, RuleOptions{Base: "/project"})
		if err != nil {
			t.Fatal(err)
		}
		p := &Policy{Mode: func(toolcrib.Call) Mode { return c.mode }, Rules: rules, Whole: &toolcrib.Grant{Dirs: []files.Dir{{Path: "/project", Write: true}}}}
		v, err := p.Judge(t.Context(), toolcrib.Review{Spec: shellTool("run_command"), Input: []byte(`{"command":"make"}`), Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann"}}})
		if err != nil || v == nil || v.Decision != c.decision {
			t.Errorf("%s: %+v, %v", name, v, err)
			continue
		}
		if v.Decision == toolcrib.Deny {
			continue
		}
		if v.Grant == nil || !slices.Equal(v.Grant.Denied, []string{"/project/private/**"}) || v.Unasked == nil || !slices.Equal(v.Unasked.Fixed, []string{"/project/deploy/**"}) {
			t.Errorf("%s: what it may touch is %+v, and unasked %+v", name, v.Grant, v.Unasked)
		}
	}
}
