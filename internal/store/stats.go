package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolname"
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

// Stats counts the calls that a filter chooses by tool, subject, session,
// agent, organisation and time; the rest of the filter is left aside, since
// outcomes are what is counted.
func (r *Reader) Stats(ctx context.Context, f Filter) (Stats, error) {
	s := Stats{Since: f.Since, Outcomes: map[toolcrib.Outcome]int{}}
	f, err := r.bounded(ctx, f)
	if err != nil {
		return Stats{}, fmt.Errorf("counting calls: %w", err)
	}
	begins := `SELECT seq, kind, ref, at, duration, tool, outcome, subject, session, body, box FROM entry WHERE seq >= $1 AND kind < 4 ORDER BY seq`
	if !f.inBody() { // bodies are most of a journal
		begins = strings.Replace(begins, ", body", ", ''", 1)
	}
	open := map[int64]bool{} // a call's end always stands behind its begin
	called, box := toolname.Shapes(f.Tool)
	tools := map[string]*ToolStats{}
	took := map[string][]time.Duration{}
	err = r.each(ctx, begins, []any{int64(f.from)}, func(v []driver.Value) error {
		seq, ref := asInt(v[0]), asInt(v[2])
		if kind(asInt(v[1])) == kindBegin {
			chosen, err := f.counts(v, called)
			if chosen {
				s.Calls++
				open[seq] = true
			}
			return err
		}
		if !open[ref] {
			return nil
		}
		delete(open, ref)
		name, _ := v[5].(string)
		if in, _ := v[10].(string); box != "" && name != f.Tool && in != box { // a tool of that name in another box
			s.Calls--
			return nil
		}
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

// counts reports whether a begin, as Stats reads it, is one to count.
func (f *Filter) counts(v []driver.Value, called []string) (bool, error) {
	at := asInt(v[3])
	if !f.Since.IsZero() && at < f.Since.UnixNano() || !f.Until.IsZero() && at >= f.Until.UnixNano() {
		return false, nil
	}
	if tool, _ := v[5].(string); f.Tool != "" && tool != f.Tool && !slices.Contains(called, tool) {
		return false, nil
	}
	for _, c := range [...]struct {
		want string
		have driver.Value
	}{{f.Subject, v[7]}, {f.Session, v[8]}} {
		if have, _ := c.have.(string); c.want != "" && c.want != have {
			return false, nil
		}
	}
	switch body := v[9].(type) {
	case []byte:
		return f.within(body)
	case string:
		return f.within([]byte(body))
	}
	return !f.inBody(), nil
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
