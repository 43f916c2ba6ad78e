package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// shown is the list as a client sees it.
func shown(t *testing.T, a *answer) (list []map[string]json.RawMessage, next string) {
	t.Helper()
	var r struct {
		Tools []map[string]json.RawMessage
		Next  string `json:"nextCursor"`
	}
	if err := json.Unmarshal(a.last().Result, &r); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return r.Tools, r.Next
}

func echo(name, input string) toolcrib.Tool {
	return toolcrib.Tool{
		Spec: toolcrib.Spec{Name: name, Description: "Echoes <all> of it.", Input: json.RawMessage(input), Effects: toolcrib.Pure},
		Run: func(_ context.Context, _ *toolcrib.Env, in json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Value: in}, nil
		},
	}
}

// What a supplier says of its tool stands beside what we say, never in its place.
func TestDefinitions(t *testing.T) {
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Log: quiet()}
	plain := echo("plain", "{\n  \"type\": \"object\",\n  \"properties\": {\"a\": {\"pattern\": \"<\"}}\n}")
	foreign := echo("foreign", `{"properties":{}}`)
	foreign.Output = json.RawMessage(`{"type":"array"}`)
	ours := echo("ours", `true`)
	ours.Title, ours.Output, ours.Effects = "Ours", json.RawMessage(`{"type":"object"}`), toolcrib.Runs
	load(t, c, []toolcrib.Tool{plain, foreign, ours})
	s := New(Config{Crib: c, Log: quiet(), Definition: func(s toolcrib.Entry) json.RawMessage {
		if s.Name == "plain" {
			return nil
		}
		return json.RawMessage(`{"name":"evil","title":"Theirs","description":"evil","inputSchema":{"evil":1},"outputSchema":{"evil":1},"icons":[{"src":"i"}],"_meta":{"m":1},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false}}`)
	}}, toolcrib.Caller{})
	defer s.Close()
	r := newRaw(t, s)
	list, _ := shown(t, r.modern("tools/list", ""))
	text := func(i int) string {
		out, err := json.Marshal(list[i])
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(out))
	}
	const mine = `"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	for i, want := range []string{
		`{"_meta":{"toolcrib/box":"test","m":1},"annotations":{"title":"A",` + mine + `,"description":"Echoes <all> of it.","icons":[{"src":"i"}],"inputSchema":{"type":"object","properties":{}},"name":"foreign","outputSchema":{"type":"array"},"title":"Theirs"}`,
		`{"_meta":{"toolcrib/box":"test","m":1},"annotations":{"title":"A","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true},"description":"Echoes <all> of it.","icons":[{"src":"i"}],"inputSchema":{"type":"object"},"name":"ours","outputSchema":{"type":"object"},"title":"Ours"}`,
		`{"_meta":{"toolcrib/box":"test"},"annotations":{` + mine + `,"description":"Echoes <all> of it.","inputSchema":{"type":"object","properties":{"a":{"pattern":"<"}}},"name":"plain"}`,
	} {
		if text(i) != want {
			t.Errorf("\n got %s\nwant %s", text(i), want)
		}
	}
	list, _ = shown(t, r.send("POST", r.session(`{}`), `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`))
	if list[0]["outputSchema"] != nil || list[1]["outputSchema"] == nil {
		t.Errorf("before 2026 an output was an object: %s %s", text(0), text(1))
	}
}

// In search, the few tools are all there is to see, and what is called by way of
// the one that calls is the real tool: judged and recorded under its own name.
func TestSearch(t *testing.T) {
	journal := &cribtest.Memory{}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet()}
	bad := echo("bad", `true`)
	bad.Effects = toolcrib.Runs
	load(t, c, []toolcrib.Tool{echo("search_tools", `true`), echo("real", `{"type":"object","properties":{"x":{"type":"integer"}}}`), bad})
	s := New(Config{Crib: c, Log: quiet(), Search: func(caller toolcrib.Caller) *Search {
		spec, _ := c.Tool(caller, "search_tools")
		return &Search{Unwrap: finder.Unwrap, Specs: []toolcrib.Entry{spec}, CallTool: toolcrib.Entry{Spec: toolcrib.Spec{Name: "call_tool", Description: "Calls.", Input: json.RawMessage(`{"type":"object","required":["name"]}`)}}}
	}}, toolcrib.Caller{Subject: "ann"})
	defer s.Close()
	r := newRaw(t, s)
	list, _ := shown(t, r.modern("tools/list", ""))
	if len(list) != 2 || string(list[0]["name"]) != `"search_tools"` || string(list[1]["name"]) != `"call_tool"` {
		t.Errorf("%s", list)
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"name":"real","arguments":{"x":1}}`, `"structuredContent":{"x":1}`},
		{`{"name":"real"}`, `"structuredContent":{}`},
		{`{"name":"real","arguments":null}`, `"structuredContent":{}`},
		{`{"name":"real","arguments":{"x":"y"}}`, `"toolcrib/code":"invalid"`},
		{`{"name":"real","arguments":[1]}`, `"toolcrib/code":"invalid"`},
		{`{"name":"bad","arguments":{}}`, `"toolcrib/code":"denied"`},
		{`{"name":"nothing","arguments":{}}`, `"toolcrib/code":"not_found"`},
		{`{"name":"call_tool","arguments":{"name":"real"}}`, `"toolcrib/code":"not_found"`},
		{`{"arguments":{}}`, `"toolcrib/code":"invalid"`},
		{`{"name":7}`, `"toolcrib/code":"invalid"`},
		{`7`, `"toolcrib/code":"invalid"`},
	} {
		for _, capabilities := range []string{`{}`, canAll} {
			if a, _ := r.ask("tools/call", capabilities, `,"name":"call_tool","arguments":`+c.arguments); a.status != 200 || !strings.Contains(a.text, c.want) {
				t.Errorf("%s: %s", c.arguments, a.text)
			}
		}
	}
	if a := r.modern("tools/call", `,"name":"real","arguments":{"x":2}`); !strings.Contains(a.text, `{"x":2}`) {
		t.Errorf("by its own name: %s", a.text)
	}
	var names []string
	for _, rec := range journal.Records() {
		names = append(names, rec.Tool)
	}
	slices.Sort(names)
	if got := fmt.Sprint(slices.Compact(names)); got != "[bad call_tool nothing real]" { // call_tool: the one that was called by itself
		t.Errorf("recorded %s", got)
	}
}

// Arguments that a contract wants repeated in headers are held to them.
func TestMirrors(t *testing.T) {
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"on":{"type":"boolean","x-mcp-header":"On"},"deep":{"type":"object","properties":{"k":{"type":"string","x-mcp-header":"Deep"}}}}}`
	s, _ := newStore(t, echo("mirrored", schema))
	r := newRaw(t, s)
	for name, c := range map[string]struct {
		arguments string
		headers   []string
		bad       bool
	}{
		"all":             {`{"region":"eu","n":3,"on":true,"deep":{"k":"v"}}`, []string{"Region", "eu", "N", "3", "On", "true", "Deep", "v"}, false},
		"none":            {`{}`, nil, false},
		"null":            {`{"region":null}`, nil, false},
		"wrapped":         {`{"region":"für"}`, []string{"Region", "=?base64?ZsO8cg==?="}, false},
		"as a float":      {`{"n":3}`, []string{"N", "3.0"}, false},
		"missing":         {`{"region":"eu"}`, nil, true},
		"other":           {`{"region":"eu"}`, []string{"Region", "us"}, true},
		"too much":        {`{}`, []string{"Region", "eu"}, true},
		"too much, null":  {`{"region":null}`, []string{"Region", "eu"}, true},
		"other case":      {`{"on":true}`, []string{"On", "True"}, true},
		"other number":    {`{"n":3}`, []string{"N", "4"}, true},
		"no number":       {`{"n":3}`, []string{"N", "x"}, true},
		"too large":       {`{"n":9007199254740993}`, []string{"N", "9007199254740993"}, true},
		"broken":          {`{"region":"eu"}`, []string{"Region", "=?base64?%?="}, true},
		"other, deep":     {`{"deep":{"k":"v"}}`, []string{"Deep", "w"}, true},
		"object for text": {`{"region":{}}`, []string{"Region", "{}"}, true},
	} {
		h, body := modern("tools/call", `{}`, `,"name":"mirrored","arguments":`+c.arguments)
		for i := 0; i < len(c.headers); i += 2 {
			h.Set(headerParam+c.headers[i], c.headers[i+1])
		}
		if a := r.send("POST", h, body); (a.code() == mcp.CodeHeaderMismatch && a.status == 400) != c.bad {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	for _, bad := range []string{
		`{"x-mcp-header":"A","type":"string"}`,
		`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`,
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		`{"properties":{"a":{"type":["string"],"x-mcp-header":"A"}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
	} {
		if m, err := findMirrors(json.RawMessage(bad)); err == nil {
			t.Errorf("%s: %+v", bad, m)
		}
	}
}

// A list comes in pages, in one order, and cursors are only ours.
func TestPages(t *testing.T) {
	var many []toolcrib.Tool
	for i := range 2*pageSize + 5 {
		many = append(many, echo(fmt.Sprintf("t%05d", 9999-i), `true`))
	}
	s, _ := newStore(t, many...)
	r := newRaw(t, s)
	session := r.session(`{}`)
	for _, get := range []func(cursor string) *answer{
		func(cursor string) *answer { return r.modern("tools/list", cursor) },
		func(cursor string) *answer {
			return r.send("POST", session, `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{`+strings.TrimPrefix(cursor, ",")+`}}`)
		},
	} {
		var all []string
		cursor := ""
		for {
			list, next := shown(t, get(cursor))
			for _, tool := range list {
				all = append(all, string(tool["name"]))
			}
			if next == "" {
				break
			}
			cursor = fmt.Sprintf(`,"cursor":%q`, next)
		}
		if len(all) != 2*pageSize+8 || !slices.IsSorted(all) || len(slices.Compact(all)) != len(all) {
			t.Errorf("%d tools", len(all))
		}
	}
	for _, bad := range []string{`"x"`, `7`, `""`, fmt.Sprintf("%q", cursor("resources", 1)), fmt.Sprintf("%q", cursor("tools", 3)), fmt.Sprintf("%q", cursor("tools", -1))} {
		if a := r.modern("tools/list", `,"cursor":`+bad); a.code() != mcp.CodeInvalidParams {
			t.Errorf("%s: %.200s", bad, a.text)
		}
	}
	if a := r.modern("resources/list", fmt.Sprintf(`,"cursor":%q`, cursor("resources", 1))); a.code() != mcp.CodeInvalidParams {
		t.Errorf("%.200s", a.text)
	}
}
