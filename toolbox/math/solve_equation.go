package math

import (
	"context"
	_ "embed" // the description
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed solve_equation.md
var solveEquationText string

type solveIn struct {
	Equation string `json:"equation" doc:"An expression in x that shall be zero, in Python syntax: x**2 - 4 for x squared equals 4. At most 10000 bytes."`
}

type solveOut struct {
	Solutions []float64 `json:"solutions" doc:"The real solutions in ascending order, each once."`
	Exact     []string  `json:"exact,omitempty" doc:"The solutions in closed form, in the same order; empty where only the decimal is known."`
	Equation  string    `json:"equation" doc:"The equation as it was given."`
	Method    string    `json:"method" enum:"symbolic,numeric" doc:"symbolic: all real solutions, exact or rounded correctly; numeric: calculated in floats."`
	Identity  bool      `json:"identity,omitempty" doc:"Every x is a solution; solutions is empty then."`
	Note      string    `json:"note,omitempty" doc:"What to know about the list."`
	Error     string    `json:"error,omitempty" doc:"Why the equation cannot be solved."`
}

const (
	symbolic = "symbolic"
	numeric  = "numeric"
)

func solveEquation() toolcrib.Tool {
	return calculation("solve_equation", "Solve an equation", solveEquationText, func(ctx context.Context, in solveIn) (solveOut, error) {
		return solveText(ctx, in.Equation)
	})
}

// solveText solves an equation that is written as an expression equal to
// zero.
func solveText(ctx context.Context, equation string) (solveOut, error) {
	out := solveOut{Solutions: []float64{}, Equation: equation, Method: symbolic}
	n, err := parse(equation, true)
	if err != nil {
		return out.failed(advised(equation, err))
	}
	a, err := solve(ctx, n)
	if err != nil {
		return out.failed(advised(equation, err))
	}
	if a.numeric {
		out.Method = numeric
	}
	if a.identity {
		out.Identity = true
		out.Note = "every x is a solution"
		if a.scanned {
			out.Note = "every x between -1000 and 1000 appears to be a solution"
		}
		return out, nil
	}
	xs, forms, huge := a.list()
	out.Solutions = append(out.Solutions, xs...)
	notes := a.notes
	known := 0
	for _, f := range forms {
		if f != "" {
			known++
		}
	}
	if !a.numeric && known > 0 {
		out.Exact = forms
	}
	switch {
	case a.scanned && len(xs) == 0:
		notes = append(notes, "no real solution found between -1000 and 1000")
	case a.scanned:
		notes = append(notes, noteInterval)
	case len(xs) == 0 && !huge:
		notes = append(notes, "there is no real solution")
	case !a.numeric && known < len(xs):
		notes = append(notes, "solutions without a closed form are given as decimals, rounded correctly")
	}
	if huge {
		notes = append(notes, "a solution that is too large for a float is left out")
	}
	out.Note = strings.Join(notes, "; ")
	return out, nil
}

// failed is an answer without solutions. The search is what gives up last,
// so the method is said to be numeric.
func (out solveOut) failed(err error) (solveOut, error) {
	out.Method = numeric
	out.Error = err.Error()
	return out, err
}

// advised adds what to do about the commonest mistake, an equals sign.
func advised(equation string, err error) error {
	tokens, _ := lex(pyStrip(equation), true)
	for _, t := range tokens {
		if t.kind == tokOp && (t.text == "=" || t.text == "==") {
			return fmt.Errorf(`%w; write the equation as one expression that is equal to zero, without "=": x**2 - 4 for x**2 = 4`, err)
		}
	}
	return err
}
