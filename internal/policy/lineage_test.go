package policy

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestLineageIsTheMeet: whatever the rules and modes of two agents are, one that works
// for the other may do nothing that either may not.
func TestLineageIsTheMeet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tools := []string{"look", "change", "send"}
		effects := map[string]toolcrib.Effects{"look": reads, "change": writes, "send": toolcrib.Network}
		some := func(name string) []string { return rapid.SliceOfN(rapid.SampledFrom(tools), 0, 2).Draw(rt, name) }
		var layers []Layer
		mode := map[string]Mode{}
		for _, agent := range []string{"", "lead", "helper"} {
			mode[agent] = Mode(rapid.IntRange(0, 3).Draw(rt, "mode "+agent))
			layers = append(layers, Layer{Rank: RankUser, Source: agent, Agent: agent, Permissions: Permissions{Allow: some("allow " + agent), Ask: some("ask " + agent), Deny: some("deny " + agent)}})
		}
		rules, err := NewRules(layers, RuleOptions{Own: []string{"box"}})
		if err != nil {
			rt.Fatal(err)
		}
		live := &Live{}
		live.Set(&Policy{Rules: rules, Mode: func(c toolcrib.Call) Mode { return mode[c.Caller.Agent] }, Whole: &toolcrib.Grant{}})
		decide := func(agent, tool string) toolcrib.Decision {
			var all []toolcrib.Verdict
			r := toolcrib.Review{Call: toolcrib.Call{Tool: tool, Caller: toolcrib.Caller{Agent: agent}}, Input: json.RawMessage(`{}`),
				Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: tool, Effects: effects[tool]}, Box: "box", Native: tool}}
			for _, g := range live.Guards() {
				v, err := g.Judge(t.Context(), r)
				if err != nil {
					rt.Fatal(err)
				}
				if v != nil {
					all = append(all, *v)
				}
			}
			d, _ := cribtest.Decide(all)
			return d
		}
		for _, tool := range tools {
			for _, lead := range []string{"", "lead"} {
				want := min(decide(lead, tool), decide("helper", tool))
				if got := decide(lead+"/helper", tool); got != want {
					rt.Errorf("%s for %s/helper: %v; each alone: %v, %v", tool, lead, got, decide(lead, tool), decide("helper", tool))
				}
			}
			for _, agent := range []string{"lead/helper/lead", "//", "a/b/c/d"} {
				if got := decide(agent, tool); got != toolcrib.Deny {
					rt.Errorf("%s for %s: %v", tool, agent, got)
				}
			}
		}
	})
}

// TestPolicyAloneDeniesALineage: who asks a policy past [Live] gets nothing allowed.
func TestPolicyAloneDeniesALineage(t *testing.T) {
	p := &Policy{Mode: func(toolcrib.Call) Mode { return ModeYolo }, Whole: &toolcrib.Grant{}}
	for _, agent := range []string{"a/b", "/", "/b", "a/"} {
		call := toolcrib.Call{Tool: "look", Caller: toolcrib.Caller{Agent: agent}}
		v, err := p.Judge(t.Context(), toolcrib.Review{Call: call, Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "look", Effects: reads}, Box: "box", Native: "look"}, Input: json.RawMessage(`{}`)})
		if err != nil || v == nil || v.Decision != toolcrib.Deny {
			t.Errorf("%s: %v, %v", agent, v, err)
		}
		if p.Unasked(call) {
			t.Errorf("%s runs every line", agent)
		}
	}
}

// TestVisibleToALineage: a tool exists for a delegate if it exists for both.
func TestVisibleToALineage(t *testing.T) {
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "change", Effects: writes, Group: "fs"}, Box: "box", Native: "change"}
	for i, profiles := range []map[string]string{{"a": "full", "b": "full"}, {"a": "minimal", "b": "full"}, {"a": "full", "b": "minimal"}, {"a": "full"}} {
		v := &Visibility{Own: []string{"box"}, Profile: func(c toolcrib.Caller) []string { return []string{profiles[c.Agent]} }}
		if err := v.Prepare(); err != nil {
			t.Fatal(err)
		}
		caller := toolcrib.Caller{Agent: "a/b"}
		if got := v.Visible(caller, &spec); got != (i == 0) {
			t.Errorf("%v: %v", profiles, got)
		}
		if why := v.Why(caller, &spec); (why == "") != (i == 0) {
			t.Error(fmt.Sprint(profiles, why))
		}
		if v.Visible(toolcrib.Caller{Agent: "a/b/a"}, &spec) {
			t.Error("three deep")
		}
	}
}
