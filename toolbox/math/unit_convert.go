package math

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
)

//go:embed unit_convert.md
var unitConvertText string

type unitIn struct {
	Value    float64 `json:"value" doc:"The number to convert."`
	FromUnit string  `json:"from_unit" doc:"The unit it is in, for example km, lb or celsius."`
	ToUnit   string  `json:"to_unit" doc:"The unit wanted, for example mi, kg or fahrenheit."`
}

type unitOut struct {
	Result   *float64 `json:"result" doc:"The converted number; null if there is none or it is out of range."`
	Special  string   `json:"special,omitempty" enum:"inf,-inf,nan" doc:"The result when it is an infinity or not a number."`
	FromUnit string   `json:"from_unit" doc:"The unit as it was given."`
	ToUnit   string   `json:"to_unit" doc:"The unit as it was given."`
	Category string   `json:"category" doc:"length, mass, volume, time, speed, area, data, temperature, or unknown."`
	Error    string   `json:"error,omitempty" doc:"Why there is no result."`
}

func unitConvert() toolcrib.Tool {
	return calculation("unit_convert", "Convert a unit", unitConvertText, func(_ context.Context, in unitIn) (unitOut, error) {
		c := convert(in.Value, in.FromUnit, in.ToUnit)
		out := unitOut{FromUnit: in.FromUnit, ToUnit: in.ToUnit, Category: c.category}
		if c.err != nil {
			out.Error = c.err.Error()
			return out, c.err
		}
		out.Result, out.Special = jsonNumber(c.value)
		return out, nil
	})
}
