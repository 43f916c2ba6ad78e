package math

import (
	"math"
	"testing"
)

// searched solves an equation that only a search can solve.
func searched(t *testing.T, eq string) []float64 {
	t.Helper()
	out, err := solveText(t.Context(), eq)
	if err != nil || out.Method != numeric {
		t.Fatalf("%s: %v, %+v", eq, err, out)
	}
	return out.Solutions
}

// TestScanFindsAll compares with solutions that are known in advance.
func TestScanFindsAll(t *testing.T) {
	multiples := func(start, step float64) []float64 {
		var xs []float64
		for k := math.Ceil((-1000 - start) / step); start+k*step <= 1000; k++ {
			xs = append(xs, start+k*step)
		}
		return xs
	}
	const pi = math.Pi
	for _, c := range []struct {
		eq   string
		want []float64
	}{
		{"sin(x)", multiples(0, pi)},
		{"cos(x)", multiples(pi/2, pi)},
		{"tan(x)", multiples(0, pi)},
		{"tan(x) - 1", multiples(pi/4, pi)},
		{"sin(5*x)", multiples(0, pi/5)},
		{"cos(pi*x/2)", multiples(1, 2)},
		// where the curve only touches zero
		{"cos(x) - 1", multiples(0, 2*pi)},
		{"(sin(x) - 1)**2", multiples(pi/2, 2*pi)},
		{"sin(x)**2 - 2*sin(x) + 1", multiples(pi/2, 2*pi)},
		{"1e12*cos(x) - 1e12", multiples(0, 2*pi)},
		{"abs(sin(x)) - 1", multiples(pi/2, pi)},
		{"1/cos(x) - 1", multiples(0, 2*pi)},
		{"exp(x) - 1 - x", []float64{0}},
		// two within one step
		{"exp(x)*0 + (x**2 - 0.25) * cos(x/700)", []float64{-0.5, 0.5}},
		{"x*exp(-x) - 0.1", []float64{0.1118325592, 3.577152064}},
		{"x - 0.5 - floor(x)", multiples(0.5, 1)},
		{"x % 2", multiples(0, 2)},
	} {
		got := searched(t, c.eq)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d solutions, want %d", c.eq, len(got), len(c.want))
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 2e-9 {
				t.Errorf("%s: %v, want %v", c.eq, got[i], c.want[i])
			}
		}
	}
}

// TestScanFindsNoFalseRoots: changes of sign at poles and jumps, and numbers
// that are merely small, are not solutions.
func TestScanFindsNoFalseRoots(t *testing.T) {
	for _, eq := range []string{
		"1/sin(x + 0.1) + 0*floor(x)", "1/(x - 0.5) + floor(x)*0", "floor(x) - 0.5", "ceil(x) + 0.999", "round(x) - 0.0000001", "x//1 + 0.5",
		"exp(-x) + floor(x)*0", "exp(x) + 1e-13*cos(x)**2", "cos(x) - 1.000001", "sin(x)**2 + cos(x)**2 - 1.0000001", "1/tan(x)*floor(1.5)",
		"exp(-abs(x)) + exp(-x*x)",
	} {
		out, err := solveText(t.Context(), eq)
		if err != nil || len(out.Solutions) != 0 || out.Identity {
			t.Errorf("%s: %v, %d solutions, identity %v", eq, err, len(out.Solutions), out.Identity)
		}
	}
	if got := searched(t, "exp(x) - exp(2*x)"); len(got) != 1 || got[0] != 0 {
		t.Errorf("a difference that vanishes far out: %v", got)
	}
	if got := searched(t, "tan(x) - x"); len(got) != 635 {
		t.Errorf("tan(x) - x: %d solutions", len(got))
	}
	if got := searched(t, "sin(x*1e300)"); len(got) != 1 || got[0] != 0 {
		t.Errorf("noise: %d solutions", len(got))
	}
}

func TestScanSaysWhatItDidNotDo(t *testing.T) {
	for _, c := range []struct{ eq, want string }{
		{"cos(x) - x", noteInterval},
		{"floor(x) - 3", noteWhole + "; " + noteInterval},
		{"abs(x-0.3) + abs(x-0.4) - 0.1", noteWhole + "; no real solution found between -1000 and 1000"},
		{"cos(x) + x**2 + 1", "no real solution found between -1000 and 1000"},
		{"sqrt(-1 - cos(x)**2) + x", "the expression has no value at the points tried (math domain error); no real solution found between -1000 and 1000"},
	} {
		out, err := solveText(t.Context(), c.eq)
		if err != nil || out.Note != c.want {
			t.Errorf("%s: %v, note %q", c.eq, err, out.Note)
		}
	}
}

// TestJets compares derivatives with differences, and the error bound with
// nothing being exact.
func TestJets(t *testing.T) {
	for _, src := range []string{
		"x + 2*x - x/3", "x**3", "2**x", "x**x", "sqrt(x)", "exp(x)", "log(x)", "log(x, 3)", "log2(x)", "log10(x)", "sin(x)", "cos(x)", "tan(x)",
		"asin(x/9)", "acos(x/9)", "atan(x)", "atan2(x, 2)", "atan2(2, x)", "abs(-x)", "degrees(x)", "radians(x)", "-x", "1/x", "x % 7", "x**-1.5",
	} {
		n, err := parse(src, false)
		if err != nil {
			t.Fatal(err)
		}
		const x, h = 1.3, 1e-6
		j, err := jetAt(n, x, 0)
		lo, err1 := jetAt(n, x-h, 0)
		hi, err2 := jetAt(n, x+h, 0)
		if err != nil || err1 != nil || err2 != nil {
			t.Errorf("%s: %v %v %v", src, err, err1, err2)
		}
		if d := (hi.v - lo.v) / (2 * h); math.Abs(d-j.d) > 1e-6*(1+math.Abs(d)) {
			t.Errorf("%s: derivative %v, by differences %v", src, j.d, d)
		}
		if src != "-x" && j.e <= 0 || j.e > 1e-14*(1+math.Abs(j.v)) {
			t.Errorf("%s: error bound %v", src, j.e)
		}
	}
}
