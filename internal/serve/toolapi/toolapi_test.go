package toolapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// TestStatuses: every refusal has a status of its own, and the document tells of it.
func TestStatuses(t *testing.T) {
	seen := map[int]toolcrib.Code{}
	for _, code := range cribtest.Codes() {
		status, ok := statuses()[code]
		if !ok || status < 400 {
			t.Errorf("%s has the status %d", code, status)
		}
		if other, twice := seen[status]; twice {
			t.Errorf("%s and %s have one status", code, other)
		}
		seen[status] = code
		if !slices.Contains(Statuses(), status) {
			t.Errorf("the document does not tell of %d", status)
		}
	}
}

// in is what the tool of these tests takes.
type in struct {
	Name string `json:"name"`
	Tree *node  `json:"tree,omitempty"`
}

type node struct {
	Value int    `json:"value"`
	Next  []leaf `json:"next,omitempty"`
}

type leaf struct {
	Value int `json:"value"`
}

type out struct {
	Said string `json:"said"`
	By   string `json:"by"`
}

// desk is a crib with a few tools behind tokens.
type desk struct {
	*httptest.Server
	crib *toolcrib.Crib
	runs int
	via  []toolcrib.Caller
}

type box []toolcrib.Tool

func (box) Name() string                                     { return "demo" }
func (b box) Tools(context.Context) ([]toolcrib.Tool, error) { return b, nil }

func newDesk(t *testing.T) *desk { return newDeskWithin(t, 0) }

// newDeskWithin is one whose calls are judged in so much time.
func newDeskWithin(t *testing.T, judgeTime time.Duration) *desk {
	t.Helper()
	d := &desk{}
	say := toolcrib.Define(toolcrib.Spec{Name: "say", Title: "Say", Description: "Says <it>.", Effects: toolcrib.Pure}, func(_ context.Context, env *toolcrib.Env, given in) (out, error) {
		d.runs++
		d.via = append(d.via, env.Call.Caller)
		return out{given.Name, env.Call.Caller.Subject}, nil
	})
	plain := toolcrib.Tool{Spec: toolcrib.Spec{Name: "plain", Effects: toolcrib.Pure, Input: json.RawMessage(`{"type":"object","properties":{"how":{"$ref":"#/$defs/how"},"$ref":{"type":"string"}},"$defs":{"how":{"enum":["fail","refuse","break","text"]}}}`)},
		Run: func(_ context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			var given struct{ How string }
			if err := json.Unmarshal(input, &given); err != nil {
				return nil, err
			}
			switch given.How {
			case "fail":
				return toolcrib.Failed("no luck"), nil
			case "refuse":
				return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "not now"}
			case "break":
				return nil, errors.New("at /home/ann/secret")
			}
			return toolcrib.Text("fine"), nil
		}}
	risky := toolcrib.Tool{Spec: toolcrib.Spec{Name: "risky", Effects: toolcrib.Destroys, Input: json.RawMessage(`{"type":"object"}`)}, Run: plain.Run}
	journal := &cribtest.Memory{}
	d.crib = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Journal: journal}
	if _, faults := d.crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box{say, plain, risky}}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	access := &httpapi.Access{Holders: []httpapi.Holder{
		{Caller: toolcrib.Caller{Subject: "ann"}, Sum: sha256.Sum256([]byte("ann-token"))},
		{Caller: toolcrib.Caller{Subject: "bob"}, Sum: sha256.Sum256([]byte("bob-token"))},
	}}
	api, err := httpapi.New(httpapi.Config{State: t.TempDir(), Access: func() *httpapi.Access { return access }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	Config{Crib: d.crib, Tools: func(c toolcrib.Caller) []toolcrib.Entry { return slices.Collect(d.crib.Tools(c)) }, Version: "1", Most: 1000, judgeTime: judgeTime}.Mount(api)
	d.Server = httptest.NewServer(api)
	t.Cleanup(d.Close)
	return d
}

// send sends a request as somebody.
func (d *desk) send(t *testing.T, who, method, path, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+who+"-token")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// TestDocument: an independent library takes the document for a valid one, with every tool in it.
func TestDocument(t *testing.T) {
	d := newDesk(t)
	status, text, _ := d.send(t, "ann", http.MethodGet, "/openapi.json", "")
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"say", "plain", "risky"} {
		item := doc.Paths.Find(ToolsPath + name)
		if item == nil || item.Post == nil || item.Post.OperationID != name {
			t.Errorf("%s is missing", name)
			continue
		}
		for _, s := range append(Statuses(), http.StatusOK) {
			if item.Post.Responses.Status(s) == nil {
				t.Errorf("%s does not tell of %d", name, s)
			}
		}
	}
	if !strings.Contains(text, "#/components/schemas/plain.input/$defs/how") || strings.Contains(text, `"#/$defs`) {
		t.Error("references lead nowhere")
	}
	again, err := Document(slices.Collect(d.crib.Tools(toolcrib.Caller{Subject: "ann"})), Options{Server: "https://x.example.com", Version: "1"})
	if err != nil || !strings.Contains(string(again), "https://x.example.com") {
		t.Errorf("%v", err)
	}
	if none, err := Document(nil, Options{}); err != nil || !json.Valid(none) {
		t.Errorf("%s, %v", none, err)
	}
}

// TestCalls: what a call becomes over HTTP.
func TestCalls(t *testing.T) {
	d := newDesk(t)
	const kind = "Content-Type"
	for _, c := range []struct {
		who, method, path, body string
		header                  []string
		status                  int
		wants                   string
	}{
		{"ann", "POST", "say", `{"name":"hi"}`, []string{kind, "application/json"}, 200, `{"value":{"said":"hi","by":"ann"},"failed":false}`},
		{"bob", "POST", "say", `{"name":"hi","tree":{"value":1,"next":[{"value":2}]}}`, []string{kind, "application/json; charset=utf-8"}, 200, `"by":"bob"`},
		{"ann", "POST", "plain", ``, nil, 200, `{"content":[{"type":"text","text":"fine"}],"failed":false}`},
		{"ann", "POST", "plain", `{"how":"fail"}`, nil, 200, `"failed":true`},
		{"ann", "POST", "plain", `{"how":"refuse"}`, nil, 503, `{"error":{"code":"unavailable","message":"not now"}}`},
		{"ann", "POST", "say", `{"name":3}`, nil, 400, `"fields":[{"path":"name"`},
		{"ann", "POST", "say", `[1]`, nil, 400, `"code":"invalid"`},
		{"ann", "POST", "say", `{"name":"a","name":"b"}`, nil, 400, `"code":"invalid"`},
		{"ann", "POST", "say", `{`, nil, 400, `"code":"invalid"`},
		{"ann", "POST", "say", `{"name":"` + strings.Repeat("x", 2000) + `"}`, nil, 413, `"message"`},
		{"ann", "POST", "say", `name=hi`, []string{kind, "application/x-www-form-urlencoded"}, 415, `"message"`},
		{"ann", "POST", "nobody", `{}`, nil, 404, `"code":"not_found"`},
		{"ann", "POST", "risky", `{}`, nil, 403, `"code":"denied"`},
		{"ann", "GET", "say", ``, nil, 405, `POST`},
		{"ann", "DELETE", "say", ``, nil, 405, `POST`},
		{"", "POST", "say", `{"name":"hi"}`, nil, 401, `"code":"unauthorized"`},
		{"eve", "POST", "say", `{"name":"hi"}`, nil, 401, `"code":"unauthorized"`},
		{"ann", "POST", "say", `{"name":"hi"}`, []string{KeyHeader, "short"}, 400, KeyHeader},
		{"ann", "POST", "say", `{"name":"hi"}`, []string{KeyHeader, "12345678", KeyHeader, "12345679"}, 400, KeyHeader},
	} {
		status, text, header := d.send(t, c.who, c.method, ToolsPath+c.path, c.body, c.header...)
		if status != c.status || !strings.Contains(text, c.wants) || header.Get(kind) != "application/json" || !json.Valid([]byte(text)) {
			t.Errorf("%s %s %s %.40s: %d %s, want %d %s", c.who, c.method, c.path, c.body, status, text, c.status, c.wants)
		}
	}
	// What broke inside is not told.
	if status, text, _ := d.send(t, "ann", "POST", ToolsPath+"plain", `{"how":"break"}`); strings.Contains(text, "secret") && status >= 500 {
		t.Errorf("%d %s", status, text)
	}
	if status, _, _ := d.send(t, "", "GET", "/openapi.json", ""); status != 401 {
		t.Errorf("a stranger is shown the tools: %d", status)
	}
	if status, _, header := d.send(t, "ann", "POST", "/openapi.json", ""); status != 405 || header.Get("Allow") != "GET" {
		t.Errorf("%d %v", status, header)
	}
	for _, caller := range d.via {
		if caller.Frontend != "http" || caller.Subject == "" {
			t.Errorf("%+v", caller)
		}
	}
}

// TestSentAgain: a call with a key is done once, for each caller.
func TestSentAgain(t *testing.T) {
	d := newDesk(t)
	send := func(who, body string) string {
		status, text, _ := d.send(t, who, "POST", ToolsPath+"say", body, KeyHeader, "order-12345")
		return fmt.Sprint(status, " ", text)
	}
	first := send("ann", `{"name":"one"}`)
	if again := send("ann", `{"name":"one"}`); again != first || d.runs != 1 {
		t.Errorf("%s, then %s, run %d times", first, again, d.runs)
	}
	if other := send("ann", `{"name":"two"}`); !strings.HasPrefix(other, "409 ") || d.runs != 1 {
		t.Errorf("%s, run %d times", other, d.runs)
	}
	if bob := send("bob", `{"name":"one"}`); !strings.Contains(bob, `"by":"bob"`) || d.runs != 2 {
		t.Errorf("%s, run %d times", bob, d.runs)
	}
}

// FuzzSchema: whatever a schema is, its references begin at its place in the document.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"properties":{"$ref":{"type":"string"}}}`, `true`, `{"enum":[{"$ref":"#"}]}`, `[]`, `{"$ref":3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := schemaOf(json.RawMessage(text), "#/components/schemas/x")
		if err != nil {
			return
		}
		if _, err := json.Marshal(value); err != nil {
			t.Error(err)
		}
	})
}
