package host

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestFloatsOfAnySize: the contract says what is a float; what is an integer
// stays refused, as the field refuses it.
func TestFloatsOfAnySize(t *testing.T) {
	const big = "18446744073709551616"
	number := `{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"},"o":{"anyOf":[{"type":"number"},{"type":"null"}]},"l":{"type":"array","items":{"type":"number"}}},"additionalProperties":{"type":["number","null"]}}`
	for _, c := range []struct{ schema, value, want string }{
		{number, `{"n":` + big + `}`, `{"n":1.8446744073709552e+19}`},
		{number, `{"n":-` + big + `,"s":"x","i":18446744073709551615}`, `{"n":-1.8446744073709552e+19,"s":"x","i":18446744073709551615}`},
		{number, `{"z":1,"o":` + big + `,"l":[1,2.5,36893488147419103232]}`, `{"z":1,"o":1.8446744073709552e+19,"l":[1,2.5,3.6893488147419103e+19]}`},
		{number, `{"other":100000000000000000000}`, `{"other":1e+20}`},
		{number, ` { "n" : ` + big + ` , "k\u00e9\"" : [ ] } `, "{\"n\":1.8446744073709552e+19,\"ké\\\"\":[]}"},
		{number, `{"i":` + big + `}`, ""},
		{number, `{"n":1,"i":` + big + `}`, ""},
		{number, `{"n":` + big + `,"i":` + big + `}`, ""},
		{number, `{"n":` + strings.Repeat("9", 400) + `}`, ""},
		{`{"type":"number"}`, big, `{"result":1.8446744073709552e+19}`},
		{`{"type":"integer"}`, big, ""},
		{`{"type":"array","items":{"type":"number"}}`, `[` + big + `]`, `{"result":[1.8446744073709552e+19]}`},
		{`{"$ref":"#/$defs/P","$defs":{"P":{"properties":{"x":{"$ref":"#/$defs/N"}}},"N":{"type":"number"}}}`, `{"x":` + big + `}`, `{"x":1.8446744073709552e+19}`},
		{`{"$ref":"#/$defs/P","$defs":{"P":{"anyOf":[{"$ref":"#/$defs/P"}]}}}`, `{"x":` + big + `}`, ""},
		{`{"prefixItems":[{"type":"number"},{"type":"integer"}]}`, `[` + big + `,1]`, `{"result":[1.8446744073709552e+19,1]}`},
		{`{"prefixItems":[{"type":"number"},{"type":"integer"}]}`, `[1,` + big + `]`, ""},
		{`{"$ref":"#/$defs/P","$defs":{"P":{"anyOf":[` + strings.Repeat(`{"$ref":"#/$defs/P","title":"a"},{"$ref":"#/$defs/P"},`, 500) + `{}],"items":{"$ref":"#/$defs/P"}}}}`, strings.Repeat("[", 50) + big + strings.Repeat("]", 50), ""},
		{`true`, `{"n":` + big + `}`, ""},
		{``, `{"n":` + big + `}`, ""},
	} {
		got, err := object(&toolcrib.Result{Value: json.RawMessage(c.value)}, json.RawMessage(c.schema))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s as %.60s: %s, %v", c.value, c.schema, got, err)
		}
		if err != nil && !strings.Contains(c.value, "9999") && !errors.Is(err, errBigInteger) {
			t.Errorf("%s: %v", c.value, err)
		}
	}
}

// FuzzFloats: the value stays the same but for the form of its numbers, and
// stays JSON.
func FuzzFloats(f *testing.F) {
	f.Add([]byte(`{"a":[18446744073709551616,{"b":1}]}`), []byte(`{"properties":{"a":{"items":{"type":"number"}}}}`))
	f.Add([]byte(`[1e5,"x\ud800"]`), []byte(`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"number"}}}`))
	f.Fuzz(func(t *testing.T, value, schema []byte) {
		if !json.Valid(value) || len(value) > 4096 || len(schema) > 4096 {
			return
		}
		out := withFloats(value, schema)
		var before, after any
		if err := errors.Join(json.Unmarshal(value, &before), json.Unmarshal(out, &after)); err != nil {
			if json.Valid(out) {
				return // a number that no float holds
			}
			t.Fatalf("%s: %v", out, err)
		}
		a, errA := json.Marshal(before)
		b, errB := json.Marshal(after)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s became %s", a, b)
		}
	})
}
