package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/toolbox/web"
)

// ovosWebAdapter is built as the list of all adapters builds it.
func ovosWebAdapter() toolcrib.Adapter {
	t := ovosWeb()[0]
	return toolcrib.Adapter{
		Dialect: OVOS, Box: t.box, Native: t.native,
		Spec: toolcrib.Spec{
			Name: t.name, Description: t.doc,
			Input:  model(className(t.name)+"Args", "Arguments for ``"+t.name+"``.", t.args),
			Output: model(className(t.name)+"Output", "Output of ``"+t.name+"``.", t.out),
		},
		In: t.in, Out: t.answer, Refused: t.refused,
	}
}

func TestWebSearchContract(t *testing.T) {
	const args = `{"description":"Arguments for ` + "``web_search``" + `.","properties":{"query":{"description":"Search query string.","title":"Query","type":"string"},` +
		`"max_results":{"default":5,"description":"Maximum number of results to return.","title":"Max Results","type":"integer"}},"required":["query"],"title":"WebSearchArgs","type":"object"}`
	const output = `{"description":"Output of ` + "``web_search``" + `.","properties":{"results":{"description":"List of results, each with keys: title, url, snippet.",` +
		`"items":{"additionalProperties":{"type":"string"},"type":"object"},"title":"Results","type":"array"},"query":{"description":"The query that was executed.","title":"Query","type":"string"}},` +
		`"required":["results","query"],"title":"WebSearchOutput","type":"object"}`
	a := ovosWebAdapter()
	if string(a.Input) != args || string(a.Output) != output {
		t.Errorf("%s\n%s", a.Input, a.Output)
	}
}

func TestWebSearchIn(t *testing.T) {
	a := ovosWebAdapter()
	for in, want := range map[string]string{
		`{"query":"q","max_results":5}`:                     `{"query":"q","max_results":5}`,
		`{"query":"q","max_results":0}`:                     `{"query":"q","max_results":1}`,
		`{"query":"q","max_results":-3}`:                    `{"query":"q","max_results":1}`,
		`{"query":"q","max_results":99999999999999999999}`:  `{"query":"q","max_results":20}`,
		`{"query":"q","max_results":-99999999999999999999}`: `{"query":"q","max_results":1}`,
		`{"query":"q","max_results":1e400}`:                 `{"query":"q","max_results":20}`,
	} {
		got, err := a.In(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		`{"query":"","max_results":5}`:                                           "keywords is mandatory",
		`{"query":"` + strings.Repeat("ä", maxWebQuery+1) + `","max_results":5}`: "the query is too long",
	} {
		_, err := a.In(json.RawMessage(in))
		e, ok := toolcrib.AsError(err)
		if !ok {
			t.Fatalf("%.40s: %v", in, err)
		}
		if got := a.Refused(json.RawMessage(in), e); got == nil || !strings.Contains(string(got.Value), `"Web search failed: `+want+`"`) {
			t.Errorf("%.40s: %v", in, got)
		}
	}
}

// webCrib serves the real box, with an engine of the test's, in the dialect.
func webCrib(t *testing.T, page string, status int, hosts ...string) func(input string) (*toolcrib.Result, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	box, err := web.Open(t.Context(), web.Config{Endpoint: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Grant: toolcrib.Grant{Hosts: hosts},
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads | toolcrib.Network)},
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}, Adapters: []toolcrib.Adapter{ovosWebAdapter()}}); faults != nil {
		t.Fatal(faults)
	}
	return func(input string) (*toolcrib.Result, error) {
		return crib.Call(t.Context(), toolcrib.Call{Tool: "web_search", Input: json.RawMessage(input), Lenient: true, Caller: toolcrib.Caller{Dialect: OVOS}})
	}
}

func TestWebSearch(t *testing.T) {
	var page bytes.Buffer
	for i := range 8 {
		fmt.Fprintf(&page, `<a class="result__a" href="https://x.example/%d">T%d</a><a class="result__snippet">S%d</a>`, i, i, i)
	}
	one := func(i int) string {
		return fmt.Sprintf(`{"title":"T%d","url":"https://x.example/%d","snippet":"S%d"}`, i, i, i)
	}
	failed := func(title, snippet string) string {
		return `{"results":[{"title":"` + title + `","url":"","snippet":"` + snippet + `"}],"query":"q"}`
	}
	for _, c := range []struct {
		name, page  string
		status      int
		hosts       []string
		input, want string
	}{
		{"found", page.String(), 200, []string{"127.0.0.1"}, `{"query":"q","max_results":2}`, `{"results":[` + one(0) + "," + one(1) + `],"query":"q"}`},
		{"five by default", page.String(), 200, []string{"127.0.0.1"}, `{"query":"q"}`, `{"results":[` + strings.Join([]string{one(0), one(1), one(2), one(3), one(4)}, ",") + `],"query":"q"}`},
		{"none wanted", page.String(), 200, []string{"127.0.0.1"}, `{"query":"q","max_results":"0"}`, `{"results":[],"query":"q"}`},
		{"none found", `<div class="no-results">`, 200, []string{"127.0.0.1"}, `{"query":"q"}`, `{"results":[],"query":"q"}`},
		{"engine fails", "", 500, []string{"127.0.0.1"}, `{"query":"q"}`, failed("Search error", "Web search failed: the search engine duckduckgo: the server answered 500 Internal Server Error")},
	} {
		got, err := webCrib(t, c.page, c.status, c.hosts...)(c.input)
		if err != nil || got.Failed || string(got.Value) != c.want {
			t.Errorf("%s: %v, %v\nwant %s", c.name, got, err, c.want)
		}
	}
	// That the engine may not be reached is ours to say, not the original's.
	for name, hosts := range map[string][]string{"no hosts": nil, "a private address": {"other.example"}} {
		got, err := webCrib(t, "", 200, hosts...)(`{"query":"q"}`)
		e, refused := toolcrib.AsError(err)
		if !refused || e.Code != toolcrib.CodeDenied || !strings.Contains(e.Message, "grant.hosts") {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		if s, ours := OVOSRefusal(e); s.Key != spoken.HostNotGranted || !ours {
			t.Errorf("%s is said as %s: %#v", name, s.Key, e)
		}
	}
	if _, err := webCrib(t, "", 200)(`{"query":5}`); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
		t.Errorf("a query that is none: %v", err)
	}
}
