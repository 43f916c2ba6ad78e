package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/notefile"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// The notes of a session are resources: notes://todos, and notes://scratchpad/KEY
// for each key. A client sees those of its own session.
const (
	noteScheme = "notes://"
	todosURI   = noteScheme + "todos"
	padURI     = noteScheme + "scratchpad/"
	noteReader = notes.Name + "/read_notes"
)

// Notes are the notes of sessions.
type Notes interface {
	Read(ctx context.Context, caller toolcrib.Caller) (notes.Notes, error)
	Watch(do func(notefile.Change)) (stop func())
}

// noteItems shows the notes of a session as resources.
func (s Shelf) noteItems(ctx context.Context, caller toolcrib.Caller) ([]server.Item, error) {
	if s.Notes == nil || s.tool(caller, noteReader) == "" {
		return nil, nil
	}
	n, err := s.Notes.Read(ctx, caller)
	if err != nil {
		if errors.Is(err, notefile.ErrGone) {
			err = nil
		}
		return nil, err
	}
	var out []server.Item
	add := func(uri, name, description string) error {
		text, err := json.Marshal(map[string]string{"uri": uri, "name": name, "description": description, "mimeType": "text/markdown"})
		if err != nil {
			return fmt.Errorf("showing the notes of a session: %w", err)
		}
		out = append(out, server.Item{Definition: text, Name: uri})
		return nil
	}
	if len(n.Todos) > 0 {
		if err := add(todosURI, "todos", "The list of tasks of this session."); err != nil {
			return nil, err
		}
	}
	for _, key := range n.Keys() {
		if err := add(padURI+url.PathEscape(key), key, "A key of the scratchpad of this session."); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// noteCall is the call that reads a note.
func (s Shelf) noteCall(ctx context.Context, caller toolcrib.Caller, uri string) (tool string, input json.RawMessage, ok bool) {
	if tool = s.tool(caller, noteReader); tool == "" || s.Notes == nil {
		return "", nil, false
	}
	fields := map[string]string{"part": "todos"}
	if uri != todosURI {
		rest, is := strings.CutPrefix(uri, padURI)
		key, err := url.PathUnescape(rest)
		if !is || err != nil {
			return "", nil, false
		}
		if n, err := s.Notes.Read(ctx, caller); err == nil {
			if _, there := n.Pad[key]; !there {
				return "", nil, false
			}
		}
		fields = map[string]string{"part": "scratchpad", "key": key}
	}
	input, err := json.Marshal(fields)
	return tool, input, err == nil
}

// watchNotes tells clients of changes of their own notes.
func (s Shelf) watchNotes(changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)) (stop func()) {
	if s.Notes == nil {
		return func() {}
	}
	return s.Notes.Watch(func(c notefile.Change) {
		hears := func(other toolcrib.Caller) bool { return notefile.Same(c.Caller, other) }
		if c.List {
			changed(mcp.NotifyResources, nil, hears)
		}
		uris := []string{}
		if c.Todos {
			uris = append(uris, todosURI)
		}
		for _, key := range c.Keys {
			uris = append(uris, padURI+url.PathEscape(key))
		}
		for _, uri := range uris {
			if params, err := json.Marshal(map[string]string{"uri": uri}); err == nil {
				changed(mcp.NotifyResource, params, hears)
			}
		}
	})
}
