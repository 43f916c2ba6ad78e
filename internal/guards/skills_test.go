package guards

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// TestSkillsHoldDelegates: what a session follows holds for whoever works for it, and a skill
// of theirs does not widen it.
func TestSkillsHoldDelegates(t *testing.T) {
	rules, err := policy.NewRules(nil, policy.RuleOptions{Own: []string{"files", "math"}, Base: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	follows := map[string][]ActiveSkill{
		"lead":   {{Name: "careful", Tools: []string{"read_file"}}},
		"lead/w": {{Name: "wide", Tools: []string{"read_file", "write_file", "evaluate_expression"}}},
		"lead/n": {{Name: "narrow", Tools: []string{"evaluate_expression"}}},
	}
	for _, strict := range []bool{false, true} {
		g := &Skills{Active: func(c toolcrib.Caller) []ActiveSkill { return follows[c.Session] }, Rules: func() *policy.Rules { return rules }, Strict: strict}
		for _, c := range []struct {
			session, box, tool, by string // by: the skill that stands against it; empty: none does
		}{
			{"lead", "files", "read_file", ""}, {"lead", "files", "write_file", "careful"},
			{"lead/h", "files", "read_file", ""}, {"lead/h", "files", "write_file", "careful"}, {"lead/h/deeper", "files", "write_file", "careful"},
			{"lead/w", "files", "read_file", ""}, {"lead/w", "files", "write_file", "careful"}, {"lead/w/x", "math", "evaluate_expression", "careful"},
			{"lead/n", "files", "read_file", "narrow"}, {"lead/n", "math", "evaluate_expression", "careful"},
			{"leader/h", "files", "write_file", ""}, {"other", "files", "write_file", ""}, {"lead/h", "skill", "use_skill", ""},
		} {
			input := json.RawMessage(`{"path":"a.txt","content":"x"}`)
			v, err := g.Judge(t.Context(), toolcrib.Review{
				Call: toolcrib.Call{Tool: c.tool, Caller: toolcrib.Caller{Subject: "ann", Session: c.session}, Input: input}, Input: input,
				Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: c.tool, Effects: toolcrib.Reads}, Box: c.box, Native: c.tool},
			})
			if err != nil {
				t.Fatal(err)
			}
			by := ""
			if v != nil {
				if by = v.Rule; v.Decision != toolcrib.Ask && !strict || v.Decision != toolcrib.Deny && strict {
					t.Errorf("%+v: %v", c, v.Decision)
				}
			}
			if by != c.by {
				t.Errorf("%+v: held by %q", c, by)
			}
		}
	}
}
