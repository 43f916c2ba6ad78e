package schema

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/text"
)

// goldenValue turns a Python literal of the golden table into JSON.
func goldenValue(t *testing.T, python string) string {
	t.Helper()
	switch python {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None":
		return "null"
	}
	text := strings.NewReplacer("'", `"`, "True", "true").Replace(python)
	if !json.Valid([]byte(text)) {
		t.Fatalf("cannot read %s of the table", python)
	}
	return text
}

// TestCoercionTable holds lenient admission against what pydantic was recorded to do. Every cell of the table is a value
// and what it became, or ERR.
func TestCoercionTable(t *testing.T) {
	text, err := os.ReadFile("testdata/pydantic_coercion.txt")
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]string{
		"I": `{"type":"integer"}`, "F": `{"type":"number"}`, "S": `{"type":"string"}`, "B": `{"type":"boolean"}`,
		"L": `{"type":"array","items":{"type":"number"}}`, "O": `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
	}
	cells, conversions := 0, 0
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if line == "" {
			continue
		}
		row, rest, _ := strings.Cut(line, " ")
		s := compiled(t, schemas[row])
		for cell := range strings.SplitSeq(strings.TrimSpace(rest), "  ") {
			value, want, ok := strings.Cut(cell, "->")
			if !ok {
				value, ok = strings.CutSuffix(cell, ":ERR")
			}
			if !ok {
				t.Fatalf("row %s: cannot read the cell %q", row, cell)
			}
			switch want {
			case "nan", "inf", "-inf":
				want = "" // JSON has no such numbers: here they are errors
			}
			cells++
			input := goldenValue(t, value)
			out, problems := s.Admit(parsed(t, input), Options{Lenient: true})
			if want == "" {
				if problems == nil {
					t.Errorf("%s %s: admitted as %s", row, cell, out)
				}
				continue
			}
			if problems != nil {
				t.Errorf("%s %s: refused: %v", row, cell, problems)
				continue
			}
			if string(out) != input {
				conversions++
			}
			if !sameAs(t, row, string(out), goldenValue(t, want)) {
				t.Errorf("%s %s: admitted as %s", row, cell, out)
			}
		}
	}
	t.Logf("%d cells, %d conversions", cells, conversions)
	if cells < 280 || conversions < 30 {
		t.Errorf("only %d cells with %d conversions: the table was not read", cells, conversions)
	}
}

// sameAs compares an admitted text with the table. Integers must be plain, numbers must be the same float64.
func sameAs(t *testing.T, row, got, want string) bool {
	t.Helper()
	switch row {
	case "F":
		x, errX := strconv.ParseFloat(got, 64)
		y, errY := strconv.ParseFloat(want, 64)
		return errX == nil && errY == nil && x == y
	case "L":
		var x, y []float64
		if json.Unmarshal([]byte(got), &x) != nil || json.Unmarshal([]byte(want), &y) != nil || len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	return got == want
}

func TestStringToNumber(t *testing.T) {
	for _, c := range []struct{ text, integer, number string }{
		{"3", "3", "3"}, {"+3", "3", "3"}, {"-3", "-3", "-3"}, {"\t3\n", "3", "3"}, {"007", "7", "7"}, {"-0", "0", "-0"}, {"000", "0", "0"}, {"3.000", "3", "3.000"},
		{"3.", "", "3"}, {".5", "", "0.5"}, {"-.5", "", "-0.5"}, {".", "", ""}, {"-", "", ""}, {"+", "", ""}, {"", "", ""}, {" ", "", ""}, {"+-3", "", ""}, {"- 3", "", ""},
		{"1_000", "1000", "1000"}, {"1_0.0_0", "10", "10.00"}, {"_1", "", ""}, {"1_", "", ""}, {"1__0", "", ""}, {"1_.0", "", ""},
		{"1e3", "", "1e3"}, {"1E+3", "", "1e+3"}, {"1e", "", ""}, {"1e3.0", "", ""}, {"1e400", "", ""}, {"1e-400", "", "1e-400"}, {"1e1_0", "", "1e10"}, {"0x10", "", ""}, {"1 2", "", ""},
		{"nan", "", ""}, {"inf", "", ""}, {"Infinity", "", ""}, {"٣", "", ""}, {"1e5x", "", ""}, {"99999999999999999999", "99999999999999999999", "99999999999999999999"},
		{strings.Repeat("9", maxDigits+1), "", ""},
	} {
		for integer, want := range map[bool]string{true: c.integer, false: c.number} {
			got, ok := stringToNumber([]byte(c.text), integer)
			if ok != (want != "") || ok && string(got) != want {
				t.Errorf("%q, integer %v: got %s %v, want %s", text.Clip(c.text, 30), integer, got, ok, want)
			}
			if ok && !json.Valid(got) {
				t.Errorf("%q became %s, which is not JSON", c.text, got)
			}
		}
	}
}
