package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// scriptedCall is one call of a tool that a scripted model makes.
type scriptedCall struct {
	tool, input string // the input is JSON as the model writes it, or what is none
}

// scriptedModel stands for the model of a client: it makes its calls one by one, each in
// an answer of its own, and remembers all that it was sent.
type scriptedModel struct {
	*httptest.Server
	mu    sync.Mutex
	calls []scriptedCall
	sent  []string // the bodies of requests
	made  int
}

// newScriptedModel speaks the API of a client: how writes one answer with a call, or the
// last one without.
func newScriptedModel(t *testing.T, calls []scriptedCall, how func(w io.Writer, n int, call *scriptedCall)) *scriptedModel {
	m := &scriptedModel{calls: calls}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") && !strings.HasSuffix(r.URL.Path, "/responses") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":[],"models":[],"input_tokens":1}`)
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sent = append(m.sent, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		// Clients ask about other things too, such as a title. Only a request with tools
		// is a turn.
		var asked struct {
			Tools []json.RawMessage `json:"tools"`
		}
		if json.Unmarshal(body, &asked) != nil || len(asked.Tools) < 3 || m.made == len(m.calls) {
			how(w, m.made, nil)
			return
		}
		m.made++
		how(w, m.made, &m.calls[m.made-1])
	}))
	t.Cleanup(m.Close)
	return m
}

// all is everything that the model was sent.
func (m *scriptedModel) all() (sent string, made int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.sent, "\n"), m.made
}

func event(w io.Writer, name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text) // a client that has gone needs no answer
}

type jsonObject = map[string]any

// anthropicAnswer is an answer as the Messages API streams it.
func anthropicAnswer(w io.Writer, n int, call *scriptedCall) {
	event(w, "message_start", jsonObject{"type": "message_start", "message": jsonObject{"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "stop_reason": nil, "usage": jsonObject{"input_tokens": 1, "output_tokens": 1}}})
	stop := "end_turn"
	if call == nil {
		event(w, "content_block_start", jsonObject{"type": "content_block_start", "index": 0, "content_block": jsonObject{"type": "text", "text": ""}})
		event(w, "content_block_delta", jsonObject{"type": "content_block_delta", "index": 0, "delta": jsonObject{"type": "text_delta", "text": "done"}})
	} else {
		stop = "tool_use"
		event(w, "content_block_start", jsonObject{"type": "content_block_start", "index": 0, "content_block": jsonObject{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": call.tool, "input": jsonObject{}}})
		event(w, "content_block_delta", jsonObject{"type": "content_block_delta", "index": 0, "delta": jsonObject{"type": "input_json_delta", "partial_json": call.input}})
	}
	event(w, "content_block_stop", jsonObject{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", jsonObject{"type": "message_delta", "delta": jsonObject{"stop_reason": stop}, "usage": jsonObject{"output_tokens": 1}})
	event(w, "message_stop", jsonObject{"type": "message_stop"})
}

// openAIAnswer is an answer as the Responses API streams it. A tool of a server is named
// namespace and name, with a dot between them here.
func openAIAnswer(w io.Writer, n int, call *scriptedCall) {
	id := fmt.Sprint("resp_", n)
	event(w, "response.created", jsonObject{"type": "response.created", "response": jsonObject{"id": id}})
	item := jsonObject{"type": "message", "id": fmt.Sprint("m_", n), "role": "assistant", "content": []any{jsonObject{"type": "output_text", "text": "done"}}}
	if call != nil {
		item = jsonObject{"type": "function_call", "id": fmt.Sprint("f_", n), "call_id": fmt.Sprint("call_", n), "name": call.tool, "arguments": call.input}
		if space, name, ok := strings.Cut(call.tool, "."); ok {
			item["namespace"], item["name"] = space, name
		}
		if call.tool == "apply_patch" {
			item = jsonObject{"type": "custom_tool_call", "id": fmt.Sprint("c_", n), "call_id": fmt.Sprint("call_", n), "name": call.tool, "input": call.input}
		}
	}
	event(w, "response.output_item.done", jsonObject{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", jsonObject{"type": "response.completed", "response": jsonObject{"id": id, "usage": jsonObject{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}
