package telemetry

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// approver watches how people answer.
type approver struct {
	*Telemetry
	next toolcrib.Approver
}

// Approve implements [toolcrib.Approver].
func (a *approver) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	start := a.Now()
	answer, err := a.next.Approve(ctx, q)
	end, how := a.Now(), howAnswered(ctx, &answer, err)
	if m := a.metrics; m != nil {
		m.questions.add(1, how)
		if how != remembered {
			m.questionTime.observe(end.Sub(start))
		}
	}
	if a.traces == nil {
		return answer, err
	}
	if parent, _ := a.placeOf(ctx, q.Call.ID, &q.Call.Caller); parent.Sampled {
		s := &span{at: a.places.fresh(parent), parent: parent.Span, name: "toolcrib.ask_person", kind: kindInternal, start: start, end: end}
		s.say("toolcrib.answer", how)
		s.say("gen_ai.tool.name", q.Call.Tool)
		a.traces.put(s)
	}
	return answer, err
}

const remembered = "remembered"

// howAnswered is how a question ended, without saying who answered it.
func howAnswered(ctx context.Context, answer *toolcrib.Answer, err error) string {
	switch {
	case err == nil && answer.Decision != toolcrib.Allow:
		return "denied"
	case err == nil && answer.Input != nil:
		return "edited"
	case err == nil && strings.HasPrefix(answer.By, "grant "):
		return remembered
	case err == nil:
		return "allowed"
	case errors.Is(ctx.Err(), context.Canceled):
		return "cancelled"
	case toolcrib.CodeOf(err) == toolcrib.CodeTimeout || ctx.Err() != nil:
		return "timeout"
	case errors.Is(err, desk.ErrPending):
		return "left"
	case errors.Is(err, toolcrib.ErrNobody):
		return "unattended"
	}
	return "error"
}

// journal watches how long records take.
type journal struct {
	toolcrib.Journal
	took *family
}

func (j *journal) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	start := time.Now()
	old, err := j.Journal.Begin(ctx, r)
	j.took.observe(time.Since(start), "begin")
	return old, err
}

func (j *journal) End(ctx context.Context, r *toolcrib.Record) error {
	start := time.Now()
	err := j.Journal.End(ctx, r)
	j.took.observe(time.Since(start), "end")
	return err
}

type digester interface{ Digest(text []byte) string }

// timed watches a journal. One that names texts itself still does.
func timed(next toolcrib.Journal, took *family) toolcrib.Journal {
	j := &journal{next, took}
	if d, ok := next.(digester); ok {
		return &struct {
			*journal
			digester
		}{j, d}
	}
	return j
}

// vetter counts the results that one has changed or held back.
type vetter struct {
	next    toolcrib.Vetter
	changed *family
	by      string
}

// Vet implements [toolcrib.Vetter].
func (v *vetter) Vet(ctx context.Context, r toolcrib.Review, given *toolcrib.Result) (*toolcrib.Result, error) {
	result, err := v.next.Vet(ctx, r, given)
	if result != given || err != nil {
		v.changed.add(1, v.by)
	}
	return result, err
}
