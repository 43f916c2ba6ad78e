// Package math is the toolbox of exact and floating-point calculation:
// evaluating expressions, converting units, summarising numbers, solving
// equations in one unknown.
//
// It is for whoever wires up a crib (one line in the list of kinds); other
// toolboxes never import it. Its one invariant: nothing of what it is given
// is ever run as code, and the work done on any input is bounded.
//
// Expressions are read by the grammar of Python 3.11 and computed as Python
// computes floats, down to the texts of its errors, because that is what
// models write and what the OpenVoiceOS tools of the same names answer.
package math

import (
	"context"
	"math"

	"github.com/toolcrib/toolcrib"
)

// Config is what can be set about the box: nothing so far.
type Config struct{}

// Open makes the box. It needs nothing from outside.
func Open(context.Context, Config) (toolcrib.Toolbox, error) {
	return toolcrib.NewBox("math",
		evaluateExpression(),
		unitConvert(),
		statisticsSummary(),
		solveEquation(),
	), nil
}

// calculation makes one of the tools, which all only calculate.
func calculation[In, Out any](name, title, description string, run func(context.Context, In) (Out, error)) toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: name, Title: title, Description: description, Effects: toolcrib.Pure, Idempotent: true, Group: "math", // what profiles select them by
	}, func(ctx context.Context, _ *toolcrib.Env, in In) (Out, error) { return run(ctx, in) })
}

// jsonNumber is x as JSON can carry it: null and a word for what is no
// number there.
func jsonNumber(x float64) (*float64, string) {
	switch {
	case math.IsNaN(x):
		return nil, "nan"
	case math.IsInf(x, 1):
		return nil, "inf"
	case math.IsInf(x, -1):
		return nil, "-inf"
	}
	return &x, ""
}
