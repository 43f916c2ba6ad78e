package math

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
)

//go:embed statistics_summary.md
var statisticsSummaryText string

type statsIn struct {
	Numbers []float64 `json:"numbers" maxitems:"100000" doc:"The numbers, at least one."`
}

type statsOut struct {
	Count   int      `json:"count" doc:"How many numbers there are."`
	Mean    *float64 `json:"mean" doc:"Arithmetic mean."`
	Median  *float64 `json:"median" doc:"The middle value, or the mean of the two middle ones; null if that is out of range."`
	Stdev   *float64 `json:"stdev" doc:"Sample standard deviation (divided by count-1); null for a single number."`
	Minimum *float64 `json:"minimum" doc:"The smallest number."`
	Maximum *float64 `json:"maximum" doc:"The largest number."`
	Total   *float64 `json:"total" doc:"The sum, added from left to right; null if that is out of range."`
	Error   string   `json:"error,omitempty" doc:"Why there are no statistics."`
}

func statisticsSummary() toolcrib.Tool {
	return calculation("statistics_summary", "Summarise numbers", statisticsSummaryText, func(ctx context.Context, in statsIn) (statsOut, error) {
		if len(in.Numbers) == 0 {
			return failedStats(0, evalError("Empty list provided."))
		}
		out, err := summarise(ctx, in.Numbers)
		if err != nil {
			return failedStats(len(in.Numbers), err)
		}
		return out, nil
	})
}

// failedStats is all zeros, beside the count and the error.
func failedStats(n int, err error) (statsOut, error) {
	zero := func() *float64 { return new(float64) }
	return statsOut{
		Count: n, Mean: zero(), Median: zero(), Minimum: zero(), Maximum: zero(), Total: zero(),
		Error: err.Error(),
	}, err
}

func summarise(ctx context.Context, xs []float64) (statsOut, error) {
	m, err := newMoments(ctx, xs)
	if err != nil {
		return statsOut{}, err
	}
	out := statsOut{Count: len(xs)}
	if len(xs) > 1 {
		sd, err := m.stdev()
		if err != nil {
			return statsOut{}, err
		}
		out.Stdev = &sd
	}
	total, least, most := 0.0, xs[0], xs[0]
	for _, x := range xs {
		total += x
		// Not min and max: of 0 and -0 the first one stays.
		if x < least {
			least = x
		}
		if x > most {
			most = x
		}
	}
	out.Mean, _ = jsonNumber(m.mean())
	out.Median, _ = jsonNumber(median(xs))
	out.Minimum, _ = jsonNumber(least)
	out.Maximum, _ = jsonNumber(most)
	out.Total, _ = jsonNumber(total)
	return out, nil
}
