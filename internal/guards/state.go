package guards

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/safety"
)

// States is a journal that asks hooks for the state beside each call, and keeps
// what they say with its record, as a note: after the tool ran, before its caller
// is answered. It cannot change the result, which is not its to give, and where a
// hook fails the record says so.
type States struct {
	toolcrib.Journal
	Hooks []*safety.Hook
	// Entry finds a tool as rules know it.
	Entry func(caller toolcrib.Caller, tool string) (toolcrib.Entry, bool)
	// Redact takes secrets out of what hooks say.
	Redact func(json.RawMessage) json.RawMessage
	Locked func() error // why nothing may be kept; nil, or an answer of nil: everything may
	Log    *slog.Logger // nil: slog.Default
}

// Open gives the journal, with the hooks before it if there are any.
func (s States) Open() toolcrib.Journal {
	if len(s.Hooks) == 0 {
		return s.Journal
	}
	if d, ok := s.Journal.(interface{ Digest(text []byte) string }); ok { // it still names texts itself
		return struct {
			*States
			digester
		}{&s, d}
	}
	return &s
}

type digester interface{ Digest(text []byte) string }

// End implements [toolcrib.Journal].
func (s *States) End(ctx context.Context, r *toolcrib.Record) error {
	if r.Answered() && r.Replay == "" && (s.Locked == nil || s.Locked() == nil) {
		r.Verdicts = append(slices.Clip(r.Verdicts), s.ask(ctx, r)...)
	}
	return s.Journal.End(ctx, r)
}

// ask asks all hooks at once, so that the answer waits for the slowest and not for
// their sum.
func (s *States) ask(ctx context.Context, r *toolcrib.Record) []toolcrib.Verdict {
	given := *r // no hook, and nothing that runs on after its time, holds the record itself
	given.Verdicts = nil
	given.Input, given.Result = slices.Clone(r.Input), slices.Clone(r.Result)
	spec, ok := s.Entry(r.Caller, r.Tool)
	if !ok { // gone meanwhile
		spec = toolcrib.Entry{Spec: toolcrib.Spec{Name: r.Tool}, Box: r.Box, Native: r.Native}
	}
	notes := make([]toolcrib.Verdict, len(s.Hooks))
	var all sync.WaitGroup
	for i, h := range s.Hooks {
		all.Go(func() { notes[i] = s.note(ctx, h, &given, spec) })
	}
	all.Wait()
	return slices.DeleteFunc(notes, func(v toolcrib.Verdict) bool { return v.Reason == "" })
}

// note is what one hook has to say, or why it has not.
func (s *States) note(ctx context.Context, h *safety.Hook, r *toolcrib.Record, spec toolcrib.Entry) (v toolcrib.Verdict) {
	v = toolcrib.Verdict{Guard: "hook " + h.Name, Rule: "state", Decision: toolcrib.Allow, Note: true}
	failed := func(err error) {
		log := s.Log
		if log == nil {
			log = slog.Default()
		}
		log.ErrorContext(ctx, "a hook gave no state", "hook", h.Name, "tool", spec.Box+"/"+spec.Native, "call", r.ID, "err", err)
		v.Rule, v.Reason = "failed", "the hook gave no usable state; the log says why"
	}
	defer func() {
		if p := recover(); p != nil {
			failed(fmt.Errorf("it broke down: %v", p))
		}
	}()
	state, err := h.State(ctx, r, spec)
	if err != nil {
		failed(err)
		return v
	}
	if state != nil {
		v.Reason = string(s.Redact(state))
	}
	return v
}
