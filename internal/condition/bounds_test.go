package condition

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shapes nest in all ways that there are.
func shapes() map[string]func(n int) string {
	nest := func(before, middle, after, end string) func(int) string {
		return func(n int) string { return strings.Repeat(before, n) + middle + strings.Repeat(after, n) + end }
	}
	return map[string]func(n int) string{
		"parentheses":      nest("(", "true", ")", ""),
		"compared":         nest("(true == ", "true", ")", ""),
		"compared back":    nest("(", "true", " == true)", ""),
		"relations":        nest("", "true", " == true", ""),
		"sums":             nest("", "1", " + 1", " == 1"),
		"products":         nest("", "1", " * 1", " == 1"),
		"sums within":      nest("(1 + ", "1", ")", " == 1"),
		"sums of products": nest("(1 + 2 * ", "1", ")", " == 1"),
		"products of sums": nest("2 * (1 + ", "1", ")", " == 1"),
		"everything":       nest("(true == (1 + 2 * size([", "1", "]) > 1))", ""),
		"fields":           nest("", "args", ".a", " == 1"),
		"indexes":          nest("", "args.a", "[0]", " == 1"),
		"indexes within":   nest("args.a[", "0", "]", " == 1"),
		"dyn":              nest("dyn(", "1", ")", " == 1"),
		"members":          nest("tool.contains(string(", "'a'", "))", ""),
		"lists":            nest("[", "1", "]", " == args.a"),
		"maps":             nest("{'a': ", "1", "}", " == args.a"),
		"loops":            nest("[1].all(x, ", "true", ")", ""),
		"loops and fields": nest("args.a.b.c.all(x, x.y.z == ", "true", ")", ""),
		"choices":          nest("true ? true : ", "true", "", ""),
		"choices within":   nest("true ? (", "true", ") : true", ""),
		"not":              nest("!(", "true", ")", ""),
		"minus":            nest("-(", "1", ")", " == 1"),
		"and":              nest("(true && ", "true", ")", ""),
		"and, or":          nest("(true && (false || ", "true", "))", ""),
		"has":              nest("has(args.a[", "has(args.a)", "].b)", ""),
	}
}

// TestDeep: the judge takes what is taken here, and what nests deeper is refused
// for that.
func TestDeep(t *testing.T) {
	env := newJudge(t)
	for name, shape := range shapes() {
		most := 0
		for _, n := range []int{1, 7, 8, 15, 16, 22, 23, 24, 33, 45, 46, 47, 48, 49, 50, 100} {
			_, err := Compile(shape(n), testNames())
			_, refused := judged(env, shape(n))
			switch {
			case err == nil && refused != nil:
				t.Errorf("%s, %d deep: refused by the judge: %v", name, n, refused)
			case err == nil:
				most = n
			case refused == nil && !isLeftOut(err):
				t.Errorf("%s, %d deep: %v", name, n, err)
			}
		}
		if most < 7 || most > maxDepth {
			t.Errorf("%s: at most %d", name, most)
		}
	}
	for _, text := range []string{"(", "[", "{1:", "!", "-", "args.", "args[", "dyn(", "[1].all(x, ", "true ? ", "1 + ", "true && ", "a.", "'a'.", "has(", "//", "{", "?", ":", "\n"} {
		if _, err := Compile(strings.Repeat(text, maxText/len(text)), testNames()); err == nil {
			t.Errorf("%s, over and over: it is taken", text)
		}
	}
}

// TestCost: what is dear ends in an error, and soon. So does what would need much
// memory.
func TestCost(t *testing.T) {
	list := make([]any, 5000)
	for i := range list {
		list[i] = int64(i)
	}
	nested := any("x")
	for range 9000 {
		nested = []any{nested}
	}
	many := map[string]any{}
	for i := range 100_000 {
		many[strconv.Itoa(i)] = int64(i)
	}
	values := map[string]any{"args": map[string]any{
		"l": list, "s": strings.Repeat("a", 1<<20), "n": nested, "p": strings.Repeat("(a*)*", 500), "r": "a{500}b{500}c{500}d{500}e{500}", "m": many, "w": slices.Repeat([]any{"aaaaaaaaab"}, 5000), "v": slices.Repeat([]any{"aaaaaaaaa"}, 5000),
	}}
	for _, text := range []string{
		"args.l.all(x, args.l.all(y, x + y >= 0))", "args.l.exists(x, args.l.exists(y, x + y < 0))", "args.l.exists_one(x, args.l.exists(y, x == -1))",
		"args.l.map(x, args.l).map(x, args.l + x).size() > 0", "args.l.map(x, args.s + args.s).size() > 0", "args.l.map(x, args.l.filter(y, true)).size() > 0",
		"args.l.filter(x, args.s == args.s + 'b').size() > 0", "args.l.all(x, args.s.contains('b' + args.s))", "args.l.all(x, !args.s.matches('(a|aa)*b'))",
		"args.l.all(x, args.s.size() > 0)", "args.l.all(x, args.n == args.n)", "args.l.all(x, args.s <= args.s)", "args.s.matches('(a{1,30}){1,30}b')", "args.s.matches(args.p)", "args.w.all(x, x.matches(args.r) || true)",
		"args.v.exists(x, x.matches('(?:a?){900}(?:a?){900}(?:a?){900}b'))",
		"args.l.all(x, -1 in args.l || true)", "args.l.all(x, args.m.all(k, true))", "args.l.all(x, args.m == args.m)", "args.l.all(x, int(args.s) == 1 || true)",
		"args.l.exists(x, args.m[args.s] == 1)", "args.l.exists(x, args.s in args.m)", "args.l.exists(x, args.s in ['a'])", "args.l.exists(x, has({string(args.s): 1}.a))",
		"args.l.all(x, {'a': args.l + args.l}.size() > 0)", "args.l.all(x, args.none == 1 || args.l.all(y, args.none == 1 || true))", "args.l.all(x, args.l.all(y, args.l.all(z, false) || true))",
		"args.l.map(x, [x, x, x, x, x, x, x, x]).map(x, x + x + x + x).map(x, x + x + x + x).size() > 0", "true || args.l.all(x, args.l.all(y, true)) || args.l.all(x, args.l.all(y, true))",
	} {
		program, err := Compile(text, testNames())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var before, after runtime.MemStats
		var spent time.Duration
		for range 3 { // the quickest counts: others may want the machine, too
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err = program.Holds(values, 200_000)
			spent = time.Since(start)
			runtime.ReadMemStats(&after)
			if spent < 5*time.Second {
				break
			}
		}
		dear := !strings.HasPrefix(text, "true ||")
		if dear != (err != nil && strings.Contains(err.Error(), "costs more than")) {
			t.Errorf("%s: %v", text, err)
		}
		t.Logf("%7.1f ms %5.1f MB %s", spent.Seconds()*1000, float64(after.TotalAlloc-before.TotalAlloc)/1e6, text)
		if spent > 5*time.Second || after.TotalAlloc-before.TotalAlloc > 100<<20 {
			t.Errorf("%s took %v and %d bytes", text, spent, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

// TestPatternsOfTheArguments: those that are too large are not even built, and
// what they are is not told.
func TestPatternsOfTheArguments(t *testing.T) {
	program, err := Compile("args.l.exists(x, 'abc'.matches(x))", testNames())
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{strings.Repeat("[a-z]{900}", 11), strings.Repeat("(?:[a-z]|b*?){800}", 4), strings.Repeat("(?:.$){1000}", 5), "secret("} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := program.Holds(map[string]any{"args": map[string]any{"l": slices.Repeat([]any{pattern}, 300)}}, 200_000)
		runtime.ReadMemStats(&after)
		if err == nil || strings.Contains(err.Error(), pattern[:6]) {
			t.Errorf("%.20s: %v", pattern, err)
		}
		if built := (after.TotalAlloc - before.TotalAlloc) >> 20; built > 20 {
			t.Errorf("%.20s takes %d MB", pattern, built)
		}
	}
}

// TestPatternsAreBounded: a short pattern can stand for a huge program.
func TestPatternsAreBounded(t *testing.T) {
	start := time.Now()
	for _, pattern := range []string{"(a{1,50}){1,50}(a{1,50}){1,50}(a{1,50}){1,50}(a{1,50}){1,50}", strings.Repeat("a{1000}", 500), strings.Repeat("[a-z]{1000}", 300), strings.Repeat("(a|b){500}", 300), "(", "a**", "(?P<x", `\C`, "(?<=a)b", strings.Repeat("(", 1500)} {
		if _, err := Compile("tool.matches(r'"+pattern+"')", testNames()); err == nil {
			t.Errorf("%.40s is taken", pattern)
		}
		p, err := Compile("tool.matches(args.p)", testNames())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Holds(map[string]any{"tool": "x", "args": map[string]any{"p": pattern}}, 200_000); err == nil {
			t.Errorf("%.40s is tried", pattern)
		}
	}
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("it took %v", spent)
	}
}
