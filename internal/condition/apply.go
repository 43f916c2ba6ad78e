package condition

import (
	"slices"
	"strings"
)

// apply finds the signatures that fit. What is still open is decided by values.
func (c *checker) apply(n *node, list string, types []Type) Type {
	if c.err != nil {
		return Any()
	}
	var result Type
	fit := 0
	for s := range strings.FieldsSeq(list) {
		wanted := make([]Type, len(s))
		var a, b Type
		if strings.ContainsAny(s, "ALM") {
			a = c.unknown()
		}
		if strings.ContainsAny(s, "BM") {
			b = c.unknown()
		}
		for i := range s {
			switch s[i] {
			case 'A':
				wanted[i] = a
			case 'B':
				wanted[i] = b
			case 'L':
				wanted[i] = ListOf(a)
			case 'M':
				wanted[i] = Type{kind: 'M', of: []Type{a, b}}
			default:
				wanted[i] = Type{kind: s[i]}
			}
		}
		last := len(s) - 1
		if !c.fits(types, wanted[:last]) {
			continue
		}
		gives := c.substitute(wanted[last], false)
		switch {
		case fit == 0:
			result = gives
		case result.kind != '*' && !same(result, gives):
			result = Any()
		}
		if fit++; n.op == opConvert {
			n.from += s[:1]
		}
	}
	if fit == 0 {
		return c.fail(n, "%s", c.misfit(n, list, types))
	}
	return c.settle(n, fit, result)
}

// settle does beforehand what needs no values.
func (c *checker) settle(n *node, fit int, result Type) Type {
	switch {
	case n.op == opConvert:
		if fit > 1 || n.name == "dyn" {
			n.from = "" // whichever fits the value
		}
		c.fold(n)
	case n.op == opMatches && n.args[1].op == opLiteral:
		if pattern, isText := n.args[1].value.(string); isText {
			compiled, _, err := compilePattern(pattern)
			if err != nil {
				return c.fail(n.args[1], "%s", err)
			}
			if c.patterns += compiled.size; c.patterns > 2*maxPattern {
				return c.fail(n.args[1], "the patterns are too large together: write two rules")
			}
			n.value = compiled
		}
	case n.op == opIndex && n.args[1].op == opLiteral && strings.IndexByte("nLM", kindOf(n.args[1].value)) >= 0:
		return c.fail(n.args[1], "null, a list or a map between brackets finds nothing: write a string or a number")
	case n.op == opIn && n.args[1].op == opLiteral && n.args[1].name == "list":
		set := setOf(n.args[1].value.([]any))
		if n.value = set; set != nil && len(set) == 0 {
			n.op, n.value = opLiteral, false // as in CEL, whatever the left side is
		}
	}
	return result
}

// fold evaluates what is made of literals only.
func (c *checker) fold(n *node) {
	if c.err != nil || slices.ContainsFunc(n.args, func(a *node) bool { return a.op != opLiteral }) {
		return
	}
	value, err := (&run{left: maxText}).eval(n)
	if err != nil {
		c.fail(n, "%s", err)
	}
	n.op, n.value = opLiteral, value
}

// setOf makes a set of the elements of a list, if they can be looked up in one.
// A number is in it in every type that can hold it.
func setOf(list []any) map[any]struct{} {
	set := map[any]struct{}{}
	for _, v := range list {
		switch n := v.(type) {
		case int64:
			set[float64(n)] = struct{}{}
		case uint64:
			set[float64(n)] = struct{}{}
		case bool, string, float64:
		default:
			return nil
		}
		for _, n := range wholes(v) {
			set[n] = struct{}{}
		}
		set[v] = struct{}{}
	}
	return set
}

func (c *checker) misfit(n *node, list string, types []Type) string {
	var got []string
	for _, t := range types {
		got = append(got, c.substitute(t, true).String())
	}
	what := n.name + "() does not take "
	switch {
	case len(types) == 2 && strings.IndexByte("=!<>", n.name[0]) >= 0:
		return got[0] + " and " + got[1] + " are never compared: write values of one type on both sides of " + n.name
	case n.name[0] < 'A' || n.name == "in" || n.name == "[]":
		what = n.name + " does not go with "
	case list == "":
		return n.name + "() is written behind a dot: write args.name." + n.name + "(...)"
	case len(got) == 0:
		return what + "nothing"
	}
	return what + strings.Join(got, " and ") + ": convert with int(), double() or string()"
}
