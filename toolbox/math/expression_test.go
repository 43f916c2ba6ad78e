package math

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// evaluateText reads and computes an expression.
func evaluateText(src string) (float64, error) {
	n, err := parse(src, false)
	if err != nil {
		return 0, err
	}
	return evaluate(n)
}

// TestCPython compares with what CPython 3.11 answers: values to the last
// bit and the sign of zero, errors of arithmetic to the last letter.
func TestCPython(t *testing.T) { checkRows(t, "testdata/cpython.jsonl", 500) }

// TestRefused: Python that is no arithmetic, and texts that are no Python, have
// errors of our own.
func TestRefused(t *testing.T) { checkRows(t, "testdata/refused.jsonl", 120) }

func checkRows(t *testing.T, file string, least int) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	rows := 0
	for ; s.Scan(); rows++ {
		var row struct{ Src, Value, Error string }
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got, err := evaluateText(row.Src)
		if row.Error != "" {
			if err == nil || err.Error() != row.Error {
				t.Errorf("%.80q: %v, %v, want error %q", row.Src, got, err, row.Error)
			}
			continue
		}
		want, perr := strconv.ParseFloat(row.Value, 64)
		if perr != nil {
			t.Fatal(perr)
		}
		same := got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want)
		if err != nil || !same {
			t.Errorf("%.80q: %v, %v, want %v", row.Src, got, err, want)
		}
	}
	if rows < least {
		t.Errorf("only %d rows", rows)
	}
}

func TestEvaluateSpecialValues(t *testing.T) {
	for _, c := range []struct{ src, special string }{
		{"inf", "inf"}, {"-inf", "-inf"}, {"inf - inf", "nan"}, {"1e308 * 10", "inf"},
	} {
		got, failed := run(t, "evaluate_expression", `{"expression": "`+c.src+`"}`)
		if failed || got["result"] != nil || got["special"] != c.special || got["error"] != nil {
			t.Errorf("%s: failed %v, %v", c.src, failed, got)
		}
	}
	got, failed := run(t, "evaluate_expression", `{"expression": "2**10"}`)
	if failed || got["result"] != 1024.0 || got["special"] != nil || got["expression"] != "2**10" {
		t.Errorf("2**10: failed %v, %v", failed, got)
	}
	got, failed = run(t, "evaluate_expression", `{"expression": "1/0"}`)
	if !failed || got["error"] != "float division by zero" || got["expression"] != "1/0" {
		t.Errorf("1/0: failed %v, %v", failed, got)
	}
}

// TestExpressionBounds: nothing small keeps the machine busy, nothing deep
// breaks it.
func TestExpressionBounds(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"factorial(1e8)", "int too large"},
		{"factorial(9e18)", "int too large"},
		{"factorial(factorial(20))", "int too large"},
		{"9**9**9", "Numerical result out of range"},
		{"9**9**9**9**9**9", "Numerical result out of range"},
		{"lcm(" + strings.Repeat("1e308,", 1400) + "1)", ""},
		{"lcm(" + strings.Repeat("1e308,7e307,", 700) + "1)", "int too large"},
		{"gcd(" + strings.Repeat("1e308,", 1400) + "1)", ""},
		{strings.Repeat("(", 4000) + "1" + strings.Repeat(")", 4000), "nested too deeply"},
		{strings.Repeat("(", 10000), "never closed"},
		{strings.Repeat("-", 9000) + "1", "nested too deeply"},
		{strings.Repeat("not ", 2400) + "1", "Unary operator not permitted: Not"},
		{strings.Repeat("2**", 3000) + "1", "nested too deeply"},
		{strings.Repeat("lambda:", 1400) + "1", "Unsupported expression node: Lambda"},
		{strings.Repeat("1 if 1 else ", 800) + "1", "Unsupported expression node: IfExp"},
		{strings.Repeat("f'{", 100) + "1" + strings.Repeat("}'", 100), "Syntax error: "},
		{strings.Repeat("[", 150) + strings.Repeat("x for x in ", 300), "Syntax error: "},
		{strings.Repeat("a b ", 2000), "Syntax error: "},
		{"(" + strings.Repeat("a b ", 2000), "Syntax error: "},
		{strings.Repeat("1+", 4999) + "1", ""},
		{strings.Repeat("9", 10001), "longer than"},
		{strings.Repeat("9", 4301), "int too large"},
		{"0x" + strings.Repeat("f", 9000), "int too large"},
		{"1e" + strings.Repeat("9", 9000), ""},
		{"1e-" + strings.Repeat("9", 9000), ""},
		{"round(1, " + strings.Repeat("9", 300) + ")", ""},
		{"sin(1.7976931348623157e308)", ""},
	} {
		start := time.Now()
		_, err := evaluateText(c.src)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%.40s took %v", c.src, d)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.40s: %v, want %q", c.src, err, c.want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		"", "1", "2+2*3", "sqrt(2)**2", "(1", "f'{x!r:>{w}}'", "[x for x in y if z]", "lambda *a, b=1, **c: a", "0x1f", "1_0.5e-3j",
		"{1: 2, **a}", "a[1:2, ::3]", "1 if 2 else 3", "'\\N{x}' b'\\x4'", "not x in y is not z", "(yield from x)", "round(2.5, -1)",
		"1\\\n+2", "\u00d7", "f(a, *b, c=1, **d)", "((((", "print 1", "x := 1", "(x := 1)", "1e400 - 1e400", "\"\"\"a\n\"\"\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		n, err := parse(src, false)
		if (n == nil) == (err == nil) {
			t.Fatalf("%q: tree %v, error %v", src, n, err)
		}
		if err == nil {
			if _, err = evaluate(n); err != nil && err.Error() == "" {
				t.Fatalf("%q: an error without a text", src)
			}
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Fatalf("%q took %v", src, d)
		}
	})
}
