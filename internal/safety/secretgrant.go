package safety

import (
	"context"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// SecretGrant leaves every tool the secrets it was granted, by name, and no
// other. It decides nothing: whether a tool may run at all is for others to
// say.
type SecretGrant struct {
	// Names has the secrets of a tool, written box/tool, and of all tools of a
	// box, written box. Nil: no tool has any. A * is every name.
	Names map[string][]string
	// Whole is the most that any call may get. All of it but the secrets stays
	// as it is. Nil: nothing is left of a call that could use secrets.
	Whole *toolcrib.Grant
}

// Granted lists the secrets of one tool.
func (g *SecretGrant) Granted(box, tool string) []string {
	names := slices.Concat(g.Names[box], g.Names[box+"/"+tool])
	slices.Sort(names)
	return slices.Compact(names)
}

// All lists the secrets that any tool has.
func (g *SecretGrant) All() []string {
	var names []string
	for _, list := range g.Names {
		names = append(names, list...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Judge implements [toolcrib.Guard]. It has nothing to say to a tool that
// declares to use no secrets: such a one gets no handle on them.
func (g *SecretGrant) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Effects.All()&toolcrib.UsesSecrets == 0 {
		return nil, nil
	}
	var left toolcrib.Grant
	if g.Whole != nil {
		left = *g.Whole
	}
	left.Secrets = g.Granted(r.Spec.Box, r.Spec.Native)
	v := &toolcrib.Verdict{Decision: toolcrib.Allow, Note: true, Guard: "vault", Grant: &left, Reason: "no secret is granted to it"}
	if len(left.Secrets) > 0 {
		v.Rule, v.Reason = "vault.grants", "it gets the secrets "+strings.Join(left.Secrets, ", ")
	}
	return v, nil
}
