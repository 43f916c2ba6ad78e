package chatapi

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// run is one request being answered.
type run struct {
	req     *request
	agent   agent.Agent
	asked   *asked
	history agent.Conversation
	input   model.Message
	id      string
	made    int64
	calls   int      // calls of tools that were begun
	theirs  []string // tools of the client that were called before
}

// newRun puts a request to an agent, and refuses what its model cannot do.
func newRun(a *agent.Agent, req *request) (*run, *refusal) {
	said, no := conversationOf(req.Messages)
	if no != nil {
		return nil, no
	}
	traits := a.Model.Traits()
	text := a.Loop == agent.ReAct || a.Loop == "" && !traits.Tools
	switch {
	case said.images > 0 && !traits.Images:
		return nil, invalid("messages", "the model behind "+req.Model+" takes no images")
	case len(req.Tools) > 0 && text:
		return nil, invalid("tools", "the model behind "+req.Model+" cannot call tools by itself, so that it cannot be given yours; the tools of this server work")
	}
	for _, name := range said.called {
		if _, ours := a.Crib.Tool(a.Caller, name); ours {
			return nil, invalid("messages", "the tool "+name+" runs on this server: what it answers is known here, and not taken from a message")
		}
	}
	now := time.Now()
	r := &run{theirs: said.called, req: req, agent: *a, asked: &asked{Model: a.Model, req: req}, id: "chatcmpl-" + callid.New(now), made: now.Unix()}
	if len(req.Tools) > 0 {
		for _, t := range req.Tools {
			if _, ours := a.Crib.Tool(a.Caller, t.Function.Name); ours {
				return nil, clash(t.Function.Name)
			}
		}
		set, err := definition.Of(definition.Format(cmp.Or(traits.Format, string(definition.OpenAI))), entries(req.Tools))
		if err != nil {
			return nil, invalid("tools", "the tools cannot be shown to the model: "+err.Error())
		}
		if len(set.Left) > 0 {
			return nil, invalid("tools", "the tool "+set.Left[0].Tool+" cannot be shown to the model: "+set.Left[0].Why)
		}
		r.asked.theirs = set
	}
	r.agent.Model = r.asked
	if req.noCalls {
		r.agent.Shown = func(toolcrib.Caller) []toolcrib.Entry { return nil }
	}
	r.agent.Instructions = strings.TrimSpace(joined(a.Instructions, said.system, formatText(req.Format)))
	r.asked.system = r.agent.Instructions
	r.history.Messages = said.messages
	if last := len(said.messages) - 1; said.messages[last].Role == model.User { // else results are gone on with
		r.history.Messages, r.input = said.messages[:last], said.messages[last]
	}
	return r, nil
}

func joined(texts ...string) string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}

// formatText asks for a form of the answer in words: every model understands them, and a form
// that a service enforces would hold for the turns between calls too.
func formatText(f *answerFormat) string {
	switch {
	case f == nil:
	case f.Type == "json_object":
		return "Your final answer has to be one JSON object and nothing else: no other text, and no code fence."
	case f.Type == "json_schema" && len(f.Schema.Schema) > 0:
		return "Your final answer has to be one JSON value and nothing else, without a code fence. It has to fit this JSON Schema:\n" + string(f.Schema.Schema)
	}
	return ""
}

// do runs the loop. Tell hears the text as it comes and what tools do.
func (r *run) do(ctx context.Context, say func(text string), tell func(activity)) (*agent.Outcome, error) {
	said, gap := "", false // since the last call
	out, err := r.agent.Run(ctx, &r.history, r.input, func(e agent.Event) {
		switch e.Kind {
		case agent.Content:
			if e.Text == "" || e.Depth > 0 { // what delegates say is said to who put them to work
				return
			}
			if gap { // what was said before a call and after it are two paragraphs
				say("\n\n")
				gap = false
			}
			said += e.Text
			say(e.Text)
		case agent.Call:
			r.calls++
			if e.Depth == 0 {
				gap, said = gap || said != "", ""
			}
			tell(activityOf(e))
		case agent.CallResult, agent.AskUser:
			tell(activityOf(e))
		}
	})
	if errors.Is(err, errTheirs) {
		out, err = &agent.Outcome{Text: r.asked.said}, nil
	}
	if err == nil && said == "" && out.Text != "" { // it did not come in pieces
		if gap {
			say("\n\n")
		}
		say(out.Text)
	}
	return out, err
}

// activity is what a client that wants to know is told of tools. It is no part of OpenAI's form.
type activity struct {
	Event     string `json:"event"` // tool_call, tool_result or ask_user
	ID        string `json:"id,omitempty"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"`
	Text      string `json:"text,omitempty"`
	Failed    bool   `json:"failed,omitempty"`
	Refused   string `json:"refused,omitempty"` // the code, where the call was not made
}

// mostTold is how much of arguments and results a client is told.
const mostTold = 2 << 10

func activityOf(e agent.Event) activity {
	a := activity{Event: e.Kind, Tool: e.Tool}
	if e.Call != nil {
		a.ID, a.Tool = e.Call.ID, cmp.Or(e.Tool, e.Call.Name)
	}
	if e.Question != nil {
		a.Tool, a.Text = e.Question.Tool, text.Clip(e.Question.Text, mostTold)
	}
	switch {
	case e.Kind == agent.Call && e.Call != nil:
		a.Arguments = text.Clip(string(e.Call.Arguments), mostTold)
	case e.Error != nil:
		a.Refused, a.Text = string(e.Error.Code), text.Clip(e.Error.Message, mostTold)
	case e.Result != nil:
		a.Failed, a.Text = e.Result.Failed, text.Clip(e.Result.String(), mostTold)
	}
	return a
}
