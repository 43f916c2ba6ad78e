package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Judge says what would become of a call, also where the guards have nothing
// against it and the handles of the tool would refuse what it names.
func (a *App) Judge(ctx context.Context, call toolcrib.Call) (toolcrib.Judgement, error) {
	j, err := a.Crib.Judge(ctx, call)
	if err != nil || j.Decision == toolcrib.Deny {
		return j, err
	}
	if j.Review.Spec.Box == mcphub.MetaName && j.Review.Spec.Native == "mcp_call" {
		return a.judgeInner(ctx, j)
	}
	if err := a.reaches(&j); err != nil {
		why := toolcrib.Verdict{Guard: "grant", Rule: setting(err), Decision: toolcrib.Deny, Reason: err.Error()}
		if no, ok := toolcrib.AsError(err); ok {
			why.Reason = no.Message
		}
		j.Decision, j.Verdicts = toolcrib.Deny, slices.Insert(j.Verdicts, 0, why)
	}
	return j, nil
}

// judgeInner says what would become of a call that calls another tool: it is the
// stricter of both.
func (a *App) judgeInner(ctx context.Context, outer toolcrib.Judgement) (toolcrib.Judgement, error) {
	var in struct {
		Tool      string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(outer.Review.Input, &in); err != nil {
		return outer, err
	}
	if in.Arguments == nil {
		in.Arguments = json.RawMessage("{}")
	}
	call := outer.Review.Call
	call.Tool, call.Input, call.ID, call.Parent = in.Tool, in.Arguments, "", call.ID
	inner, err := a.Judge(ctx, call)
	if err != nil || inner.Decision <= outer.Decision { // deny is the least
		return inner, err
	}
	return outer, nil
}

// reachable asks nobody about a call that its handles would refuse whatever a person says.
type reachable struct {
	app *App
	toolcrib.Approver
}

func (r reachable) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	err := r.app.reaches(&toolcrib.Judgement{Review: toolcrib.Review{Call: q.Call, Spec: q.Spec, Input: q.Input}, Grant: r.app.Crib.Grant})
	if _, refused := toolcrib.AsError(err); refused {
		return toolcrib.Answer{}, err
	}
	return r.Approver.Approve(ctx, q)
}

// setting names what decides that a handle refuses something.
func setting(err error) string {
	switch {
	case errors.Is(err, files.ErrOutside):
		return "grant.read"
	case errors.Is(err, files.ErrReadOnly):
		return "grant.write"
	case errors.Is(err, files.ErrProtected):
		return "grant.protected"
	case toolcrib.CodeOf(err) == toolcrib.CodeDenied:
		return "grant.hosts"
	}
	return ""
}

// reaches has the same handles that a call would be given look at the file, the
// directory or the address that it names.
func (a *App) reaches(j *toolcrib.Judgement) error {
	box := j.Review.Spec.Box
	if box != "files" && box != "shell" && box != "web" {
		return nil // what others mean by their arguments nobody knows
	}
	var named struct {
		Path *string `json:"path"`
		Dir  *string `json:"working_dir"`
		URL  *string `json:"url"`
	}
	if err := json.Unmarshal(j.Review.Input, &named); err != nil {
		return err
	}
	effects := j.Review.Spec.Effects.All()
	switch {
	case box == "web" && named.URL != nil:
		gate := httpclient.NewGate(j.Grant.Hosts, a.Crib.HTTP)
		defer gate.Close()
		return gate.Check(*named.URL)
	case box == "files" && named.Path != nil:
		return a.reachesFile(j.Grant, *named.Path, effects&(toolcrib.Writes|toolcrib.Destroys) != 0, effects&toolcrib.Destroys != 0)
	case box == "shell" && named.Dir != nil:
		return a.reachesFile(j.Grant, *named.Dir, false, false)
	}
	return nil
}

func (a *App) reachesFile(grant toolcrib.Grant, path string, write, link bool) error {
	if len(grant.Dirs) == 0 {
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so there are no files to work on", Err: files.ErrOutside}
	}
	opt := a.Crib.Files
	opt.Denied, opt.Fixed = slices.Concat(opt.Denied, grant.Denied), slices.Concat(opt.Fixed, grant.Fixed)
	for _, d := range a.Crib.Grant.Dirs {
		opt.Within = append(slices.Clip(opt.Within), d.Path)
	}
	handle, err := files.New(grant.Dirs, opt)
	if err != nil {
		return err
	}
	defer func() { _ = handle.Close() }() // nothing was opened that could be lost
	return handle.Check(path, write, link)
}

// Tokens are who comes in by a token of the settings, by the names of those.
func (a *App) Tokens() map[string]toolcrib.Caller {
	out := map[string]toolcrib.Caller{}
	for _, h := range a.policy.guests.Load().Holders {
		out[h.Caller.Token] = h.Caller
	}
	return out
}
