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

// valid asks the crib's validator.
func valid(tb testing.TB, s *schema.Schema, value *tree) bool {
	tb.Helper()
	d, err := schema.Parse(value.append(nil), schema.Limits{})
	if err != nil {
		return false
	}
	defer d.Release()
	return len(s.Validate(d)) == 0
}

// plainSchema takes the schema out of a definition, in words that the crib's validator knows.
func plainSchema(f Format, def []byte) *tree {
	t, err := parse(def)
	if err != nil {
		panic(err)
	}
	if f == OpenAI {
		t = t.get("function")
	}
	for _, key := range []string{"parameters", "input_schema", "inputSchema"} {
		if s := t.get(key); s != nil {
			if f == Gemini {
				return fromGemini(s)
			}
			return s
		}
	}
	return object()
}

func fromGemini(s *tree) *tree {
	out := object()
	null := false
	for _, m := range s.members {
		switch m.key {
		case "type":
			out.set("type", text(strings.ToLower(m.value.text)))
		case "nullable":
			null = true
		case "items":
			out.set("items", fromGemini(m.value))
		case "properties":
			props := object()
			for _, p := range m.value.members {
				props.set(p.key, fromGemini(p.value))
			}
			out.set("properties", props)
		case "anyOf":
			parts := list()
			for _, p := range m.value.elems {
				parts.elems = append(parts.elems, fromGemini(p))
			}
			out.set("anyOf", parts)
		default:
			out.set(m.key, m.value)
		}
	}
	// The properties of an object are all that Gemini lets a model fill in.
	if out.get("properties") != nil {
		out.set("additionalProperties", truth(false))
	}
	if null {
		both := object()
		both.set("anyOf", list(out, must(`{"type":"null"}`)))
		return both
	}
	return out
}

// ways lists how a value could be given to a model's API: the opposite of Restore. all says that every property has to
// be there. The list is bounded, so that what fits no form is left out early.
func ways(v *tree, u *undo, all bool) []*tree {
	var out []*tree
	switch v.kind {
	case kindObject:
		for _, form := range u.objects {
			out = append(out, objectWays(v, form, all)...)
		}
	case kindArray:
		for _, items := range u.arrays {
			some := []*tree{list()}
			for _, e := range v.elems {
				some = extend(some, ways(e, items, all), func(a, w *tree) *tree { return list(append(append([]*tree{}, a.elems...), w)...) })
			}
			out = append(out, some...)
		}
	case kindNull:
		if u.null {
			out = append(out, text(nullMark))
		}
		out = append(out, v)
	default:
		if valueKind(v)&u.kinds != 0 {
			out = append(out, v)
		}
	}
	if valueKind(v)&u.text != 0 {
		out = append(out, text(v.String()))
	}
	return out[:min(len(out), 64)]
}

func extend(all, some []*tree, with func(a, w *tree) *tree) []*tree {
	var out []*tree
	for _, a := range all {
		for _, w := range some {
			if len(out) < 64 {
				out = append(out, with(a, w))
			}
		}
	}
	return out
}

func objectWays(v *tree, form *objectUndo, every bool) []*tree {
	add := func(name string) func(a, w *tree) *tree {
		return func(a, w *tree) *tree {
			o := object()
			o.members = append(append(o.members, a.members...), member{name, w})
			return o
		}
	}
	all := []*tree{object()}
	known := map[string]bool{}
	for shown, f := range form.fields {
		known[f.name] = true
		given := v.get(f.name)
		switch {
		case given != nil:
			all = extend(all, ways(given, f.back, every), add(shown))
		case f.drop:
			all = extend(all, []*tree{must("null")}, add(shown))
		}
	}
	rest := object()
	for _, m := range v.members {
		if !known[m.key] {
			rest.members = append(rest.members, m)
		}
	}
	switch {
	case form.more != "" && len(rest.members) > 0:
		all = extend(all, []*tree{text(rest.String())}, add(form.more))
	case form.more != "" && every:
		all = extend(all, []*tree{must("null")}, add(form.more))
	case len(rest.members) > 0:
		return nil
	}
	return slices.DeleteFunc(all, func(c *tree) bool { return !(&restorer{look: maxLook}).objectFits(c, form) })
}

// renamed gives a value the names of a definition that differs in names only.
func renamed(v *tree, names map[string]string) *tree {
	back := map[string]string{}
	for shown, name := range names {
		back[name] = shown
	}
	out, err := rename(v, back)
	if err != nil {
		panic(err)
	}
	return out
}

// admitted is the value as a tool would get it, with its defaults filled in.
func admitted(tb testing.TB, s *schema.Schema, v *tree) string {
	tb.Helper()
	d, err := schema.Parse(v.append(nil), schema.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Release()
	out, problems := s.Admit(d, schema.Options{})
	if problems != nil {
		return "refused: " + problems[0].Message
	}
	return string(out)
}

// TestExpressible: whatever the contract allows can be given under every definition of it, and comes back as it was.
func TestExpressible(t *testing.T) {
	tried := 0
	rapid.Check(t, func(rt *rapid.T) {
		a := &artist{t: rt}
		contract := a.arguments()
		compiled, err := schema.Compile(contract.append(nil))
		if err != nil {
			return // a definition that is nothing but itself
		}
		narrow, err := schema.Compile(shut(contract, true).append(nil))
		if err != nil {
			return
		}
		for range 3 {
			value := a.value(contract, 6)
			if !valid(t, compiled, value) || !valid(t, narrow, value) {
				continue
			}
			tried++
			for _, v := range variants() {
				express(t, rt, v, contract, compiled, value)
			}
		}
	})
	t.Logf("%d values", tried)
	if tried < 10 {
		t.Errorf("only %d values were tried", tried)
	}
}

func express(t *testing.T, rt *rapid.T, v variant, contract *tree, compiled *schema.Schema, value *tree) {
	set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "tool", Input: contract.append(nil)}}})
	if err != nil || len(set.Tools) != 1 {
		rt.Fatalf("%s: %v, %v\n%s", v, err, set.Left, contract)
	}
	if err := checkTool(v.format, v.strict, set.Tools[0]); err != nil {
		rt.Fatalf("%s: %v\n%s\n%s", v, err, contract, set.Tools[0])
	}
	shown := plainSchema(v.format, set.Tools[0])
	projected, err := schema.Compile(shown.append(nil))
	if err != nil {
		rt.Fatalf("%s: %v\n%s", v, err, shown)
	}
	back := set.back["tool"]
	candidates := []*tree{value}
	switch {
	case back == nil:
	case back.rename != nil:
		candidates = []*tree{renamed(value, back.rename)}
	default:
		candidates = nil
		for _, form := range back.objects {
			candidates = append(candidates, objectWays(value, form, v.strict)...)
		}
	}
	want := admitted(t, compiled, value)
	var last string
	for _, c := range candidates {
		if !valid(t, projected, c) {
			last = "not valid: " + c.String()
			continue
		}
		got, err := set.Restore("tool", c.append(nil))
		if err != nil {
			rt.Fatalf("%s: %v", v, err)
		}
		if have := admitted(t, compiled, must(string(got))); have != want {
			last = "restored " + string(got) + " from " + c.String()
			continue
		}
		return
	}
	rt.Fatalf("%s: cannot be given: %s\ncontract %s\nshown %s\n%d ways, %s", v, value, contract, shown, len(candidates), last)
}

// FuzzOf: no contract and no arguments make the package panic, loop, or write what an API refuses.
func FuzzOf(f *testing.F) {
	for _, c := range hostile() {
		if len(c.schema) < 2000 {
			f.Add([]byte(c.schema), []byte(`{"a":1,"b":[null,"{}"],"additional_properties":"{}"}`))
		}
	}
	for _, s := range realSpecs(f) {
		f.Add([]byte(s.Input), []byte(`{"path":"x","n":null}`))
	}
	f.Fuzz(func(t *testing.T, contract, args []byte) {
		for _, v := range variants() {
			set, err := Options{Strict: v.strict}.Of(v.format, []toolcrib.Entry{{Spec: toolcrib.Spec{Name: "1 tool", Input: contract}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Tools)+len(set.Left) != 1 {
				t.Fatalf("%s: %d tools, %v", v, len(set.Tools), set.Left)
			}
			for _, def := range set.Tools {
				if err := checkTool(v.format, v.strict, def); err != nil {
					t.Fatalf("%s: %v in %s of %s", v, err, def, contract)
				}
			}
			for shown := range set.Names {
				out, err := set.Restore(shown, args)
				if err == nil && !json.Valid(out) {
					t.Fatalf("%s: restored %q from %q", v, out, args)
				}
			}
		}
	})
}
