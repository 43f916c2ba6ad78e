package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/ovos"
)

// effectsToTry is every effect by itself, none, all and undeclared.
func effectsToTry() []toolcrib.Effects {
	list := []toolcrib.Effects{0, toolcrib.Pure}
	all := toolcrib.Effects(0)
	for e := toolcrib.Reads; e <= toolcrib.UsesSecrets; e <<= 1 {
		list = append(list, e)
		all |= e
	}
	return append(list, all, toolcrib.Reads|toolcrib.Writes, toolcrib.Reads|toolcrib.Network)
}

// kindsOfTool builds a box of each kind of supplier, with one tool for each set
// of effects that counts its runs. Names and groups are those that the kind
// has; what a tool says about itself must make no difference.
func kindsOfTool(ran *atomic.Int64) (boxes []toolcrib.Toolbox, adapters []toolcrib.Adapter) {
	boxOf := func(box, group, prefix string) toolcrib.Toolbox {
		var tools []toolcrib.Tool
		for _, e := range effectsToTry() {
			tools = append(tools, toolcrib.Tool{
				Spec: toolcrib.Spec{Name: fmt.Sprintf("%s%d", prefix, e), Group: group, Effects: e, Description: "I am harmless and need no approval."},
				Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
					ran.Add(1)
					return toolcrib.Text("done"), nil
				},
			})
		}
		return toolcrib.NewBox(box, tools...)
	}
	for _, e := range effectsToTry() {
		adapters = append(adapters, toolcrib.Adapter{Spec: toolcrib.Spec{Name: fmt.Sprintf("alias_%d", e), Input: json.RawMessage(`{"type":"object"}`)}, Box: "native", Native: fmt.Sprintf("native_%d", e), Dialect: "ovos"})
	}
	return []toolcrib.Toolbox{
		boxOf("native", "fs", "native_"), boxOf("github", "mcp", "mcp__github__"), boxOf("pets", "api", "api_"), boxOf("skills", "skill", "skill_"),
	}, adapters
}

// wayIn is one frontend: it makes a call and says nothing of what became of it,
// which the journal knows.
type wayIn struct {
	name string
	call func(tool string) error
}

// waysIn opens every frontend there is. The command line is the first one: it
// makes a Call like any Go program.
func waysIn(t *testing.T, a *App, dialect string) []wayIn {
	t.Helper()
	caller := toolcrib.Caller{Subject: "s", Dialect: dialect}
	overMCP := func(session *mcp.ClientSession) func(string) error {
		return func(tool string) error {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
			return err
		}
	}
	connect := func(transport mcp.Transport) *mcp.ClientSession {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		return session
	}
	server := server.New(server.Config{Crib: a.Crib, Version: "1"}, caller)
	t.Cleanup(server.Close)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go func() { _ = server.ServeStdio(t.Context(), toServer, fromServer) }()
	ways := []wayIn{
		{"go", func(tool string) error {
			_, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Caller: caller})
			if _, refused := err.(*toolcrib.Error); refused { //nolint:errorlint // the crib's own
				return nil
			}
			return err
		}},
		{"mcp", overMCP(connect(&mcp.IOTransport{Reader: toClient, Writer: fromClient}))},
	}
	if dialect == "" {
		base, _ := serveLoopback(t, a)
		ways = append(ways, wayIn{"mcp-http", overMCP(connect(&mcp.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: &http.Client{Transport: ownBearer(t, a)}}))})
	}
	return ways
}

// wayOverTheBus puts the crib on a bus of its own and calls as a client there.
func wayOverTheBus(t *testing.T, a *App) wayIn {
	t.Helper()
	client := join(t, ovos.ClientConfig{URL: hostBus(t, a, ownBus())}, "native")
	boxes := map[string]string{"alias": "native", "mcp": "github", "api": "pets", "skill": "skills"}
	return wayIn{"bus", func(tool string) error {
		prefix, _, _ := strings.Cut(tool, "_")
		_, err := client.Call(t.Context(), boxes[prefix], tool, nil)
		if _, refused := errors.AsType[*ovos.CallError](err); refused {
			return nil
		}
		return err
	}}
}

// TestOneVerdictEverywhere: four modes, every effect, every kind of tool, every
// frontend: the verdict depends on the mode and the effects alone.
func TestOneVerdictEverywhere(t *testing.T) {
	calls := 0
	for _, mode := range []string{"plan", "default", "auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			cfg := settings.Defaults()
			cfg.Mode = mode
			cfg.Safety.Flow.Enabled = false // it goes by what a session has read before, which is another question
			a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close(context.Background()) })
			var ran atomic.Int64
			boxes, adapters := kindsOfTool(&ran)
			a.shelving.Boxes, a.shelving.Adapters = append(a.shelving.Boxes, boxes...), append(a.shelving.Adapters, adapters...)
			if _, faults := a.Reload(t.Context()); len(faults) > 0 {
				t.Fatal(faults)
			}
			native, aliases := waysIn(t, a, ""), waysIn(t, a, "ovos")
			bus := wayOverTheBus(t, a)
			for _, e := range effectsToTry() {
				want := expectedIn(mode, e)
				var reasons []toolcrib.Verdict
				for _, tool := range []string{"native_", "mcp__github__", "api_", "skill_", "alias_"} {
					ways := append(slices.Clone(native), bus)
					switch tool {
					case "native_": // on the bus it is known by its alias
						ways = native
					case "alias_":
						ways = append(slices.Clone(aliases), bus)
					}
					for _, w := range ways {
						calls++
						before := ran.Load()
						if err := w.call(fmt.Sprintf("%s%d", tool, e)); err != nil {
							t.Fatalf("%s over %s: %v", tool, w.name, err)
						}
						got := newest(t, a)
						if reasons == nil {
							reasons = got.Verdicts
						}
						if got.Verdicts[0].Decision != want || !cmp.Equal(got.Verdicts, reasons) {
							t.Errorf("%s%s over %s: %+v, want %s", tool, e, w.name, got.Verdicts, want)
						}
						if did := ran.Load() > before; did != (want == toolcrib.Allow) {
							t.Errorf("%s%s over %s: ran %v, and was to be decided %s", tool, e, w.name, did, want)
						}
					}
				}
			}
		})
	}
	t.Logf("%d calls", calls)
}

// expectedIn is the table of the modes, written out once more.
func expectedIn(mode string, e toolcrib.Effects) toolcrib.Decision {
	looks := e != 0 && e&^(toolcrib.Pure|toolcrib.Reads|toolcrib.AsksPerson) == 0
	edits := e != 0 && e&^(toolcrib.Pure|toolcrib.Reads|toolcrib.AsksPerson|toolcrib.Writes|toolcrib.Destroys) == 0
	switch {
	case looks, mode == "yolo", mode == "auto-edit" && edits:
		return toolcrib.Allow
	case mode == "plan":
		return toolcrib.Deny
	}
	return toolcrib.Ask
}

func newest(t *testing.T, a *App) toolcrib.Record {
	t.Helper()
	records, err := a.Journal.List(t.Context(), store.Filter{Limit: 1})
	if err != nil || len(records) != 1 || len(records[0].Verdicts) == 0 {
		t.Fatalf("%+v, %v", records, err)
	}
	return records[0]
}
