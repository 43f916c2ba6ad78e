package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// native is the loop of models that call tools by the words of their API.
func (r *run) native(ctx context.Context) error {
	most := cmp.Or(r.agent.MaxIterations, defaultIterations)
	empty, spoken := false, "" // what it said beside its calls
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		tools, err := r.tools(false)
		if err != nil {
			return err
		}
		last := r.out.Iterations >= most
		answer, err := r.ask(ctx, model.Request{System: r.agent.Instructions, Tools: tools.set.Tools, NoCalls: last}, tools.tokens, nil, &textStream{run: r})
		if err != nil {
			return err
		}
		r.out.Iterations++
		said, calls := r.calls(answer)
		if (last || answer.Stop == model.StopRefused) && len(calls) > 0 {
			said.Calls, said.Own, said.By, calls = nil, nil, "", nil // it was told that there are none
		}
		if last && strings.TrimSpace(said.Said()) == "" && answer.Stop != model.StopRefused {
			said = model.Text(model.Assistant, fmt.Sprintf("I have used all %d steps that I may take, and have no answer yet.", most))
			r.emit(Event{Kind: Content, Text: said.Said()})
		}
		if len(said.Calls) == 0 && strings.TrimSpace(said.Said()) == "" && answer.Stop != model.StopRefused && !empty && !last {
			empty = true // some models say nothing now and then; asked again they do
			continue
		}
		if worthKeeping(said) {
			r.append(said)
		}
		if text := said.Said(); strings.TrimSpace(text) != "" {
			spoken = text
		}
		if len(calls) == 0 { // if it says nothing more, it has said it before
			r.answered(spoken, answer.Stop, last)
			return nil
		}
		r.makeCalls(ctx, tools, calls)
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

// stream is told what comes of an answer.
type stream interface {
	delta(d model.Delta)
	kept() string // what of the answer is kept if it breaks off
}

// textStream tells watchers the text of an answer as it comes.
type textStream struct {
	run *run
	all strings.Builder
}

func (s *textStream) delta(d model.Delta) {
	if d.Text != "" {
		s.all.WriteString(d.Text)
		s.run.emit(Event{Kind: Content, Text: d.Text})
	}
}

func (s *textStream) kept() string { return s.all.String() }

// ask sends the conversation as far as it fits, with more behind it that is not kept.
// Besides is how many tokens the tools and what is said about them take. A service that says that it is too long
// gets a shorter one, once. If the answer breaks off, what has come of it is kept.
func (r *run) ask(ctx context.Context, q model.Request, besides int, more []model.Message, s stream) (*model.Answer, error) {
	q.MaxTokens, q.Temperature, q.Cache = r.agent.MaxTokens, r.agent.Temperature, true
	if err := r.fit(ctx, besides); err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		q.Messages = append(r.view(), more...)
		if len(q.Messages) == 0 {
			return nil, errors.New("there is nothing to answer: the conversation and the input are empty")
		}
		r.emit(Event{Kind: Stage, Text: InModel})
		came := false
		answer, err := r.agent.Model.Ask(ctx, q, func(d model.Delta) {
			if d.Thought != "" {
				r.emit(Event{Kind: Stage, Text: Thinking, Thought: d.Thought})
			}
			came = came || d.Text != ""
			s.delta(d)
		})
		if err == nil && answer == nil {
			err = errors.New("the model gave no answer")
		}
		if err == nil {
			if !came { // it came at once
				s.delta(model.Delta{Text: answer.Message.Said()})
			}
			r.used(answer)
			r.window.measured(answer.Usage)
			return answer, nil
		}
		e, ok := errors.AsType[*model.Error](err)
		if ok && e.Kind == model.TooLong && !again && !came && ctx.Err() == nil {
			if err := r.compact(ctx, max(r.needed()*6/10, 1)); err != nil {
				return nil, err
			}
			continue
		}
		if kept := s.kept(); kept != "" {
			r.append(model.Text(model.Assistant, kept))
			r.out.Text = kept
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
}
