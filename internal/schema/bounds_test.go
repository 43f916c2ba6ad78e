package schema

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

func isTooComplex(problems []Problem) bool {
	return len(problems) == 1 && strings.Contains(problems[0].Message, "the value is too complex to check against this contract")
}

// reportSize checks that no part of a report is out of bounds and gives the whole.
func reportSize(t *testing.T, problems []Problem) int {
	t.Helper()
	n := 0
	for _, p := range problems {
		if len(p.Path) > maxPath+10 || len(p.Message) > maxMessage+10 || !utf8.ValidString(p.Path) || !utf8.ValidString(p.Message) {
			t.Errorf("a path of %d bytes, a message of %d: %.200s", len(p.Path), len(p.Message), p)
		}
		n += len(p.Path) + len(p.Rule) + len(p.Message)
	}
	return n
}

// TestReportIsBounded: a text of many wrong elements must not become a report many times its size, and what is not listed
// is counted.
func TestReportIsBounded(t *testing.T) {
	const n = 20_000
	for _, c := range []struct{ schema, value string }{
		{`{"items":{"type":"string"}}`, "[" + many(n, ",", func(int) string { return "1" }) + "]"},
		{`{"additionalProperties":false}`, "{" + many(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + "}"},
		{`{"unevaluatedProperties":false}`, "{" + many(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + "}"},
		{`{"unevaluatedItems":false}`, "[" + many(n, ",", func(int) string { return "1" }) + "]"},
		{`{"items":{"enum":["` + strings.Repeat("é", 50) + `","` + strings.Repeat("y", 100) + `"]}}`, "[" + many(n, ",", func(i int) string { return fmt.Sprintf(`"%050d"`, i) }) + "]"},
		{`{"required":[` + many(n, ",", func(i int) string { return fmt.Sprintf(`"k%d"`, i) }) + `]}`, `{}`},
		{`{"propertyNames":{"maxLength":1}}`, "{" + many(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + "}"},
		{`{"items":{"anyOf":[{"type":"string"},{"type":"object"}]}}`, "[" + many(n, ",", func(int) string { return "1" }) + "]"},
	} {
		problems := compiled(t, c.schema).Validate(parsed(t, c.value))
		if size := reportSize(t, problems); len(problems) > maxProblems+1 || size > maxReport+100 || size < maxReport/2 {
			t.Errorf("%s: %d problems, %d bytes", text.Clip(c.schema, 60), len(problems), size)
		}
		more := 0
		if _, err := fmt.Sscanf(problems[len(problems)-1].Message, "%d more problems not listed", &more); err != nil || more+len(problems)-1 != n {
			t.Errorf("%s: %d problems listed, %d more: %v", text.Clip(c.schema, 60), len(problems)-1, more, err)
		}
	}
}

// TestSurveyIsBounded: many small objects against a long list of properties that could be filled in.
func TestSurveyIsBounded(t *testing.T) {
	s := compiled(t, `{"items":{"properties":{`+many(2000, ",", func(i int) string { return fmt.Sprintf(`"k%d":{"properties":{"x":{"default":1}}}`, i) })+`}}}`)
	d := parsed(t, `[`+many(10_000, ",", func(int) string { return "{}" })+`,{"k1":{}}]`)
	look := defaultSearch{d, patience(d)}
	if !look.missing(s.root, 0) || look.looks > 0 {
		t.Errorf("%d of %d left", look.looks, patience(d))
	}
}

// TestLongTextsAreCut: neither names nor values, neither of the contract nor of the caller, are quoted whole.
func TestLongTextsAreCut(t *testing.T) {
	key := strings.Repeat("k", 1_000_000)
	long := `"` + key + `"`
	deep := strings.Repeat(`{"`+strings.Repeat("ü", 100)+`":`, 100) + `1` + strings.Repeat(`}`, 100)
	for _, c := range []struct{ schema, value string }{
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{` + long + `:1}`},
		{`{"additionalProperties":{"type":"string"}}`, `{` + long + `:1}`},
		{`{"propertyNames":{"maxLength":5}}`, `{` + long + `:1}`},
		{`{"propertyNames":{"pattern":"^x"}}`, `{` + long + `:1}`},
		{`{"type":"integer"}`, long},
		{`{"enum":["a","b"]}`, long},
		{`{"const":"a"}`, long},
		{`{"pattern":"^a"}`, long},
		{`{"not":{}}`, long},
		{`{"anyOf":[{"type":"null"},{"type":"boolean"}]}`, long},
		{`{"type":"string"}`, strings.Repeat("7", 900)},
		{`{"maximum":5}`, strings.Repeat("7", 900)},
		{`{"additionalProperties":{"$ref":"#"},"type":"object"}`, deep},
		{`{"required":["` + key[:500_000] + `"]}`, `{}`},
		{`{"enum":["` + key[:500_000] + `"]}`, `1`},
		{`{"dependentRequired":{"a":["` + key[:500_000] + `"]}}`, `{"a":1}`},
		{`{"properties":{"` + key[:1000] + `":{}},"additionalProperties":false}`, `{"a":1}`},
	} {
		problems := compiled(t, c.schema).Validate(parsed(t, c.value))
		if size := reportSize(t, problems); len(problems) != 1 || size > 1500 {
			t.Errorf("%s: %d problems, %d bytes: %.300s", text.Clip(c.schema, 60), len(problems), size, problems)
		}
	}
	for _, schema := range []string{`{"properties":{` + long + `:{"type":"x"}}}`, `{"type":` + long + `}`, `{"pattern":"(` + key + `"}`, `{"$ref":"#/` + key + `"}`, `{"$ref":` + long + `}`} {
		if _, err := Compile([]byte(schema)); err == nil || len(err.Error()) > 2*maxMessage {
			t.Errorf("%s: %.300v", text.Clip(schema, 60), err)
		}
	}
	if _, err := Parse([]byte(`{`+long+` 1}`), Limits{}); err == nil || len(err.Error()) > 300 {
		t.Errorf("a long key without a colon: %.400v", err)
	}
}

// steps counts what the own validator spends to learn whether a value is valid.
func steps(s *Schema, d *Doc) (spent int, ok bool) {
	v := validator{d: d, s: s, stepBudget: newStepBudget(d)}
	ok = v.check(s.root, 0)
	return budget(d) - v.steps, ok
}

// TestExplosion: alternatives that double the work at every level must not cost more than all rules asked about all values,
// and must be answered as what they are.
func TestExplosion(t *testing.T) {
	branch := `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`
	nested := strings.Repeat(`{"a":`, 100) + "2" + strings.Repeat("}", 100)
	either := `{"anyOf":[` + branch + `,` + branch + `,{"const":1}]}`
	for _, c := range []struct {
		name, schema, value string
		want                string // a part of the problem; empty: valid
	}{
		{"alternatives, invalid", either, nested, "expected an object or 1, got an object (anyOf)"},
		{"alternatives, valid", either, strings.Replace(nested, "2", "1", 1), ""},
		{"not, invalid", `{"not":` + strings.ReplaceAll(either, `"#"`, `"#/not"`) + `}`, strings.Replace(nested, "2", "1", 1), "forbids"},
		{"not, valid", `{"not":` + strings.ReplaceAll(either, `"#"`, `"#/not"`) + `}`, nested, ""},
		{"expression, valid", expression(`"if":{"required":["unit"]},"then":{}`), operations(100, "1"), ""},
		{"expression, invalid", expression(`"if":{"required":["unit"]},"then":{}`), operations(100, `"x"`), `.left: expected a number or an object, got the string "x" (anyOf)`},
		{"allOf doubled", `{"$ref":"#/$defs/d60",` + doubled("allOf", 60) + `}`, `0`, "must be at least 1"},
		{"allOf doubled, valid", `{"$ref":"#/$defs/d60",` + doubled("allOf", 60) + `}`, `{}`, ""},
		{"anyOf doubled", `{"$ref":"#/$defs/d60",` + doubled("anyOf", 60) + `}`, `"x"`, "got the string"},
		{"oneOf doubled", `{"$ref":"#/$defs/d60",` + doubled("oneOf", 60) + `}`, `1`, "got the number 1 (oneOf)"},
		{"conditions", `{"$defs":{"d0":true,` + many(60, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"if":{"$ref":"#/$defs/d%d"},"then":{"$ref":"#/$defs/d%d"},"else":false}`, i+1, i, i)
		}) + `},"$ref":"#/$defs/d60"}`, `1`, ""},
		{"dependencies", `{"$defs":{"d0":true,` + many(60, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"dependentSchemas":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i+1, i, i)
		}) + `},"$ref":"#/$defs/d60"}`, `{"a":1,"b":2}`, ""},
		{"unevaluated, valid", expression(`"unevaluatedProperties":false`), operations(100, "1"), ""},
		{"unevaluated, invalid", expression(`"unevaluatedProperties":false`), operations(100, `"x"`), `.left: expected a number or an object, got the string "x" (anyOf)`},
		{"unevaluated at every level", `{"$ref":"#/$defs/d30","$defs":{"d0":{"properties":{"a":{}}},` + many(30, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}],"unevaluatedProperties":false}`, i+1, i, i)
		}) + `}}`, `{"a":1}`, ""},
		{"two ways down", `{"$defs":{"n":{"properties":{"c":{"items":{"anyOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}},"v":{"type":"integer"}}}},"properties":{"r":{"$ref":"#/$defs/n"}},"unevaluatedProperties":false}`,
			`{"r":` + strings.Repeat(`{"c":[`, 60) + `{"v":"x"}` + strings.Repeat(`]}`, 60) + `}`, "(anyOf)"},
		{"two trees by $dynamicRef", `{"$id":"https://a.invalid/strict","$dynamicAnchor":"n","$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$dynamicAnchor":"n","type":"object","properties":{"c":{"items":{"anyOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]}}}}}}`,
			strings.Repeat(`{"c":[`, 60) + `1` + strings.Repeat(`]}`, 60), "(anyOf)"},
		{"contains", `{"contains":{"$ref":"#"},"anyOf":[{"contains":{"$ref":"#"}},{"contains":{"$ref":"#"}}]}`, strings.Repeat("[", 100) + strings.Repeat("]", 100), "contains"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := compiled(t, c.schema)
			d := parsed(t, c.value)
			spent, ok := steps(s, d)
			if most := patience(d) + 20*len(s.doc.nodes)*len(d.nodes); spent > most {
				t.Errorf("%d steps, more than %d", spent, most)
			}
			for _, opt := range []Options{{}, {Lenient: true}} {
				_, problems := s.Admit(d, opt)
				if len(problems) > 2 {
					t.Errorf("%d problems, most of them the same: %.300s", len(problems), problems)
				}
				if ok != (c.want == "") || ok != (problems == nil) || (!ok && !strings.Contains(problems[0].String(), c.want)) {
					t.Errorf("%+v: valid %v, %d problems: %.300s; want %q", opt, ok, len(problems), problems, c.want)
				}
			}
		})
	}
}

// TestMemoryIsBounded: a full memory is emptied, and the answer is the same.
func TestMemoryIsBounded(t *testing.T) {
	s, d := compiled(t, expression(`"required":["expr"]`)), parsed(t, operations(100, "1"))
	v := validator{d: d, s: s, stepBudget: newStepBudget(d)}
	v.memory = make(map[ruleQuestion]ruleAnswer)
	for i := range uint32(maxMemory) {
		v.memory[ruleQuestion{nil, i}] = valid
	}
	if !v.check(s.root, 0) || len(v.memory) > 10_000 || len(v.memory) == 0 {
		t.Errorf("%d answers, %d steps left", len(v.memory), v.steps)
	}
}

// TestTooComplex: what remembering does not help against ends in a refusal; and a judgement that was broken off counts as
// no answer, wherever it stands.
func TestTooComplex(t *testing.T) {
	forms := many(500, ",", func(i int) string { return fmt.Sprintf(`{"not":{"minimum":%d,"maximum":1}}`, -i) }) + `,{"const":1}`
	names := many(300, ",", func(i int) string { return fmt.Sprintf(`"a.*b.*%d":false`, i) })
	numbers := "[" + many(5000, ",", func(int) string { return "1" }) + "]"
	ring := many(12, ",", func(i int) string { // every definition leads to every other
		return fmt.Sprintf(`"d%d":{"anyOf":[%s]}`, i, many(12, ",", func(j int) string { return fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, j) }))
	})
	wide := "{" + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + "}"
	chain := many(2000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) })
	deep := strings.Repeat("[", 120) + `"` + strings.Repeat("a", 1_000_000) + `"` + strings.Repeat("]", 120) // worth millions of steps
	for _, c := range []struct{ name, schema, value string }{
		{"a long way at each level", `{"$ref":"#/$defs/d0","$defs":{` + chain + `,"d2000":{"items":{"$ref":"#/$defs/d0"}}}}`, deep},
		{"circles", `{"$ref":"#/$defs/d0","$defs":{` + ring + `}}`, `1`},
		{"unevaluated by many patterns", `{"allOf":[` + many(100, ",", func(i int) string { return fmt.Sprintf(`{"patternProperties":{"x.*%d":{}}}`, i) }) + `],"unevaluatedProperties":{"type":"integer"}}`, wide},
		{"unevaluated by many schemas", `{"allOf":[` + many(2000, ",", func(i int) string { return fmt.Sprintf(`{"properties":{"x%d":{}}}`, i) }) + `],"unevaluatedProperties":{"type":"integer"}}`, wide},
		{"many schemas as values", `{"allOf":[` + many(500, ",", func(int) string { return `{"items":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}` }) + `]}`, "[" + many(2000, ",", func(int) string { return "{}" }) + "]"},
		{"many alternatives", `{"items":{"anyOf":[` + forms + `]}}`, numbers},
		{"in not", `{"not":{"items":{"anyOf":[` + forms + `]}}}`, numbers},
		{"in if", `{"if":{"items":{"anyOf":[` + forms + `]}},"else":true}`, numbers},
		{"in contains", `{"contains":{"anyOf":[` + forms + `]},"minContains":0}`, numbers},
		{"many patterns", `{"patternProperties":{` + names + `}}`, "{" + many(5000, ",", func(i int) string { return fmt.Sprintf(`"%d%s":1`, i, strings.Repeat("a", 50)) }) + "}"},
		{"a heavy pattern", `{"pattern":"(a|aa|aaa)+(.*x.*){900}$"}`, `"` + strings.Repeat("a", 1_000_000) + `"`},
		{"a long number", `{"allOf":[` + many(1000, ",", func(int) string { return `{"multipleOf":1234567890123456789012345678901}` }) + `]}`, strings.Repeat("7", 100_000)},
		{"long lists of values", `{"items":{"enum":[` + many(1000, ",", func(i int) string { return fmt.Sprint(i) }) + `]}}`, "[" + many(2000, ",", func(int) string { return "999" }) + "]"},
		{"long lists of properties", `{"items":{"required":["k0"],"properties":{` + many(5000, ",", func(i int) string { return fmt.Sprintf(`"k%d":{}`, i) }) + `}}}`, "[" + many(5000, ",", func(int) string { return `{"k0":1}` }) + "]"},
	} {
		s := compiled(t, c.schema)
		if problems := s.Validate(parsed(t, c.value)); !isTooComplex(problems) {
			t.Errorf("%s: %.300s", c.name, problems)
		}
	}
}

// TestStillAnswers: what is large but honest is not refused.
func TestStillAnswers(t *testing.T) {
	for _, c := range append(costCases(), []costCase{
		{"a long list", `{"properties":{"a":{"items":{"type":"integer"},"unevaluatedItems":false}}}`, `{"a":[` + many(40_000, ",", func(i int) string { return fmt.Sprint(i) }) + `]}`},
		{"many members", `{"properties":{"a":{}},"unevaluatedProperties":{"type":"integer"}}`, `{` + many(20_000, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}`},
		{"a schema", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}},"unevaluatedProperties":false}`, `{"s":` + strings.Repeat(`{"properties":{"a":`, 40) + nineSchema + strings.Repeat(`}}`, 40) + `}`},
	}...) {
		if problems := compiled(t, c.schema).Validate(parsed(t, c.value)); isTooComplex(problems) {
			t.Errorf("%s: %.300s", c.name, problems)
		}
	}
}
