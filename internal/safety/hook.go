package safety

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// Hook is a guard and a vetter that somebody else wrote: a program or a service
// that is sent a question and answers it (see [HookRequest], [HookReply]). It is
// put among the guards, among the vetters, or both.
//
// It fails closed: an answer that does not come in time, is too long, or is not
// exactly what was asked for denies the call and holds the result back. It can
// only tighten: its allow is a note and lifts no other guard's question, and a
// result that failed stays failed. Judging may be asked for without the call
// being made, so a hook must do nothing but answer.
type Hook struct {
	Name string
	// Run sends a request and gives the reply.
	Run func(ctx context.Context, request []byte) ([]byte, error)
	// Timeout is how long an answer may take. Zero: 5 s.
	Timeout time.Duration
	// Tools are those it is asked about. Empty: all.
	Tools []policy.Selector
	// Report hears why an answer did not count, for the log. Nil: nobody does.
	Report func(ctx context.Context, r toolcrib.Review, err error)
}

func (h *Hook) concerns(spec *toolcrib.Entry) bool {
	return len(h.Tools) == 0 || slices.ContainsFunc(h.Tools, func(s policy.Selector) bool { return s.Picks(spec) })
}

// Judge implements [toolcrib.Guard].
func (h *Hook) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if !h.concerns(&r.Spec) {
		return nil, nil
	}
	v := &toolcrib.Verdict{Guard: "hook " + h.Name}
	reply, err := h.question(ctx, "judge", r, nil)
	if err != nil {
		h.report(ctx, r, err)
		v.Rule, v.Reason = "failed", "the hook gave no usable answer, and without one nothing is done"
		return v, nil
	}
	v.Decision, v.Reason = *reply.Decision, reply.reason()
	v.Note = v.Decision == toolcrib.Allow
	return v, nil
}

// Vet implements [toolcrib.Vetter].
func (h *Hook) Vet(ctx context.Context, r toolcrib.Review, given *toolcrib.Result) (*toolcrib.Result, error) {
	if !h.concerns(&r.Spec) {
		return given, nil
	}
	reply, err := h.question(ctx, "vet", r, given)
	if err != nil {
		h.report(ctx, r, err)
		return nil, &toolcrib.Error{Code: toolcrib.CodeInternal, Err: err,
			Message: "the tool ran, but the hook " + h.Name + " gave no usable answer, and its result is held back"}
	}
	if reply.Result == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the tool ran, but its result is held back by the hook " + h.Name + ": " + reply.reason()}
	}
	out := *reply.Result
	out.Failed = out.Failed || given.Failed
	return &out, nil
}

func (h *Hook) report(ctx context.Context, r toolcrib.Review, err error) {
	if h.Report != nil {
		h.Report(ctx, r, err)
	}
}

// question sends a question and reads the answer.
func (h *Hook) question(ctx context.Context, phase string, r toolcrib.Review, result *toolcrib.Result) (*HookReply, error) {
	request, err := encodeHook(phase, r, result)
	if err != nil {
		return nil, fmt.Errorf("asking the hook %s: %w", h.Name, err)
	}
	text, err := h.exchange(ctx, request)
	if err != nil {
		return nil, err
	}
	reply, err := decodeHook(phase, text, len(request))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the hook %s: %w", h.Name, err)
	}
	return reply, nil
}

// exchange sends a request and gives the reply. It goes on when the time is up
// even if Run does not.
func (h *Hook) exchange(ctx context.Context, request []byte) ([]byte, error) {
	if h.Run == nil {
		return nil, fmt.Errorf("asking the hook %s: it has nothing to run", h.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(max(h.Timeout, 0), 5*time.Second))
	defer cancel()
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("it broke down")}
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: fmt.Errorf("it broke down: %v", p)}
			}
			answers <- a
		}()
		text, err := h.Run(ctx, request)
		a = answer{text, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return nil, fmt.Errorf("asking the hook %s: %w", h.Name, a.err)
		}
		if ctx.Err() != nil { // a late answer is none
			return nil, fmt.Errorf("asking the hook %s: %w", h.Name, ctx.Err())
		}
		return a.text, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("asking the hook %s: %w", h.Name, ctx.Err())
	}
}
