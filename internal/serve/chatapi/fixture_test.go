package chatapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/model"
)

// turn is what the model of these tests answers.
type turn struct {
	say   []string
	calls []model.ToolCall
	stop  string
	err   error
	wait  func(context.Context) // before it answers
}

// script is a model that answers turn by turn, and keeps what it was asked.
type script struct {
	mu     sync.Mutex
	turns  []turn
	asked  []model.Request
	traits model.Traits
}

func (s *script) Traits() model.Traits { return s.traits }

func (s *script) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	s.mu.Lock()
	r.Messages = slices.Clone(r.Messages)
	s.asked = append(s.asked, r)
	if len(s.turns) == 0 {
		s.mu.Unlock()
		return nil, &model.Error{Kind: model.Broken, Message: "the script is over"}
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	s.mu.Unlock()
	if t.wait != nil {
		t.wait(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	for _, piece := range t.say {
		if emit != nil {
			emit(model.Delta{Text: piece})
		}
	}
	m := model.Text(model.Assistant, strings.Join(t.say, ""))
	m.Calls = t.calls
	stop := t.stop
	if stop == "" {
		stop = model.StopEnd
		if len(t.calls) > 0 {
			stop = model.StopCalls
		}
	}
	return &model.Answer{Message: m, Stop: stop, Usage: model.Usage{Input: 10, Output: 5, CacheRead: 3}}, nil
}

func (s *script) requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func call(id, name, args string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// shop is a server with a tool, behind tokens.
type shop struct {
	*httptest.Server
	model   *script
	crib    *toolcrib.Crib
	person  *cribtest.Person
	journal *cribtest.Memory
	mu      sync.Mutex
	callers []toolcrib.Caller // of the tool that ran
	agents  []toolcrib.Caller // whom agents were opened for
	back    atomic.Int32      // how many were given back
}

type box []toolcrib.Tool

func (box) Name() string                                     { return "demo" }
func (b box) Tools(context.Context) ([]toolcrib.Tool, error) { return b, nil }

func open(t *testing.T, c Config, turns ...turn) *shop {
	t.Helper()
	s := &shop{model: &script{turns: turns, traits: model.Traits{Name: "m", Format: "openai", Tools: true, Images: true}}, journal: &cribtest.Memory{}, person: &cribtest.Person{}}
	add := toolcrib.Define(toolcrib.Spec{Name: "add", Description: "Adds.", Effects: toolcrib.Pure}, func(_ context.Context, env *toolcrib.Env, in struct{ A, B int }) (struct{ Sum int }, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.callers = append(s.callers, env.Call.Caller)
		return struct{ Sum int }{in.A + in.B}, nil
	})
	wipe := toolcrib.Define(toolcrib.Spec{Name: "wipe", Effects: toolcrib.Destroys}, func(context.Context, *toolcrib.Env, struct{}) (struct{}, error) {
		t.Error("wipe ran")
		return struct{}{}, nil
	})
	s.crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: s.journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure), askWipe{}}, Approver: s.person,
		Visible: func(who toolcrib.Caller, e *toolcrib.Entry) bool { return who.Subject != "small" || e.Name == "add" },
	}
	if _, faults := s.crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box{add, wipe}}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	var holders []httpapi.Holder
	for _, name := range []string{"ann", "bob", "small"} {
		holders = append(holders, httpapi.Holder{Caller: toolcrib.Caller{Subject: name, Token: name}, Sum: sha256.Sum256([]byte(name))})
	}
	access := &httpapi.Access{Holders: holders}
	api, err := httpapi.New(httpapi.Config{State: t.TempDir(), Access: func() *httpapi.Access { return access }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	c.Frontend = "chat"
	c.Models = func(httpapi.Holder) []Named { return []Named{{Name: "m"}, {Name: "agent/coder"}} }
	c.Agent = func(_ context.Context, who httpapi.Holder, name string) (*agent.Agent, func(), error) {
		if name != "m" && name != "agent/coder" {
			return nil, nil, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no such model"}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.agents = append(s.agents, who.Caller)
		return &agent.Agent{Crib: s.crib, Model: s.model, Caller: who.Caller, Instructions: "Be brief."}, func() { s.back.Add(1) }, nil
	}
	c.Mount(api)
	s.Server = httptest.NewServer(api)
	t.Cleanup(s.Close)
	return s
}

// askWipe has a person asked about wipe.
type askWipe struct{}

func (askWipe) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Name != "wipe" {
		return nil, nil
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "test", Reason: "it wipes"}, nil
}

func (s *shop) post(t *testing.T, who, body string, header ...string) *reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+ChatPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+who)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return &reply{resp.StatusCode, resp.Header, text}
}

// reply is an answer of the server, read to its end.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       []byte
}

// said is an answer as a strict client reads it.
type said struct {
	ID, Object, Model string
	Choices           []struct {
		Index   int
		Message struct {
			Role    string
			Content *string
			Calls   []chatCall `json:"tool_calls"`
		}
		Delta struct {
			Role    *string
			Content *string
			Calls   []chatCall `json:"tool_calls"`
		}
		Reason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
	Error *struct {
		Message, Type string
		Param, Code   *string
	}
	Toolcrib *ownExtension
}

func whole(t *testing.T, resp *reply, status int) said {
	t.Helper()
	body := resp.Body
	var out said
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if resp.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, status, body)
	}
	if status != http.StatusOK && (out.Error == nil || out.Error.Message == "") {
		t.Fatalf("no error: %s", body)
	}
	return out
}

// streamed reads a stream; every line is a piece, as some clients read it.
func streamed(t *testing.T, resp *reply) (pieces []said, done bool) {
	t.Helper()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, resp.Body)
	}
	lines := bufio.NewScanner(bytes.NewReader(resp.Body))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case lines.Text() == "":
			continue
		case !ok:
			t.Fatalf("a line that is no piece: %q", lines.Text())
		case data == "[DONE]":
			return pieces, true
		}
		var p said
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		pieces = append(pieces, p)
	}
	return pieces, false
}

func textOfPieces(pieces []said) string {
	var out strings.Builder
	for _, p := range pieces {
		if len(p.Choices) > 0 && p.Choices[0].Delta.Content != nil {
			out.WriteString(*p.Choices[0].Delta.Content)
		}
	}
	return out.String()
}

const hello = `{"model":"m","messages":[{"role":"system","content":"Speak English."},{"role":"user","content":"2+3?"}]`
