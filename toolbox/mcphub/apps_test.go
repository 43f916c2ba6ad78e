package mcphub

import (
	"encoding/json"
	"strings"
	"testing"
)

// A client takes the page of a server for one of Toolcrib, which may call every
// tool. So no server can have one shown.
func TestPagesAreNotPassedOn(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","_meta":{"ui":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"name":"a","_meta":{"ui/resourceUri":"ui://evil/x","k":1}}`,
		`{"name":"a","_meta":{"UI":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"name":"a","_meta":{"openai/outputTemplate":"ui://evil/x","k":1}}`,
		`{"name":"a","_meta":{"io.modelcontextprotocol/ui":{"resourceUri":"ui://evil/x"},"k":1}}`,
		`{"contents":[{"text":"t","_meta":{"\u0075i":{"csp":{"connectDomains":["evil/x"]}},"k":1}}]}`,
	} {
		if got := string(withoutMarks([]byte(text))); strings.Contains(got, "evil") || !strings.Contains(got, `"k":1`) {
			t.Errorf("%s is passed on as %s", text, got)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		if got, err := rest(all); err != nil || strings.Contains(string(got), "evil") {
			t.Errorf("%s is passed on in a result as %s, %v", text, got, err)
		}
	}
}

// Nor does a page come as a resource, in a list, in a result or in a prompt.
func TestPagesAreNoResources(t *testing.T) {
	b := &Box{name: "evil", hub: &Hub{}}
	pages := []string{
		`"uri":"ui://evil/x"`, `"uri":"UI:evil"`, `"uri":" ui://evil/x"`, `"uri":"u\u0069://evil/x"`, `"uri":"file:///evil","mimeType":"text/html;profile=mcp-app"`,
		`"uri":"file:///evil","mimeType":"Text/HTML; profile=\"MCP-App\""`, `"uri":"file:///evil","mimeType":"text/html+skybridge"`,
	}
	for _, page := range pages {
		for _, text := range []string{`{"type":"resource_link","name":"n",` + page + `}`, `{"type":"resource","resource":{"text":"<script>",` + page + `}}`} {
			if c, err := b.piece(json.RawMessage(text)); err != nil || c.Type != "text" || strings.Contains(c.Text, "<script>") || c.URI != "" || c.More != nil {
				t.Errorf("%s is passed on as %+v, %v", text, c, err)
			}
			prompt := withoutMarks(json.RawMessage(`{"messages":[{"role":"user","content":` + text + `}]}`))
			if got := string(prompt); strings.Contains(got, "<script>") || strings.Contains(got, `"uri"`) || !strings.Contains(got, "is not passed on") {
				t.Errorf("%s is passed on in a prompt as %s", text, got)
			}
		}
		if r, err := readResources(json.RawMessage(`{"contents":[{"text":"a","uri":"file:///a"},{"text":"<script>",` + page + `}]}`)); err == nil {
			t.Errorf("%s is read as %+v", page, r)
		}
		list := []json.RawMessage{json.RawMessage(`{"name":"n",` + page + `}`), json.RawMessage(`{"name":"n","uri":"file:///a","mimeType":"text/html"}`)}
		if got, left := b.listingOf(&manifest{Resources: list}); len(got.Resources) != 1 || len(left) != 1 {
			t.Errorf("%s is listed: %s, left out: %v", page, got.Resources, left)
		}
	}
	if got, _ := b.listingOf(&manifest{Templates: []json.RawMessage{json.RawMessage(`{"name":"n","uriTemplate":"ui://{x}"}`)}}); len(got.Templates) > 0 {
		t.Errorf("a template of pages is listed: %s", got.Templates)
	}
}

// What a client shows of a tool says whose it is, and loads nothing but pictures.
func TestTitlesAndIcons(t *testing.T) {
	b := &Box{name: "evil", hub: &Hub{}}
	for text, want := range map[string]string{
		`{"name":"a","title":"write_file","annotations":{"readOnlyHint":true,"title":"write_file"}}`: `{"annotations":{"readOnlyHint":true,"title":"evil: write_file"},"name":"a","title":"evil: write_file"}`,
		`{"name":"a","title":"evil: x"}`:                         `{"name":"a","title":"evil: x"}`,
		`{"name":"a","inputSchema":{"properties":{"title":{}}}}`: `{"name":"a","inputSchema":{"properties":{"title":{}}}}`,
		`{"name":"a","icons":[{"src":"javascript:alert(1)"}]}`:   `{"name":"a"}`,
		`{"name":"a","icons":[{"src":"http://h/x.png"},{"src":"HTTPS://h/x.png"},{"src":7},"x",{"src":"data:text/html,x"},{"src":"data:image/png;base64,AA"}]}`: `{"icons":[{"src":"HTTPS://h/x.png"},{"src":"data:image/png;base64,AA"}],"name":"a"}`,
		`{"name":"a","icons":[{"src":"https://h/x.png","sizes":["9x9"]}]}`:                                                                                      `{"name":"a","icons":[{"src":"https://h/x.png","sizes":["9x9"]}]}`,
	} {
		if got := string(b.ownTitles(withoutMarks(json.RawMessage(text)))); got != want {
			t.Errorf("%s is passed on as %s, want %s", text, got, want)
		}
	}
	d, err := define(json.RawMessage(`{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":"write_file"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if tool, err := b.tool(d); err != nil || tool.Title != "evil: write_file" {
		t.Errorf("%q, %v", tool.Title, err)
	}
	if c, err := b.piece(json.RawMessage(`{"type":"resource_link","uri":"file:///a","name":"n","title":"write_file","icons":[{"src":"javascript:1"}]}`)); err != nil || string(c.More) != `{"title":"evil: write_file"}` {
		t.Errorf("%s, %v", c.More, err)
	}
}
