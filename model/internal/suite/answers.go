package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

func (a Adapter) answers(t *testing.T) {
	for _, turn := range []modeltest.Turn{
		{Text: "Hello."},
		{Text: "Grüße aus 東京 👋🏽 <&>\u2028 \"quoted\" \\ and\nlines"},
		{Text: strings.Repeat("long ", 2000), Piece: 3},
		{Thought: "Hm, 日本…", Signature: "c2lnbg==", Text: "yes"},
		{Calls: []modeltest.Call{{Name: "now"}}},
		{Text: "Let me look.", Calls: []modeltest.Call{{Name: "read", Arguments: `{"path":"ä \"b\".txt","lines":[1,2.5e3,null,true],"deep":{"a":{"b":"🙂"}}}`}, {Name: "now"}, {Name: "read", Arguments: `{"path":"c"}`}}},
		{Thought: "first", Signature: "eA==", Calls: []modeltest.Call{{Name: "a", Arguments: `{"x":1}`}, {Name: "b", Arguments: `{"y":2}`}}, Usage: modeltest.Usage{Input: 1000, Output: 70, CacheRead: 600, Thoughts: 20}},
	} {
		for _, chunk := range []int{0, 1, 3, 7, 1000} {
			if len(turn.Text) > 5000 && chunk > 0 && chunk < 7 {
				continue // thousands of tiny writes tell nothing new
			}
			for _, stream := range []bool{true, false} {
				turn.Chunk = chunk
				t.Run(fmt.Sprintf("%.10s/%d/%v", turn.Text, chunk, stream), func(t *testing.T) { a.answer(t, turn, stream) })
			}
		}
	}
}

func (a Adapter) answer(t *testing.T, turn modeltest.Turn, stream bool) {
	m := a.open(t, modeltest.New(t, turn), func(e *model.Endpoint) { e.NoStream = !stream })
	h := &heard{}
	got, err := m.Ask(t.Context(), hello(), h.emit)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range turn.Calls {
		names = append(names, c.Name)
	}
	if want := (&heard{turn.Text, turn.Thought, names}); h.String() != want.String() {
		t.Errorf("told %q, want %q", h, want)
	}
	if got.Message.Said() != turn.Text || got.Message.Role != model.Assistant || got.Model != "scripted" {
		t.Errorf("answered %+v", got)
	}
	if len(got.Message.Calls) != len(turn.Calls) {
		t.Fatalf("made %d calls, want %d", len(got.Message.Calls), len(turn.Calls))
	}
	ids := map[string]bool{}
	for i, c := range got.Message.Calls {
		want := turn.Calls[i].Arguments
		if want == "" {
			want = "{}"
		}
		if c.Name != turn.Calls[i].Name || c.ID == "" || ids[c.ID] || !sameJSON(string(c.Arguments), want) {
			t.Errorf("call %d is %+v, want %+v", i, c, turn.Calls[i])
		}
		ids[c.ID] = true
	}
	stop := model.StopEnd
	if len(turn.Calls) > 0 {
		stop = model.StopCalls
	}
	usage := model.Usage{Input: 10, Output: 5}
	if turn.Usage.Input > 0 {
		usage = model.Usage{Input: 1000, Output: 70, CacheRead: 600}
	}
	if got.Stop != stop || got.Usage != usage {
		t.Errorf("stopped by %q with %+v", got.Stop, got.Usage)
	}
}

func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && x.String() == y.String()
}

func (a Adapter) stops(t *testing.T) {
	for _, stop := range []string{model.StopLength, model.StopRefused} {
		for _, stream := range []bool{true, false} {
			m := a.open(t, modeltest.New(t, modeltest.Turn{Text: "I", Stop: stop}), func(e *model.Endpoint) { e.NoStream = !stream })
			got, err := m.Ask(t.Context(), hello(), nil)
			if err != nil || got.Stop != stop {
				t.Errorf("%s: %+v, %v", stop, got, err)
			}
		}
	}
}

// conversation: all that can be in a request arrives, in the words of the API.
func (a Adapter) conversation(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Text: "ok"})
	m := a.open(t, s)
	picture := model.Part{Data: []byte("\x89PNG\r\n"), MIME: "image/png"}
	half := 0.5
	_, err := m.Ask(t.Context(), model.Request{
		System: "Be brief.",
		Messages: []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: "look at "}, picture, {Text: "this"}}},
			{Role: model.Assistant, Parts: []model.Part{{Text: "hm", Thought: true}, {Text: "I look."}}, Calls: []model.ToolCall{
				{ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
				{ID: "call_2", Name: "read", Arguments: json.RawMessage(`{"path":`)}, // not JSON: must not spoil the request
			}},
			{Role: model.Tool, CallID: "call_1", Name: "read", Parts: []model.Part{{Text: "content of a"}, picture}},
			{Role: model.Tool, CallID: "call_2", Name: "read", Failed: true, Parts: []model.Part{{Text: "no JSON"}}},
			model.Text(model.Assistant, "There it is."),
			model.Text(model.User, "thanks"),
		},
		Tools:   []json.RawMessage{tool(a.API, "read")},
		NoCalls: true, MaxTokens: 100, Stop: []string{"END"}, Temperature: &half, Cache: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	if r.System != "Be brief." || r.Model != "scripted" || !r.Stream || len(r.Tools) != 1 || r.Tools[0] != "read" {
		t.Errorf("%+v", r)
	}
	var said []string
	for _, msg := range r.Messages {
		said = append(said, msg.Role+":"+msg.Text)
		for _, c := range msg.Calls {
			said = append(said, c.ID+c.Name+c.Arguments)
		}
		said = append(said, msg.CallID+"\n")
	}
	all := strings.Join(said, " ")
	for _, want := range []string{"user:look at this", `I look. call_1read{"path":"a"} call_2read{}`, "tool:content of a call_1", "tool:no JSON call_2", "assistant:There it is.", "user:thanks"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.Contains(string(r.Body), "hm") {
		t.Errorf("thoughts of another went along: %s", r.Body)
	}
	if n := strings.Count(string(r.Body), "iVBOR"); n != 2 {
		t.Errorf("%d images arrived, want 2: %s", n, r.Body)
	}
	for _, want := range []string{"100", "END", "0.5"} {
		if !strings.Contains(string(r.Body), want) {
			t.Errorf("no %s in %s", want, r.Body)
		}
	}
	if !strings.Contains(strings.ToLower(string(r.Body)), `"none"`) {
		t.Errorf("calls are not forbidden: %s", r.Body)
	}
}

// tool is a definition in the form of an API.
func tool(api, name string) json.RawMessage {
	switch api {
	case "openai":
		return json.RawMessage(`{"type":"function","function":{"name":"` + name + `","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`)
	case "anthropic":
		return json.RawMessage(`{"name":"` + name + `","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`)
	}
	return json.RawMessage(`{"name":"` + name + `","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING"}}}}`)
}

// thoughts: what the service wants back it gets back, if it is the same one.
func (a Adapter) thoughts(t *testing.T) {
	for _, stream := range []bool{true, false} {
		s := modeltest.New(t, modeltest.Turn{Thought: "deep thought", Signature: "U0lH", Text: "I look.", Calls: []modeltest.Call{{Name: "read", Arguments: `{"path":"a"}`, Signature: "Q0FMTA=="}}}, modeltest.Turn{Text: "done"}, modeltest.Turn{Text: "done"})
		change := func(e *model.Endpoint) { e.NoStream = !stream }
		m := a.open(t, s, change)
		first, err := m.Ask(t.Context(), hello(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(first.Message) // as sessions keep it
		if err != nil {
			t.Fatal(err)
		}
		var back model.Message
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		r := hello()
		r.Messages = append(r.Messages, back, model.Message{Role: model.Tool, CallID: back.Calls[0].ID, Name: "read", Parts: []model.Part{{Text: "content"}}})
		if _, err := m.Ask(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		other := a.open(t, s, change, func(e *model.Endpoint) { e.Model = "other" })
		if _, err := other.Ask(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		same, strange := string(s.Requests()[1].Body), string(s.Requests()[2].Body)
		want := map[string]string{"openai": "deep thought", "anthropic": "U0lH", "gemini": "Q0FMTA=="}[a.API]
		if !strings.Contains(same, want) || strings.Contains(strange, want) || strings.Contains(strange, "deep thought") {
			t.Errorf("sent back:\n%s\nto another model:\n%s", same, strange)
		}
		if strings.Count(same, "I look.") != 1 {
			t.Errorf("the text is there %d times: %s", strings.Count(same, "I look."), same)
		}
	}
}
