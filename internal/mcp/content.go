package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// ownKey reports the members of a piece that a Content has a field for; all
// others are kept in More.
func ownKey(kind, key string) bool {
	switch key {
	case "type":
		return true
	case "text":
		return kind == "text"
	case "data", "mimeType":
		return kind == "image" || kind == "audio"
	case "resource":
		return kind == "resource"
	case "uri", "name":
		return kind == "resource_link"
	}
	return false
}

// ReadContent reads one piece of a result. A kind that is not known is kept
// whole in More, under its own type.
func ReadContent(text json.RawMessage) (toolcrib.Content, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return toolcrib.Content{}, fmt.Errorf("a piece of content: %w", err)
	}
	var p struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Data     []byte          `json:"data"`
		MIME     string          `json:"mimeType"`
		URI      string          `json:"uri"`
		Name     string          `json:"name"`
		Resource json.RawMessage `json:"resource"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return toolcrib.Content{}, fmt.Errorf("a piece of content: %w", err)
	}
	c := toolcrib.Content{Type: p.Type}
	switch p.Type {
	case "text":
		c.Text = p.Text
	case "image", "audio":
		c.Data, c.MIME = p.Data, p.MIME
	case "resource_link":
		c.Type, c.URI, c.Name = "link", p.URI, p.Name
		if p.MIME != "" {
			c.MIME = p.MIME
			delete(all, "mimeType")
		}
	case "resource":
		inner, err := ReadResource(p.Resource)
		if err != nil {
			return toolcrib.Content{}, err
		}
		c.URI, c.MIME, c.Text, c.Data = inner.URI, inner.MIME, inner.Text, inner.Data
		if inner.More != nil {
			all["resource"] = inner.More
		} else {
			delete(all, "resource")
		}
		delete(all, "type")
		return withMore(c, all)
	case "":
		return toolcrib.Content{}, fmt.Errorf("a piece of content has no type")
	case "link":
		return withMore(c, all) // not the kind that we call so: its own type stays with it
	}
	for key := range all {
		if ownKey(p.Type, key) {
			delete(all, key)
		}
	}
	return withMore(c, all)
}

// ReadResource reads the contents of a resource: a text or bytes at an address.
func ReadResource(text json.RawMessage) (toolcrib.Content, error) {
	var p struct {
		URI  string  `json:"uri"`
		MIME string  `json:"mimeType"`
		Text *string `json:"text"`
		Blob []byte  `json:"blob"`
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return toolcrib.Content{}, fmt.Errorf("a resource: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return toolcrib.Content{}, fmt.Errorf("a resource: %w", err)
	}
	c := toolcrib.Content{Type: "resource", URI: p.URI, MIME: p.MIME, Data: p.Blob}
	if p.Text != nil {
		c.Text = *p.Text
	}
	for _, key := range []string{"uri", "mimeType", "text", "blob"} {
		delete(all, key)
	}
	return withMore(c, all)
}

func withMore(c toolcrib.Content, all map[string]json.RawMessage) (toolcrib.Content, error) {
	if len(all) == 0 {
		return c, nil
	}
	more, err := json.Marshal(all)
	if err != nil {
		return c, fmt.Errorf("a piece of content: %w", err)
	}
	c.More = more
	return c, nil
}

// WriteContent writes one piece of a result for a client.
func WriteContent(c toolcrib.Content) (json.RawMessage, error) {
	out, err := members(c.More)
	if err != nil {
		return nil, err
	}
	set := func(key string, value any) {
		var text []byte
		if text, err = json.Marshal(value); err == nil {
			out[key] = text
		}
	}
	switch c.Type {
	case "text", "":
		set("type", "text")
		set("text", c.Text)
	case "image", "audio":
		set("type", c.Type)
		set("data", bytesOf(c))
		set("mimeType", c.MIME)
	case "link":
		if out["type"] != nil {
			break // of a kind of theirs
		}
		set("type", "resource_link")
		set("uri", c.URI)
		set("name", c.Name)
		if c.MIME != "" {
			set("mimeType", c.MIME)
		}
	case "resource":
		inner := c
		inner.More = out["resource"]
		var text json.RawMessage
		if text, err = WriteResource(inner); err != nil {
			return nil, err
		}
		set("type", "resource")
		out["resource"] = text
	default:
		set("type", c.Type)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// WriteResource writes the contents of a resource.
func WriteResource(c toolcrib.Content) (json.RawMessage, error) {
	out, err := members(c.More)
	if err != nil {
		return nil, err
	}
	set := func(key string, value any) {
		var text []byte
		if text, err = json.Marshal(value); err == nil {
			out[key] = text
		}
	}
	set("uri", c.URI)
	if c.MIME != "" {
		set("mimeType", c.MIME)
	}
	if c.Data != nil {
		set("blob", c.Data)
	} else {
		set("text", c.Text)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// bytesOf keeps no bytes from being written as null.
func bytesOf(c toolcrib.Content) []byte {
	if c.Data == nil {
		return []byte{}
	}
	return c.Data
}

func members(more json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if more == nil {
		return out, nil
	}
	if err := json.Unmarshal(more, &out); err != nil {
		return nil, fmt.Errorf("what came with a piece of content: %w", err)
	}
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	return out, nil
}
