package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Stats counts calls.
type Stats struct {
	Since    time.Time                `json:"since,omitzero"`
	Calls    int                      `json:"calls"`
	Open     int                      `json:"open"` // begun and not over
	Outcomes map[toolcrib.Outcome]int `json:"outcomes"`
	Tools    []ToolStats              `json:"tools"` // most used first
}

// ToolStats counts the calls of one tool. Times are those of calls that ran to
// a result, done or failed: how long a refusal takes says nothing of a tool.
type ToolStats struct {
	Tool  string        `json:"tool"`
	Calls int           `json:"calls"` // that are over
	Done  int           `json:"done"`
	Rate  float64       `json:"rate"` // Done of Calls
	Mean  time.Duration `json:"mean_ns"`
	P50   time.Duration `json:"p50_ns"`
	P95   time.Duration `json:"p95_ns"`
}

// Stats counts the calls that began at or after a time; of all if it is zero.
func (r *Reader) Stats(ctx context.Context, since time.Time) (Stats, error) {
	s := Stats{Since: since, Outcomes: map[toolcrib.Outcome]int{}}
	from := int64(0)
	if !since.IsZero() {
		from = since.UnixNano()
	}
	open := map[int64]bool{} // a call's end always stands behind its begin
	tools := map[string]*ToolStats{}
	took := map[string][]time.Duration{}
	err := r.each(ctx, `SELECT seq, kind, ref, at, duration, tool, outcome FROM entry WHERE kind < 4 ORDER BY seq`, nil, func(v []driver.Value) error {
		seq, ref := asInt(v[0]), asInt(v[2])
		if kind(asInt(v[1])) == kindBegin {
			if asInt(v[3]) >= from {
				s.Calls++
				open[seq] = true
			}
			return nil
		}
		if !open[ref] {
			return nil
		}
		delete(open, ref)
		name, _ := v[5].(string)
		text, _ := v[6].(string)
		outcome := toolcrib.Outcome(text)
		s.Outcomes[outcome]++
		t := tools[name]
		if t == nil {
			t = &ToolStats{Tool: name}
			tools[name] = t
		}
		t.Calls++
		if outcome == toolcrib.Done {
			t.Done++
		}
		if outcome == toolcrib.Done || outcome == toolcrib.Broke {
			took[name] = append(took[name], time.Duration(asInt(v[4])))
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("counting calls: %w", err)
	}
	s.Open = len(open)
	for name, t := range tools {
		t.Rate = float64(t.Done) / float64(t.Calls)
		t.times(took[name])
		s.Tools = append(s.Tools, *t)
	}
	slices.SortFunc(s.Tools, func(a, b ToolStats) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool))
	})
	return s, nil
}

// times fills in the mean and the percentiles (nearest rank).
func (t *ToolStats) times(took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	total := time.Duration(0)
	for _, d := range took {
		total += d
	}
	rank := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	t.Mean, t.P50, t.P95 = total/time.Duration(len(took)), rank(50), rank(95)
}
