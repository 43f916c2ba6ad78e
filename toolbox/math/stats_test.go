package math

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Values from CPython 3.11.
func TestStatistics(t *testing.T) {
	const null = math.MaxFloat64
	for _, c := range []struct {
		in                                      string
		mean, median, stdev, least, most, total float64
	}{
		{`[1,2,3,4]`, 2.5, 2.5, 1.2909944487358056, 1, 4, 10},
		{`[7]`, 7, 7, null, 7, 7, 7},
		{`[0.1,0.1,0.1]`, 0.1, 0.1, 0, 0.1, 0.1, 0.30000000000000004},
		{`[1e16,1,-1e16]`, 0.3333333333333333, 1, 1e16, -1e16, 1e16, 0},
		{`[1e308,1e308]`, 1e308, null, 0, 1e308, 1e308, null},
		{`[5e-324,0]`, 0, 0, 5e-324, 0, 5e-324, 5e-324},
		{`[1000000000.1,1000000000.2,1000000000.3]`, 1000000000.2, 1000000000.2, 0.09999996423721906, 1000000000.1, 1000000000.3, 3000000000.6000004},
		{`[3,1,2]`, 2, 2, 1, 1, 3, 6},
	} {
		got, failed := run(t, "statistics_summary", `{"numbers": `+c.in+`}`)
		if failed || got["error"] != nil {
			t.Errorf("%s: %v", c.in, got)
		}
		for key, want := range map[string]float64{
			"mean": c.mean, "median": c.median, "stdev": c.stdev, "minimum": c.least, "maximum": c.most, "total": c.total,
		} {
			v, ok := got[key].(float64)
			if ok != (want != null) || ok && v != want {
				t.Errorf("%s: %s is %v, want %v", c.in, key, got[key], want)
			}
		}
	}
}

func TestStatisticsFailures(t *testing.T) {
	got, failed := run(t, "statistics_summary", `{"numbers": []}`)
	if !failed || got["error"] != "Empty list provided." || got["count"] != 0.0 || got["mean"] != 0.0 || got["stdev"] != nil || got["total"] != 0.0 {
		t.Errorf("empty list: failed %v, %v", failed, got)
	}
	got, failed = run(t, "statistics_summary", `{"numbers": [1.7976931348623157e308, -1.7976931348623157e308]}`)
	if !failed || got["error"] != "integer division result too large for a float" || got["count"] != 2.0 || got["maximum"] != 0.0 {
		t.Errorf("overflow: failed %v, %v", failed, got)
	}
}

func TestStatisticsStopWhenNobodyWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := summarise(ctx, make([]float64, 5000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMomentsAreExact recomputes mean and variance with fractions.
func TestMomentsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 2, 8).Draw(t, "xs")
		out, err := summarise(context.Background(), xs)
		if err != nil {
			t.Skip("overflow")
		}
		sum, n := new(big.Rat), big.NewRat(int64(len(xs)), 1)
		for _, x := range xs {
			sum.Add(sum, new(big.Rat).SetFloat64(x))
		}
		mean := new(big.Rat).Quo(sum, n)
		if want, _ := mean.Float64(); *out.Mean != want {
			t.Fatalf("mean of %v is %v, want %v", xs, *out.Mean, want)
		}
		ss := new(big.Rat)
		for _, x := range xs {
			d := new(big.Rat).Sub(new(big.Rat).SetFloat64(x), mean)
			ss.Add(ss, d.Mul(d, d))
		}
		ss.Quo(ss, n.Sub(n, big.NewRat(1, 1)))
		// sd is right if the variance lies between the squares of the
		// midpoints to its neighbours.
		sd := *out.Stdev
		square := func(a, b float64) *big.Rat {
			m := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
			m.Quo(m, big.NewRat(2, 1))
			return m.Mul(m, m)
		}
		if sd != 0 && ss.Cmp(square(nextDown(sd), sd)) < 0 || ss.Cmp(square(sd, nextUp(sd))) > 0 {
			t.Fatalf("standard deviation of %v is not %v", xs, sd)
		}
		if *out.Minimum != slices.Min(xs) || *out.Maximum != slices.Max(xs) {
			t.Fatalf("%v: minimum %v, maximum %v", xs, *out.Minimum, *out.Maximum)
		}
	})
}

func BenchmarkStatistics(b *testing.B) {
	xs := make([]float64, 10_000)
	for i := range xs {
		xs[i] = float64(i) * 1.1
	}
	input, err := json.Marshal(map[string]any{"numbers": xs})
	if err != nil {
		b.Fatal(err)
	}
	st := tool(b, "statistics_summary")
	for b.Loop() {
		if _, err := st.Run(b.Context(), nil, input); err != nil {
			b.Fatal(err)
		}
	}
}
