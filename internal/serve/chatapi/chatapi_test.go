package chatapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/model"
)

// TestToolsRunHere: the client sees an answer, and the tool ran on the server, as the caller.
func TestToolsRunHere(t *testing.T) {
	s := open(t, Config{}, turn{say: []string{"Let me see."}, calls: []model.ToolCall{call("c1", "add", `{"A":2,"B":3}`)}}, turn{say: []string{"It is", " 5."}})
	got := whole(t, s.post(t, "ann", hello+`,"temperature":0.5,"max_tokens":77,"stop":"X","top_p":0.1,"unheard":{"of":1}}`), 200)
	if got.Object != "chat.completion" || *got.Choices[0].Message.Content != "It is 5." || *got.Choices[0].Reason != "stop" || got.Usage.Prompt != 20 || got.Usage.Total != 30 || got.Toolcrib != nil || got.Model != "m" {
		t.Errorf("%+v", got)
	}
	if len(s.callers) != 1 || s.callers[0].Subject != "ann" || s.callers[0].Frontend != "chat" || !strings.HasPrefix(s.callers[0].Session, "chat-") {
		t.Errorf("%+v", s.callers)
	}
	asked := s.model.requests()
	if r := asked[0]; r.System != "Be brief.\n\nSpeak English." || *r.Temperature != 0.5 || r.MaxTokens != 77 || !slices.Equal(r.Stop, []string{"X"}) || len(r.Messages) != 1 || len(r.Tools) == 0 {
		t.Errorf("%+v", r)
	}
	if len(asked) != 2 || len(asked[1].Messages) != 3 {
		t.Errorf("%+v", asked)
	}
}

// TestStreamForm: role first, then text, then why it ended, then usage, then [DONE].
func TestStreamForm(t *testing.T) {
	s := open(t, Config{}, turn{say: []string{"Let me see."}, calls: []model.ToolCall{call("c1", "add", `{"A":2,"B":3}`)}}, turn{say: []string{"It is", " 5."}, stop: model.StopLength})
	pieces, done := streamed(t, s.post(t, "ann", hello+`,"stream":true,"stream_options":{"include_usage":true}}`))
	if !done || len(pieces) < 5 {
		t.Fatalf("%v %+v", done, pieces)
	}
	first, last, usage := pieces[0], pieces[len(pieces)-2], pieces[len(pieces)-1]
	if first.Choices[0].Delta.Role == nil || *first.Choices[0].Delta.Role != "assistant" || first.Object != "chat.completion.chunk" {
		t.Errorf("%+v", first)
	}
	if textOfPieces(pieces) != "Let me see.\n\nIt is 5." {
		t.Errorf("%q", textOfPieces(pieces))
	}
	if *last.Choices[0].Reason != "length" || len(usage.Choices) != 0 || usage.Usage.Total != 30 {
		t.Errorf("%+v %+v", last, usage)
	}
	for _, p := range pieces[:len(pieces)-1] {
		if p.ID != first.ID || p.Usage != nil || p.Toolcrib != nil || len(p.Choices) != 1 {
			t.Errorf("%+v", p)
		}
	}
}

// TestEventsForWhoAsks: tool activity is told to who wants it, beside the form of OpenAI.
func TestEventsForWhoAsks(t *testing.T) {
	script := []turn{{calls: []model.ToolCall{call("c1", "add", `{"A":2,"B":3}`), call("c2", "nothing", `{}`)}}, {say: []string{"5."}}}
	for _, mode := range []string{"stream", "whole"} {
		s := open(t, Config{}, slices.Clone(script)...)
		var events []activity
		if mode == "stream" {
			pieces, _ := streamed(t, s.post(t, "ann", hello+`,"stream":true}`, EventsHeader, "1"))
			for _, p := range pieces {
				if len(p.Choices) != 1 {
					t.Errorf("%+v", p)
				}
				if p.Toolcrib != nil {
					events = append(events, p.Toolcrib.Events...)
				}
			}
		} else {
			events = whole(t, s.post(t, "ann", hello+`,"toolcrib":{"events":true}}`), 200).Toolcrib.Events
		}
		var seen []string
		for _, e := range events {
			seen = append(seen, e.Event+" "+e.Tool)
		}
		if !slices.Contains(seen, "tool_call add") || !slices.Contains(seen, "tool_result add") || !strings.Contains(fmt.Sprint(events), `"Sum":5`) {
			t.Errorf("%s: %+v", mode, events)
		}
	}
}

// TestClientTools: tools of the client are called back to it, ours run here, and the client's
// answer goes on with the conversation.
func TestClientTools(t *testing.T) {
	tools := `,"tools":[{"type":"function","function":{"name":"lamp","description":"Switches.","parameters":{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}}}]`
	both := []model.ToolCall{call("c1", "lamp", `{"on":true}`), call("c2", "add", `{"A":1,"B":1}`)}
	for _, stream := range []bool{false, true} {
		s := open(t, Config{}, turn{calls: both}, turn{calls: both[:1]})
		var calls []chatCall
		var reason string
		if stream {
			pieces, done := streamed(t, s.post(t, "ann", hello+tools+`,"stream":true}`))
			for _, p := range pieces {
				calls = append(calls, p.Choices[0].Delta.Calls...)
			}
			reason = *pieces[len(pieces)-1].Choices[0].Reason
			if !done || calls[0].Index == nil {
				t.Errorf("%v %+v", done, calls)
			}
		} else {
			got := whole(t, s.post(t, "ann", hello+tools+`}`), 200)
			calls, reason = got.Choices[0].Message.Calls, *got.Choices[0].Reason
		}
		if reason != "tool_calls" || len(calls) != 1 || calls[0].ID != "c1" || calls[0].Type != "function" || calls[0].Function.Name != "lamp" || calls[0].Function.Arguments != `{"on":true}` {
			t.Errorf("%s %+v", reason, calls)
		}
		if len(s.callers) != 1 { // ours ran
			t.Errorf("%+v", s.callers)
		}
	}
	s := open(t, Config{}, turn{say: []string{"It is on."}})
	got := whole(t, s.post(t, "ann", `{"model":"m","messages":[{"role":"user","content":"on"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":"{\"on\":true}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}]`+tools+`}`), 200)
	if *got.Choices[0].Message.Content != "It is on." {
		t.Errorf("%+v", got)
	}
	if m := s.model.requests()[0].Messages; len(m) != 3 || m[1].Calls[0].Name != "lamp" || m[2].CallID != "c1" || m[2].Said() != "done" {
		t.Errorf("%+v", m)
	}
}

// TestModelErrors: what the model's service says has a status, and is not sent again by an SDK
// once a tool was called.
func TestModelErrors(t *testing.T) {
	for kind, status := range map[string]int{model.BadKey: 502, model.BadRequest: 400, model.TooLong: 400, model.Busy: 429, model.Broken: 502, model.Away: 503} {
		failing := turn{err: &model.Error{Kind: kind, Status: 418, Message: "no"}}
		for _, stream := range []string{"false", "true"} {
			s := open(t, Config{}, failing, failing, failing)
			resp := s.post(t, "ann", hello+`,"stream":`+stream+`}`)
			if got := whole(t, resp, status); resp.Header.Get("X-Should-Retry") != "" || kind == model.Busy && resp.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %+v %v", kind, got, resp.Header)
			}
			s = open(t, Config{}, turn{calls: []model.ToolCall{call("c1", "add", `{"A":2,"B":3}`)}}, failing, failing, failing)
			resp = s.post(t, "ann", hello+`,"stream":`+stream+`}`)
			if whole(t, resp, status); resp.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s: %v", kind, resp.Header)
			}
		}
	}
	s := open(t, Config{}, turn{say: []string{"Hm."}, calls: []model.ToolCall{call("c1", "add", `{"A":2,"B":3}`)}}, turn{err: &model.Error{Kind: model.Broken, Message: "cut"}})
	pieces, done := streamed(t, s.post(t, "ann", hello+`,"stream":true}`))
	if last := pieces[len(pieces)-1]; done || last.Error == nil || !strings.Contains(last.Error.Message, "cut") {
		t.Errorf("%v %+v", done, pieces)
	}
}

// TestKeepAlive: a stream says something while a person is asked, in pieces that every client
// takes, and what nobody allowed does not happen.
func TestKeepAlive(t *testing.T) {
	s := open(t, Config{KeepAlive: 20 * time.Millisecond}, turn{calls: []model.ToolCall{call("c1", "wipe", `{}`)}}, turn{say: []string{"I may not."}})
	s.crib.Limits.Ask = 400 * time.Millisecond
	s.crib.Approver = silent{}
	pieces, done := streamed(t, s.post(t, "ann", hello+`,"stream":true}`))
	empty := 0
	for _, p := range pieces {
		if c := p.Choices[0].Delta.Content; c != nil && *c == "" && p.Choices[0].Delta.Role == nil {
			empty++
		}
	}
	if !done || empty == 0 || textOfPieces(pieces) != "I may not." {
		t.Errorf("%v, %d kept it alive: %q", done, empty, textOfPieces(pieces))
	}
	last := s.model.requests()[1].Messages
	if m := last[len(last)-1]; m.Role != model.Tool || !m.Failed {
		t.Errorf("%+v", m)
	}
}

// silent is a person who never answers.
type silent struct{}

func (silent) Approve(ctx context.Context, _ toolcrib.Question) (toolcrib.Answer, error) {
	<-ctx.Done()
	return toolcrib.Answer{}, ctx.Err()
}

// TestGone: when the client hangs up, the run ends.
func TestGone(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	s := open(t, Config{}, turn{wait: func(ctx context.Context) {
		close(asked)
		<-ctx.Done()
		close(ended)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+ChatPath, strings.NewReader(hello+`,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ann")
	go func() {
		<-asked
		cancel()
	}()
	resp, err := s.Client().Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the run goes on")
	}
}

// TestSessions: one conversation is one session, of one token, and nobody can name another's.
func TestSessions(t *testing.T) {
	first, later := hello+"}", `{"model":"m","messages":[{"role":"system","content":"Speak English."},{"role":"user","content":"2+3?"},{"role":"assistant","content":"5"},{"role":"user","content":"+1?"}]}`
	s := open(t, Config{}, slices.Repeat([]turn{{say: []string{"x"}}}, 9)...)
	for _, r := range []struct{ who, body, header string }{
		{"ann", first, ""}, {"ann", later, ""}, {"bob", first, ""}, {"ann", first, "a"}, {"bob", first, "a"}, {"ann", later, "a"},
		{"ann", hello + `,"user":"u"}`, ""}, {"ann", hello + `,"metadata":{"session_id":"u"}}`, ""}, {"ann", hello + `,"metadata":{"session_id":["u"]}}`, ""},
	} {
		header := []string{}
		if r.header != "" {
			header = append(header, SessionHeader, r.header)
		}
		whole(t, s.post(t, r.who, r.body, header...), 200)
	}
	if len(s.agents) != int(s.back.Load()) {
		t.Errorf("%d agents, %d were given back", len(s.agents), s.back.Load())
	}
	at := func(i int) string { return s.agents[i].Session }
	if at(0) != at(1) || at(0) == at(2) || at(3) == at(4) || at(3) != at(5) || at(3) == at(0) || at(6) != at(7) || at(8) != at(0) {
		t.Errorf("%+v", s.agents)
	}
}

// TestImages: images go to the model as they came.
func TestImages(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"Look."}]},{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]}]}`
	s := open(t, Config{}, turn{say: []string{"A dot."}})
	whole(t, s.post(t, "ann", body), 200)
	r := s.model.requests()[0]
	if p := r.Messages[0].Parts; len(p) != 2 || p[1].MIME != "image/png" || string(p[1].Data) != "\x89PNG" || !strings.HasSuffix(r.System, "Look.") {
		t.Errorf("%+v", r)
	}
	s.model.traits.Images = false
	whole(t, s.post(t, "ann", body), 400)
}

// TestModels: what may be named is listed.
func TestModels(t *testing.T) {
	s := open(t, Config{})
	for path, want := range map[string]struct {
		status int
		text   string
	}{"": {200, `{"object":"list","data":[{"id":"m","object":"model","created":0,"owned_by":"toolcrib"}`}, "/agent/coder": {200, `"id":"agent/coder"`}, "/none": {404, "model_not_found"}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+ModelsPath+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer ann")
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// TestFormats: a form of the answer is asked for in words.
func TestFormats(t *testing.T) {
	s := open(t, Config{}, turn{say: []string{"{}"}}, turn{say: []string{"{}"}})
	whole(t, s.post(t, "ann", hello+`,"response_format":{"type":"json_object"}}`), 200)
	whole(t, s.post(t, "ann", hello+`,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","required":["odd"]}}}}`), 200)
	if asked := s.model.requests(); !strings.Contains(asked[0].System, "JSON object") || !strings.Contains(asked[1].System, `"odd"`) {
		t.Errorf("%+v", asked)
	}
}

// TestReActHasNoClientTools: a model that is asked in text cannot be given the client's tools.
func TestReActHasNoClientTools(t *testing.T) {
	s := open(t, Config{}, turn{say: []string{"x"}})
	s.model.traits.Tools = false
	if got := whole(t, s.post(t, "ann", hello+`,"tools":[{"type":"function","function":{"name":"lamp"}}]}`), 400); *got.Error.Param != "tools" {
		t.Errorf("%+v", got.Error)
	}
}
