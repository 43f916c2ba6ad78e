package mcphub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// To a client everything that comes through Toolcrib is Toolcrib's: a page of one
// server could call the tools of all of them, and a tool with the title of another
// is taken for that one. So pages are not passed on, and titles say whose they are.

// isPage reports whether a resource is a page that clients show: by its address,
// or by its type (MCP Apps, and what came before them).
func isPage(uri, mime string) bool {
	plain := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r <= ' ' || r == '"' || r == '\'' {
				return -1
			}
			return r
		}, strings.ToLower(text))
	}
	mime = plain(mime)
	return strings.HasPrefix(plain(uri), "ui:") || strings.Contains(mime, "mcp-app") || strings.HasPrefix(mime, "text/html+")
}

// noPage is what stands in the place of a page.
func noPage(uri string) string {
	return fmt.Sprintf("A page of this server (%s) is not passed on: a client would take it for one of Toolcrib's.", clip(uri))
}

// errPage is the answer to whoever reads one. It has no word of the server's.
func errPage() error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "pages of MCP servers are not passed on, since a client would take them for Toolcrib's own; connect the server to the client directly to see them"}
}

// titled is a title with the name of the server before it.
func (b *Box) titled(title string) string {
	if title == "" || strings.HasPrefix(title, b.name+": ") {
		return title
	}
	return b.name + ": " + title
}

// ownTitles puts the server's name before the titles of a definition.
func (b *Box) ownTitles(definition json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(definition, &all) != nil || all == nil {
		return definition
	}
	changed := b.ownTitle(all)
	var annotations map[string]json.RawMessage
	if json.Unmarshal(all["annotations"], &annotations) == nil && b.ownTitle(annotations) {
		text, err := json.Marshal(annotations)
		if err != nil {
			return nil
		}
		all["annotations"], changed = text, true
	}
	if !changed {
		return definition
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return text
}

func (b *Box) ownTitle(all map[string]json.RawMessage) bool {
	var title string
	if all["title"] == nil || json.Unmarshal(all["title"], &title) != nil || b.titled(title) == title {
		return false
	}
	text, err := json.Marshal(b.titled(title))
	if err != nil {
		delete(all, "title")
		return true
	}
	all["title"] = text
	return true
}

// withoutPage makes a text of a piece that is, or leads to, a page.
func withoutPage(v map[string]any) bool {
	kind, _ := v["type"].(string)
	at := v
	switch kind {
	case "resource":
		at, _ = v["resource"].(map[string]any)
	case "resource_link":
	default:
		return false
	}
	uri, _ := at["uri"].(string)
	mime, _ := at["mimeType"].(string)
	if !isPage(uri, mime) {
		return false
	}
	clear(v)
	v["type"], v["text"] = "text", noPage(uri)
	return true
}

// goodIcons leaves those that are pictures: clients load what they are told.
func goodIcons(list []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(one any) bool {
		icon, isObject := one.(map[string]any)
		src, isText := icon["src"].(string)
		src = strings.ToLower(src)
		return !isObject || !isText || !strings.HasPrefix(src, "https://") && !strings.HasPrefix(src, "data:image/")
	})
}
