package reach

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Judge says what would become of a call, also where the guards have nothing
// against it and the handles of the tool would refuse what it names.
func Judge(ctx context.Context, crib *toolcrib.Crib, call toolcrib.Call) (toolcrib.Judgement, error) {
	j, err := crib.Judge(ctx, call)
	if err != nil || j.Decision == toolcrib.Deny {
		return j, err
	}
	if j.Review.Spec.Box == mcphub.MetaName && j.Review.Spec.Native == "mcp_call" {
		return judgeInner(ctx, crib, j)
	}
	if err := Refuses(crib, &j); err != nil {
		why := toolcrib.Verdict{Guard: "grant", Rule: Setting(err), Decision: toolcrib.Deny, Reason: err.Error()}
		if no, ok := toolcrib.AsError(err); ok {
			why.Reason = no.Message
		}
		j.Decision, j.Verdicts = toolcrib.Deny, slices.Insert(j.Verdicts, 0, why)
	}
	return j, nil
}

// judgeInner says what would become of a call that calls another tool: it is the
// stricter of both.
func judgeInner(ctx context.Context, crib *toolcrib.Crib, outer toolcrib.Judgement) (toolcrib.Judgement, error) {
	var in struct {
		Tool      string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(outer.Review.Input, &in); err != nil {
		return outer, err
	}
	if in.Arguments == nil {
		in.Arguments = json.RawMessage("{}")
	}
	call := outer.Review.Call
	call.Tool, call.Input, call.ID, call.Parent = in.Tool, in.Arguments, "", call.ID
	inner, err := Judge(ctx, crib, call)
	if err != nil || inner.Decision <= outer.Decision { // deny is the least
		return inner, err
	}
	return outer, nil
}
