package dialect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// ovosTool is a tool of the OpenVoiceOS toolboxes: the exact contract that
// goes over its bus, and the native tool that does the work.
type ovosTool struct {
	box, native string
	name, doc   string
	argsDoc     string // only where it is not the usual sentence
	args, out   []field
	result      func(value map[string]json.RawMessage) // mends what differs from the native value
	floats      bool                                   // it takes floats that are no numbers; see laxFloats

	// For tools whose shape is too far from the native one; nil for the others.
	in      func(input json.RawMessage) (json.RawMessage, error)
	answer  func(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error)
	refused func(input json.RawMessage, e *toolcrib.Error) *toolcrib.Result
}

func errorField(what string) field {
	return field{name: "error", typ: "string?", doc: "Error message, if " + what + " failed.", def: "null"}
}

const calculator = "Supports %s+, -, *, /, //, %%, **%s functions: abs, round, sqrt, ceil, floor, log, log10, log2, exp, sin, cos, tan, asin, acos, atan, atan2, degrees, radians, factorial, gcd, lcm. Constants: pi, e, tau, inf."

func ovosTools(opt Options) []ovosTool {
	return slices.Concat(ovosClockAndMath(), ovosFiles(opt), ovosSearch(opt), ovosShell(opt), ovosWeb())
}

func ovosClockAndMath() []ovosTool {
	return []ovosTool{
		{
			box: "clock", native: "get_current_datetime", name: "get_current_datetime",
			doc:     "Return the current system date and time in ISO-8601 format.",
			argsDoc: "Arguments for ``get_current_datetime`` (none required).",
			out: []field{
				{name: "iso", typ: "string", doc: "Full ISO-8601 datetime string."},
				{name: "date", typ: "string", doc: "Date portion (YYYY-MM-DD)."},
				{name: "time", typ: "string", doc: "Time portion (HH:MM:SS)."},
				{name: "timezone", typ: "string", doc: "System timezone name or offset."},
			},
		},
		{
			box: "math", native: "evaluate_expression", name: "evaluate_expression",
			doc:  "Evaluate a mathematical expression and return its numeric result. " + fmt.Sprintf(calculator, "arithmetic operators (", ") and") + " Safe — no eval().",
			args: []field{{name: "expression", typ: "string", doc: "A mathematical expression to evaluate. " + fmt.Sprintf(calculator, "", ", and")}},
			out: []field{
				{name: "result", typ: "number", doc: "Numeric result of the expression."},
				{name: "expression", typ: "string", doc: "The original expression string."},
				errorField("evaluation"),
			},
		},
		{
			box: "math", native: "unit_convert", name: "unit_convert",
			doc: "Convert a numeric value between measurement units. Supported categories: length (mm/cm/m/km/in/ft/yd/mi), mass (mg/g/kg/t/oz/lb), volume (ml/l/tsp/tbsp/cup/pt/qt/gal), time (ns/ms/s/min/h/d/week/year), speed (m/s/km/h/mph/knot), area (m2/km2/ha/acre/sqft), data (bit/byte/KB/MB/GB/TB), temperature (celsius/fahrenheit/kelvin).",
			args: []field{
				{name: "value", typ: "number", doc: "Numeric value to convert."},
				{name: "from_unit", typ: "string", doc: "Source unit (e.g. 'km', 'lb', 'celsius')."},
				{name: "to_unit", typ: "string", doc: "Target unit (e.g. 'mi', 'kg', 'fahrenheit')."},
			},
			out: []field{
				{name: "result", typ: "number", doc: "Converted value."},
				{name: "from_unit", typ: "string", doc: "Source unit."},
				{name: "to_unit", typ: "string", doc: "Target unit."},
				{name: "category", typ: "string", doc: "Measurement category (length, mass, …)."},
				errorField("conversion"),
			},
			floats: true, in: translated(ovosConvertIn),
		},
		{
			box: "math", native: "statistics_summary", name: "statistics_summary",
			doc:  "Compute descriptive statistics for a list of numbers: count, mean, median, standard deviation, min, max, and sum.",
			args: []field{{name: "numbers", typ: "[]number", doc: "List of numeric values to summarise."}},
			out: []field{
				{name: "count", typ: "integer", doc: "Number of values."},
				{name: "mean", typ: "number", doc: "Arithmetic mean."},
				{name: "median", typ: "number", doc: "Median value."},
				{name: "stdev", typ: "number?", doc: "Sample standard deviation (None when count < 2).", def: "null"},
				{name: "minimum", typ: "number", doc: "Minimum value."},
				{name: "maximum", typ: "number", doc: "Maximum value."},
				{name: "total", typ: "number", doc: "Sum of all values."},
				errorField("computation"),
			},
			floats: true, in: translated(ovosStatisticsIn),
		},
		{
			box: "math", native: "solve_equation", name: "solve_equation",
			doc:  "Solve an equation f(x) = 0 for x. Express the equation as a Python expression equal to zero (e.g. 'x**2 - 4' for x²=4, '2*x + 6' for 2x=-6). Uses sympy for exact symbolic solutions when available; falls back to numeric root-finding otherwise.",
			args: []field{{name: "equation", typ: "string", doc: "An equation to solve for 'x', written as a Python expression equal to zero (e.g. 'x**2 - 4' solves x²=4, '2*x + 6' solves 2x=-6). Requires sympy for exact symbolic solutions; falls back to numeric root-finding otherwise."}},
			out: []field{
				{name: "solutions", typ: "[]number", doc: "Real-valued solutions for x."},
				{name: "equation", typ: "string", doc: "The original equation string."},
				{name: "method", typ: "string", doc: "'symbolic' (sympy) or 'numeric' (fallback)."},
				errorField("solving"),
			},
			result: ovosSolutions,
		},
	}
}

// OVOSBox is the id of a native box on the bus; boxes OpenVoiceOS does not
// know are served under their own name.
func OVOSBox(box string) string { return cmp.Or(ovosBoxes()[box], box) }

func ovosBoxes() map[string]string {
	return map[string]string{
		"clock": "ovos-clock-tools", "math": "ovos-math-tools", "files": "ovos-filesystem-tools",
		"shell": "ovos-shell-tools", "web": "ovos-web-search-tools", "skill": "ovos-skill-md-toolbox",
	}
}

// OVOSOwner is the native box that has an id on the bus; empty: none has.
func OVOSOwner(id string) string {
	for box, of := range ovosBoxes() {
		if of == id {
			return box
		}
	}
	return ""
}

func ovosAdapters(opt Options) []toolcrib.Adapter {
	var list []toolcrib.Adapter
	for _, t := range ovosTools(opt) {
		out, args := t.answer, t.args
		switch {
		case t.floats && t.name == "unit_convert":
			out, args = t.converted, laxFloats(args)
		case t.floats:
			out, args = t.summarised, laxFloats(args)
		case out == nil:
			out = t.project
		}
		list = append(list, toolcrib.Adapter{
			Dialect: OVOS, Box: t.box, Native: t.native,
			Spec: toolcrib.Spec{
				Name: t.name, Description: t.doc,
				Input:  t.model(args),
				Output: model(className(t.name)+"Output", "Output of ``"+t.name+"``.", t.out),
			},
			In: t.in, Out: out, Refused: t.refused,
		})
	}
	return list
}

// model is the schema of the arguments.
func (t ovosTool) model(args []field) json.RawMessage {
	return model(className(t.name)+"Args", cmp.Or(t.argsDoc, "Arguments for ``"+t.name+"``."), args)
}

// project gives exactly the fields of the dialect's output, null for what the
// native value does not have. These tools answer in band: a failed native
// result with a value is an ordinary answer whose error field is set.
func (t ovosTool) project(_ json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
	if native.Value == nil {
		return nil, errors.New(failure(native))
	}
	var value map[string]json.RawMessage
	if err := json.Unmarshal(native.Value, &value); err != nil {
		return nil, err
	}
	if t.result != nil {
		t.result(value)
	}
	out := append(make([]byte, 0, len(native.Value)+64), '{')
	for i, f := range t.out {
		if i > 0 {
			out = append(out, ',')
		}
		v := value[f.name]
		if v == nil {
			v = json.RawMessage("null")
		}
		out = append(append(append(out, '"'), f.name...), `":`...) // names of fields need no escapes
		out = append(out, v...)
	}
	return &toolcrib.Result{Value: append(out, '}')}, nil
}

// ovosSolutions gives what the numeric search of the original would: every
// integer it tries where each one is a solution, and no error for an equation
// that parses but cannot be evaluated anywhere. Our own bounds ("the equation
// needs too much work") are told: silence there would be a wrong answer.
func ovosSolutions(value map[string]json.RawMessage) {
	if string(value["identity"]) == "true" {
		all := make([]float64, 0, 2001)
		for x := -1000; x <= 1000; x++ {
			all = append(all, float64(x))
		}
		value["solutions"] = mustJSON(all)
		value["method"] = mustJSON("numeric")
	}
	var text string
	if json.Unmarshal(value["error"], &text) == nil && !strings.HasPrefix(text, "Syntax error: ") && !strings.HasPrefix(text, "the equation ") {
		delete(value, "error")
	}
}

// OVOSContract is the contract of a tool whose box has this id on the bus.
func OVOSContract(s toolcrib.Entry, id string) any {
	if shown := shownInput(s); shown != nil {
		s.Input = shown
	}
	return ordered{
		{"name", s.Name}, {"description", s.Description},
		{"argument_schema", s.Input}, {"output_schema", s.Output}, {"toolbox_id", id},
	}
}

// OVOSError words a refusal of a box with this id as the Python host does. That host
// hides the cause; here it follows.
func OVOSError(e *toolcrib.Error, id string) string {
	text := fmt.Sprintf("RuntimeError: Tool execution failed for '%s' in ToolBox '%s'", e.Tool, id)
	switch e.Code {
	case toolcrib.CodeInvalid:
		text = fmt.Sprintf("ValueError: Tool input validation failed for '%s' in ToolBox '%s'", e.Tool, id)
	case toolcrib.CodeNotFound:
		text = fmt.Sprintf("Unknown tool: '%s'", e.Tool)
	}
	if e.Message == "" {
		return text
	}
	return text + ": " + e.Message
}
