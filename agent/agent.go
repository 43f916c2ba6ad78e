// Package agent is the loop that thinks with tools: a model answers, its calls are made
// through a crib, what came of them goes back to the model, until it has an answer.
//
// Every call goes through [toolcrib.Crib.Call], as the caller that the agent runs as:
// the loop itself decides nothing about what is allowed. What was refused or went wrong
// comes back to the model as a sentence that says what happened. Go programs use it over
// a crib of their own; the program's commands and endpoints do the same.
//
// The invariant: every call of a model has exactly one result in the conversation,
// whatever happens, so that a conversation can always be gone on with.
package agent

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/model"
)

// Agent is who works: a model with instructions, over the tools of a crib.
type Agent struct {
	Crib         *toolcrib.Crib
	Model        model.Model
	Caller       toolcrib.Caller // as whom its calls are made
	Instructions string
	// Loop is Native, ReAct, or empty: what the model can do.
	Loop string
	// MaxIterations bounds how often the model is asked for one input. Then it is asked
	// once more, for a final answer without tools. Zero: 50.
	MaxIterations int
	// Parallel bounds how many calls of one answer run at once, where their effects
	// allow it. Zero: 8.
	Parallel int
	// Shown gives the tools that the model is shown. Nil: all that the crib shows the
	// caller.
	Shown func(toolcrib.Caller) []toolcrib.Entry
	// Parent is the call that has this agent work: its own calls name it.
	Parent string
	// Keep is told every message that joins the conversation, in order, and of a
	// message about a call the ID that the journal has it under. What it cannot keep
	// ends the run. Nil: nobody keeps it.
	Keep func(m model.Message, call string) error
}

// The loops.
const (
	Native = "native" // the model calls tools by the words of its API
	ReAct  = "react"  // it writes Thought, Action and Action Input
)

// Conversation is what was said so far. The loop appends to it; whoever keeps it may
// write it down as JSON and go on with it later.
type Conversation struct {
	Messages []model.Message `json:"messages"`
}

// The kinds of events, which are OWL's chunks.
const (
	Content    = "content"     // a piece of the answer's text
	Call       = "tool_call"   // a call is about to be made
	CallResult = "tool_result" // what came of it
	Stage      = "stage"       // what it is doing now: thinking, context or model
	AskUser    = "ask_user"    // a person is asked
	Done       = "done"
	Failed     = "error"
	Aborted    = "aborted"
)

// Event is something that happens in a run, for who watches.
type Event struct {
	Kind   string           `json:"kind"`
	Text   string           `json:"text,omitempty"`
	Call   *model.ToolCall  `json:"call,omitempty"`
	Tool   string           `json:"tool,omitempty"` // the real name of the tool of Call
	Result *toolcrib.Result `json:"result,omitempty"`
	Error  *toolcrib.Error  `json:"-"` // a call that was refused
	Usage  *model.Usage     `json:"usage,omitempty"`
}

// Outcome is how a run ended.
type Outcome struct {
	Text       string      `json:"text"` // the final answer
	Iterations int         `json:"iterations"`
	Usage      model.Usage `json:"usage"`
}

// Run goes on with a conversation: input is said, and the loop runs until there is a
// final answer. Emit is told what happens, in order, from one goroutine at a time; nil:
// nobody watches.
func (a *Agent) Run(ctx context.Context, c *Conversation, input model.Message, emit func(Event)) (*Outcome, error) {
	if a.Crib == nil || a.Model == nil {
		return nil, errors.New("an agent needs a crib and a model")
	}
	if emit == nil {
		emit = func(Event) {}
	}
	if err := a.add(c, input, ""); err != nil {
		return nil, err
	}
	out := &Outcome{}
	for {
		var shown []toolcrib.Entry
		for e := range a.Crib.Tools(a.Caller) {
			shown = append(shown, e)
		}
		set, err := definition.Of(definition.Format(a.Model.Traits().Format), shown)
		if err != nil {
			return nil, err
		}
		answer, err := a.Model.Ask(ctx, model.Request{System: a.Instructions, Messages: c.Messages, Tools: set.Tools}, func(d model.Delta) {
			if d.Text != "" {
				emit(Event{Kind: Content, Text: d.Text})
			}
		})
		if err != nil {
			return nil, err
		}
		out.Iterations++
		out.Usage = out.Usage.Add(answer.Usage)
		if err := a.add(c, answer.Message, ""); err != nil {
			return nil, err
		}
		if len(answer.Message.Calls) == 0 {
			out.Text = answer.Message.Said()
			emit(Event{Kind: Done, Usage: &out.Usage})
			return out, nil
		}
		for _, tc := range answer.Message.Calls {
			m, id := a.call(ctx, set, tc, emit)
			if err := a.add(c, m, id); err != nil {
				return nil, err
			}
		}
	}
}

// add puts a message into the conversation, and has it kept.
func (a *Agent) add(c *Conversation, m model.Message, call string) error {
	c.Messages = append(c.Messages, m)
	if a.Keep == nil {
		return nil
	}
	return a.Keep(m, call)
}

// call makes one call of a model's, and the message about what came of it. It gives
// the ID of the call besides; empty: none was made.
func (a *Agent) call(ctx context.Context, set definition.Set, tc model.ToolCall, emit func(Event)) (model.Message, string) {
	m := model.Message{Role: model.Tool, CallID: tc.ID, Name: tc.Name}
	call, err := set.CallNamed(tc.Name, tc.Arguments)
	event := Event{Kind: CallResult, Call: &tc, Tool: call.Tool}
	if err == nil {
		call.Caller, call.Parent, call.ID = a.Caller, a.Parent, callid.New(time.Now())
		emit(Event{Kind: Call, Call: &tc, Tool: call.Tool})
		event.Result, err = a.Crib.Call(ctx, call)
	}
	if err != nil {
		event.Error, _ = toolcrib.AsError(err)
		m.Failed, m.Parts = true, []model.Part{{Text: err.Error()}}
	} else {
		m.Failed, m.Parts = event.Result.Failed, []model.Part{{Text: event.Result.String()}}
	}
	emit(event)
	return m, call.ID
}
