package telemetry

import (
	"cmp"
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// toolError is how the conventions call what a tool says of itself.
const toolError = "tool_error"

// onEnd is [toolcrib.Crib.OnEnd].
func (t *Telemetry) onEnd(ctx context.Context, r *toolcrib.Record) {
	if m := t.metrics; m != nil {
		// What was never resolved may have any name.
		box, tool := cmp.Or(r.Box, other), cmp.Or(r.Native, other)
		m.calls.add(1, box, tool, string(r.Outcome))
		m.callTime.observe(r.Duration, box)
		if r.Outcome == toolcrib.Outcome(toolcrib.CodeDenied) {
			m.refusals.add(1, denier(r.Verdicts))
		}
	}
	if t.traces != nil {
		t.callSpan(ctx, r)
	}
}

// denier is who denied a call: a guard; a person; default, as the core calls it that
// no guard had a word on it; or the grant, of which a tool wanted more than it had.
func denier(verdicts []toolcrib.Verdict) string {
	for _, v := range verdicts {
		if v.Decision == toolcrib.Deny && !v.Note {
			return v.Guard
		}
	}
	return "grant"
}

// person is the guard that stands for one in records.
const person = "person"

// callSpan records a call that has ended.
func (t *Telemetry) callSpan(ctx context.Context, r *toolcrib.Record) {
	at, parent := t.places.ofCall(ctx, r.ID, &r.Caller)
	if !at.Sampled {
		return
	}
	name := other
	if r.Box != "" {
		name = r.Tool
	}
	s := &span{at: at, parent: parent.Span, name: "execute_tool " + name, kind: kindInternal, start: r.Start, end: r.Start.Add(r.Duration)}
	s.attrs = make([]attr, 0, 12)
	s.say("gen_ai.operation.name", "execute_tool")
	s.say("gen_ai.tool.name", name)
	s.say("gen_ai.tool.call.id", r.ID)
	s.say("gen_ai.tool.type", "function")
	s.say("gen_ai.agent.name", r.Caller.Agent)
	s.say("toolcrib.toolbox", r.Box)
	if r.Native != r.Tool {
		s.say("toolcrib.tool", r.Native)
	}
	s.say("toolcrib.frontend", r.Caller.Frontend)
	s.say("toolcrib.outcome", string(r.Outcome))
	if r.Attempts > 1 {
		s.attrs = append(s.attrs, attr{"toolcrib.attempts", int64(r.Attempts)})
	}
	if r.Replay != "" {
		s.attrs = append(s.attrs, attr{"toolcrib.replayed", true})
	}
	switch r.Outcome {
	case toolcrib.Done:
	case toolcrib.Broke:
		s.fail(toolError)
	default:
		s.fail(string(r.Outcome))
	}
	texts := t.content()
	for _, v := range r.Verdicts {
		if v.Decision == toolcrib.Allow && !v.Note {
			continue
		}
		e := &span{} // to say things of
		e.say("toolcrib.guard", v.Guard)
		e.say("toolcrib.decision", v.Decision.String())
		if v.Guard != person { // it is whoever answered
			e.say("toolcrib.rule", text.Clip(v.Rule, longestName))
		}
		if v.Note {
			e.attrs = append(e.attrs, attr{"toolcrib.note", true})
		}
		if texts {
			e.say("toolcrib.reason", v.Reason)
		}
		s.events = append(s.events, event{"toolcrib.verdict", r.Start, e.attrs})
	}
	if texts {
		s.why = r.Message
		s.say("gen_ai.tool.call.arguments", cmp.Or(string(r.Edited), string(r.Input)))
		s.say("gen_ai.tool.call.result", string(r.Result))
	}
	t.traces.put(s)
}
