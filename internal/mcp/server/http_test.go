package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// raw is a client that sends what it is told to.
type raw struct {
	t   *testing.T
	url string
}

func newRaw(t *testing.T, s *Server) *raw {
	t.Helper()
	web := httptest.NewServer(httpapi.Names{}.Guard(s.Handler()))
	t.Cleanup(web.Close)
	return &raw{t, web.URL}
}

// answer is what came back: the messages of a stream, or the one.
type answer struct {
	status   int
	header   http.Header
	messages []mcp.Message
	text     string
}

func (a *answer) last() mcp.Message {
	if len(a.messages) == 0 {
		return mcp.Message{}
	}
	return a.messages[len(a.messages)-1]
}

func (a *answer) code() int {
	if e := a.last().Error; e != nil {
		return e.Code
	}
	return 0
}

func (r *raw) request(ctx context.Context, method string, h http.Header, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range h {
		if v == nil {
			req.Header.Del(k)
			continue
		}
		req.Header[k] = v
	}
	return req
}

func (r *raw) send(method string, h http.Header, body string) *answer {
	r.t.Helper()
	resp, err := http.DefaultClient.Do(r.request(r.t.Context(), method, h, body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	switch {
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		for line := range bytes.Lines(text) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				a.messages = append(a.messages, r.message(data))
			}
		}
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"):
		a.messages = append(a.messages, r.message(text))
	}
	return a
}

func (r *raw) message(text []byte) mcp.Message {
	r.t.Helper()
	var m mcp.Message
	if bytes.HasPrefix(text, []byte(`{"error":{"code":"`)) { // a refusal that is none of the protocol
		return m
	}
	if err := json.Unmarshal(text, &m); err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return m
}

// modern makes the body and the headers of a request of the modern era.
func modern(method, capabilities, params string) (http.Header, string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}%s}}`, method, capabilities, params)
	h := http.Header{headerVersion: {"2026-07-28"}, headerMethod: {method}}
	var p struct{ Params struct{ Name, URI string } }
	if json.Unmarshal([]byte(body), &p) == nil && p.Params.Name+p.Params.URI != "" {
		h.Set(headerName, p.Params.Name+p.Params.URI)
	}
	return h, body
}

func (r *raw) modern(method, params string) *answer {
	r.t.Helper()
	h, body := modern(method, `{}`, params)
	return r.send("POST", h, body)
}

// session begins a legacy session and gives the headers of its requests.
func (r *raw) session(capabilities string) http.Header {
	r.t.Helper()
	a := r.send("POST", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"raw","version":"1"}}}`)
	id := a.header.Get(headerSession)
	if a.status != 200 || id == "" || a.last().Error != nil {
		r.t.Fatalf("%+v", a)
	}
	h := http.Header{headerSession: {id}, headerVersion: {"2025-11-25"}}
	if a := r.send("POST", h, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); a.status != 202 {
		r.t.Fatalf("%+v", a)
	}
	return h
}

func with(h http.Header, pairs ...string) http.Header {
	h = h.Clone()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			h[http.CanonicalHeaderKey(pairs[i])] = nil
			continue
		}
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// What a modern request has to be, rule by rule.
func TestModernRules(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	list, listBody := modern("tools/list", `{}`, "")
	call, callBody := modern("tools/call", `{}`, `,"name":"count","arguments":{"n":1}`)
	read, readBody := modern("resources/read", `{}`, `,"uri":"test://a"`)
	old, oldBody := modern("tools/list", `{}`, "")
	oldBody = strings.ReplaceAll(oldBody, "2026-07-28", "2030-01-01")
	for name, c := range map[string]struct {
		header http.Header
		body   string
		status int
		code   int
	}{
		"list":                 {list, listBody, 200, 0},
		"call":                 {call, callBody, 200, 0},
		"read":                 {read, readBody, 200, 0},
		"wrapped name":         {with(call, headerName, "=?base64?Y291bnQ=?="), callBody, 200, 0},
		"no version header":    {with(list, headerVersion, ""), listBody, 400, mcp.CodeHeaderMismatch},
		"other version header": {with(list, headerVersion, "2025-11-25"), listBody, 400, mcp.CodeHeaderMismatch},
		"unknown version":      {with(old, headerVersion, "2030-01-01"), oldBody, 400, mcp.CodeUnsupportedVersion},
		"no meta":              {list, `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}`, 400, mcp.CodeInvalidParams},
		"no params":            {list, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, 400, mcp.CodeInvalidParams},
		"no capabilities":      {list, strings.Replace(listBody, "clientCapabilities", "x", 1), 400, mcp.CodeInvalidParams},
		"odd capabilities":     {list, strings.Replace(listBody, `clientCapabilities":{}`, `clientCapabilities":[]`, 1), 400, mcp.CodeInvalidParams},
		"large capabilities":   {list, strings.Replace(listBody, `clientCapabilities":{}`, `clientCapabilities":{"x":"`+strings.Repeat("x", maxSaid)+`"}`, 1), 400, mcp.CodeInvalidParams},
		"odd level":            {list, strings.Replace(listBody, `{"_meta":{`, `{"_meta":{"io.modelcontextprotocol/logLevel":"loud",`, 1), 400, mcp.CodeInvalidParams},
		"no method header":     {with(list, headerMethod, ""), listBody, 400, mcp.CodeHeaderMismatch},
		"other method header":  {with(list, headerMethod, "tools/call"), listBody, 400, mcp.CodeHeaderMismatch},
		"no name header":       {with(call, headerName, ""), callBody, 400, mcp.CodeHeaderMismatch},
		"other name header":    {with(call, headerName, "open"), callBody, 400, mcp.CodeHeaderMismatch},
		"other uri header":     {with(read, headerName, "test://b"), readBody, 400, mcp.CodeHeaderMismatch},
		"broken name header":   {with(call, headerName, "=?base64?%%?="), callBody, 400, mcp.CodeHeaderMismatch},
		"unknown method":       {with(list, headerMethod, "no/such"), strings.Replace(listBody, "tools/list", "no/such", 1), 404, mcp.CodeMethodNotFound},
		"ping":                 {with(list, headerMethod, "ping"), strings.Replace(listBody, "tools/list", "ping", 1), 404, mcp.CodeMethodNotFound},
		"initialize":           {with(list, headerMethod, "initialize"), strings.Replace(listBody, "tools/list", "initialize", 1), 404, mcp.CodeMethodNotFound},
		"unknown tool":         {with(call, headerName, "nothing"), strings.Replace(callBody, `"count"`, `"nothing"`, 1), 400, mcp.CodeInvalidParams},
		"no tool":              {call, strings.Replace(callBody, `"name":"count",`, "", 1), 400, mcp.CodeInvalidParams},
		"a number for a tool":  {call, strings.Replace(callBody, `"count"`, "5", 1), 400, mcp.CodeInvalidParams},
		"bad cursor":           {list, strings.Replace(listBody, `"params":{`, `"params":{"cursor":"x",`, 1), 400, mcp.CodeInvalidParams},
		"batch":                {list, "[" + listBody + "]", 400, mcp.CodeInvalidRequest},
		"garbage":              {list, "hello", 400, mcp.CodeParse},
		"nothing":              {list, "", 400, mcp.CodeParse},
		"an answer":            {list, `{"jsonrpc":"2.0","id":7,"result":{}}`, 400, mcp.CodeInvalidRequest},
		"media type":           {with(list, "Content-Type", "text/plain"), listBody, 415, 0},
		"accept":               {with(list, "Accept", "application/json"), listBody, 406, 0},
		"accept anything":      {with(list, "Accept", "*/*"), listBody, 200, 0},
		"other origin":         {with(list, "Origin", "http://evil.example"), listBody, 403, 0},
		"no origin":            {with(list, "Origin", "null"), listBody, 403, 0},
		"our own origin":       {with(list, "Origin", r.url), listBody, 200, 0},
		"another port":         {with(list, "Origin", "http://127.0.0.1:1"), listBody, 403, 0},
		"a notification":       {list, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, 0},
	} {
		if a := r.send("POST", c.header, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		} else if c.code != 0 && c.code != mcp.CodeParse && name != "batch" && name != "an answer" && string(a.last().ID) != "7" {
			t.Errorf("%s: the id is lost: %s", name, a.text)
		}
	}
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		if a := r.send(method, with(list, headerSession, "x"), ""); a.status != 405 || a.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %v", method, a.status, a.header)
		}
	}
	a := r.send("POST", with(old, headerVersion, "2030-01-01"), oldBody)
	if e := a.last().Error; !strings.Contains(string(e.Data), `"supported":["2026-07-28",`) || !strings.Contains(string(e.Data), `"requested":"2030-01-01"`) {
		t.Errorf("%s", e.Data)
	}
	if a := r.send("POST", list, `{"x":"`+strings.Repeat("x", s.maxMessage())+`"}`); a.status != 413 || a.code() != mcp.CodeInvalidRequest {
		t.Errorf("too long: %d %.200s", a.status, a.text)
	}
}

// Every result of the modern era says what it is, and who it is from.
func TestModernResults(t *testing.T) {
	s, _ := newStore(t, toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "list", Effects: toolcrib.Pure},
		Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Value: json.RawMessage(`[1,"<>"]`), More: json.RawMessage(`{"isError":true,"x":2,"_meta":{"io.modelcontextprotocol/serverInfo":"other","y":3}}`)}, nil
		},
	})
	r := newRaw(t, s)
	const who = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"toolcrib","title":"Toolcrib","version":"1"}`
	for _, c := range []struct{ method, params, want string }{
		{"tools/call", `,"name":"count","arguments":{"n":1}`, `{"resultType":"complete","content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1},` + who + `}}`},
		{"tools/call", `,"name":"list"`, `{"resultType":"complete","content":[{"type":"text","text":"[1,\"<>\"]"}],"structuredContent":[1,"<>"],"x":2,` + who + `,"y":3}}`},
		{"tools/call", `,"name":"count","arguments":null`, `{"resultType":"complete","content":[{"type":"text","text":"invalid: n: is required but missing; give an integer (required)"}],"isError":true,` + who + `,"toolcrib/code":"invalid","toolcrib/bad":[{"path":"n","rule":"required","message":"is required but missing; give an integer"}]}}`},
		{"resources/list", "", `{"resultType":"complete","resources":[{"uri":"test://a","name":"a","mimeType":"text/plain"},{"uri":"test://b","name":"b","mimeType":"image/png"}],"ttlMs":5000,"cacheScope":"private",` + who + `}}`},
		{"resources/read", `,"uri":"test://a"`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"mimeType":"text/plain","text":"an a","uri":"test://a"}],` + who + `}}`},
		{"resources/read", `,"uri":"test://b"`, `{"resultType":"complete","ttlMs":77,"cacheScope":"private","contents":[{"blob":"AQI=","mimeType":"image/png","uri":"test://b"}],` + who + `,"x":1}}`},
		{"prompts/get", `,"name":"hello"`, `{"resultType":"complete","description":"d","messages":[{"role":"user","content":{"type":"text","text":"hello all"}}],` + who + `}}`},
		{"completion/complete", `,"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"who","value":"p"}`, `{"resultType":"complete","completion":{"values":["paris","park"],"total":2,"hasMore":false},` + who + `}}`},
	} {
		a := r.modern(c.method, c.params)
		if got := string(a.last().Result); got != c.want {
			t.Errorf("%s%s:\n got %s %s\nwant %s", c.method, c.params, got, a.text, c.want)
		}
	}
	var d struct {
		Versions     []string `json:"supportedVersions"`
		Capabilities json.RawMessage
	}
	if err := json.Unmarshal(r.modern("server/discover", "").last().Result, &d); err != nil || d.Versions[0] != "2026-07-28" ||
		string(d.Capabilities) != `{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}` {
		t.Errorf("%+v %s %v", d.Versions, d.Capabilities, err)
	}
}

// What is not there, was refused or broke on the shelf is an error.
func TestShelfErrors(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	session := r.session(`{}`)
	for _, c := range []struct {
		method, params string
		modern, legacy int
		message, data  string
	}{
		{method: "resources/read", params: `"uri":"other://x"`, modern: -32602, legacy: -32002, message: "not found", data: `{"uri":"other://x"}`},
		{method: "resources/read", params: `"uri":"test://gone"`, modern: -32602, legacy: -32002, message: "not found", data: `{"uri":"test://gone"}`},
		{method: "resources/read", params: `"uri":"test://failed"`, modern: -32603, legacy: -32603, message: "it broke"},
		{method: "resources/read", params: `"uri":"test://upstream"`, modern: -32777, legacy: -32777, message: "of another server", data: `{"k":1}`},
		{method: "prompts/get", params: `"name":"nothing"`, modern: -32602, legacy: -32602, message: "no such"},
	} {
		a := r.modern(c.method, ","+c.params)
		b := r.send("POST", session, `{"jsonrpc":"2.0","id":7,"method":"`+c.method+`","params":{`+c.params+`}}`)
		if a.code() != c.modern || b.code() != c.legacy || b.status != 200 {
			t.Errorf("%+v: %s %s", c, a.text, b.text)
			continue
		}
		for _, e := range []*mcp.Error{a.last().Error, b.last().Error} {
			if !strings.Contains(e.Message, c.message) || c.data != "" && string(e.Data) != c.data {
				t.Errorf("%+v: %s %s", c, e.Message, e.Data)
			}
		}
	}
}

// events reads a stream message by message.
func (r *raw) events(ctx context.Context, method string, h http.Header, body string) (next func() mcp.Message, header http.Header) {
	r.t.Helper()
	resp, err := http.DefaultClient.Do(r.request(ctx, method, h, body))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	scan := bufio.NewScanner(resp.Body)
	return func() mcp.Message {
		for scan.Scan() {
			if data, ok := bytes.CutPrefix(scan.Bytes(), []byte("data: ")); ok {
				return r.message(data)
			}
		}
		return mcp.Message{}
	}, resp.Header
}
