package account

import (
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Step is something that happened while a call ran, and when.
type Step struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// Steps puts what happened during a call into order, with its begin and its end.
// Of made, the calls that it made, each is a step with its own time.
func Steps(r toolcrib.Record, others []Step, made []toolcrib.Record) []Step {
	out := []Step{{r.Start, "begun"}}
	out = append(out, others...)
	for _, m := range made {
		said := "called " + m.Tool + ", still running"
		if m.Outcome != "" {
			said = "called " + m.Tool + ": " + Outcome(m) + " after " + Duration(m.Duration)
		}
		out = append(out, Step{m.Start, said})
	}
	slices.SortStableFunc(out, func(a, b Step) int { return a.At.Compare(b.At) })
	if r.Outcome != "" {
		out = append(out, Step{r.Start.Add(r.Duration), "ended: " + Outcome(r)})
	}
	return out
}

// steps tells what happened when, counted from the begin. A call of which only begin and
// end are known has no steps to tell: both stand above.
func (p *page) steps(list []Step) {
	if len(list) <= 2 {
		return
	}
	p.b.WriteByte('\n')
	p.line("Steps")
	var rows [][]string
	for i, s := range list {
		if i == maxSteps && len(list) > maxSteps+2 {
			rows = append(rows, []string{"  …", "(more; -o json has all)"})
			s = list[len(list)-1]
			rows = append(rows, []string{"  +" + Duration(s.At.Sub(list[0].At)), text.ShowLine(s.What)})
			break
		}
		rows = append(rows, []string{"  +" + Duration(s.At.Sub(list[0].At)), text.ShowLine(s.What)})
	}
	p.b.WriteString(p.Columns(rows, 1))
}

const maxSteps = 40
