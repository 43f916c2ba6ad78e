package cribtest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
)

// Codes lists every code once, in a fixed order, for tables and their tests.
func Codes() []toolcrib.Code {
	return []toolcrib.Code{
		toolcrib.CodeInvalid, toolcrib.CodeNotFound, toolcrib.CodeDenied, toolcrib.CodeTimeout, toolcrib.CodeCancelled, toolcrib.CodeUnavailable, toolcrib.CodeConflict, toolcrib.CodeInternal,
	}
}

// Decide is what a crib makes of the verdicts of its guards: its decision, and the
// verdicts strictest first.
func Decide(verdicts []toolcrib.Verdict) (toolcrib.Decision, []toolcrib.Verdict) {
	tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: "decided"}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return toolcrib.Text("done"), nil
	}}
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	crib.Catalog.Load(context.Background(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("decided", tool)}})
	for i := range verdicts {
		crib.Guards = append(crib.Guards, GuardFunc(func(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) { return &verdicts[i], nil }))
	}
	j, err := crib.Judge(context.Background(), toolcrib.Call{Tool: tool.Name})
	if err != nil {
		return toolcrib.Deny, []toolcrib.Verdict{{Reason: err.Error()}} // it has no input that could be bad
	}
	return j.Decision, slices.Clone(j.Verdicts)
}
