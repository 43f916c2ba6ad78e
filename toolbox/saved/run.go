package saved

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// tool makes a tool of a script.
func (b *Box) tool(s Script) toolcrib.Tool {
	input := s.Arguments
	if len(input) == 0 {
		input = nothing()
	}
	return toolcrib.Tool{
		Preview: func(_ context.Context, env *toolcrib.Env, _ json.RawMessage) (string, error) {
			return "", b.runnable(&s, env.Call.Caller)
		},
		Spec: toolcrib.Spec{
			Name: s.Name, Title: "Saved script " + s.Name, Description: s.Description, Input: input, Output: output(), Effects: s.Effects(), Group: Group, Timeout: b.cfg.Timeout,
		},
		Run: func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			if b.needs.Run == nil {
				return nil, errNoRunner()
			}
			out, err := b.needs.Run(ctx, env, Program{Name: s.Name, Code: s.Code, Input: input, Tool: b.gate(&s, env.Call.Caller)})
			if err != nil {
				return nil, err
			}
			if out.Failure != "" {
				r := toolcrib.Failed(out.Failure)
				if out.Mark != "" { // what it threw may be made of what came from outside
					r.Content = append([]toolcrib.Content{{Type: "text", Text: out.Mark}}, r.Content...)
				}
				return r, nil
			}
			if len(out.Value) == 0 {
				out.Value = json.RawMessage("null")
			}
			value, err := jsontext.Marshal(out)
			if err != nil {
				return nil, fmt.Errorf("writing what the script gave: %w", err)
			}
			r := &toolcrib.Result{Value: value}
			if out.Mark != "" {
				r.Content = []toolcrib.Content{{Type: "text", Text: out.Mark}, {Type: "text", Text: string(value)}}
			}
			return r, nil
		},
	}
}

// output is what every saved script promises: an object, which all kinds of callers take, around what the script returned.
func output() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"result":{"description":"What the script returned."},"log":{"type":"array","items":{"type":"string"},"description":"What it logged."}},"required":["result"]}`)
}

func nothing() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
}

// gate lets a script call the tools that it was saved with, if they are still those.
func (b *Box) gate(s *Script, caller toolcrib.Caller) func(name string) (string, error) {
	caller.Dialect = "" // tools speak to tools by their native names
	return func(name string) (string, error) {
		at := slices.IndexFunc(s.Calls, func(c Called) bool { return c.Name == name })
		if at < 0 {
			return "", refusal(toolcrib.CodeDenied, "the saved script %s may not call %s: it was not among its tools when a person saw it; save it again with script_save", s.Name, name)
		}
		was := s.Calls[at]
		for spec := range b.needs.Tools(caller) {
			if spec.Box != was.Box || spec.Native != was.Native {
				continue
			}
			if !spec.Effects.Within(was.Effects.All()) {
				return "", refusal(toolcrib.CodeDenied, "%s can do more (%s) than when the script %s was saved (%s); a person has to see it again: script_save", name, spec.Effects, s.Name, was.Effects)
			}
			return spec.Name, nil
		}
		return "", refusal(toolcrib.CodeNotFound, "the saved script %s needs the tool %s of %s, which is not here now; bring it back (toolcrib tools lists what there is), or save the script without it (script_save)", s.Name, was.Native, was.Box)
	}
}

// runnable says why a script would not come to its end, so that nobody is asked about it: a tool that a person has seen in it
// is gone, or can do more.
func (b *Box) runnable(s *Script, caller toolcrib.Caller) error {
	if b.needs.Run == nil {
		return errNoRunner()
	}
	gate := b.gate(s, caller)
	for _, c := range s.Calls {
		if _, err := gate(c.Name); err != nil {
			return err
		}
	}
	return nil
}

func errNoRunner() error {
	return refusal(toolcrib.CodeUnavailable, "there is nothing here that runs scripts")
}

func refusal(code toolcrib.Code, format string, args ...any) error {
	return &toolcrib.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
