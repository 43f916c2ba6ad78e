package mcphub

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// ownMark begins the names by which Toolcrib speaks to programs in _meta.
const ownMark = "toolcrib/"

// piece reads one piece of a result. One of a kind that is not known becomes a
// text: clients show such a piece to models as it is, and only a text is marked as
// something from outside.
func (b *Box) piece(text json.RawMessage) (toolcrib.Content, error) {
	c, err := mcp.ReadContent(text)
	if err != nil {
		return c, err
	}
	if isPage(c.URI, c.MIME) {
		return toolcrib.Content{Type: "text", Text: noPage(c.URI)}, nil
	}
	known := false
	switch c.Type {
	case "text", "image", "audio", "resource":
		known = true
	case "link":
		known = textMember(text, "type") == "resource_link"
	}
	if !known {
		return toolcrib.Content{Type: "text", Text: "A piece of a kind that Toolcrib does not know:\n" + string(compact(text))}, nil
	}
	c.More = b.ownTitles(withoutMarks(c.More))
	return c, nil
}

// notPassed are the names in _meta that a server cannot say to a client: our own,
// by which programs go, and those that make a client show a page. To a client
// every page is Toolcrib's, so that the page of one server could call the tools of
// all of them, with no model and no question in between.
func notPassed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ownMark) || name == "ui" || strings.HasPrefix(name, "ui/") || strings.HasPrefix(name, "openai/") ||
		strings.HasPrefix(name, "io.modelcontextprotocol/ui")
}

// withoutMarks takes such names out of every _meta in a value of a server, and
// pages and icons that are none out of the rest.
func withoutMarks(value json.RawMessage) json.RawMessage {
	if text := string(value); !strings.Contains(text, "_meta") && !strings.Contains(text, `\u`) && !strings.Contains(text, "icons") && !strings.Contains(text, "resource") {
		return value
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(value)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return value // it was read before, and is no JSON that anybody reads
	}
	if !dropMarks(v) {
		return value
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// dropMarks reports whether it changed anything.
func dropMarks(v any) (changed bool) {
	switch v := v.(type) {
	case map[string]any:
		if withoutPage(v) {
			return true
		}
		for key, member := range v {
			if list, ok := member.([]any); ok && key == "icons" {
				if good := goodIcons(list); len(good) < len(list) {
					v[key], changed = good, true
					if len(good) == 0 {
						delete(v, key)
						continue
					}
				}
			}
			if meta, ok := member.(map[string]any); ok && key == "_meta" {
				for name := range meta {
					if notPassed(name) {
						delete(meta, name)
						changed = true
					}
				}
				if changed && len(meta) == 0 {
					delete(v, key)
					continue
				}
			}
			changed = dropMarks(member) || changed
		}
	case []any:
		for _, item := range v {
			changed = dropMarks(item) || changed
		}
	}
	return changed
}
