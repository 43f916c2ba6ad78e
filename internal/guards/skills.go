package guards

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// ActiveSkill is a skill that a session follows, and the tools that its author says it
// needs.
type ActiveSkill struct {
	Name  string
	Tools []string
}

// Skills has a person asked about calls that lie outside of what the skills of the
// session say they need. It never allows anything.
type Skills struct {
	Active func(toolcrib.Caller) []ActiveSkill
	// Rules are the rules that hold now, by which the lists are read.
	Rules func() *policy.Rules
	// Strict refuses instead of asking.
	Strict bool

	mu    sync.Mutex
	by    *policy.Rules // for which the lists below were read
	lists map[string]*policy.Claims
}

// besideSkills are boxes whose tools serve the following of a skill itself.
func besideSkills() []string { return []string{"skill", "finder", "interact", "artifact", "model"} }

// Judge implements [toolcrib.Guard].
func (g *Skills) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if slices.Contains(besideSkills(), r.Spec.Box) {
		return nil, nil
	}
	// Who works for another has no more than that one: what each session of a lineage
	// follows is held by itself.
	who := r.Call.Caller
	for {
		if v := g.judge(who, &r); v != nil {
			return v, nil
		}
		at := strings.LastIndex(who.Session, lineage.Sign)
		if at < 0 {
			return nil, nil
		}
		who.Session = who.Session[:at]
	}
}

// judge holds a call against what one session follows.
func (g *Skills) judge(who toolcrib.Caller, r *toolcrib.Review) *toolcrib.Verdict {
	var names, expected []string
	for _, s := range g.Active(who) {
		if len(s.Tools) == 0 {
			continue // it says nothing about tools
		}
		if g.claims(s.Tools).Has(r) {
			return nil
		}
		names = append(names, s.Name)
		for _, tool := range s.Tools {
			if !slices.Contains(expected, tool) {
				expected = append(expected, tool)
			}
		}
	}
	if names == nil {
		return nil
	}
	v := &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "skill", Rule: strings.Join(names, ", ")}
	said := "the skill " + names[0] + ", which is in use, names"
	if len(names) > 1 {
		said = "the skills " + strings.Join(names, ", ") + ", which are in use, name"
	}
	v.Reason = said + " other tools: " + strings.Join(expected, ", ")
	if g.Strict {
		v.Decision = toolcrib.Deny
		v.Reason += fmt.Sprintf("; end it with use_skill {\"name\": %q, \"active\": false} if you no longer follow it", names[0])
	}
	return v
}

// maxLists bounds what is kept of lists that were read.
const maxLists = 256

func (g *Skills) claims(tools []string) *policy.Claims {
	rules := g.Rules()
	key := strings.Join(tools, "\x00")
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by != rules || len(g.lists) > maxLists {
		g.by, g.lists = rules, map[string]*policy.Claims{}
	}
	c := g.lists[key]
	if c == nil {
		c = rules.Claims(tools)
		g.lists[key] = c
	}
	return c
}
