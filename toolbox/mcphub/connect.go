package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// connect starts the server's program, or goes to its address.
func (b *Box) connect(ctx context.Context, i *instance, young *startingPrograms) (*client.Session, error) {
	transport, err := b.transport(ctx, i, young)
	if err != nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the MCP server " + b.name + " cannot be set up: " + err.Error(), Err: err}
	}
	s, err := client.Connect(ctx, client.Config{
		Transport:    transport,
		Info:         json.RawMessage(fmt.Sprintf(`{"name":"toolcrib","title":"Toolcrib","version":%q}`, b.hub.needs.Version)),
		Capabilities: b.abilities(),
		Version:      b.knownVersion(),
		Handshake:    b.server.Starting,
		Most:         b.hub.needs.Most,
		Changed:      func(method string, params json.RawMessage) { b.changed(i.key, method, params) },
		Log:          b.hub.needs.Log,
	})
	if said, ok := errors.AsType[*mcp.Error](err); ok && b.server.Own {
		return nil, said // where and what, in words that are enough for whoever wrote it
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to the MCP server %s: %w", b.name, err)
	}
	return s, nil
}

// abilities is what a server of the legacy era is told that it can ask for.
// Whether one call can be asked is seen when it asks.
func (b *Box) abilities() json.RawMessage {
	all := map[string]json.RawMessage{"roots": json.RawMessage(`{}`)}
	if b.server.Elicitation != ConsentDeny {
		all["elicitation"] = json.RawMessage(`{"form":{},"url":{}}`)
	}
	if b.server.Sampling != ConsentDeny {
		all["sampling"] = json.RawMessage(`{"tools":{}}`)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

// transport puts the secrets in and says how the server is reached.
func (b *Box) transport(ctx context.Context, i *instance, young *startingPrograms) (client.Transport, error) {
	expand := b.hub.expander()
	s := b.server
	if s.URL != "" {
		url, err := expand(ctx, s.URL)
		if err != nil {
			return nil, fmt.Errorf("its url: %w", err)
		}
		h := client.HTTP{URL: url, Client: b.hub.needs.HTTP(b.name, url), SSE: s.Transport == "sse", Header: func(ctx context.Context) (http.Header, error) {
			return b.headers(ctx, expand)
		}}
		if h.Auth, err = b.authorizer(ctx, url, expand); err != nil {
			return nil, err
		}
		return h, nil
	}
	l := Launch{Server: b.name, Command: s.Command, Dir: s.Dir, Sandbox: s.Sandbox, Image: s.Image, Network: s.Network, Grant: s.Grant, Tools: s.Tools, Stderr: i.stderr, Person: i.person(), Env: map[string]string{}}
	word := i.personWord()
	l.Dir = withPerson(l.Dir, word)
	for what, text := range map[string]*string{"its command": &l.Command, "its directory": &l.Dir} {
		var err error
		if *text, err = expand(ctx, *text); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	for _, arg := range s.Args {
		text, err := expand(ctx, withPerson(arg, word))
		if err != nil {
			return nil, fmt.Errorf("its arguments: %w", err)
		}
		l.Args = append(l.Args, text)
	}
	for name, value := range s.Env {
		text, err := expand(ctx, withPerson(value, word))
		if err != nil {
			return nil, fmt.Errorf("its variable %s: %w", name, err)
		}
		l.Env[name] = text
	}
	return client.Stdio{Start: func(ctx context.Context) (client.Process, error) {
		i.stderr.begin() // one that ends at the first question is started twice
		p, err := b.hub.needs.Start(ctx, l)
		if err == nil {
			young.add(p.Kill)
		}
		return p, err
	}}, nil
}

// startingPrograms has the programs of a server that is not up yet. They are killed when
// its context ends, unless they are grown by then.
type startingPrograms struct {
	ctx  context.Context
	mu   sync.Mutex
	keep []func() bool
}

func (n *startingPrograms) add(kill func()) {
	if kill == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keep = append(n.keep, context.AfterFunc(n.ctx, kill))
}

func (n *startingPrograms) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, keep := range n.keep {
		keep() // false: it was too late, and its end will be noticed
	}
}

func (b *Box) headers(ctx context.Context, expand func(context.Context, string) (string, error)) (http.Header, error) {
	out := http.Header{}
	for name, value := range b.server.Headers {
		text, err := expand(ctx, value)
		if err != nil {
			return nil, fmt.Errorf("the header %s of the MCP server %s: %w", name, b.name, err)
		}
		out.Set(name, text)
	}
	return out, nil
}

// changed hears what the server of key notifies of beside any call.
func (b *Box) changed(key, method string, params json.RawMessage) {
	switch method {
	case mcp.NotifyTools, mcp.NotifyPrompts, mcp.NotifyResources:
		b.relist(key)
	case mcp.NotifyResource, mcp.NotifyElicited:
		// It has addresses and names only: what would have to be changed means nothing.
		if safe, ok := b.harmless(params); ok && string(safe) == string(params) {
			b.tell(key, method, params)
		}
	default: // what belongs to a call nobody knows is nobody's to hear
		b.hub.needs.Log.Debug("a notification of an MCP server is dropped", "server", b.name, "method", method)
	}
}
