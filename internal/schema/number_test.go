package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
	"pgregory.net/rapid"
)

// literal draws number literals in all their spellings, with exponents that big.Rat can still take.
func literal() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		s += rapid.StringMatching(`0|[1-9][0-9]{0,22}|[1-9]0{0,20}`).Draw(t, "whole")
		s += rapid.StringMatching(`(\.([0-9]{1,22}|0{1,5}[0-9]))?`).Draw(t, "fraction")
		return s + rapid.StringMatching(`([eE][-+]?[0-3]?[0-9])?`).Draw(t, "exponent")
	})
}

func rat(t rapid.TB, lit string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(lit)
	if !ok {
		t.Fatalf("big.Rat does not read %q", lit)
	}
	return r
}

func figureOf(t rapid.TB, lit string) (*Doc, instanceNumber) {
	t.Helper()
	d, err := Parse([]byte(lit), Limits{})
	if err != nil {
		t.Fatalf("%s: %v", lit, err)
	}
	return d, d.number(0)
}

// TestNumbersAreExact holds every operation on literals against rational arithmetic.
func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := literal().Draw(t, "x"), literal().Draw(t, "y")
		if rapid.Bool().Draw(t, "near") && !strings.ContainsAny(x, "eE") {
			y = rapid.SampledFrom([]string{x, x + "e0", x + "e1", x + "E-1"}).Draw(t, "respelled")
			if strings.Contains(x, ".") {
				y = strings.Replace(y, x, x+"000", 1)
			}
		}
		d, f := figureOf(t, x)
		defer d.Release()
		e, g := figureOf(t, y)
		defer e.Release()
		b := newBound(g.lit, e.nodes[0].flags)
		if got, want := f.compare(&b), rat(t, x).Cmp(rat(t, y)); got != want {
			t.Fatalf("%s against %s: %d, want %d", x, y, got, want)
		}
		if got, want := equal(d, 0, e, 0), rat(t, x).Cmp(rat(t, y)) == 0; got != want {
			t.Fatalf("%s equal %s: %v, want %v", x, y, got, want)
		}
		if got, want := f.decimal().isInteger(), rat(t, x).IsInt(); got != want {
			t.Fatalf("%s is an integer: %v, want %v", x, got, want)
		}
		if text, ok := f.decimal().appendInt(nil); ok != (rat(t, x).IsInt() && rat(t, x).Num().IsInt64()) || ok && rat(t, string(text)).Cmp(rat(t, x)) != 0 {
			t.Fatalf("%s as an integer: %s, %v", x, text, ok)
		}
		if b.dec.sign() > 0 {
			want := new(big.Rat).Quo(rat(t, x), rat(t, y)).IsInt()
			if got := newDivisor(b).divides(&f); got != want {
				t.Fatalf("%s is a multiple of %s: %v, want %v", x, y, got, want)
			}
		}
	})
}

// TestHugeNumbers: exponents of any size must cost nothing and still be right.
func TestHugeNumbers(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		schema, value string
		valid         bool
	}{
		{`{"minimum":1}`, `1e1000000000`, true},
		{`{"minimum":1}`, `-1e1000000000`, false},
		{`{"minimum":1}`, `1e-1000000000`, false},
		{`{"maximum":1e999999999}`, `1e1000000000`, false},
		{`{"maximum":1e1000000000}`, `10e999999999`, true},
		{`{"exclusiveMaximum":1e1000000000}`, `10e999999999`, false},
		{`{"exclusiveMinimum":0}`, `1e-99999999999999999999999`, true},
		{`{"type":"integer"}`, `1e1000000000`, true},
		{`{"type":"integer"}`, `1.5e1000000000`, true},
		{`{"type":"integer"}`, `1e-1000000000`, false},
		{`{"type":"integer"}`, `0e-1000000000`, true},
		{`{"multipleOf":7}`, `7e1000000000`, true},
		{`{"multipleOf":7}`, `1e1000000000`, false},
		{`{"multipleOf":8}`, `1e1000000000`, true},
		{`{"multipleOf":0.01}`, `1e1000000000`, true},
		{`{"multipleOf":1e1000000000}`, `1e1000000000`, true},
		{`{"multipleOf":1e1000000000}`, `1`, false},
		{`{"multipleOf":1e-1000000000}`, `0.3`, true},
		{`{"const":1e1000000000}`, `10e999999999`, true},
		{`{"enum":[1e1000000000]}`, `1e1000000001`, false},
		{`{"uniqueItems":true}`, `[1e1000000000,10e999999999]`, false},
		{`{"uniqueItems":true}`, `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,1e1000000000,10e999999999]`, false},
		{`{"maximum":9007199254740992}`, `9007199254740993`, false},
		{`{"maximum":9007199254740993}`, `9007199254740993.0`, true},
		{`{"maximum":123456789012345678901234567890}`, `123456789012345678901234567891`, false},
		{`{"minimum":0.1}`, `0.1000000000000000000000000000000000000001`, true},
		{`{"maximum":0.1}`, `0.1000000000000000000000000000000000000001`, false},
		{`{"multipleOf":0.01}`, `4.35`, true},
		{`{"multipleOf":0.01}`, `4.351`, false},
		{`{"multipleOf":123456789012345678901234567890}`, `370370367037037036703703703670`, true},
		{`{"multipleOf":123456789012345678901234567890}`, `370370367037037036703703703671`, false},
		{`{"multipleOf":18446744073709551615}`, `36893488147419103230`, true},
		{`{"minLength":1e1000000000}`, `"abc"`, false},
		{`{"maxLength":1e1000000000}`, `"abc"`, true},
		{`{"maxItems":2.0}`, `[1,2,3]`, false},
		{`{"maximum":1}`, strings.Repeat("9", 2_000_000), false},
		{`{"multipleOf":3}`, strings.Repeat("9", 2_000_000), true},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		d, err := Parse([]byte(c.value), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if problems := s.Validate(d); (problems == nil) != c.valid {
			t.Errorf("%s by %s: %v, want valid=%v", text.Clip(c.value, 40), c.schema, problems, c.valid)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestMatcher holds the simple matcher against package regexp.
func TestMatcher(t *testing.T) {
	simple := 0
	patterns := []string{
		`^$`, `^[a-z]+$`, `^[a-z]*[0-9]$`, `^[a-z]?[a-z]$`, `^ab*c$`, `^a{2,3}b$`, `^a{2,3}a$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`,
		`^/[a-z0-9/_.-]*$`, `^#[0-9a-fA-F]{6}$`, `^(a|b)$`, `^a+?b$`, `a`, `^a`, `a$`, `^.$`, `^\d+$`, `^\w+\s$`, `^[^a]$`, `(?i)^ab$`,
		`^é$`, `^a*b*c*$`, `^a*b?a$`, `^a{0}b$`, `\A[ab]+\z`, `^[a-z]{3,}[0-9]*$`, `(?m)^a$`, `^^a$$`, `^a{1000}$`, `^[a-c]*b$`, `^a?b?a?$`,
	}
	for _, p := range patterns {
		m, err := newMatcher(p)
		if err != nil {
			t.Fatal(err)
		}
		if m.re == nil {
			simple++
		}
	}
	if simple < 15 {
		t.Errorf("only %d patterns are simple", simple)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.OneOf(
			rapid.SampledFrom(patterns),
			rapid.StringMatching(`\^((a|b|[abc]|[b-d]|\[abc\]|\[a-z0-9\]|\\d)([*+?]|\{[0-2]\}|\{1,3\}|\{2,\})?){1,4}\$`),
		).Draw(t, "pattern")
		s := rapid.OneOf(rapid.StringMatching(`[abcd0-9/_é\n-]{0,8}`), rapid.StringMatching(`[ab]{0,5}`), rapid.StringMatching(`a{0,4}b{0,3}c?d?`)).Draw(t, "text")
		m, err := newMatcher(p)
		if err != nil {
			t.Skip(fmt.Sprint(err))
		}
		if got, want := m.match([]byte(s)), regexp.MustCompile(p).MatchString(s); got != want {
			t.Fatalf("%q against %s: %v, want %v (simple: %v)", s, p, got, want, m.re == nil)
		}
	})
}
