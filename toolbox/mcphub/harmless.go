package mcphub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/begging"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// The crib vets the results of tools. What else a server says goes through here:
// its log and progress, the names and descriptions of its prompts and resources,
// and what it asks the person and the model of a client.

// harmless makes a value safe to read and takes values of the vault out of it.
// False: it cannot be, and is not to be passed on.
func (b *Box) harmless(value json.RawMessage) (json.RawMessage, bool) {
	return b.neutral(b.hide(value))
}

// neutral is harmless for what was looked through for values of the vault
// already.
func (b *Box) neutral(value json.RawMessage) (json.RawMessage, bool) {
	if b.hub.needs.Harmless == nil || len(value) == 0 {
		return value, true
	}
	out, err := b.hub.needs.Harmless(value)
	if err != nil {
		b.hub.needs.Log.Debug("what an MCP server says cannot be passed on", "server", b.name, "err", err)
	}
	return out, err == nil
}

// harmlessLine is neutral for a text.
func (b *Box) harmlessLine(line string) string {
	text, err := json.Marshal(line)
	if err != nil {
		return ""
	}
	safe, ok := b.neutral(text)
	var out string
	if !ok || json.Unmarshal(safe, &out) != nil {
		return ""
	}
	return out
}

// signed is a log message that says which server wrote it: to the client there is
// one only.
func (b *Box) signed(params json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil || all == nil {
		return params
	}
	name := b.name
	if own := textMember(params, "logger"); own != "" && own != name {
		name += "/" + own
	}
	logger, err := json.Marshal(name)
	if err != nil {
		return params
	}
	all["logger"] = logger
	text, err := json.Marshal(all)
	if err != nil {
		return params
	}
	return text
}

// harmlessRequest is a request of the server as the client gets it: harmless, and with a
// word about whose it is, since to the client there is one server only, and that
// also asks for approvals.
func (b *Box) harmlessRequest(method string, params json.RawMessage) (json.RawMessage, error) {
	safe, ok := b.harmless(params)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "what %s asks for has names that become the same when characters that cannot be seen are written out", method)
	}
	switch method {
	case mcp.MethodElicit:
		return b.toldForm(params, safe)
	case mcp.MethodSample:
		return b.toldSample(safe)
	}
	return safe, nil
}

// toldForm is a question to a person.
func (b *Box) toldForm(given, safe json.RawMessage) (json.RawMessage, error) {
	var was, now map[string]json.RawMessage
	if json.Unmarshal(given, &was) != nil || json.Unmarshal(safe, &now) != nil || now == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the params of %s are no object", mcp.MethodElicit)
	}
	// Answers come back by these words.
	for _, key := range []string{"requestedSchema", "url", "elicitationId"} {
		if !slices.Equal(fixed(key, was[key]), fixed(key, now[key])) {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the %s has characters that cannot be seen or that belong to no name, or a value of the vault", key)
		}
	}
	if field := secretField(now["requestedSchema"]); field != "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the field %q asks for a secret, which the protocol forbids in a form; open a page of your own for it (mode url)", field)
	}
	text := strings.TrimSpace(textMember(safe, "message"))
	text = fmt.Sprintf("The MCP server %s asks%s: %s", b.name, begging.Warning(text, string(now["requestedSchema"])), strings.ReplaceAll(text, "\n", "\n  "))
	form := map[string]json.RawMessage{}
	for _, key := range []string{"mode", "requestedSchema", "url", "elicitationId"} { // anything else would be taken for a word of ours
		if value, ok := now[key]; ok {
			form[key] = value
		}
	}
	var err error
	if form["message"], err = json.Marshal(text); err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

// toldSample is a question to a model.
func (b *Box) toldSample(safe json.RawMessage) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(safe, &all) != nil || all == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the params of %s are no object", mcp.MethodSample)
	}
	// To the client "this server" is Toolcrib: it would add what other servers said.
	delete(all, "includeContext")
	text := fmt.Sprintf("The MCP server %s asks for this answer, not the person you work for.", b.name)
	if own := textMember(safe, "systemPrompt"); own != "" {
		text += "\n" + own
	}
	var err error
	if all["systemPrompt"], err = json.Marshal(text); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// fixed are the words of a value that an answer repeats: of a schema the names of
// its members and what can be chosen, else all of it.
func fixed(key string, value json.RawMessage) []string {
	if key != "requestedSchema" {
		return []string{string(value)}
	}
	var v any
	if len(value) == 0 || json.Unmarshal(value, &v) != nil {
		return nil
	}
	var words []string
	var walk func(v any, choice bool)
	walk = func(v any, choice bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				words = append(words, name)
				walk(member, name == "enum" || name == "const")
			}
		case []any:
			for _, item := range v {
				walk(item, choice)
			}
		case string:
			if choice {
				words = append(words, v)
			}
		}
	}
	walk(v, false)
	slices.Sort(words)
	return words
}

// listingOf is what a server offers besides tools, fit to be read. Its
// definitions are asked for by name: one whose name had to be changed is left
// out, as a tool with letters that cannot be seen is kept back.
func (b *Box) listingOf(m *manifest) (out Listing, unlisted []Warning) {
	for _, l := range m.LeftOut {
		if l.Kind != kindTool {
			unlisted = append(unlisted, Warning{b.name, l.Name, "this " + l.Kind + " is left out: " + holdsValue})
		}
	}
	sift := func(kind, key string, list []json.RawMessage) []json.RawMessage {
		var good []json.RawMessage
		for _, text := range list {
			safe, ok := b.neutral(text)
			if !ok || textMember(text, key) != textMember(safe, key) || !slices.Equal(argumentNames(text), argumentNames(safe)) {
				name, _ := json.Marshal(textMember(safe, key))
				unlisted = append(unlisted, Warning{b.name, strings.Trim(string(name), `"`), "this " + kind + " is left out: its name, or that of an argument, has characters that cannot be seen or that belong to no name"})
				continue
			}
			if kind != "prompt" && isPage(textMember(safe, key), textMember(safe, "mimeType")) {
				unlisted = append(unlisted, Warning{b.name, textMember(safe, key), "this " + kind + " is left out: it is a page, which a client would take for one of Toolcrib's"})
				continue
			}
			good = append(good, b.ownTitles(withoutMarks(safe)))
		}
		return good
	}
	out.Prompts = sift("prompt", "name", m.Prompts)
	out.Resources = sift("resource", "uri", m.Resources)
	out.Templates = sift("resource template", "uriTemplate", m.Templates)
	return out, unlisted
}

// argumentNames are those that a prompt takes.
func argumentNames(prompt json.RawMessage) []string {
	var p struct {
		Arguments []struct {
			Name string `json:"name"`
		} `json:"arguments"`
	}
	if json.Unmarshal(prompt, &p) != nil {
		return nil
	}
	names := make([]string, 0, len(p.Arguments))
	for _, a := range p.Arguments {
		names = append(names, a.Name)
	}
	return names
}
