package mcphub

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// What a server offers besides tools is read by tools too, so that reading is
// judged and recorded. Frontends that have words of their own for resources and
// prompts do not list them: see [IsShelf].
const (
	// ShelfGroup is the group of such tools of other boxes.
	ShelfGroup    = "mcp-shelf"
	ReadTool      = "mcp_read_resource"
	PromptTool    = "mcp_get_prompt"
	CompleteTool  = "mcp_complete"
	SubscribeTool = "mcp_subscribe"
)

// IsShelf reports whether a tool reads what is offered besides tools. Those of
// servers are in the group of all their tools, so that whoever is kept from that
// is kept from them.
func IsShelf(in, native string) bool {
	return in == ShelfGroup || in == group && ownName(native)
}

// ownName reports whether a name is that of a tool which is added to a server.
func ownName(name string) bool {
	switch name {
	case ReadTool, PromptTool, CompleteTool, SubscribeTool:
		return true
	}
	return false
}

// shelfTools are the tools that read what a server offers besides tools.
func (b *Box) shelfTools(m *manifest) []toolcrib.Tool {
	var tools []toolcrib.Tool
	add := func(name, description, input string, run func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)) {
		tools = append(tools, toolcrib.Tool{Spec: toolcrib.Spec{
			Name: name, Description: description, Input: json.RawMessage(input), Effects: b.effects(name), Group: group, Timeout: longest,
		}, Run: run})
	}
	if m.has("resources") {
		add(ReadTool, "Read a resource of this MCP server.", `{"type":"object","properties":{"uri":{"type":"string","description":"Its address."},"as":{"type":"string","description":"The address that it is shown by, if it is another."}},"required":["uri"],"additionalProperties":false}`,
			func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
				uri, as := textMember(input, "uri"), textMember(input, "as")
				if isPage(uri, "") {
					return nil, errPage()
				}
				params, err := json.Marshal(map[string]string{"uri": uri})
				if err != nil {
					return nil, err
				}
				text, err := b.sendRequest(ctx, env, serverRequest{method: mcp.MethodResourcesRead, params: params})
				if err != nil {
					return nil, err
				}
				out, err := readResources(text)
				if err != nil || as == "" {
					return out, err
				}
				for i := range out.Content {
					if out.Content[i].URI == uri {
						out.Content[i].URI = as
					}
				}
				return out, nil
			})
		add(SubscribeTool, "Be told when a resource of this MCP server changes, or no longer.", `{"type":"object","properties":{"uri":{"type":"string"},"on":{"type":"boolean","default":true}},"required":["uri"],"additionalProperties":false}`, b.subscribe)
	}
	if m.has("prompts") {
		add(PromptTool, "Get a prompt of this MCP server.", `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"required":["name"],"additionalProperties":false}`, b.valueOf(mcp.MethodPromptsGet))
	}
	if m.has("completions") {
		add(CompleteTool, "Complete an argument of a prompt or of a resource's address.", `{"type":"object","properties":{"ref":{"type":"object"},"argument":{"type":"object"},"context":{"type":"object"}},"required":["ref","argument"],"additionalProperties":false}`, b.valueOf(mcp.MethodComplete))
	}
	return tools
}

// valueOf sends a request whose result is handed on whole.
func (b *Box) valueOf(method string) func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
	return func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		text, err := b.sendRequest(ctx, env, serverRequest{method: method, params: input})
		if err != nil {
			return nil, err
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, badAnswer(err)
		}
		value, err := rest(all)
		if err != nil {
			return nil, badAnswer(err)
		}
		if value == nil {
			value = json.RawMessage(`{}`)
		}
		return &toolcrib.Result{Value: value}, nil
	}
}

func readResources(text json.RawMessage) (*toolcrib.Result, error) {
	var all map[string]json.RawMessage
	var r struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, badAnswer(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, badAnswer(err)
	}
	out := &toolcrib.Result{}
	for _, piece := range r.Contents {
		c, err := mcp.ReadResource(piece)
		if err != nil {
			return nil, badAnswer(err)
		}
		if isPage(c.URI, c.MIME) {
			return nil, errPage()
		}
		c.More = withoutMarks(c.More)
		out.Content = append(out.Content, c)
	}
	more, err := rest(all, "contents")
	if err != nil {
		return nil, badAnswer(err)
	}
	out.More = more
	return out, nil
}

// Listing is what a server offers besides tools, as it defined it and fit to be
// read.
type Listing struct{ Prompts, Resources, Templates []json.RawMessage }

// Listing gives what is known to be there for everybody; nothing is started. What
// the server of one person lists is in ListingFor.
func (b *Box) Listing() Listing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listing.clone()
}

func (l Listing) clone() Listing {
	return Listing{slices.Clone(l.Prompts), slices.Clone(l.Resources), slices.Clone(l.Templates)}
}

func (l Listing) same(o Listing) bool {
	return sameTexts(l.Prompts, o.Prompts) && sameTexts(l.Resources, o.Resources) && sameTexts(l.Templates, o.Templates)
}

// Definition is the definition of an approved tool as the server gave it, without
// marks of ours, by the name that it has in the box.
func (b *Box) Definition(tool string) json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return visibleIn(b.ownTitles(withoutMarks(b.names[tool].raw)))
}

// Reads reports how surely a server that lists this has a resource: 2 if it is
// listed, 1 if one of the templates fits, else 0.
func (l Listing) Reads(uri string) int {
	for _, text := range l.Resources {
		if uri != "" && textMember(text, "uri") == uri {
			return 2
		}
	}
	for _, text := range l.Templates {
		if fits(textMember(text, "uriTemplate"), uri) {
			return 1
		}
	}
	return 0
}

// fits reports whether an address can come of a template. It is a rough look:
// the server itself decides. One without a scheme of its own would fit the
// addresses of every other server.
func fits(template, uri string) bool {
	if own, _, _ := strings.Cut(template, "{"); !strings.Contains(own, ":") {
		return false
	}
	if len(template) > 2048 || len(uri) > 8192 {
		return false
	}
	var b strings.Builder
	b.WriteByte('^')
	for rest := template; ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(regexp.QuoteMeta(before))
		if !found {
			break
		}
		if _, rest, found = strings.Cut(after, "}"); !found {
			return false
		}
		b.WriteString(`.*`)
	}
	b.WriteByte('$')
	re, err := regexp.Compile(b.String())
	return err == nil && re.MatchString(uri)
}
