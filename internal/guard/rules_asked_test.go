package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
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
		whole := &toolcrib.Grant{Dirs: []toolcrib.Dir{{Path: "/Work", Write: true}}}
		unread, unwritten := rules.askedAbout(&toolcrib.Review{Spec: shellTool("run_command")}, whole)
		if diff := cmp.Diff(want, [2][]string{unread, unwritten}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
		if unread, unwritten := rules.askedAbout(&toolcrib.Review{Spec: *fileSpec("write_file")}, whole); len(unread)+len(unwritten) > 0 {
			t.Errorf("%s: %v, %v for a tool for files", rule, unread, unwritten)
		}
	}
}
