package agents

import (
	"context"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// Questions tells of what people are asked at a desk in one session: it looks, and answers
// nothing.
func Questions(d *desk.Desk) func(ctx context.Context, session string, asked func(agent.Question)) (stop func()) {
	return func(ctx context.Context, session string, asked func(agent.Question)) func() {
		began := time.Now().Add(-time.Second) // what an earlier run left open is not asked now
		events, stop, err := d.Watch(ctx, desk.Screen{Name: "agent", Looks: true, Sees: func(q desk.Question) bool { return q.Caller.Session == session && q.Current(began) }})
		if err != nil {
			return func() {} // the questions are asked all the same
		}
		go func() {
			told := map[string]bool{}
			for e := range events {
				if e.Question.State == desk.Open && !told[e.Question.ID] {
					told[e.Question.ID] = true
					asked(question(&e.Question))
				}
			}
		}()
		return stop
	}
}

// question is a question in the words of OWL's chunk.
func question(q *desk.Question) agent.Question {
	out := agent.Question{ID: q.ID, Text: q.Text, Options: q.Options, Tool: q.Tool}
	if q.Text != "" {
		return out
	}
	out.Approval, out.Options = true, []string{"yes", "no"}
	var b strings.Builder
	for _, p := range q.Describe() {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.Title)
		for _, l := range p.Lines {
			b.WriteString("\n  " + l)
		}
	}
	out.Text = b.String()
	return out
}
