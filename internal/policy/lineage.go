package policy

import (
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
)

// maxLineage is how many agents may stand in a lineage: one that a person has work, and
// one that it puts to work.
const maxLineage = 2

// asOne judges a call as one of those in the lineage of its agent. There is one for
// each place in it, and a crib takes the strictest verdict and the meet of all grants, so
// that a delegate may do what each of them may, and nothing else has to know of two.
type asOne struct {
	toolcrib.Guard
	at int
}

// asEach has each of the guards judge once for every place in a lineage.
func asEach(guards ...toolcrib.Guard) []toolcrib.Guard {
	out := make([]toolcrib.Guard, 0, maxLineage*len(guards))
	for at := range maxLineage {
		for _, g := range guards {
			out = append(out, asOne{g, at})
		}
	}
	return out
}

// Judge implements [toolcrib.Guard].
func (m asOne) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	agent := r.Call.Caller.Agent
	if !lineage.Delegate(agent) {
		if m.at > 0 {
			return nil, nil
		}
		return m.Guard.Judge(ctx, r)
	}
	names := lineage.Names(agent)
	if len(names) > maxLineage {
		return &toolcrib.Verdict{Guard: "rules", Rule: "lineage", Reason: "who is put to work puts nobody to work"}, nil
	}
	r.Call.Caller.Agent = names[m.at]
	v, err := m.Guard.Judge(ctx, r)
	if v == nil || err != nil || v.Decision == toolcrib.Allow || names[m.at] == "" {
		return v, err
	}
	said := *v
	said.Reason = "agent " + names[m.at] + ": " + v.Reason
	return &said, nil
}
