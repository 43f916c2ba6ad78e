package chatapi

import (
	"net/http"

	"github.com/toolcrib/toolcrib/model"
)

// completion is a whole answer, and a piece of one in a stream.
type completion struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []choice      `json:"choices"`
	Usage   *usage        `json:"usage,omitempty"`
	Own     *ownExtension `json:"toolcrib,omitempty"`
}

type choice struct {
	Index    int          `json:"index"`
	Message  *wholeAnswer `json:"message,omitempty"`
	Delta    *delta       `json:"delta,omitempty"`
	Logprobs *struct{}    `json:"logprobs"`
	Reason   *string      `json:"finish_reason"`
}

type wholeAnswer struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"` // null beside calls, if nothing was said
	Refusal *string    `json:"refusal"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

type delta struct {
	Role    string     `json:"role,omitempty"`
	Content *string    `json:"content,omitempty"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// ownExtension is what Toolcrib adds for clients that asked for it.
type ownExtension struct {
	Events []activity `json:"events,omitempty"`
}

func usageOf(u model.Usage) *usage {
	out := &usage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	out.Details.Cached = u.CacheRead
	return out
}

// whole answers when the run has ended.
func (s *server) whole(w http.ResponseWriter, r *http.Request, run *run) {
	var events []activity
	out, err := run.do(r.Context(), func(string) {}, func(a activity) { events = append(events, a) })
	if err != nil {
		if r.Context().Err() != nil && run.calls == 0 {
			return // the client has gone
		}
		no := *refusalOf(err, run.req.Model)
		no.Final = run.calls > 0
		fail(w, &no)
		return
	}
	reason, calls, used := run.asked.ended()
	message := &wholeAnswer{Role: roleAssistant, Calls: calls}
	if out.Text != "" || len(calls) == 0 {
		message.Content = &out.Text
	}
	body := completion{ID: run.id, Object: "chat.completion", Created: run.made, Model: run.req.Model, Choices: []choice{{Message: message, Reason: &reason}}, Usage: usageOf(used)}
	if run.req.Own.Events {
		body.Own = &ownExtension{Events: events}
	}
	send(w, http.StatusOK, body)
}
