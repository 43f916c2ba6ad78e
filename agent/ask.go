package agent

import (
	"context"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Asks wraps an approver so that watchers of a run see each question that one of its
// calls puts to a person. The ID of the question is the call's. An approver that answers
// some questions from memory had better tell of the others itself; see Agent.Questions.
func Asks(next toolcrib.Approver) toolcrib.Approver {
	if next == nil {
		return nil // nobody is there, and the crib says so
	}
	return asking{next}
}

type asking struct{ next toolcrib.Approver }

func (a asking) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		r.asked(QuestionOf(q))
	}
	return a.next.Approve(ctx, q)
}

// QuestionOf says a question of a crib in the words of OWL's chunk.
func QuestionOf(q toolcrib.Question) Question {
	out := Question{ID: q.Call.ID, Text: q.Text, Options: q.Options, Tool: q.Call.Tool}
	if q.Text != "" {
		return out
	}
	out.Approval, out.Options = true, []string{"yes", "no"}
	var why []string
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask && v.Reason != "" {
			why = append(why, v.Reason)
		}
	}
	out.Text = "May " + q.Call.Tool + " be called with " + text.Clip(text.ShowLine(string(q.Input)), 500) + "?"
	if len(why) > 0 {
		out.Text += " It is asked because: " + strings.Join(why, "; ")
	}
	return out
}

// Above is the run that a call belongs to, as a tool sees it that runs another agent.
type Above struct {
	Agent  string // who called
	Caller toolcrib.Caller
	Depth  int // 0: it is no delegate itself
	// Emit tells the watchers of that run what happens in the one below it.
	Emit func(Event)
}

// AboveOf finds the run that made the call of ctx. A run that is started with such a
// ctx is its delegate: it is one deeper, and its usage counts with the run above.
func AboveOf(ctx context.Context) (Above, bool) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return Above{}, false
	}
	return Above{Agent: r.agent.Caller.Agent, Caller: r.agent.Caller, Depth: r.depth, Emit: r.forward}, true
}

type runKey struct{}
