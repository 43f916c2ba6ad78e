package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// typedShop is a crib with tools of every kind of supplier: Toolcrib's own, MCP servers
// with plain and odd names, and hosts on the bus, one of which calls itself like a server.
func typedShop(t *testing.T) (a *App, layers *settings.Layers) {
	t.Helper()
	serve := func(tools ...string) settings.MCPServer {
		s := mcp.NewServer(&mcp.Implementation{Name: "shop"}, nil)
		for _, name := range tools {
			mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
		}
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(web.Close)
		return settings.MCPServer{URL: web.URL}
	}
	url := plainBus(t)
	parrot(t, url)
	type nothing struct{}
	work := toolcrib.Define(toolcrib.Spec{Name: "work", Description: "Works.", Effects: toolcrib.Pure}, func(_ context.Context, _ *toolcrib.Env, in nothing) (nothing, error) { return in, nil })
	serveBox(t, url, toolcrib.NewBox("shop", work))
	cfg := settings.Defaults()
	cfg.Hub.Wait = time.Minute
	cfg.Bus.URL = url
	cfg.Toolboxes.OvosBox.Enabled, cfg.Toolboxes.OvosBox.Window = true, time.Second
	loose := serve("sing", "write_file")
	loose.Names = "bare"
	cfg.MCPServers = map[string]settings.MCPServer{"shop": serve("work", "deep__work", strings.Repeat("long_", 12)+"x"), "loose": loose}
	layers = &settings.Layers{User: cfg}
	return openBusApp(t, cfg, Needs{Layers: layers}), layers
}

// foreign are the tools that come from elsewhere.
func foreign(a *App) []toolcrib.Entry {
	return slices.DeleteFunc(slices.Clone(a.Specs()), func(e toolcrib.Entry) bool { return !slices.Contains([]string{"shop", "loose", "ovosbox"}, e.Box) })
}

func TestTypedNames(t *testing.T) {
	a, layers := typedShop(t)
	t.Run("shown ones can be typed", func(t *testing.T) { shownCanBeTyped(t, a, layers) })
	t.Run("others are told", func(t *testing.T) { othersAreTold(t, a, layers) })
}

// shownCanBeTyped: the name by which people are shown a tool works in every place that
// takes a name, and means this tool alone.
func shownCanBeTyped(t *testing.T, a *App, layers *settings.Layers) {
	t.Helper()
	caller := toolcrib.Caller{Subject: "ann"}
	want := []string{"shop__work", "shop/deep__work", "loose/sing", "loose__write_file", "ovosbox/parrot__echo", "ovosbox/shop__work"}
	var shown []string
	for _, spec := range foreign(a) {
		shown = append(shown, a.TypedName(spec))
	}
	for _, name := range want {
		if !slices.Contains(shown, name) {
			t.Errorf("no tool is shown as %s: %q", name, shown)
		}
	}
	same := func(x, y *toolcrib.Entry) bool { return x.Box == y.Box && x.Native == y.Native }
	for _, spec := range a.Specs() {
		typed := a.TypedName(spec)
		if _, exists := a.Crib.Tool(caller, spec.Name); !exists { // for agents only
			continue
		}
		if found, err := a.ToolNamed(caller, typed); err != nil || !same(&found, &spec) {
			t.Errorf("tools %s: %s/%s, %v", typed, found.Box, found.Native, err)
		}
		s, err := policy.ParseSelector(typed)
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		included := policy.InclusionOf("", s, a.own)
		for _, other := range a.Specs() {
			if means := included.Means(&other); means != same(&other, &spec) && other.Native != "start_command" {
				t.Errorf("a profile that includes %s has %s/%s: %v", typed, other.Box, other.Native, means)
			}
		}
	}
	for _, spec := range foreign(a) {
		typed := a.TypedName(spec)
		for _, d := range []toolcrib.Decision{toolcrib.Allow, toolcrib.Ask, toolcrib.Deny} {
			back, err := a.Trying(layers, "", d, typed)
			if err != nil {
				t.Fatalf("%v %s: %v", d, typed, err)
			}
			for _, other := range foreign(a) {
				j, err := a.Crib.Judge(t.Context(), toolcrib.Call{Tool: other.Name, Input: json.RawMessage(`{"text":"x"}`), Caller: caller})
				if err != nil && toolcrib.CodeOf(err) != toolcrib.CodeDenied {
					j, err = a.Crib.Judge(t.Context(), toolcrib.Call{Tool: other.Name, Input: json.RawMessage(`{}`), Caller: caller})
				}
				wanted := toolcrib.Ask // nobody said what they do
				if same(&other, &spec) || d == toolcrib.Deny && other.Called(typed) {
					wanted = d
				}
				if j.Decision != wanted {
					t.Errorf("%v %s: %s/%s is %v, want %v (%v)", d, typed, other.Box, other.Native, j.Decision, wanted, err)
				}
			}
			back()
		}
	}
}

// othersAreTold: an allow by a name that a supplier chose gives nothing, and it is told
// by which name the very tool can be allowed.
func othersAreTold(t *testing.T, a *App, layers *settings.Layers) {
	t.Helper()
	type use struct{ name, typed string }
	var uses []use
	for _, spec := range foreign(a) {
		for _, name := range append(spec.Names(), "mcp__toolcrib__"+spec.Name) {
			uses = append(uses, use{name, a.TypedName(spec)})
		}
	}
	try := &trying{App: a, layers: layers}
	silent := 0
	for chunk := range slices.Chunk(uses, 15) {
		var rules []string
		for _, u := range chunk {
			rules = append(rules, u.name)
		}
		if err := try.Try(rules); err != nil {
			t.Fatal(err)
		}
		told := map[string]string{}
		for _, u := range a.Unmatched(t.Context(), nil) {
			told[u.Text] = u.Why
		}
		for _, m := range a.policy.live.Policy().Rules.Mentions() {
			at := slices.IndexFunc(chunk, func(u use) bool { return u.name == m.Text })
			if at < 0 || m.Gives() == "" {
				continue
			}
			var means []string
			for _, spec := range a.Specs() {
				if m.Means(&spec) {
					means = append(means, a.TypedName(spec))
				}
			}
			switch why := told[m.Text]; {
			case len(means) > 1:
				t.Errorf("allow %s means %q", m.Text, means)
			case len(means) == 1 && why != "":
				t.Errorf("allow %s means %s, and it is told: %s", m.Text, means[0], why)
			case len(means) == 0 && !strings.Contains(why, chunk[at].typed) && !strings.Contains(why, "write "):
				t.Errorf("allow %s means nothing, and %s is not proposed: %q", m.Text, chunk[at].typed, why)
			case len(means) == 0:
				silent++
			}
		}
	}
	if silent < 5 {
		t.Errorf("only %d names allow nothing: the test tries nothing", silent)
	}

	// What is proposed for a slip is a name that works, and never another host's tool.
	for rule, want := range map[string]string{
		"parrot__ech": "ovosbox/parrot__echo", "parot__echo": "", "parrots__echo": "", "shop__wrk": "shop__work", "sop__work": "shop__work",
	} {
		if err := try.Try([]string{rule}); err != nil {
			t.Fatal(err)
		}
		why, _ := a.RuleProblem(t.Context(), rule)
		if _, near, _ := strings.Cut(why, "Did you mean "); strings.TrimSuffix(near, "?") != want || why == "" {
			t.Errorf("allow %s: %s", rule, why)
		}
	}
	if err := try.try(toolcrib.Deny, []string{"parot__echo"}); err != nil { // here a wrong guess gives nothing
		t.Fatal(err)
	}
	if why, _ := a.RuleProblem(t.Context(), "parot__echo"); !strings.Contains(why, "parrot__echo") {
		t.Errorf("deny parot__echo: %s", why)
	}
}
