package math

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
)

//go:embed evaluate_expression.md
var evaluateExpressionText string

type evaluateIn struct {
	Expression string `json:"expression" doc:"The expression, in Python syntax, for example 2 * (3 + 4) ** 2 or sqrt(2) / log(10). At most 10000 bytes."`
}

type evaluateOut struct {
	Result     *float64 `json:"result" doc:"The value; null if there is none or JSON has no number for it."`
	Special    string   `json:"special,omitempty" enum:"inf,-inf,nan" doc:"The value when it is an infinity or not a number."`
	Expression string   `json:"expression" doc:"The expression as it was given."`
	Error      string   `json:"error,omitempty" doc:"Why there is no value."`
}

func evaluateExpression() toolcrib.Tool {
	return calculation("evaluate_expression", "Evaluate an expression", evaluateExpressionText, func(_ context.Context, in evaluateIn) (evaluateOut, error) {
		out := evaluateOut{Expression: in.Expression}
		n, err := parse(in.Expression, false)
		if err == nil {
			var v float64
			if v, err = evaluate(n); err == nil {
				out.Result, out.Special = jsonNumber(v)
				return out, nil
			}
		}
		out.Error = err.Error()
		return out, err
	})
}
