package math

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func polyFrom(c ...int64) poly {
	p := make(poly, len(c))
	for i, v := range c {
		p[i] = big.NewRat(v, 1)
	}
	return p.trim()
}

func equalPoly(p, q poly) bool { return p.sub(q).isZero() }

func mustMul(t interface{ Fatal(...any) }, p, q poly) poly {
	r, ok := p.mul(q)
	if !ok {
		t.Fatal("out of bounds")
	}
	return r
}

func drawPoly(t *rapid.T, name string, degree int) poly {
	return polyFrom(rapid.SliceOfN(rapid.Int64Range(-20, 20), 1, degree+1).Draw(t, name)...)
}

func TestPolyAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := drawPoly(t, "p", 5), drawPoly(t, "q", 5), drawPoly(t, "r", 5)
		if !equalPoly(mustMul(t, p, q.add(r)), mustMul(t, p, q).add(mustMul(t, p, r))) {
			t.Fatal("not distributive")
		}
		if q.isZero() {
			return
		}
		if d, ok := mustMul(t, p, q).divide(q); !ok || !equalPoly(d, p) {
			t.Fatalf("p*q/q is %v, %v", d, ok)
		}
		s := big.NewRat(rapid.Int64Range(-9, 9).Draw(t, "num"), rapid.Int64Range(1, 9).Draw(t, "den"))
		x := big.NewRat(rapid.Int64Range(-9, 9).Draw(t, "x"), 7)
		if p.shift(s).eval(x).Cmp(p.eval(new(big.Rat).Add(x, s))) != 0 {
			t.Fatal("shift is not p(x+s)")
		}
		g, err := gcdPoly(newWork(context.Background()), mustMul(t, p, r), mustMul(t, q, r))
		if err != nil {
			t.Fatal(err)
		}
		if r.isZero() {
			return
		}
		if _, ok := g.divide(r); !ok {
			t.Fatalf("%v does not divide %v", r, g)
		}
	})
}

// TestRationalRoots: the product of known linear factors, some of them
// repeated, has exactly the known roots.
func TestRationalRoots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := polyFrom(rapid.Int64Range(1, 9).Draw(t, "lead"))
		var want []*big.Rat
		for range rapid.IntRange(1, 6).Draw(t, "factors") {
			r := big.NewRat(rapid.Int64Range(-200, 200).Draw(t, "num"), rapid.Int64Range(1, 60).Draw(t, "den"))
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				p = mustMul(t, p, polyOf(new(big.Rat).Neg(r), big.NewRat(1, 1)))
			}
			want = append(want, r)
		}
		// A factor without real roots must not matter.
		p = mustMul(t, p, polyFrom(rapid.Int64Range(1, 50).Draw(t, "c"), 0, 1))
		slices.SortFunc(want, (*big.Rat).Cmp)
		want = slices.CompactFunc(want, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
		got, err := realRoots(newWork(context.Background()), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d roots, want %v", len(got), want)
		}
		for i, r := range got {
			if r.rat == nil || r.rat.Cmp(want[i]) != 0 {
				t.Fatalf("root %d is %v, want %v", i, r.num, want[i])
			}
		}
	})
}

// TestRealRoots: for any polynomial, each root is where the sign changes
// between neighbouring floats, there are as many as Sturm's theorem says,
// and closed forms evaluate to the root.
func TestRealRoots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoly(t, "p", 4)
		if rapid.Bool().Draw(t, "product") {
			p = mustMul(t, p, drawPoly(t, "q", 4))
		}
		if p.degree() < 1 {
			return
		}
		w := newWork(context.Background())
		sf, err := squareFree(w, p)
		if err != nil {
			t.Fatal(err)
		}
		roots, err := realRoots(w, p)
		if err != nil {
			t.Fatal(err)
		}
		if n := sturmCount(sf); n != len(roots) {
			t.Fatalf("%v has %d roots, found %d", p, n, len(roots))
		}
		for _, r := range roots {
			lo, hi := new(big.Rat).SetFloat64(nextDown(r.v.hi)), new(big.Rat).SetFloat64(nextUp(r.v.hi))
			if r.rat == nil && sf.eval(lo).Sign()*sf.eval(hi).Sign() > 0 {
				t.Fatalf("%v: no change of sign at %v", p, r.v.hi)
			}
			if r.form.known() {
				v, err := evaluateText(r.form.text)
				if err != nil || math.Abs(v-r.v.hi) > 1e-8*(1+math.Abs(v)) {
					t.Fatalf("%v: %s is %v, %v, want %v", p, r.form.text, v, err, r.v.hi)
				}
			}
		}
	})
}

// sturmCount counts the distinct real roots of a square-free polynomial with
// a Sturm sequence, as an independent witness.
func sturmCount(p poly) int {
	seq := []poly{p}
	d := make(poly, 0, len(p))
	for i := 1; i < len(p); i++ {
		d = append(d, new(big.Rat).Mul(p[i], big.NewRat(int64(i), 1)))
	}
	for d = d.trim(); !d.isZero(); {
		seq = append(seq, d)
		a, b := seq[len(seq)-2], d
		for len(a) >= len(b) && !a.isZero() {
			c := new(big.Rat).Quo(a[len(a)-1], b[len(b)-1])
			shifted := make(poly, len(a))
			for i := range shifted {
				shifted[i] = new(big.Rat)
			}
			for i, v := range b {
				shifted[len(a)-len(b)+i] = new(big.Rat).Mul(c, v)
			}
			a = a.sub(shifted)
		}
		d = a.neg()
	}
	changes := func(minus bool) int {
		n, last := 0, 0
		for _, q := range seq {
			s := q[len(q)-1].Sign()
			if minus && q.degree()%2 == 1 {
				s = -s
			}
			if last != 0 && s != last {
				n++
			}
			last = s
		}
		return n
	}
	return changes(true) - changes(false)
}

func TestPolyBounds(t *testing.T) {
	x := polyFrom(0, 1)
	if _, ok := x.pow(maxDegree); !ok {
		t.Error("the largest degree is refused")
	}
	if _, ok := x.pow(maxDegree + 1); ok {
		t.Error("a larger degree is taken")
	}
	if _, ok := polyFrom(1 << 40).pow(1000); ok {
		t.Error("a coefficient of 40000 bits is taken")
	}
	if _, ok := polyFrom(-1, 1).pow(1 << 40); ok {
		t.Error("a huge power is taken")
	}
	w := &work{left: 10, stop: func() error { return nil }}
	if _, err := realRoots(w, polyFrom(-1, -1, 0, 0, 0, 1)); !errors.Is(err, errTooHard) {
		t.Errorf("without work to spend: %v", err)
	}
}
