package condition

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"pgregory.net/rapid"
)

// cel-go is the judge: what is accepted here is accepted there and gives the same
// value, or an error on both sides; and what is refused here is refused there, or
// says that it is left out.

const enough = 10_000_000

func testNames() map[string]Type {
	return map[string]Type{"args": MapOf(Any()), "caller": MapOf(Text()), "effects": ListOf(Text()), "tool": Text(), "box": Text(), "path": Text()}
}

func newJudge(t testing.TB) *cel.Env {
	t.Helper()
	env, err := cel.NewEnv(
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("caller", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("effects", cel.ListType(cel.StringType)),
		cel.Variable("tool", cel.StringType),
		cel.Variable("box", cel.StringType),
		cel.Variable("path", cel.StringType),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(4<<10),
		cel.ParserRecursionLimit(100),
		cel.RegexProgramSizeLimit(10_000),
		cel.ASTValidators(cel.ValidateRegexLiterals()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// judged compiles an expression with cel-go, as conditions of rules once were.
func judged(env *cel.Env, text string) (program cel.Program, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	tree, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	if !tree.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("gives %s", tree.OutputType())
	}
	return env.Program(tree, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(enough))
}

// verdict is what an evaluation gives, in one word.
func verdict(ok bool, err error) string {
	if err != nil {
		return "error"
	}
	return strconv.FormatBool(ok)
}

func judgedHolds(program cel.Program, values map[string]any) (word, detail string) {
	defer func() {
		if p := recover(); p != nil {
			word, detail = "error", fmt.Sprint(p)
		}
	}()
	out, _, err := program.Eval(values)
	if err != nil {
		return "error", err.Error()
	}
	return verdict(out.Value() == true, nil), ""
}

// testValues are those of a call with arguments, as rules have them.
func testValues(args string) (values map[string]any, broken bool) {
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var in map[string]any
	if err := dec.Decode(&in); err != nil || in == nil {
		return nil, true
	}
	return map[string]any{
		"args": Numbers(in), "caller": map[string]any{"agent": "bot", "subject": "ann", "via": "mcp"},
		"effects": []any{"reads", "writes"}, "tool": "merge", "box": "github", "path": "/home/ann/x.go",
	}, false
}

// isLeftOut: the refusal is one of those that cel-go does not share.
func isLeftOut(err error) bool {
	return strings.Contains(err.Error(), "left out") || strings.Contains(err.Error(), "nests too deep") || strings.Contains(err.Error(), "too large together")
}

// hold holds one expression against the judge, and says how they differ.
func hold(env *cel.Env, text, args string) string {
	values, broken := testValues(args)
	ours, refused := Compile(text, testNames())
	theirs, alsoRefused := judged(env, text)
	switch {
	case refused != nil && alsoRefused == nil && !isLeftOut(refused):
		return "refused here only: " + refused.Error()
	case refused == nil && alsoRefused != nil:
		return "refused by the judge only: " + alsoRefused.Error()
	case refused != nil || broken:
		return ""
	}
	got, err := ours.Holds(values, enough)
	want, detail := judgedHolds(theirs, values)
	if verdict(got, err) == want {
		return ""
	}
	for range 50 { // the order of a map's keys is by chance there
		if again, _ := judgedHolds(theirs, values); again != want {
			return ""
		}
	}
	return fmt.Sprintf("gives %s (%v), and should give %s (%s) with %s", verdict(got, err), err, want, detail, args)
}

// TestMeansWhatCELMeans: written expressions, written values.
func TestMeansWhatCELMeans(t *testing.T) {
	env := newJudge(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }}
		for range 5 {
			text, args := w.write('b'), w.args()
			if w.choose(3) == 0 {
				text = w.spoil(text)
			}
			if differs := hold(env, text, args); differs != "" {
				t.Fatalf("%s\n%s", text, differs)
			}
		}
	})
}

// FuzzCondition: whatever the text is, reading it ends in an expression or an
// error, and both are right.
func FuzzCondition(f *testing.F) {
	env := newJudge(f)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w := &writer{choose: r.IntN}
		f.Add(w.write('b'), w.args())
	}
	for _, text := range leftOutTexts() {
		f.Add(text, `{}`)
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		if len(text) > maxText || len(args) > maxText {
			return // longer ones take the judge too long
		}
		if differs := hold(env, text, args); differs != "" {
			t.Errorf("%s\n%s", text, differs)
		}
		values, broken := testValues(args)
		if program, refused := Compile(text, testNames()); refused == nil && !broken {
			if _, err := program.Holds(values, 20); err != nil {
				_ = err.Error()
			}
		}
	})
}

// leftOutTexts is what of CEL is left out: the judge takes all of it.
func leftOutTexts() []string {
	return []string{
		`timestamp("2026-01-01T00:00:00Z") < timestamp("2027-01-01T00:00:00Z")`, `duration("1h") == duration("60m")`,
		`timestamp("2026-01-01T00:00:00Z").getFullYear() == 2026`,
		`b"a" == b"a"`, `br'a' == b'a'`, `bytes("a") == bytes("b")`,
		`type(1) == int`, `args.a == string`, `google.protobuf.Int64Value{value: 1} == 1`, `.args.a == 1`, `.size(args) == 1`,
		`matches(tool, "a")`, `{args.a: 1} == {}`, `{1.5: 2} == {}`, `{null: 1}.size() == 1`,
		"true" + strings.Repeat(" == true", 60), "tool.matches('a{900}')" + strings.Repeat(" || tool.matches('a{900}')", 30),
	}
}

func TestLeftOut(t *testing.T) {
	env := newJudge(t)
	for _, text := range leftOutTexts() {
		if _, err := Compile(text, testNames()); err == nil || !isLeftOut(err) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := judged(env, text); err != nil {
			t.Errorf("%s: the judge does not take it either: %v", text, err)
		}
	}
}

// TestLiterals: strings in all their quotes with all escapes, and numbers, are the
// same values to the judge.
func TestLiterals(t *testing.T) {
	env := newJudge(t)
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		pick := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "part") }
		quote := pick(`"`, `'`, `"""`, `'''`)
		text := pick("", "r", "R", "", "b", "br", "rb") + quote
		for range rapid.IntRange(0, 5).Draw(t, "length") {
			text += pick("a", "é", "🙂", "\u2028", "\u202e", `\n`, `\\`, `\"`, `\'`, "\\`", `\?`, `\a`, `\b`, `\f`, `\r`, `\t`, `\v`, `\x41`, `\X7f`, `\xff`, `\u00e9`, `\uD800`, `\U0001F642`, `\U00110000`, `\101`, `\377`, `\400`, `\8`, `\z`, `\x4`, `\u12`, `"`, `'`, `""`, "\n", "\r", "\r\n", "\t", "\x00", `\`, "//", "`")
		}
		text += quote
		if rapid.Bool().Draw(t, "number") {
			text = ""
			for range rapid.IntRange(1, 6).Draw(t, "length") {
				text += pick("0", "1", "9", "7", "0x", "F", "e", "E", ".", "-", "+", "u", "U", "x", "_", "922337203685477580", "1844674407370955161", " ")
			}
		}
		p, err := Compile(text+" == args.a", testNames())
		if err == nil && p.tree.args[0].op == opLiteral {
			taken++
			value, err := json.Marshal(p.tree.args[0].value)
			if err != nil {
				t.Fatal(err)
			}
			if differs := hold(env, text+" == args.a", `{"a":`+string(value)+`}`); differs != "" {
				t.Fatalf("%q\n%s", text, differs)
			}
			theirs, _ := judged(env, text+" == args.a")
			values, _ := testValues(`{"a":` + string(value) + `}`)
			if word, detail := judgedHolds(theirs, values); word != "true" {
				t.Fatalf("%q is not %s: %s", text, value, detail)
			}
		} else if differs := hold(env, text+" == args.a", `{}`); differs != "" {
			t.Fatalf("%q\n%s", text, differs)
		}
	})
	if taken == 0 {
		t.Error("none was taken")
	}
}
