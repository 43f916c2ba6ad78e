// Package shelf shows MCP clients what there is besides tools: what MCP servers
// offer, skills and the instructions of agents. A caller sees what a tool that
// they have can read, and reading is a call of that tool. The wiring in
// internal/app imports it.
package shelf

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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
	// MayStart refuses to start a server for a caller. Nil: none is started for a
	// list.
	MayStart func(ctx context.Context, c toolcrib.Caller, server string) error
}

// listWait is how long a list waits for the servers of a caller that were never
// asked; what comes later is told as a change.
const listWait = 5 * time.Second

// listings gives what the servers whose reading tool a caller has list for them.
func (s Shelf) listings(ctx context.Context, c toolcrib.Caller, native string) (boxes []string, lists map[string]mcphub.Listing, readers map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	readers, lists = s.readers(c), map[string]mcphub.Listing{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, b := range s.Hub.Boxes() {
		if readers[b.Name()+"/"+native] == "" {
			continue
		}
		boxes = append(boxes, b.Name())
		all.Go(func() {
			list := b.ListingFor(ctx, c, func() bool { return s.MayStart != nil && s.MayStart(ctx, c, b.Name()) == nil })
			mu.Lock()
			defer mu.Unlock()
			lists[b.Name()] = list
		})
	}
	all.Wait()
	return boxes, lists, readers
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

// items gives the definitions of all servers whose reading tool a caller has.
// The same thing of two servers is shown once, as the first has it.
func (s Shelf) items(ctx context.Context, caller toolcrib.Caller, reader, key string, of func(mcphub.Listing) []json.RawMessage) []server.Item {
	boxes, lists, _ := s.listings(ctx, caller, reader)
	var out []server.Item
	seen := map[string]bool{}
	for _, box := range boxes {
		for _, text := range of(lists[box]) {
			name := member(text, key)
			if name == "" || seen[name] || strings.HasPrefix(name, skillScheme) { // skills are ours
				continue
			}
			seen[name] = true
			out = append(out, server.Item{Definition: text, Name: name})
		}
	}
	return out
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
	return append(own, s.items(ctx, c, mcphub.ReadTool, "uri", func(l mcphub.Listing) []json.RawMessage { return l.Resources })...), err
}

// Templates implements [server.Shelf].
func (s Shelf) Templates(ctx context.Context, c toolcrib.Caller) ([]server.Item, error) {
	return s.items(ctx, c, mcphub.ReadTool, "uriTemplate", func(l mcphub.Listing) []json.RawMessage { return l.Templates }), nil
}

// Prompts implements [server.Shelf].
func (s Shelf) Prompts(ctx context.Context, c toolcrib.Caller) ([]server.Item, error) {
	own, err := s.agentItems(c)
	theirs := s.items(ctx, c, mcphub.PromptTool, "name", func(l mcphub.Listing) []json.RawMessage { return l.Prompts })
	theirs = slices.DeleteFunc(theirs, func(i server.Item) bool { return s.Agents[i.Name] != "" })
	return append(own, theirs...), err
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
	case mcp.MethodResourcesRead:
		if strings.HasPrefix(p.URI, skillScheme) {
			if tool, input, ok := s.skillCall(c, p.URI); ok {
				return tool, input, true, nil
			}
		}
	case mcp.MethodPromptsGet:
		if tool, input, ok := s.agentCall(c, p.Name); ok {
			return tool, input, true, nil
		}
	}
	var box, native string
	var readers map[string]string
	fields := map[string]any{}
	switch method {
	case mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		native, fields["uri"] = mcphub.ReadTool, p.URI
		if method != mcp.MethodResourcesRead {
			native, fields["on"] = mcphub.SubscribeTool, method == mcp.MethodSubscribe
		}
		box, readers = s.reads(ctx, c, native, p.URI)
	case mcp.MethodPromptsGet:
		native, fields["name"] = mcphub.PromptTool, p.Name
		if p.Arguments != nil {
			fields["arguments"] = p.Arguments
		}
		box, readers = s.prompts(ctx, c, native, p.Name)
	case mcp.MethodComplete:
		native, fields["ref"], fields["argument"] = mcphub.CompleteTool, p.Ref, p.Argument
		if p.Context != nil {
			fields["context"] = p.Context
		}
		if name := member(p.Ref, "name"); name != "" {
			box, readers = s.prompts(ctx, c, native, name)
		} else {
			box, readers = s.reads(ctx, c, native, member(p.Ref, "uri"))
		}
	}
	if box == "" {
		return "", nil, false, nil
	}
	if input, err = json.Marshal(fields); err != nil {
		return "", nil, false, fmt.Errorf("%s: %w", method, err)
	}
	return readers[box+"/"+native], input, true, nil
}

// reads finds the server of a resource: the one that lists it, else one with a
// template that fits, else the only one that has any, which will say itself that
// it does not have it.
func (s Shelf) reads(ctx context.Context, c toolcrib.Caller, native, uri string) (box string, readers map[string]string) {
	boxes, lists, readers := s.listings(ctx, c, native)
	fits := ""
	for _, b := range boxes {
		switch lists[b].Reads(uri) {
		case 2:
			return b, readers
		case 1:
			fits = cmp.Or(fits, b)
		}
	}
	if fits == "" && len(boxes) == 1 {
		fits = boxes[0]
	}
	return fits, readers
}

func (s Shelf) prompts(ctx context.Context, c toolcrib.Caller, native, name string) (box string, readers map[string]string) {
	boxes, lists, readers := s.listings(ctx, c, native)
	for _, b := range boxes {
		if slices.ContainsFunc(lists[b].Prompts, func(text json.RawMessage) bool { return member(text, "name") == name }) {
			return b, readers
		}
	}
	if len(boxes) == 1 {
		return boxes[0], readers
	}
	return "", readers
}

// Watch implements [server.Shelf].
func (s Shelf) Watch(changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)) (stop func()) {
	one := s.Hub.Watch(func(n mcphub.Notice) { changed(n.Method, n.Params, n.For) })
	two := s.Hub.Notify(func() {
		changed(mcp.NotifyPrompts, nil, nil)
		changed(mcp.NotifyResources, nil, nil)
	})
	return func() {
		one()
		two()
	}
}
