package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// shopDoc is a document with two operations at an address.
func shopDoc(address string) string {
	return `{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"servers":[{"url":"` + address + `"}],"paths":{"/items":{
"get":{"operationId":"listItems","summary":"List the items of the shop.","responses":{"200":{"description":"ok","content":{"application/json":{}}}}},
"post":{"operationId":"addItem","summary":"Add an item.","responses":{"200":{"description":"ok"}}}}}}`
}

// TestDocumentsAreBoxes: a document of the settings is a toolbox, whose tools are called by rules as
// all others, and shown or found as the settings say.
func TestDocumentsAreBoxes(t *testing.T) {
	asked := make(chan string, 10)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":["bolt"]}`)) // the result shows whether it came
	}))
	t.Cleanup(api.Close)
	cfg := settings.Defaults()
	cfg.Permissions.Allow = []string{"shop__listItems"}
	cfg.OpenAPI = map[string]settings.OpenAPI{
		"shop":  {Document: shopDoc(api.URL), Hosts: []string{"127.0.0.1"}},
		"aside": {Document: shopDoc("https://aside.example.com"), Expose: settings.ExposeSearch, Hosts: []string{"aside.example.com"}},
		"bare":  {Document: strings.ReplaceAll(shopDoc("https://bare.example.com"), "Item", "Thing"), Names: "bare"},
		"off":   {Document: shopDoc("https://off.example.com"), Disabled: true},
	}
	cfg.Expose = settings.ExposeFull
	a := openWith(t, cfg, t.TempDir())
	names := toolNames(a)
	for _, want := range []string{"shop/shop__listItems", "shop/shop__addItem", "aside/aside__listItems", "bare/listThings"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing: %q", want, names)
		}
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "off/") }) {
		t.Errorf("one that is switched off is there: %q", names)
	}
	if !slices.ContainsFunc(a.Faults, func(f toolcrib.LoadError) bool {
		return f.Box == "bare" && strings.Contains(f.Err.Error(), "openapi.bare.hosts")
	}) {
		t.Errorf("nobody is told of hosts that are missing: %v", a.Faults)
	}
	ann := toolcrib.Caller{Subject: "ann"}
	r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "shop__listItems", Caller: ann})
	if err != nil || !strings.Contains(string(r.Value), "bolt") || <-asked != "GET /items" {
		t.Errorf("%v, %v", r, err)
	}
	// What changes something is asked about.
	if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "shop__addItem", Caller: ann}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || len(asked) != 0 {
		t.Errorf("%v, %d requests", err, len(asked))
	}
	// Search only: it is found, and not in the list.
	short := a.Search()(ann)
	if short == nil {
		t.Fatal("everything is listed")
	}
	listed := func(box string) bool {
		return slices.ContainsFunc(short.Specs, func(e toolcrib.Entry) bool { return e.Box == box })
	}
	if listed("aside") || !listed("shop") || !listed("math") {
		t.Errorf("listed: %d tools", len(short.Specs))
	}
	if !slices.ContainsFunc(slices.Collect(a.Findable(ann)), func(e toolcrib.Entry) bool { return e.Name == "aside__listItems" }) {
		t.Error("it is not found")
	}
}

// TestDocumentsAndOthersNames: an MCP server and a document never share a name, and neither takes one
// of ours.
func TestDocumentsAndOthersNames(t *testing.T) {
	cfg := settings.Defaults()
	cfg.OpenAPI = map[string]settings.OpenAPI{"files": {Document: shopDoc("https://files.example.com")}, "both": {Document: shopDoc("https://both.example.com")}}
	cfg.MCPServers = map[string]settings.MCPServer{"both": {URL: "https://both.example.com/mcp"}}
	a := openWith(t, cfg, t.TempDir())
	for _, n := range toolNames(a) {
		if strings.Contains(n, "listItems") {
			t.Errorf("%s is there", n)
		}
	}
	for _, box := range []string{"files", "both"} {
		if !slices.ContainsFunc(a.Faults, func(f toolcrib.LoadError) bool { return f.Box == box }) {
			t.Errorf("nothing is said of %s: %v", box, a.Faults)
		}
	}
}

// TestDocumentsAreTakenUp: settings of documents hold for a program that runs, without a restart.
func TestDocumentsAreTakenUp(t *testing.T) {
	cfg := settings.Defaults()
	a := openWith(t, cfg, t.TempDir())
	a.Crib.Log = slog.New(slog.DiscardHandler)
	take := func(documents map[string]settings.OpenAPI) []string {
		t.Helper()
		next := cfg
		next.OpenAPI = documents
		a.take(t.Context(), Settings{Load: func(use func(settings.Config, *settings.Layers) error) error { return use(next, nil) }})
		return slices.DeleteFunc(toolNames(a), func(n string) bool { return !strings.Contains(n, "Item") })
	}
	shop := settings.OpenAPI{Document: shopDoc("https://shop.example.com"), Hosts: []string{"shop.example.com"}}
	for _, step := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"shop/shop__addItem", "shop/shop__listItems"}},
		{func() { shop.Methods = []string{"get"} }, []string{"shop/shop__listItems"}},
		{func() { shop.Names = "bare" }, []string{"shop/listItems"}},
		{func() { shop.Document = "{}" }, nil},
		{func() { shop.Document = shopDoc("https://shop.example.com") }, []string{"shop/listItems"}},
		{func() { shop.Disabled = true }, nil},
	} {
		step.change()
		got := take(map[string]settings.OpenAPI{"shop": shop})
		slices.Sort(got)
		if !slices.Equal(got, step.want) {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
	// What did not change is not opened anew.
	shop.Disabled = false
	take(map[string]settings.OpenAPI{"shop": shop})
	was, _ := a.APIs.Get("shop")
	take(map[string]settings.OpenAPI{"shop": shop, "other": {Document: shopDoc("https://other.example.com")}})
	if now, _ := a.APIs.Get("shop"); now == nil || now != was || len(a.APIs.List()) != 2 {
		t.Errorf("%v, %v", now, a.APIs.List())
	}
}
