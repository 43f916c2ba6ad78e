package agents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/model"
)

// Step is something that happened in a stored session: something was said to the agent,
// or an event as those who watched saw it.
type Step struct {
	At    time.Time
	Said  string // by a person, or by who put the agent to work; empty: it is an event
	Event agent.Event
	// Unrecorded: the journal does not have the call any more, or not its result, so
	// that the event is as the model was told.
	Unrecorded bool
}

// Replay tells a stored session again, from what was said and from the journal's records
// of its calls. Nothing is called and no model is asked: there is neither a crib nor a
// model in it. Record gives a record by the ID of its call; an error is that there is none.
func Replay(ctx context.Context, s *sessions.Session, record func(ctx context.Context, id string) (toolcrib.Record, error), tell func(Step) error) error {
	said := map[string]model.ToolCall{}
	for _, e := range s.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, step := range steps(ctx, e, said, record) {
			step.At = e.At
			if err := tell(step); err != nil {
				return err
			}
		}
	}
	return nil
}

func steps(ctx context.Context, e sessions.Entry, said map[string]model.ToolCall, record func(context.Context, string) (toolcrib.Record, error)) []Step {
	m := e.Message
	switch m.Role {
	case model.User:
		return []Step{{Said: m.Said()}}
	case model.Assistant:
		var out []Step
		if text := m.Said(); text != "" {
			out = append(out, Step{Event: agent.Event{Kind: agent.Content, Text: text}})
		}
		for _, c := range m.Calls {
			said[c.ID] = c
		}
		return out
	}
	call := said[m.CallID]
	event := agent.Event{Kind: agent.Call, Call: &call, Tool: m.Name, ID: e.Call, Args: call.Arguments}
	result := event
	result.Kind = agent.CallResult
	missing := true
	if e.Call != "" {
		if rec, err := record(ctx, e.Call); err == nil {
			event.Tool, result.Tool = rec.Tool, rec.Tool
			missing = !answer(&result, &rec)
		}
	}
	if missing {
		result.Result = toolcrib.Text(m.Said())
		result.Result.Failed = m.Failed
	}
	return []Step{{Event: event, Unrecorded: missing}, {Event: result, Unrecorded: missing}}
}

// answer fills in what came of a call by its record; false: the record does not say.
func answer(e *agent.Event, r *toolcrib.Record) bool {
	switch {
	case r.Answered():
		var result toolcrib.Result
		if r.Cut || len(r.Result) == 0 || json.Unmarshal(r.Result, &result) != nil {
			return false
		}
		e.Result = &result
	case r.Outcome == toolcrib.Interrupted, r.Outcome == "":
		return false
	default:
		e.Error = &toolcrib.Error{Code: toolcrib.Code(r.Outcome), Tool: r.Tool, Message: r.Message}
	}
	return true
}
