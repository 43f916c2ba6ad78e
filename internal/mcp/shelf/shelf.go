// Package shelf shows MCP clients what there is besides tools: what MCP servers
// offer, skills, the instructions of agents and the notes of their session. A caller sees what a tool that
// they have can read, and reading is a call of that tool. The wiring in
// internal/app imports it.
package shelf

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// Shelf is a [server.Shelf].
type Shelf struct {
	Crib   *toolcrib.Crib
	Hub    *mcphub.Hub
	Skills *skill.Box // nil: there are none
	Agents Agents
	Notes  Notes // nil: there are none
	// MayStart refuses to start a server for a caller. Nil: none is started for a
	// list.
	MayStart func(ctx context.Context, c toolcrib.Caller, server string) error
}

var _ server.Shelf = Shelf{}

// readers gives the tools that read shelves, by server and native name, as this
// caller has them.
func (s Shelf) readers(caller toolcrib.Caller) map[string]string {
	names := map[string]string{}
	for spec := range s.Crib.Tools(caller) {
		if mcphub.IsShelf(spec.Group, spec.Native) {
			names[spec.Box+"/"+spec.Native] = spec.Name
		}
	}
	return names
}

func member(text json.RawMessage, key string) string {
	var all map[string]json.RawMessage
	var value string
	if json.Unmarshal(text, &all) != nil || json.Unmarshal(all[key], &value) != nil {
		return ""
	}
	return value
}

// Resources implements [server.Shelf].
func (s Shelf) Resources(ctx context.Context, c toolcrib.Caller) ([]server.Item, error) {
	own, err := s.skillItems(ctx, c)
	if err != nil {
		return nil, err
	}
	noted, err := s.noteItems(ctx, c)
	return append(append(own, noted...), s.view(ctx, c, mcphub.ReadTool, everyOne).items(resourceKind(), notTaken)...), err
}

// Templates implements [server.Shelf].
func (s Shelf) Templates(ctx context.Context, c toolcrib.Caller) ([]server.Item, error) {
	return s.view(ctx, c, mcphub.ReadTool, everyOne).items(templateKind(), notTaken), nil
}

func notTaken(string) bool { return false }

// Prompts implements [server.Shelf].
func (s Shelf) Prompts(ctx context.Context, c toolcrib.Caller) ([]server.Item, error) {
	own, err := s.agentItems(c)
	if err != nil {
		return nil, err
	}
	skills, taken, err := s.skillPrompts(ctx, c)
	own = append(own, skills...)
	return append(own, s.view(ctx, c, mcphub.PromptTool, everyOne).items(promptKind(), func(name string) bool { return s.Agents[name] != "" || taken[name] != "" })...), err
}

// Reading implements [server.Shelf].
func (s Shelf) Reading(ctx context.Context, c toolcrib.Caller, method string, params json.RawMessage) (tool string, input json.RawMessage, ok bool, err error) {
	var p struct {
		URI       string          `json:"uri"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Ref       json.RawMessage `json:"ref"`
		Argument  json.RawMessage `json:"argument"`
		Context   json.RawMessage `json:"context"`
	}
	if params != nil {
		if err := json.Unmarshal(params, &p); err != nil {
			return "", nil, false, mcp.Errorf(mcp.CodeInvalidParams, "the parameters of %s: %v", method, err)
		}
	}
	switch method {
	case mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		if strings.HasPrefix(p.URI, skillScheme) && method == mcp.MethodResourcesRead {
			if tool, input, ok := s.skillCall(c, p.URI); ok {
				return tool, input, true, nil
			}
		}
		if strings.HasPrefix(p.URI, noteScheme) {
			tool, input, ok := s.noteCall(ctx, c, p.URI)
			return tool, input, ok, nil
		}
	case mcp.MethodPromptsGet:
		if tool, input, ok := s.agentCall(c, p.Name); ok {
			return tool, input, true, nil
		}
		if tool, input, ok, err := s.skillPromptCall(ctx, c, p.Name, p.Arguments); ok || err != nil {
			return tool, input, ok, err
		}
	}
	var box, native, own string
	var seen view
	seek := func(k kind, name string) {
		seen, err = s.seek(ctx, c, native, k, name, func(v view) (sure bool, err error) {
			box, own, sure, err = v.find(k, name)
			return sure, err
		})
	}
	fields := map[string]any{}
	switch method {
	case mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		native = mcphub.ReadTool
		if method != mcp.MethodResourcesRead {
			native, fields["on"] = mcphub.SubscribeTool, method == mcp.MethodSubscribe
		}
		seek(resourceKind(), p.URI)
		if fields["uri"] = own; own != p.URI && native == mcphub.ReadTool {
			fields["as"] = p.URI
		}
	case mcp.MethodPromptsGet:
		native = mcphub.PromptTool
		if p.Arguments != nil {
			fields["arguments"] = p.Arguments
		}
		seek(promptKind(), p.Name)
		fields["name"] = own
	case mcp.MethodComplete:
		native, fields["argument"] = mcphub.CompleteTool, p.Argument
		if p.Context != nil {
			fields["context"] = p.Context
		}
		k, name := referred(p.Ref)
		seen, err = s.seek(ctx, c, native, k, name, func(v view) (sure bool, err error) {
			box, fields["ref"], sure, err = v.completes(p.Ref)
			return sure, err
		})
	}
	if err != nil {
		return "", nil, false, err
	}
	if box == "" {
		return "", nil, false, nil
	}
	if input, err = json.Marshal(fields); err != nil {
		return "", nil, false, fmt.Errorf("%s: %w", method, err)
	}
	return seen.readers[box+"/"+native], input, true, nil
}

// Watch implements [server.Shelf].
func (s Shelf) Watch(changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)) (stop func()) {
	one := s.Hub.Watch(func(n mcphub.Notice) {
		changed(n.Method, n.Params, n.For)
		if uri := member(n.Params, "uri"); n.Method == mcp.NotifyResource && uri != "" { // whoever wants it may know it by its long name
			changed(n.Method, renamed(n.Params, "uri", resourceKind().long(n.Server, uri)), n.For)
		}
	})
	two := s.Hub.Notify(func() {
		changed(mcp.NotifyPrompts, nil, nil)
		changed(mcp.NotifyResources, nil, nil)
	})
	stops := []func(){one, two, s.watchNotes(changed)}
	if s.Skills != nil {
		stops = append(stops, s.Skills.Notify(func() {
			changed(mcp.NotifyPrompts, nil, nil)
			changed(mcp.NotifyResources, nil, nil)
		}))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}
