package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// native is the loop of models that call tools by the words of their API.
func (r *run) native(ctx context.Context) error {
	most := cmp.Or(r.agent.MaxIterations, defaultIterations)
	empty := false
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		tools, err := r.tools(false)
		if err != nil {
			return err
		}
		last := r.out.Iterations >= most
		answer, err := r.ask(ctx, model.Request{System: r.agent.Instructions, Tools: tools.set.Tools, NoCalls: last}, tools.tokens, r.streamText)
		if err != nil {
			return err
		}
		r.out.Iterations++
		said, calls := r.calls(answer)
		if last {
			said.Calls, calls = nil, nil // it was told that there are none
		}
		if len(said.Calls) == 0 && strings.TrimSpace(said.Said()) == "" && answer.Stop != model.StopRefused && !empty && !last {
			empty = true // some models say nothing now and then; asked again they do
			continue
		}
		if worthKeeping(said) {
			r.append(said)
		}
		if len(calls) == 0 {
			r.answered(said.Said(), answer.Stop, last)
			return nil
		}
		for _, m := range r.makeCalls(ctx, tools, calls) {
			r.append(m)
		}
	}
}

// answered notes the final answer.
func (r *run) answered(said, stop string, last bool) {
	r.out.Text, r.out.Stopped = said, StoppedAnswer
	switch {
	case stop == model.StopRefused:
		r.out.Stopped = StoppedRefused
	case stop == model.StopLength:
		r.out.Stopped = StoppedLength
	case last:
		r.out.Stopped = StoppedIterations
	}
}

// worthKeeping: services refuse a conversation with a message that says nothing.
func worthKeeping(m model.Message) bool {
	if len(m.Calls) > 0 {
		return true
	}
	for _, p := range m.Parts {
		if p.Text != "" || len(p.Data) > 0 {
			return true
		}
	}
	return false
}

// streamText tells watchers the text of an answer as it comes.
func (r *run) streamText(d model.Delta) {
	if d.Text != "" {
		r.emit(Event{Kind: Content, Text: d.Text})
	}
}

// ask sends the conversation as far as it fits. Besides is how many tokens the tools
// take. A service that says that it is too long gets a shorter one, once. If the answer
// breaks off, what has come of it is kept.
func (r *run) ask(ctx context.Context, q model.Request, besides int, stream func(model.Delta)) (*model.Answer, error) {
	q.MaxTokens, q.Temperature, q.Cache = r.agent.MaxTokens, r.agent.Temperature, true
	if err := r.fit(ctx, q.System, besides); err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		q.Messages = r.view()
		r.emit(Event{Kind: Stage, Text: InModel})
		var partial strings.Builder
		answer, err := r.agent.Model.Ask(ctx, q, func(d model.Delta) {
			if d.Thought != "" {
				r.emit(Event{Kind: Stage, Text: Thinking, Thought: d.Thought})
			}
			if d.Text != "" {
				partial.WriteString(d.Text)
			}
			stream(d)
		})
		if err == nil && answer == nil {
			err = errors.New("the model gave no answer")
		}
		if err == nil {
			if said := answer.Message.Said(); partial.Len() == 0 && said != "" {
				stream(model.Delta{Text: said}) // it came at once
			}
			r.used(answer)
			r.window.measured(answer.Usage, q.Messages)
			return answer, nil
		}
		e, ok := errors.AsType[*model.Error](err)
		if ok && e.Kind == model.TooLong && !again && ctx.Err() == nil && partial.Len() == 0 {
			if err := r.tooLong(ctx, q.System, besides); err != nil {
				return nil, err
			}
			continue
		}
		if partial.Len() > 0 {
			r.append(model.Text(model.Assistant, partial.String()))
			r.out.Text = partial.String()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
}
