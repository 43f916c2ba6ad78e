package account

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Tally counts calls.
type Tally struct {
	Since     time.Time            `json:"since,omitzero"`
	Until     time.Time            `json:"until,omitzero"`
	Calls     int                  `json:"calls"`
	Open      int                  `json:"open"`
	Partial   bool                 `json:"partial,omitempty"` // there were more calls than are counted at once: the newest are
	Outcomes  []Count              `json:"outcomes"`
	Tools     []Count              `json:"tools"`
	Agents    []Count              `json:"agents"`
	Clients   []Count              `json:"clients"`
	Approvals Approvals            `json:"approvals"`
	Slowest   []Slow               `json:"slowest"`
	Models    []ModelUse           `json:"models,omitempty"`
	Span      string               `json:"span"` // hour or day: what a number of Over stands for
	Over      []Count              `json:"over"` // by hour or day, the oldest first
	starts    []time.Time          // of all, to be put into hours or days
	by        [4]map[string]int    // outcomes, tools, agents, clients
	models    map[string]*ModelUse // by name
}

// Approvals counts what people were asked.
type Approvals struct {
	Asked      int `json:"asked"`
	Approved   int `json:"approved"`
	Refused    int `json:"refused"`
	Unanswered int `json:"unanswered"` // nobody was there, or nobody answered
}

// Slow is a call that took long.
type Slow struct {
	ID   string        `json:"id"`
	Tool string        `json:"tool"`
	What string        `json:"what"`
	Took time.Duration `json:"duration_ns"`
}

// ModelUse is what was asked of a model.
type ModelUse struct {
	Model     string  `json:"model"`
	Calls     int     `json:"calls"`
	Input     int     `json:"input_tokens"`
	Output    int     `json:"output_tokens"`
	Cost      float64 `json:"cost"`
	Estimated bool    `json:"estimated,omitempty"` // not every answer said how many tokens it took
}

// Add counts a call. A call of a model is one of the program's, and counts as that.
func (t *Tally) Add(r toolcrib.Record) {
	if t.by[0] == nil {
		for i := range t.by {
			t.by[i] = map[string]int{}
		}
		t.models = map[string]*ModelUse{}
	}
	t.Calls++
	t.starts = append(t.starts, r.Start)
	outcome := string(r.Outcome)
	if outcome == "" {
		outcome = "running"
		t.Open++
	}
	for i, name := range [...]string{outcome, Name(r), cmp.Or(r.Caller.Agent, "(none)"), cmp.Or(r.Caller.Client, r.Caller.Frontend, "(unknown)")} {
		t.by[i][name]++
	}
	t.Approvals.add(r)
	if r.Answered() {
		t.slow(r)
	}
	if r.Box == "model" {
		t.model(r)
	}
}

// byPerson is the guard of the verdict that a record has of a person's answer.
const byPerson = "person"

func (a *Approvals) add(r toolcrib.Record) {
	// The answer is a verdict, too: whether it was asked is what the guards say.
	guards := slices.DeleteFunc(slices.Clone(r.Verdicts), func(v toolcrib.Verdict) bool { return v.Guard == byPerson })
	if Strictest(guards) != toolcrib.Ask {
		return
	}
	a.Asked++
	switch {
	case r.ApprovedBy != "":
		a.Approved++
	case r.Outcome == toolcrib.Outcome(toolcrib.CodeDenied):
		a.Refused++
	case r.Outcome != "":
		a.Unanswered++
	}
}

// Strictest is what the verdicts of a call come to.
func Strictest(verdicts []toolcrib.Verdict) toolcrib.Decision {
	least := toolcrib.Allow
	for _, v := range verdicts {
		if !v.Note {
			least = min(least, v.Decision)
		}
	}
	return least
}

const mostSlow = 5

func (t *Tally) slow(r toolcrib.Record) {
	if len(t.Slowest) == mostSlow && r.Duration <= t.Slowest[mostSlow-1].Took {
		return
	}
	t.Slowest = append(t.Slowest, Slow{r.ID, Name(r), What(r), r.Duration})
	slices.SortStableFunc(t.Slowest, func(a, b Slow) int { return cmp.Compare(b.Took, a.Took) })
	t.Slowest = t.Slowest[:min(len(t.Slowest), mostSlow)]
}

func (t *Tally) model(r toolcrib.Record) {
	var said struct {
		Value struct {
			Model     string  `json:"model"`
			Input     int     `json:"input_tokens"`
			Output    int     `json:"output_tokens"`
			Cost      float64 `json:"cost"`
			Estimated bool    `json:"estimated"`
		} `json:"value"`
	}
	if json.Unmarshal(r.Result, &said) != nil || said.Value.Model == "" {
		return
	}
	m := t.models[said.Value.Model]
	if m == nil {
		m = &ModelUse{Model: said.Value.Model}
		t.models[m.Model] = m
	}
	m.Calls++
	m.Input += max(0, said.Value.Input)
	m.Output += max(0, said.Value.Output)
	m.Cost += max(0, said.Value.Cost)
	m.Estimated = m.Estimated || said.Value.Estimated
}

// Sum puts together what was counted. Hours and days are those of now's place.
func (t *Tally) Sum(now time.Time) {
	lists := [...]*[]Count{&t.Outcomes, &t.Tools, &t.Agents, &t.Clients}
	for i, names := range t.by {
		*lists[i] = Sorted(names)
	}
	t.Models = nil
	for _, m := range t.models {
		t.Models = append(t.Models, *m)
	}
	slices.SortFunc(t.Models, func(a, b ModelUse) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model)) })
	if t.Slowest == nil {
		t.Slowest = []Slow{}
	}
	t.over(now)
}

// mostSpans bounds how many hours or days are told apart.
const mostSpans = 400

// over counts by hour what is two days or less, and by day what is more.
func (t *Tally) over(now time.Time) {
	t.Over, t.Span = []Count{}, "day"
	from, to := t.Since, t.Until
	if to.IsZero() {
		to = now
	}
	for _, s := range t.starts {
		if t.Since.IsZero() && (from.IsZero() || s.Before(from)) {
			from = s
		}
	}
	if len(t.starts) == 0 || from.IsZero() || !from.Before(to) {
		return
	}
	begin, next, layout := startOfDay, func(u time.Time) time.Time { return u.AddDate(0, 0, 1) }, "2006-01-02"
	if to.Sub(from) <= 48*time.Hour {
		t.Span, begin, layout = "hour", func(u time.Time) time.Time { return u.Truncate(time.Hour) }, "2006-01-02 15:00"
		next = func(u time.Time) time.Time { return u.Add(time.Hour) }
	}
	n := map[string]int{}
	for _, s := range t.starts {
		n[begin(s.In(now.Location())).Format(layout)]++
	}
	at := begin(from.In(now.Location()))
	for !at.After(to) {
		name := at.Format(layout)
		if len(t.Over) == 0 || t.Over[len(t.Over)-1].Name != name { // an hour that the clock has twice
			t.Over = append(t.Over, Count{name, n[name]})
		}
		if len(t.Over) > mostSpans {
			t.Over = t.Over[1:]
		}
		at = next(at)
	}
}

func startOfDay(u time.Time) time.Time {
	return time.Date(u.Year(), u.Month(), u.Day(), 0, 0, 0, 0, u.Location())
}

// Sorted gives counts, the highest first.
func Sorted(names map[string]int) []Count {
	out := make([]Count, 0, len(names))
	for name, n := range names {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return out
}
