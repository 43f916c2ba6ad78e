package toolcrib

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/meet"
)

// equip builds the handles the grant gives. After this the grant is settled.
func (c *Crib) equip(p cleared) (equipped, error) {
	env, err := c.env(p.flight, p.grant)
	if err != nil {
		return equipped{}, err
	}
	p.flight.env = env
	return equipped{p.flight, env}, nil
}

// env builds the handles for a call with a settled grant.
func (c *Crib) env(f *flight, grant Grant) (*Env, error) {
	e := &Env{Call: f.call, Emit: c.emitter(f)}
	e.Call.Input = f.input
	if bytes.Equal(f.input, f.text) {
		e.doc.Store(f.doc)
		f.doc = nil
	}
	e.Use = func(ctx context.Context, tool string, input any) (*Result, error) {
		if f.over.Load() {
			return nil, callOver(f)
		}
		return c.use(ctx, f, tool, input)
	}
	if c.Approver != nil {
		e.Ask = func(ctx context.Context, q Question) (Answer, error) {
			if f.over.Load() {
				return Answer{}, callOver(f)
			}
			q.Call, q.Spec = f.call, f.entry.native
			ctx, cancel := context.WithTimeout(ctx, f.limits.Ask)
			defer cancel()
			return c.ask(ctx, q)
		}
	}
	e.Settle = f.addLayer
	declared := f.entry.tool.Effects.All()
	if len(grant.Dirs) > 0 && declared&(Reads|Writes|Destroys|Runs) != 0 {
		handle, err := files.New(grant.within(declared).Dirs, c.filesOptions(f, grant))
		if err != nil {
			return nil, refuse(CodeUnavailable, f.call.Tool, "the granted directories cannot be handed out", err)
		}
		e.Files, f.files = handle, handle
	}
	if len(grant.Hosts) > 0 && declared&Network != 0 {
		f.gate = httpclient.NewGate(grant.Hosts, c.HTTP)
		f.gate.Tool, f.gate.Call = f.call.Tool, f.call.ID
		e.HTTP = f.gate.Client()
	}
	if c.Secret != nil && len(grant.Secrets) > 0 && declared&UsesSecrets != 0 {
		e.Secret = c.secret(f, grant.Secrets)
	}
	if len(grant.Programs) == 0 || declared&Runs == 0 {
		return e, nil
	}
	if c.Sandbox == nil {
		return nil, refuse(CodeUnavailable, f.call.Tool, "it may run programs, but no sandbox is set up to run them in", nil)
	}
	// A sandbox may have to look around to say what it holds: it is asked only if it matters.
	if missing := grant.Bounds; missing != 0 && missing&^c.Sandbox.Enforces() != 0 {
		missing &^= c.Sandbox.Enforces()
		return nil, refuse(CodeUnavailable, f.call.Tool, "the sandbox cannot enforce what this call was granted under", fmt.Errorf("missing bounds %#x", uint16(missing)))
	}
	e.Exec = func(ctx context.Context, cmd Cmd) (Exit, error) {
		if f.over.Load() {
			return Exit{}, callOver(f)
		}
		if !allowed(grant.Programs, cmd.Path) {
			return Exit{}, refuse(CodeDenied, f.call.Tool, "the program "+cmd.Path+" was not granted", nil)
		}
		cmd.Call, cmd.Tool, cmd.Effects = e.Call, f.entry.native.Native, f.effects
		exit, err := c.Sandbox.Run(ctx, cmd, grant.within(f.effects.All()).reachable())
		if exit.TimedOut && errors.Is(ctx.Err(), context.Canceled) {
			exit.TimedOut, exit.Cancelled = false, true
		}
		cut := exit.TimedOut || exit.Cancelled
		if cmd.Ended != nil {
			ctx = cmd.Ended()
			cut = exit.TimedOut || ctx.Err() != nil
		}
		if exit.Changes != nil {
			exit.Notes = append(exit.Notes, c.received(ctx, f, exit.Changes, cut || err != nil)...)
			exit.Changes = nil
		}
		return exit, err
	}
	return e, nil
}

// secret is the handle on the credentials a call was granted.
func (c *Crib) secret(f *flight, granted []string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		if f.over.Load() {
			return "", callOver(f)
		}
		if !allowed(granted, name) { // it does not say whether there is one
			return "", refuse(CodeDenied, f.call.Tool, "the secret "+name+" was not granted", nil)
		}
		return c.Secret(ctx, f.call, f.entry.native, name)
	}
}

// filesOptions has every directory that may be granted: a grant narrowed to one
// inside them must not have been a link there.
func (c *Crib) filesOptions(f *flight, grant Grant) files.Options {
	opt := c.Files
	opt.Judged = &f.ways
	opt.Denied, opt.Fixed = meet.Both(opt.Denied, grant.Denied), meet.Both(opt.Fixed, grant.Fixed)
	opt.Within = slices.Clone(opt.Within)
	for _, d := range c.Grant.Dirs {
		opt.Within = append(opt.Within, d.Path)
	}
	return opt
}

// callOver refuses the handles of a call that has ended: a tool that ran past
// its deadline must not go on acting in its caller's name.
func callOver(f *flight) error {
	return refuse(CodeDenied, f.call.Tool, "the call "+f.call.ID+" is over", nil)
}

// allowed reports whether a list of names has this one; only the list may say *.
func allowed(names []string, name string) bool {
	return name != "*" && slices.ContainsFunc(names, func(n string) bool { return n == "*" || n == name })
}

func (c *Crib) emitter(f *flight) func(Event) {
	if c.Emit == nil {
		return dropEvent
	}
	return func(ev Event) {
		ev.Time, ev.Call, ev.Caller, ev.Tool = c.now(), f.call.ID, f.call.Caller, f.call.Tool
		c.Emit(ev)
	}
}

func dropEvent(Event) {}
