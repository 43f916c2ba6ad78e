package math

import (
	"bufio"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"
)

// TestElementary checks the functions against values that were computed with
// 2400 bits and rounded once.
func TestElementary(t *testing.T) {
	f, err := os.Open("testdata/elementary.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	rows := 0
	for ; s.Scan(); rows++ {
		var row struct {
			Fn   string   `json:"fn"`
			Args []string `json:"args"`
			Want string   `json:"want"`
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		args := make([]float64, len(row.Args))
		for i, a := range row.Args {
			args[i] = parseHex(t, a)
		}
		var got float64
		var err error
		if row.Fn == "pow" {
			got, err = pyPow(args[0], args[1])
		} else {
			got, err = apply(row.Fn, args)
		}
		if want := parseHex(t, row.Want); err != nil || got != want {
			t.Errorf("%s(%v) is %v, %v, want %v", row.Fn, args, got, err, want)
		}
	}
	if rows < 250 {
		t.Errorf("only %d rows", rows)
	}
}

func parseHex(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// bigPi computes pi to prec bits by Machin's formula in whole numbers.
func bigPi(prec uint) *big.Float {
	guard := prec + 32
	one := new(big.Int).Lsh(big.NewInt(1), guard)
	arccot := func(n int64) *big.Int {
		sum, term := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		sq, part := big.NewInt(n*n), new(big.Int)
		for k := int64(1); term.Sign() != 0; k += 2 {
			part.Quo(term, big.NewInt(k))
			if k&2 == 0 {
				sum.Add(sum, part)
			} else {
				sum.Sub(sum, part)
			}
			term.Quo(term, sq)
		}
		return sum
	}
	a := arccot(5)
	a.Mul(a, big.NewInt(16)).Sub(a, new(big.Int).Mul(arccot(239), big.NewInt(4)))
	f := new(big.Float).SetPrec(prec).SetInt(a)
	return f.SetMantExp(f, -int(guard))
}

// isPair fails unless d is v rounded to two floats.
func isPair(t *testing.T, name string, d dd, v *big.Float) {
	t.Helper()
	hi, _ := v.Float64()
	lo, _ := new(big.Float).SetPrec(400).Sub(v, big.NewFloat(hi)).Float64()
	if d.hi != hi || d.lo != lo {
		t.Errorf("%s is %x + %x, want %x + %x", name, d.hi, d.lo, hi, lo)
	}
}

func TestConstantsAreRight(t *testing.T) {
	pi := bigPi(1500)
	isPair(t, "pi", ddPi(), pi)
	isPair(t, "pi/2", ddHalfPi(), new(big.Float).Quo(pi, big.NewFloat(2)))

	q := new(big.Float).SetPrec(1400).Quo(big.NewFloat(2), pi)
	q.SetMantExp(q, 1280)
	bits, _ := q.Int(nil)
	if got := bits.Text(16); got != twoOverPi {
		t.Errorf("2/pi is %s", got)
	}

	// log 2 = 1/2 + 1/8 + 1/24 + ..., the sum of 1/(k*2^k).
	ln2 := new(big.Float).SetPrec(400)
	for k := int64(1); k < 400; k++ {
		term := new(big.Float).SetPrec(400).Quo(big.NewFloat(1), new(big.Float).SetInt64(k))
		ln2.Add(ln2, term.SetMantExp(term, -int(k)))
	}
	isPair(t, "log 2", ddLn2(), ln2)
	isPair(t, "1/log 2", dd{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, new(big.Float).SetPrec(400).Quo(big.NewFloat(1), ln2))

	for i, c := range inverseFactorials() {
		f := new(big.Float).SetPrec(400).SetInt(new(big.Int).MulRange(1, int64(i)))
		isPair(t, "1/n!", c, f.Quo(new(big.Float).SetPrec(400).SetInt64(1), f))
	}
}

// TestLogarithmsOfPowers: what is exact must come out exact.
func TestLogarithmsOfPowers(t *testing.T) {
	for k := -1074; k < 1024; k++ {
		if got := log2(math.Ldexp(1, k)); got != float64(k) {
			t.Errorf("log2(2**%d) is %v", k, got)
		}
	}
	for k := 0; k <= 22; k++ {
		if got := log10(math.Pow10(k)); got != float64(k) {
			t.Errorf("log10(1e%d) is %v", k, got)
		}
	}
	for k := 1; k < 34; k++ {
		want, _ := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(k)), nil)).Float64()
		if got := pow(3, float64(k)); got != want {
			t.Errorf("3**%d is %v, want %v", k, got, want)
		}
	}
}
