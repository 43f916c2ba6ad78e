package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// ready says why a server could not be started for a caller now, so that nobody is
// asked about a call that fails anyhow. Nil: it runs, or nothing is known that is in
// its way. It starts nothing and puts no secret in.
func (b *Box) ready(ctx context.Context, caller toolcrib.Caller) error {
	runs, err := b.startedFor(placeOf(caller))
	if err != nil {
		return unavailable(err)
	}
	if runs {
		return nil
	}
	if err := b.resolvable(ctx); err != nil {
		return unavailable(fmt.Errorf("the MCP server %s cannot be set up: %w", b.name, err))
	}
	s := b.server
	if s.URL != "" || b.hub.needs.Ready == nil || slices.ContainsFunc([]string{s.Command, s.Dir}, refers) {
		return nil // what a reference stands for is seen when it starts
	}
	l := Launch{Server: b.name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, Sandbox: s.Sandbox, Image: s.Image, Network: s.Network, Grant: s.Grant, Tools: s.Tools}
	if err := b.hub.needs.Ready(ctx, l); err != nil {
		return unavailable(fmt.Errorf("%w; 'toolcrib hub test %s' tries it", err, b.name))
	}
	return nil
}

// refers reports whether a text has a reference in it.
func refers(text string) bool { return strings.Contains(text, "${") }

// startedFor says whether a caller's server runs, or that it is not tried again now.
func (b *Box) startedFor(place string) (bool, error) {
	b.mu.Lock()
	i := b.instances[b.keyOf(place)]
	b.mu.Unlock()
	if i == nil {
		return false, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.session != nil, i.notNow()
}

// resolvable says what a reference in the settings of a server lacks.
func (b *Box) resolvable(ctx context.Context) error {
	check := b.hub.needs.Lacks
	if check == nil {
		return nil
	}
	s := b.server
	texts := slices.Concat([]string{s.Command, s.Dir}, s.Args, slices.Sorted(maps.Values(s.Env)))
	if s.URL != "" { // nothing is started, so that the others are not read
		texts = slices.Concat([]string{s.URL}, slices.Sorted(maps.Values(s.Headers)))
		if o := s.OAuth; !o.Off && (o.ClientID != "" || o.Redirect != "") { // else it does without a login
			texts = append(texts, o.ClientSecret, o.ClientID)
		}
	}
	for _, text := range texts {
		if !refers(text) {
			continue
		}
		if err := check(ctx, withPerson(text, "x")); err != nil {
			return err
		}
	}
	return nil
}

// previewCall says why a tool of a server could not be called.
func (b *Box) previewCall(d definition) func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) {
	return func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (string, error) {
		if !b.stillApproved(d.Name, d.sum) {
			return "", b.changedSince(d.Name)
		}
		return "", b.ready(ctx, env.Call.Caller)
	}
}

func (b *Box) changedSince(tool string) error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf(
		"the MCP server %s has changed the definition of %s since it was approved; a person has to look at it (toolcrib hub show %s)", b.name, tool, b.name)}
}

// connectable finds the server that mcp_connect is to start, or says why it could not.
func (h *Hub) connectable(ctx context.Context, caller toolcrib.Caller, name string, may func(ctx context.Context, caller toolcrib.Caller, server string) error) (*Box, error) {
	if may != nil {
		if err := may(ctx, caller, name); err != nil {
			return nil, err
		}
	}
	b, ok := h.Box(name)
	if !ok {
		if len(h.Boxes()) == 0 {
			return nil, errors.New("there are no MCP servers yet; a person adds one with 'toolcrib hub add', and mcp_import takes over those of a client's file")
		}
		return nil, fmt.Errorf("there is no MCP server %q; 'toolcrib hub list' names those that there are", name)
	}
	return b, nil
}
