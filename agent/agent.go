package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/model"
)

// Agent is who works: a model with instructions, over the tools of a crib. Set the
// fields, then run; it may run several conversations at once.
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
	// MaxCalls bounds the calls of one answer; those beyond it are dropped, and the
	// model is told so. Zero: 64.
	MaxCalls int
	// Timeout bounds one run. Zero: one hour.
	Timeout time.Duration
	// MaxTokens and Temperature go into every request; see [model.Request].
	MaxTokens   int
	Temperature *float64
	// Context is how many tokens a request may have, where the model does not say so
	// itself or less is wanted. Zero: what the model says.
	Context int
	// Shown gives the tools that the model is shown. Nil: all that the crib shows the
	// caller, or if they are too many and the crib has the toolbox finder, those that
	// find the others. A call of finder's call_tool is made as a call of the real tool.
	Shown func(toolcrib.Caller) []toolcrib.Entry
	// Definitions keeps what was written of tools for models, for several agents and
	// runs. Nil: every run writes its own.
	Definitions *Definitions
	// Cost says what a request cost, in whatever currency. Nil: it is not known.
	Cost func(model.Answer) float64
	// Questions, if set, tells of the questions that people are asked on behalf of the
	// caller, until stop is called: each becomes an event. Where it is not set, [Asks]
	// does the same around an approver.
	Questions func(ctx context.Context, asked func(Question)) (stop func())
	// Lenient takes arguments that mean what a tool wants ("3" for 3) and drops those it
	// does not know, for models that were taught by pydantic; see [toolcrib.Call].
	Lenient bool
	// Parent is the call that has this agent work: its own calls name it.
	Parent string
	// Keep, if set, is told every message when it joins the conversation, in order.
	Keep func(model.Message)
}

// The loops.
const (
	Native = "native" // the model calls tools by the words of its API
	ReAct  = "react"  // it writes Thought, Action and Action Input
)

// Conversation is what was said so far. The loop appends to it and never takes anything
// away; whoever keeps it may write it down as JSON and continue it later.
type Conversation struct {
	Messages []model.Message `json:"messages"`
	// Summary stands for the first Summarised messages in what the model is sent:
	// all of them do not fit into its context any more.
	Summary    string `json:"summary,omitempty"`
	Summarised int    `json:"summarised,omitempty"`
	// Shortened is how many messages are old: the model is sent one line of each
	// result among them.
	Shortened int `json:"shortened,omitempty"`

	sizes []int // of Messages in tokens, as an estimate
}

// Outcome is how a run ended.
type Outcome struct {
	Text       string      `json:"text"`    // the final answer
	Stopped    string      `json:"stopped"` // why it ended
	Iterations int         `json:"iterations"`
	Calls      int         `json:"calls"`
	Usage      model.Usage `json:"usage"` // delegates' included
	Cost       float64     `json:"cost,omitempty"`
	// Delegated is what of Usage delegates used.
	Delegated model.Usage `json:"delegated,omitzero"`
	Model     string      `json:"model,omitempty"` // which one answered last, as the service says
}

// Why a run ended.
const (
	StoppedAnswer     = "answer"     // the model had its answer
	StoppedIterations = "iterations" // it was made to answer after MaxIterations
	StoppedLength     = "length"     // the answer was cut off at the limit of tokens
	StoppedRefused    = "refused"    // the model's service would not answer
	StoppedFormat     = "format"     // ReAct: it would not keep to the form, and its text is the answer
	StoppedAborted    = "aborted"    // the context was cancelled
	StoppedTimeout    = "timeout"    // Timeout, or the deadline of the context
	StoppedError      = "error"      // the model could not be asked
)

const (
	defaultIterations = 50
	defaultParallel   = 8
	defaultCalls      = 64
	defaultTimeout    = time.Hour
)

// Run continues a conversation: input is said, and the loop runs until there is a final
// answer. An input without parts says nothing: the conversation ends with what is to be
// answered already, such as the results of calls that somebody else made. Emit is told what happens, in order, from one goroutine at a time; nil: nobody
// watches. The outcome is never nil, also with an error; the conversation is then one
// that can be continued. One conversation must not be in two runs at once.
func (a *Agent) Run(ctx context.Context, c *Conversation, input model.Message, emit func(Event)) (*Outcome, error) {
	out := &Outcome{Stopped: StoppedError}
	if a.Crib == nil || a.Model == nil {
		return out, errors.New("an agent needs a crib and a model")
	}
	traits := a.Model.Traits()
	loop := a.Loop
	if loop == "" {
		loop = ReAct
		if traits.Tools {
			loop = Native
		}
	}
	if loop != Native && loop != ReAct {
		return out, errors.New("an agent's loop is native or react, or empty for what its model can do")
	}
	deadline, cancel := context.WithTimeout(ctx, cmp.Or(a.Timeout, defaultTimeout))
	defer cancel()
	r := newRun(deadline, a, c, out, emit, traits)
	defer r.end()
	c.Messages, c.sizes = slices.Clip(c.Messages), slices.Clip(c.sizes) // a branch of it may share what it has
	c.Mend()
	if input.Role == "" {
		input.Role = model.User
	}
	if worthKeeping(input) {
		r.append(input)
	}
	var err error
	if loop == ReAct {
		err = r.react(r.ctx)
	} else {
		err = r.native(r.ctx)
	}
	return out, r.finish(ctx, err)
}

// Mend gives every call without a result one that says so: a process may have ended
// between the two. Results without a call are left out. A run begins with it.
func (c *Conversation) Mend() {
	if c.whole() {
		return
	}
	var out []model.Message
	var open []model.ToolCall
	settle := func() {
		for _, tc := range open {
			out = append(out, resultMessage(tc, abortedText, true))
		}
		open = nil
	}
	for _, m := range c.Messages {
		if m.Role != model.Tool {
			settle()
			open = append(open, m.Calls...)
			out = append(out, m)
			continue
		}
		for i, tc := range open {
			if tc.ID == m.CallID {
				out = append(out, m)
				open = append(open[:i:i], open[i+1:]...)
				break
			}
		}
	}
	settle()
	c.Messages = out
	c.sizes = nil
	c.Summary, c.Summarised, c.Shortened = "", 0, 0 // they count messages that may be elsewhere now
}

// whole reports whether each call has its one result behind it.
func (c *Conversation) whole() bool {
	if c.Summarised > len(c.Messages) || c.Shortened > len(c.Messages) || c.Summarised < 0 {
		return false
	}
	var open []model.ToolCall
	for _, m := range c.Messages {
		if m.Role != model.Tool {
			if len(open) > 0 {
				return false
			}
			open = m.Calls
			continue
		}
		at := -1
		for i := range open {
			if open[i].ID == m.CallID {
				at = i
				break
			}
		}
		if at < 0 {
			return false
		}
		if at == 0 {
			open = open[1:]
		} else {
			open = append(open[:at:at], open[at+1:]...)
		}
	}
	return len(open) == 0
}
