package dialect

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/toolbox/math"
)

// TestFloatsThatAreNoNumbers: what stands here was answered by the original with pydantic
// 2 and Python 3.11; on the wire its nan and inf are null.
func TestFloatsThatAreNoNumbers(t *testing.T) {
	box, err := math.Open(t.Context(), math.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{}, Log: slog.New(slog.DiscardHandler)}}
	if _, faults := r.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}, Adapters: Adapters(Options{})}); faults != nil {
		t.Fatal(faults)
	}
	convert := func(value any, from, to string) string {
		return r.say(t, OVOS, "unit_convert", map[string]any{"value": value, "from_unit": from, "to_unit": to})
	}
	for _, text := range []string{"nan", "NaN", "NAN", "inf", "-inf", "+inf", "Infinity", "infinity", "INF", " inf ", " nan", "1e400", "-1e400", "+nan", "-nan", "\tinf\n", "iNf", "INFINITY", "-Infinity"} {
		if got := convert(text, "km", "m"); got != `{"result":null,"from_unit":"km","to_unit":"m","category":"length","error":null}` {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := convert(json.RawMessage("1e400"), "celsius", "kelvin"); got != `{"result":null,"from_unit":"celsius","to_unit":"kelvin","category":"temperature","error":null}` {
		t.Errorf("1e400: %s", got)
	}
	if got := convert("nan", "m", "kg"); got != `{"result":null,"from_unit":"m","to_unit":"kg","category":"length","error":"Incompatible categories: 'length' vs 'mass'"}` {
		t.Errorf("units that do not fit: %s", got)
	}
	for _, text := range []any{"infin", "_1", "inf_", "0x10", "", " ", "nan(1)", "٣", "1__0", "1_", "1e", "i nf", nil, []any{}, map[string]any{}} {
		if got := convert(text, "km", "m"); !strings.HasPrefix(got, "refused: ValueError: Tool input validation failed for 'unit_convert'") {
			t.Errorf("%q: %s", text, got)
		}
	}
	for text, want := range map[string]string{"1_0": "10000", "1e-400": "0", "1.": "1000", ".5": "500", "+.5": "500", "1_000.5": "1000500", "  1e3  ": "1000000"} {
		if got := convert(text, "km", "m"); !strings.HasPrefix(got, `{"result":`+want+`,`) {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := convert(true, "km", "m"); !strings.HasPrefix(got, `{"result":1000,`) {
		t.Errorf("true: %s", got)
	}
	const stumbles = `"mean":0,"median":0,"stdev":null,"minimum":0,"maximum":0,"total":0,"error":"'float' object has no attribute 'numerator'"}`
	for input, want := range map[string]string{
		`["nan"]`:            `{"count":1,"mean":null,"median":null,"stdev":null,"minimum":null,"maximum":null,"total":null,"error":null}`,
		`["inf"]`:            `{"count":1,"mean":null,"median":null,"stdev":null,"minimum":null,"maximum":null,"total":null,"error":null}`,
		`[1,"nan"]`:          `{"count":2,` + stumbles,
		`[3,1,"-inf","2"]`:   `{"count":4,` + stumbles,
		`["1e400",1e400, 1]`: `{"count":3,` + stumbles,
		`["1","2"]`:          `{"count":2,"mean":1.5,"median":1.5,"stdev":0.7071067811865476,"minimum":1,"maximum":2,"total":3,"error":null}`,
		`[]`:                 `{"count":0,"mean":0,"median":0,"stdev":null,"minimum":0,"maximum":0,"total":0,"error":"Empty list provided."}`,
	} {
		if got := r.say(t, OVOS, "statistics_summary", map[string]any{"numbers": json.RawMessage(input)}); got != want {
			t.Errorf("%s: %s", input, got)
		}
	}
	// Only integers of pydantic refuse them, and the native tools, whose numbers are JSON's.
	if got := r.say(t, "", "unit_convert", map[string]any{"value": "nan", "from_unit": "km", "to_unit": "m"}); !strings.HasPrefix(got, "refused: ") {
		t.Errorf("the native tool takes nan: %s", got)
	}
	// Callers are shown what the original shows.
	for spec := range r.Tools(toolcrib.Caller{Dialect: OVOS}) {
		if strings.Contains(text(t, OVOSContract(spec, "x")), "pattern") {
			t.Errorf("%s is shown with more than its contract", spec.Name)
		}
	}
}

// FuzzFloat: whatever is admitted is read.
func FuzzFloat(f *testing.F) {
	for _, seed := range []string{`"nan"`, `" -Infinity "`, `1e400`, `-1e400`, `"+nan"`, `0`, `"x"`, `""`, `"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var n float
		if err := json.Unmarshal(text, &n); err != nil {
			return
		}
		if s := strings.TrimSpace(string(text)); s == "null" || s == "true" {
			t.Errorf("%s is read as %v", text, n)
		}
	})
}
