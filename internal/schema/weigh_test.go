package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// doubled is a chain of definitions of which each applies the next twice.
func doubled(keyword string, n int) string {
	var b strings.Builder
	b.WriteString(`"$defs":{"d0":{"type":["object","number"],"minimum":1}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `,"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i-1, i-1)
	}
	b.WriteString("}")
	return b.String()
}

// expression is a plausible contract: a tree of operations, told apart by a constant.
func expression(more string) string {
	op := func(name string) string {
		return `{"type":"object","properties":{"op":{"const":"` + name + `"},"left":{"$ref":"#/$defs/e"},"right":{"$ref":"#/$defs/e"}},"required":["op"]}`
	}
	return `{"type":"object","properties":{"expr":{"$ref":"#/$defs/e"},"unit":{"type":"string"}},` + more +
		`,"$defs":{"e":{"anyOf":[{"type":"number"},` + op("add") + `,` + op("mul") + `,` + op("pow") + `]}}}`
}

func operations(n int, leaf string) string {
	return `{"expr":` + strings.Repeat(`{"op":"pow","right":1,"left":`, n) + leaf + strings.Repeat(`}`, n) + `}`
}

func many(n int, sep string, item func(int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = item(i)
	}
	return strings.Join(list, sep)
}

type weighCase struct{ name, schema, value string }

func weighCases() []weighCase {
	nested := func(n int, open, leaf, end string) string {
		return strings.Repeat(open, n) + leaf + strings.Repeat(end, n)
	}
	return []weighCase{
		{"expression, valid", expression(`"unevaluatedProperties":false`), operations(7, "1")},
		{"expression, invalid", expression(`"unevaluatedProperties":false`), operations(7, `"x"`)},
		{"allOf doubled", slowly(`{"$ref":"#/$defs/d12",` + doubled("allOf", 12) + `}`), `0`},
		{"anyOf doubled", slowly(`{"$ref":"#/$defs/d12",` + doubled("anyOf", 12) + `}`), `0`},
		{"oneOf doubled", slowly(`{"$ref":"#/$defs/d12",` + doubled("oneOf", 12) + `}`), `{"a":1}`},
		{"not nested", slowly(`{"not":{"not":{"not":{"$ref":"#/$defs/d8"}}},` + doubled("anyOf", 8) + `}`), `{"a":1,"b":2}`},
		{"two ways down", slowly(`{"properties":{"c":{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"v":{"type":"integer"}}}`), nested(9, `{"c":[`, `{"v":"x"}`, `]}`)},
		{"wide and deep", slowly(`{"properties":{"c":{"items":{"$ref":"#"}},"v":{"type":"integer"}}}`), nested(40, `{"v":1.5,"c":[`, many(2000, ",", func(i int) string { return fmt.Sprintf(`{"v":%d}`, i) }), `]}`)},
		{"deep, all wrong", slowly(`{"items":{"anyOf":[{"$ref":"#"},{"type":"string"}]},"maxItems":0}`), nested(120, `[`, ``, `]`)},
		{"wide object", `{"properties":{"a":{}},"unevaluatedProperties":false}`, `{` + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"wide object, in place", `{"allOf":[{"anyOf":[{"minProperties":1},{"properties":{"a":{}}}]},{"oneOf":[{"required":["k1"]},{"required":["x"]}]}],"unevaluatedProperties":{"type":"integer"}}`, `{` + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"unevaluated items", `{"anyOf":[{"prefixItems":[{}]},{"contains":{"type":"string"}}],"unevaluatedItems":{"type":"number","multipleOf":0.5}}`, `[` + many(5000, ",", func(i int) string { return fmt.Sprintf(`%d.5`, i) }) + `]`},
		{"unevaluated items alone", `{"prefixItems":[{"type":"string"}],"unevaluatedItems":{"type":"integer","minimum":0}}`, `[` + many(5000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"dependencies", slowly(`{"$ref":"#/$defs/d9","$defs":{"d0":{"maxProperties":1},` + many(9, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"dependentSchemas":{"a":{"$ref":"#/$defs/d%d"}},"dependencies":{"b":{"$ref":"#/$defs/d%d"}}}`, i+1, i, i)
		}) + `}}`), `{"a":1,"b":2}`},
		{"names", slowly(`{"propertyNames":{"allOf":[{"minLength":1},{"anyOf":[{"maxLength":1},{"pattern":"k"}]}]}}`), `{` + many(2000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"a tuple", slowly(`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[{"type":"integer"}],"additionalItems":{"allOf":[{"minimum":0},{"type":"integer"}]}}`), `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"contains", slowly(`{"contains":{"type":"integer","maximum":5},"minContains":10}`), `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"a condition", slowly(`{"items":{"if":{"allOf":[{"minimum":0},{"minimum":-1},{"minimum":-2}]},"then":{"type":"integer"}}}`), `[` + many(2000, ",", func(i int) string { return fmt.Sprint(i) }) + `]`},
		{"unique numbers", slowly(`{"uniqueItems":true}`), `[` + many(5000, ",", func(i int) string { return fmt.Sprintf(`%d.25e3`, i) }) + `]`},
		{"unique objects", slowly(`{"items":{"uniqueItems":true}}`), `[` + many(60, ",", func(i int) string {
			return `[` + many(20, ",", func(j int) string { return fmt.Sprintf(`{"a":[1,2,%d]}`, j) }) + `]`
		}) + `]`},
		{"enum of numbers", slowly(`{"items":{"enum":[` + many(150, ",", func(i int) string { return fmt.Sprint(i) }) + `]}}`), `[` + many(150, ",", func(i int) string { return fmt.Sprintf(`%d.0`, i+140) }) + `]`},
		{"enum of objects", slowly(`{"items":{"enum":[` + many(50, ",", func(i int) string { return fmt.Sprintf(`{"a":[1,2,3,{"b":%d}]}`, i) }) + `]}}`), `[` + many(300, ",", func(i int) string { return fmt.Sprintf(`{"a":[1,2,3,{"b":%d}]}`, i) }) + `]`},
		{"long string", slowly(`{"allOf":[` + many(50, ",", func(i int) string { return fmt.Sprintf(`{"minLength":%d}`, i) }) + `]}`), `"` + strings.Repeat("k", 100_000) + `"`},
		{"pattern", slowly(`{"pattern":"(a|aa|aaa)+(b|c)*(.*x.*){1,20}$"}`), `"` + strings.Repeat("a", 20_000) + `"`},
		{"pattern of names", slowly(`{"patternProperties":{"(a|aa)+$":{},"k.*1.*z":{},"^k":{"type":"integer"}},"propertyNames":{"pattern":"(.*9.*){1,3}"}}`), `{` + many(2000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`},
		{"long numbers", slowly(`{"items":{"minimum":0.5,"multipleOf":0.01,"enum":[1e900,2e-900]}}`), `[` + many(300, ",", func(i int) string { return fmt.Sprintf(`%d.5e%d`, i, i%900) }) + `]`},
		{"conditions", slowly(`{"if":{"required":["a"]},"then":{"properties":{"a":{"$ref":"#"}}},"else":{"properties":{"b":{"$ref":"#"}}},"dependentSchemas":{"a":{"minProperties":1},"c":{"properties":{"a":{"$ref":"#"}}}}}`), nested(9, `{"c":1,"a":`, `{"b":{}}`, `}`)},
		{"a tree by $dynamicRef", `{"$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}`, nested(60, `{"c":[{},`, `{}`, `]}`)},
		{"two trees by $dynamicRef", `{"$id":"https://a.invalid/strict","$dynamicAnchor":"n","$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}}}`, nested(6, `{"c":[{},`, `{}`, `]}`)},
		{"a tree by $recursiveRef", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"c":{"items":{"$recursiveRef":"#"}}}}`, nested(60, `{"c":[{},`, `{}`, `]}`)},
		{"two trees by $recursiveRef", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://a.invalid/strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,"properties":{"c":{"items":{"$recursiveRef":"#"}}}}}}`, nested(3, `{"c":[{},`, `{}`, `]}`)},
		{"a schema as the value", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}},"$anchor":"x"}`, `{"s":` + nested(12, `{"properties":{"a":{"type":"string"},"b":{"anyOf":[`, nineSchema, `]}}}`) + `}`},
		{"an old schema as the value", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2019-09/schema"}},"$anchor":"x"}`, `{"s":` + nested(12, `{"properties":{"a":{"type":"string"},"b":{"anyOf":[`, `{}`, `]}}}`) + `}`},
		{"circles", slowly(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/c"}]},"c":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}}}`), `[1]`},
		{"a long way of references", slowly(`{"$ref":"#/$defs/d0","$defs":{"d1000":{"type":"string"},` + many(1000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) }) + `}}`), `1`},
	}
}

// measured is what judging a document really took, beside what was reckoned.
type measured struct {
	visits, units int   // reckoned
	applied       int   // subschemas that the other validator applied and did not leave at once
	bytes         int64 // that it allocated
	took          time.Duration
}

// measure has the other validator count: format is asked early in every subschema, right after the type.
func measure(t rapid.TB, schema, value []byte) (m measured, ok bool) {
	t.Helper()
	sd, err := Parse(schema, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	draft := draft2020
	if v, ok := sd.Root().Member("$schema"); ok {
		draft = draftOf(string(v.Str()))
	}
	f, err := newFullCompiler(sd, draft)
	if err != nil {
		return m, false
	}
	c, load, err := f.compile(0)
	if err != nil {
		return m, false
	}
	for c := range f.scales.made {
		if c.Bool == nil {
			c.Format = &jsonschema.Format{Name: "count", Validate: func(any) error { m.applied++; return nil }}
		}
	}
	d, err := Parse(value, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := weighing{d: d, left: 50_000_000}
	if !w.fits(load) {
		return m, false
	}
	m.visits, m.units = w.visits, 50_000_000-w.left
	if _, ok := d.extreme(); ok {
		t.Fatalf("%s has numbers that the other validator never sees", cut(string(value), 200))
	}
	v := decoded(d)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = guarded(func() error { return c.Validate(v) })
	m.took = time.Since(start)
	runtime.ReadMemStats(&after)
	m.bytes = int64(after.TotalAlloc - before.TotalAlloc)
	if invalid := (*jsonschema.ValidationError)(nil); err != nil && !errors.As(err, &invalid) {
		t.Fatalf("%s by %s: %v", cut(string(value), 200), cut(string(schema), 500), err)
	}
	return m, true
}

// decoded gives the document as the other validator gets it.
func decoded(d *Doc) any { return value(d, 0) }

// TestWeighingIsEnough: the other validator never applies more subschemas than were counted, nor needs more memory than the
// units stand for. Times are only shown: they depend on the machine.
func TestWeighingIsEnough(t *testing.T) {
	for _, c := range weighCases() {
		m, ok := measure(t, []byte(c.schema), []byte(c.value))
		if !ok {
			t.Errorf("%s: not weighed", c.name)
			continue
		}
		t.Logf("%-28s %8d visits %8d applied %9d units %6.1f bytes and %6.1f ns per unit", c.name, m.visits, m.applied, m.units,
			float64(m.bytes)/float64(m.units), float64(m.took.Nanoseconds())/float64(m.units))
		if m.applied > m.visits || m.applied == 0 {
			t.Errorf("%s: counted %d visits, %d subschemas were applied", c.name, m.visits, m.applied)
		}
		if m.bytes > 50*int64(m.units)+100_000 && !raceEnabled { // the race detector empties pools
			t.Errorf("%s: %d bytes for %d units", c.name, m.bytes, m.units)
		}
	}
}

// TestWeighingIsEnoughDrawn does the same with schemas and values that are drawn.
func TestWeighingIsEnoughDrawn(t *testing.T) {
	most := 0.0
	rapid.Check(t, func(t *rapid.T) {
		g := grammar{rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))}
		schema, err := json.Marshal(g.root())
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(g.value(4))
		if err != nil {
			t.Fatal(err)
		}
		if sd, err := Parse(schema, Limits{}); err != nil || beyondReference(sd) {
			return
		}
		if m, ok := measure(t, schema, value); ok {
			most = math.Max(most, float64(m.applied)/float64(m.visits))
			if m.applied > m.visits {
				t.Fatalf("%s by %s: counted %d visits, %d subschemas were applied", value, schema, m.visits, m.applied)
			}
		}
	})
	if most < 0.9 {
		t.Errorf("the count was never close (%.2f at most): this test shows too little", most)
	}
}
