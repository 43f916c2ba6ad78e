package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// inside uses the hub by a crib that allows everything.
type inside struct {
	hub  *mcphub.Hub
	box  *mcphub.Box
	crib *toolcrib.Crib
}

// enterHub opens a hub whose only server is at this address.
func enterHub(ctx context.Context, url, scenario string, g given) (door, error) {
	server := mcphub.Server{URL: url, Sampling: mcphub.ConsentPass, OAuth: mcphub.OAuth{ClientID: g.ClientID, ClientSecret: g.ClientSecret + g.PrivateKey}}
	if server.OAuth.ClientID == "" {
		server.OAuth.ClientID = "https://conformance-test.local/client-metadata.json" // the document that the suite expects
	}
	server.OAuth.ClientCredentials = strings.Contains(scenario, "client-credentials")
	hub, err := mcphub.Open(ctx, map[string]mcphub.Server{"suite": server}, mcphub.Needs{
		HTTP:    func(string, string) *http.Client { return &http.Client{} },
		Login:   mcphub.Login{Tokens: &tokens{}, HTTP: func(string, string) *http.Client { return &http.Client{} }, Page: visit, Serve: serveLoopback},
		Version: "1", Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return nil, err
	}
	i := &inside{hub: hub, crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{}}}
	box, ok := hub.Box("suite")
	if !ok {
		return nil, errors.Join(errors.New("the hub has no box"), i.close())
	}
	i.box = box
	if err := box.Refresh(ctx); err != nil {
		return nil, errors.Join(err, i.close())
	}
	_, faults := i.crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}})
	for _, f := range append(faults, box.Faults()...) {
		fmt.Fprintln(os.Stderr, "driver:", f)
	}
	return i, nil
}

func (i *inside) close() error { return i.hub.Close() }

func (i *inside) tools(context.Context) ([]listed, error) {
	var out []listed
	for s := range i.crib.Tools(toolcrib.Caller{}) {
		if !mcphub.IsShelf(s.Group, s.Native) {
			out = append(out, listed{s.Name, s.Input})
		}
	}
	return out, nil
}

func (i *inside) call(ctx context.Context, name string, arguments any) error {
	input, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	_, err = i.crib.Call(mcp.WithPeer(ctx, person{}), toolcrib.Call{Tool: name, Input: input, Caller: toolcrib.Caller{Subject: "driver", Frontend: "test"}})
	return err
}

func (i *inside) everyKind(ctx context.Context) error {
	l := i.box.Listing()
	if len(l.Resources) == 0 || len(l.Prompts) == 0 {
		return errors.New("no resources, or no prompts")
	}
	var r struct {
		URI string `json:"uri"`
	}
	var p struct {
		Name string `json:"name"`
	}
	if err := errors.Join(json.Unmarshal(l.Resources[0], &r), json.Unmarshal(l.Prompts[0], &p)); err != nil {
		return err
	}
	return errors.Join(i.call(ctx, mcphub.ReadTool, map[string]string{"uri": r.URI}), i.call(ctx, mcphub.PromptTool, map[string]string{"name": p.Name}))
}

// person is a client of the legacy era whose person says yes to what a form
// proposes.
type person struct{}

func (person) Version() string               { return "2025-11-25" }
func (person) Capabilities() json.RawMessage { return json.RawMessage(`{"elicitation":{"form":{}}}`) }
func (person) Log(json.RawMessage)           {}
func (person) LogLevel() string              { return "" }

func (person) Ask(_ context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for key, r := range requests {
		var form struct {
			Schema struct {
				Properties map[string]struct {
					Default json.RawMessage `json:"default"`
				} `json:"properties"`
			} `json:"requestedSchema"`
		}
		if err := json.Unmarshal(r.Params, &form); err != nil || r.Method != mcp.MethodElicit {
			return nil, fmt.Errorf("%s is not expected: %w", r.Method, err)
		}
		content := map[string]json.RawMessage{}
		for name, p := range form.Schema.Properties {
			switch {
			case p.Default != nil:
				content[name] = p.Default
			case name == "confirmed":
				content[name] = json.RawMessage("true")
			}
		}
		text, err := json.Marshal(map[string]any{"action": "accept", "content": content})
		if err != nil {
			return nil, err
		}
		out[key] = text
	}
	return out, nil
}
