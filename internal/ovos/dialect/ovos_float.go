package dialect

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// A float of pydantic may also be no number and infinite, written as a text ("nan",
// " -Infinity ") or as a number that is too large (1e400). JSON has no such numbers,
// so that the native tools have none; what the original answers for them needs no
// calculation, and is given here.

// nonFinite is the form of such texts. Digits that are a number of JSON have become one
// by then.
const nonFinite = `^\s*[+-]?([nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[0-9]+\.?[0-9]*([eE]\+?[0-9]+)?)\s*$`

// laxFloats is the schema by which arguments are admitted: as it is shown, but that
// floats may be those texts.
func laxFloats(args []field) []field {
	lax := make([]field, len(args))
	for i, f := range args {
		if f.typ == "number" || f.typ == "[]number" {
			f.lax = true
		}
		lax[i] = f
	}
	return lax
}

// laxNumber is the schema of one float.
func laxNumber() []ordered {
	return []ordered{{{"type", "number"}}, {{"pattern", nonFinite}, {"type", "string"}}}
}

// shownInput is the schema of arguments as callers are shown it; nil: it is the one
// by which they are admitted.
func shownInput(s toolcrib.Entry) json.RawMessage {
	if s.Box != "math" {
		return nil
	}
	for _, t := range ovosClockAndMath() {
		if t.box == s.Box && t.name == s.Name && t.floats {
			return t.model(t.args)
		}
	}
	return nil
}

// float is an argument as pydantic reads it. It was admitted.
type float float64

// UnmarshalJSON reads a number of any size, and the texts of those that are none.
func (f *float) UnmarshalJSON(text []byte) error {
	word := strings.TrimSpace(string(text))
	if strings.HasPrefix(word, `"`) {
		if err := json.Unmarshal(text, &word); err != nil {
			return err
		}
		word = strings.TrimSpace(word)
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(n, 0) { // too large is infinite
		if word = strings.TrimLeft(word, "+-"); !strings.EqualFold(word, "nan") {
			return err
		}
		n = math.NaN()
	}
	*f = float(n)
	return nil
}

func (f float) finite() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

type ovosConvert struct {
	Value    float  `json:"value"`
	FromUnit string `json:"from_unit"`
	ToUnit   string `json:"to_unit"`
}

// ovosConvertIn has units looked at by the native tool for a number that stands in.
func ovosConvertIn(in ovosConvert) (any, error) {
	if !in.Value.finite() {
		in.Value = 1
	}
	return in, nil
}

func (t ovosTool) converted(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
	in, err := decoded[ovosConvert](input)
	out, projected := t.project(input, native)
	if err != nil || projected != nil || in.Value.finite() {
		return out, projected
	}
	var value map[string]json.RawMessage
	if err := json.Unmarshal(out.Value, &value); err != nil {
		return nil, err
	}
	value["result"] = json.RawMessage("null") // whatever the unit, it stays what it is
	return t.project(input, &toolcrib.Result{Value: mustJSON(value)})
}

type ovosStatistics struct {
	Numbers []float `json:"numbers"`
}

func (in ovosStatistics) finite() bool {
	for _, n := range in.Numbers {
		if !n.finite() {
			return false
		}
	}
	return true
}

func ovosStatisticsIn(in ovosStatistics) (any, error) {
	for i, n := range in.Numbers {
		if !n.finite() {
			in.Numbers[i] = 0
		}
	}
	return in, nil
}

// summarised: of a single number everything is that number. With more, the original
// stumbles over the deviation, and says how.
func (t ovosTool) summarised(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
	in, err := decoded[ovosStatistics](input)
	if err != nil || in.finite() {
		return t.project(input, native)
	}
	var number, failed any
	if len(in.Numbers) > 1 {
		number, failed = 0, "'float' object has no attribute 'numerator'"
	}
	return value(ordered{
		{"count", len(in.Numbers)}, {"mean", number}, {"median", number}, {"stdev", nil}, {"minimum", number}, {"maximum", number}, {"total", number}, {"error", failed},
	}), nil
}
