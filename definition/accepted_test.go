package definition

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// unsayable are keywords that some API has no words for, so that they go into descriptions: no schema holds a model to
// them there, and the crib says what is wrong.
func unsayable() []string {
	return []string{"minLength", "maxLength", "pattern", "format", "uniqueItems", "minProperties", "maxProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
}

// sayable is a contract without them. Numbers to choose from are text to Gemini as well.
func sayable(s *tree, gemini bool) *tree {
	out := &tree{kind: s.kind, text: s.text}
	for _, m := range s.members {
		gone := slices.Contains(unsayable(), m.key) || gemini && m.key == "enum" && !slices.ContainsFunc(m.value.elems, func(e *tree) bool { return e.is(kindString) && e.text != "" })
		if !gone || m.value.kind == kindObject {
			out.set(m.key, sayable(m.value, gemini))
		}
	}
	for _, e := range s.elems {
		out.elems = append(out.elems, sayable(e, gemini))
	}
	return out
}

// withoutNulls is what a value says: a property that is null is one that was left out.
func withoutNulls(v *tree) *tree {
	out := &tree{kind: v.kind, text: v.text}
	for _, m := range v.members {
		if m.value.kind != kindNull {
			out.set(m.key, withoutNulls(m.value))
		}
	}
	for _, e := range v.elems {
		out.elems = append(out.elems, withoutNulls(e))
	}
	return out
}

// plain draws a contract of what every API has words for.
func (a *artist) plain(depth int) *tree {
	if depth > 0 {
		switch a.int(0, 4) {
		case 0:
			return a.plainObject(depth)
		case 1:
			s := must(`{"type":"array"}`)
			s.set("items", a.plain(depth-1))
			return s
		}
	}
	return must(a.pick(`{"type":"string"}`, `{"type":"string","enum":["p","q"]}`, `{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`,
		`{"type":["string","null"]}`, `{"type":["integer","null"]}`, `{"type":"integer","default":3}`, `{"type":"string","description":"A word."}`))
}

func (a *artist) plainObject(depth int) *tree {
	s, props, required := must(`{"type":"object"}`), object(), list()
	for _, name := range []string{"a", "b", "c", "kind"}[:a.int(1, 4)] {
		props.set(name, a.plain(depth-1))
		if a.chance(40) {
			required.elems = append(required.elems, text(name))
		}
	}
	s.set("properties", props)
	s.set("required", required)
	s.set("additionalProperties", truth(false))
	return s
}

// accepted draws answers that a definition allows, and holds what becomes of them against the contract: the crib accepts
// it, and it says the same. It reports how many were tried.
func accepted(t *testing.T, rt *rapid.T, a *artist, v variant, spec toolcrib.Entry) (tried int) {
	set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{spec})
	if err != nil || len(set.Tools) != 1 || len(set.Loose) > 0 {
		rt.Fatalf("%s: %v, left %v, loose %v\n%s", v, err, set.Left, set.Loose, spec.Input)
	}
	shown := plainSchema(v.format, set.Tools[0])
	projected, err := schema.Compile(shown.append(nil))
	if err != nil {
		rt.Fatalf("%s: %v\n%s", v, err, shown)
	}
	contract := must(`{}`)
	if len(spec.Input) > 0 {
		contract = sayable(must(string(spec.Input)), v.format == Gemini)
	}
	compiled, err := schema.Compile(contract.append(nil))
	if err != nil {
		rt.Fatal(err)
	}
	name := ""
	for n := range set.Names {
		name = n
	}
	free := strings.Contains(shown.String(), "as JSON text") // a drawn text is seldom the JSON that is asked for
	a.root = shown
	for range 3 {
		answer := a.value(shown, 8)
		if v.format == Gemini && shown.String() == "{}" {
			answer = object() // a function that is shown without parameters has none
		}
		if answer.kind != kindObject || !valid(t, projected, answer) {
			continue
		}
		packed, err := json.Marshal(answer.String())
		if err != nil {
			rt.Fatal(err)
		}
		for _, args := range []json.RawMessage{answer.append(nil), packed} {
			call, err := set.CallNamed(name, args)
			if err != nil || call.Tool != spec.Name {
				rt.Fatalf("%s: %s, %v", v, call.Tool, err)
			}
			got := must(string(call.Input))
			if !valid(t, compiled, got) && !free {
				rt.Fatalf("%s: the contract refuses %s, made of %s\ncontract %s\nshown %s", v, got, answer, spec.Input, shown)
			}
			if !free && set.back[name] != nil && set.back[name].rename == nil && !same(withoutNulls(got), withoutNulls(answer)) && !strings.Contains(answer.String(), nullMark) {
				rt.Fatalf("%s: %s became %s", v, answer, got)
			}
		}
		tried++
	}
	return tried
}

// TestAnswersAreAccepted: an answer that obeys a definition becomes one that the contract accepts and that says the same,
// for every tool of ours and for contracts of every shape that APIs have words for.
func TestAnswersAreAccepted(t *testing.T) {
	specs, tried := realSpecs(t), map[variant]int{}
	rapid.Check(t, func(rt *rapid.T) {
		a := &artist{t: rt}
		drawn := toolcrib.Entry{Spec: toolcrib.Spec{Name: "drawn", Input: a.plainObject(3).append(nil)}}
		for _, v := range variants() {
			for _, spec := range []toolcrib.Entry{drawn, specs[a.int(0, len(specs)-1)]} {
				tried[v] += accepted(t, rt, a, v, spec)
			}
		}
	})
	for _, v := range variants() {
		if tried[v] < 20 {
			t.Errorf("%s: only %d answers were tried", v, tried[v])
		}
	}
	t.Log(tried)
}
