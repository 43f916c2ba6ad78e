package condition

import (
	"math"
	"testing"
)

// TestEveryPair: every operation on every pair of odd values gives what the judge
// says, or no value on both sides.
func TestEveryPair(t *testing.T) {
	env := newJudge(t)
	odd := []any{
		nil, true, false, "", "a", "ab", "1", "-2", "1.5", "true", int64(0), int64(1), int64(-1), int64(2), int64(-2), int64(1<<53 + 1), int64(math.MaxInt64), int64(math.MinInt64), int64(1 << 62), int64(3037000500),
		uint64(0), uint64(1), uint64(2), uint64(1 << 63), uint64(math.MaxUint64), uint64(1 << 32),
		0.0, math.Copysign(0, -1), 1.0, 1.5, -0.5, -2.5, float64(1 << 53), float64(1 << 63), -float64(1 << 63), float64(1<<63) * 2, 1e300, math.Inf(1), math.Inf(-1), math.NaN(),
		[]any{}, []any{int64(1)}, []any{"a", 1.0}, []any{uint64(1)}, map[string]any{}, map[string]any{"a": int64(1)}, map[string]any{"a": 1.0, "b": nil}, map[string]any{"": "a"},
	}
	for _, text := range []string{
		"args.a == args.b", "args.a != args.b", "args.a < args.b", "args.a <= args.b", "args.a > args.b", "args.a >= args.b", "args.a in args.b", "args.b[args.a]",
		"args.a + args.b", "args.a - args.b", "args.a * args.b", "args.a / args.b", "args.a % args.b", "-args.a", "!args.a", "size(args.a)", "args.a.size()",
		"args.a && args.b", "args.a || args.b", "args.a ? args.b : 1", "args.a && args.b && args.a", "args.none || args.a", "args.a && args.none",
		"int(args.a)", "uint(args.a)", "double(args.a)", "string(args.a)", "bool(args.a)", "dyn(args.a)",
		"args.a.startsWith(args.b)", "args.a.endsWith(args.b)", "args.a.contains(args.b)", "args.a.matches(args.b)",
		"has(args.a.a)", "has(args.a.b)", "args.a.a", "args.a == {'a': args.b}", "[args.a] == [args.b]", "[args.a, args.b] == args.b", "{'a': args.a} == {'a': args.b}", "dyn({1: args.a}) == {1u: args.b}", "{1: 1} == {2: 1}",
		"{0: 'a', 1: 'b', 2u: 'c', true: 'd', 'a': 'e', 18446744073709551615u: 'f', -1: 'g'}[args.a]", "args.a in {0: 1, 1u: 1, true: 1, 'a': 1}",
		"args.a in [1, 2u, 1.5, 'a', true, 9007199254740992.0, 18446744073709551615u, -1]", "args.a in [1, null]", "args.a in [1, [1]]",
		"[0, 1u, 1.5, args.a].filter(x, x == args.b)", "[1, 2, 3].map(x, x + args.a)", "[1, 2, 3].map(x, x != args.a, x)", "[args.a, args.b].map(x, x, 1)", "args.a.map(x, x == args.b).exists(y, y)", "args.a.filter(x, x == args.b)",
		"args.a.all(x, x == args.b)", "args.a.exists(x, x == args.b)", "args.a.exists_one(x, x == args.b)", "[args.a, args.b].all(x, x)", "[args.a, args.b].exists(x, x)", "[args.a, args.b].exists_one(x, x)", "[true, args.a].exists_one(x, x)",
		"int(([1] + args.a)[1])", "[[1], [2]][args.a][args.b]", "['x', 'y'][args.a]", "'abc' + args.a", "1 + args.a", "1.5 + args.a", "2u + args.a", "[1] + args.a",
	} {
		ours, err := Compile("("+text+") == args.r", testNames())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		theirs, err := judged(env, "("+text+") == args.r")
		if err != nil {
			t.Errorf("%s: the judge: %v", text, err)
			continue
		}
		for _, a := range odd {
			for _, b := range odd {
				values := map[string]any{"args": map[string]any{"a": a, "b": b}}
				r := &run{values: values, loops: make([]any, ours.loops), left: enough}
				got, err := r.eval(ours.tree.args[0])
				values["args"].(map[string]any)["r"] = asGiven(got)
				want := "true"
				if f, isDouble := got.(float64); err != nil {
					want = "error"
				} else if isDouble && math.IsNaN(f) {
					want = "false"
				}
				if word, detail := judgedHolds(theirs, values); word != want {
					t.Errorf("%s with %#v and %#v gives %#v (%v); the judge: %s (%s)", text, a, b, got, err, word, detail)
				}
			}
		}
	}
}

// asGiven makes a value one that a caller could have given.
func asGiven(v any) any {
	if made, isMade := v.(*dict); isMade {
		return made.values
	}
	return v
}
