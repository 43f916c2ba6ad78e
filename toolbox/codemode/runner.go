package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// Runner runs scripts for calls: those of run_script, and those that were kept.
type Runner struct {
	cfg   Config
	needs Needs
}

// NewRunner makes one.
func NewRunner(cfg Config, needs Needs) *Runner {
	return &Runner{cfg: cfg.filled(), needs: needs}
}

// Report is what became of a script.
type Report struct {
	codemode.Outcome
	Calls string // what it called, in a line
	// Outside are the tools whose results came from outside, so that the value may too.
	Outside []string
	Worked  []string // the tools of which a call ended well
}

// deepest is how many scripts stand above each other: one that was kept may call
// another that was kept.
const deepest = 3

// Run runs a script. An error that the script is to blame for is a
// *[codemode.ScriptError]; the report is good even then.
func (r *Runner) Run(ctx context.Context, env *toolcrib.Env, p Program) (Report, error) {
	if r.needs.Engine == nil {
		return Report{}, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: env.Call.Tool, Message: r.needs.Absent}
	}
	above, depth := running(ctx)
	if above && p.Name == "" || depth >= deepest {
		return Report{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: env.Call.Tool, Message: "a script cannot run another one: write it as a function of the same script"}
	}
	limit := p.Time
	if limit <= 0 {
		limit = r.cfg.Time
	}
	d := newDeeds(p, depth+1, outer(ctx))
	ctx = context.WithValue(ctx, deedsKey{}, d)
	out, err := r.needs.Engine.Run(ctx, codemode.Script{Code: p.Code, Input: p.Input, Time: min(limit, r.cfg.MaxTime)}, codemode.Host{
		Call: func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
			return call(ctx, env, d, tool, args)
		},
		Search:   told(r.needs.Search, env.Call.Caller),
		Describe: told(r.needs.Describe, env.Call.Caller),
	})
	if err == nil {
		out.Value, err = usable(out.Value)
	}
	if errors.Is(err, codemode.ErrNoWorker) && ctx.Err() == nil {
		err = &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: env.Call.Tool, Message: "the script was not run: no worker can be started for it now. Try again, or make the calls one by one", Err: err}
	}
	return Report{Outcome: out, Calls: d.line(), Outside: d.outside(), Worked: d.worked()}, err
}

// call makes one call of a script.
func call(ctx context.Context, env *toolcrib.Env, d *deeds, tool string, args json.RawMessage) (json.RawMessage, error) {
	name := tool
	if d.program.Tool != nil {
		var err error
		if name, err = d.program.Tool(tool); err != nil {
			d.add(tool, string(toolcrib.CodeOf(err)), false)
			return nil, fault(err)
		}
	}
	result, err := env.Use(ctx, name, args)
	if err != nil {
		d.add(tool, string(toolcrib.CodeOf(err)), false)
		return nil, fault(err)
	}
	value, words, outside := valueOf(result)
	if result.Failed {
		d.add(tool, failed, outside)
		return nil, &codemode.Fault{Code: failed, Message: words}
	}
	d.add(tool, "", outside)
	return value, nil
}

// failed is the code of a tool that ran and could not do what was asked.
const failed = "failed"

// fault is a refusal as scripts are told it.
func fault(err error) error {
	if e, ok := toolcrib.AsError(err); ok {
		message := e.Message
		for _, f := range e.Fields {
			if !strings.Contains(message, f.Message) {
				message += "; " + strings.TrimPrefix(f.Path+": ", ": ") + f.Message
			}
		}
		return &codemode.Fault{Code: string(e.Code), Message: message}
	}
	if errors.Is(err, context.Canceled) {
		return &codemode.Fault{Code: string(toolcrib.CodeCancelled), Message: "the call was cancelled"}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &codemode.Fault{Code: string(toolcrib.CodeTimeout), Message: "the time of the call was over"}
	}
	return &codemode.Fault{Code: string(toolcrib.CodeInternal), Message: "the call could not be made"}
}

// untrusted is what the mark begins with that stands before what came from outside.
const untrusted = "[untrusted: "

// valueOf gives what a script sees of a result: its value, or its text as a string.
// The mark before what came from outside is for models, and is kept for the end.
func valueOf(r *toolcrib.Result) (value json.RawMessage, words string, outside bool) {
	parts, other := r.Content, []string(nil)
	if len(parts) > 0 && strings.HasPrefix(parts[0].Text, untrusted) {
		parts, outside = parts[1:], true
	}
	var texts []string
	for _, c := range parts {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		} else {
			other = append(other, fmt.Sprintf("[%s %s, %d bytes]", c.Type, c.MIME, len(c.Data)))
		}
	}
	if words = strings.Join(texts, "\n"); words == "" {
		words = strings.Join(other, "\n")
	}
	if r.Value != nil {
		if words == "" {
			words = string(r.Value)
		}
		return r.Value, words, outside
	}
	return jsontext.AppendString(nil, words), words, outside
}

// told makes a text of the finder what scripts see.
func told(find func(context.Context, toolcrib.Caller, string) (string, error), caller toolcrib.Caller) func(context.Context, string) (json.RawMessage, error) {
	if find == nil {
		return nil
	}
	return func(ctx context.Context, words string) (json.RawMessage, error) {
		text, err := find(ctx, caller, words)
		if err != nil {
			return nil, fault(err)
		}
		return jsontext.AppendString(nil, text), nil
	}
}
