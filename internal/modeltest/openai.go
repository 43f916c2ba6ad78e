package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (a *answer) openaiStop() string {
	switch {
	case a.turn.Stop == "length":
		return "length"
	case a.turn.Stop == "refused":
		return "content_filter"
	case len(a.turn.Calls) > 0 && !a.turn.Quirks.StopWithCalls:
		return "tool_calls"
	}
	return "stop"
}

func (a *answer) openaiUsage() string {
	u := a.turn.Usage
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":%d,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`,
		u.Input, u.Output, u.Input+u.Output, u.CacheRead, u.Thoughts)
}

func (a *answer) openaiArguments(text string) string {
	if a.turn.Quirks.ArgumentsObject && json.Valid([]byte(text)) {
		return text
	}
	return quote(text)
}

func (a *answer) openaiThought() string {
	if a.turn.Quirks.Reasoning {
		return "reasoning"
	}
	return "reasoning_content"
}

func (a *answer) openaiWhole() string {
	t := a.turn
	var m strings.Builder
	m.WriteString(`{"role":"assistant","content":`)
	if t.Text == "" && len(t.Calls) > 0 {
		m.WriteString("null")
	} else {
		m.WriteString(quote(t.Text))
	}
	if t.Thought != "" {
		fmt.Fprintf(&m, `,%s:%s`, quote(a.openaiThought()), quote(t.Thought))
	}
	for i, c := range t.Calls {
		m.WriteString([]string{`,"tool_calls":[`, ","}[min(i, 1)])
		id := `"id":` + quote(c.ID) + ","
		if t.Quirks.NoID {
			id = ""
		}
		fmt.Fprintf(&m, `{%s"type":"function","function":{"name":%s,"arguments":%s}}`, id, quote(c.Name), a.openaiArguments(c.Arguments))
	}
	if len(t.Calls) > 0 {
		m.WriteString("]")
	}
	m.WriteString(`,"refusal":null,"annotations":[]}`)
	usage := `,"usage":` + a.openaiUsage()
	if t.Quirks.NoUsage {
		usage = ""
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":1763000000,"model":%s,"choices":[{"index":0,"message":%s,"logprobs":null,"finish_reason":%s}]%s,"service_tier":"default","system_fingerprint":null}`,
		a.req.N, quote(t.Model), m.String(), quote(a.openaiStop()), usage) + "\n"
}

func (a *answer) openaiStream() {
	t := a.turn
	var asked struct {
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	_ = json.Unmarshal(a.req.Body, &asked) // it was read once already
	withUsage := asked.StreamOptions.IncludeUsage && !t.Quirks.NoUsage
	data := "data: "
	if t.Quirks.NoSpace {
		data = "data:"
	}
	send := func(choices, usage string) {
		if withUsage {
			usage = `,"usage":` + usage
		} else {
			usage = ""
		}
		if t.Quirks.Comments {
			a.bytes(": OPENROUTER PROCESSING\n\n")
		}
		a.event(fmt.Sprintf(`%s{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1763000000,"model":%s,"service_tier":"default","system_fingerprint":null,"choices":%s%s,"obfuscation":"k2"}`+"\n\n",
			data, a.req.N, quote(t.Model), choices, usage))
	}
	delta := func(d string) {
		send(`[{"index":0,"delta":`+d+`,"logprobs":null,"finish_reason":null}]`, "null")
	}
	a.stream()
	delta(`{"role":"assistant","content":"","refusal":null}`)
	for _, p := range a.pieces(t.Thought) {
		delta(`{` + quote(a.openaiThought()) + `:` + quote(p) + `}`)
	}
	for _, p := range a.pieces(t.Text) {
		delta(`{"content":` + quote(p) + `}`)
	}
	for i, c := range t.Calls {
		a.openaiCall(i, c, delta)
	}
	if t.FailLate != "" {
		_, body := failure("openai", t.FailLate)
		a.event(data + body + "\n\n")
		return
	}
	send(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":`+quote(a.openaiStop())+`}]`, "null")
	if withUsage {
		send("[]", a.openaiUsage())
	}
	if !t.Quirks.NoDone {
		a.event(data + "[DONE]\n\n")
	}
}

// openaiCall sends one call: its name first, and its arguments in pieces.
func (a *answer) openaiCall(i int, c Call, delta func(string)) {
	q := a.turn.Quirks
	index, id := fmt.Sprintf(`"index":%d,`, i), `"id":`+quote(c.ID)+`,`
	if q.NoIndex {
		index = ""
	}
	if q.NoID {
		id = ""
	}
	whole := q.WholeCalls || q.ArgumentsObject || q.NoIndex && q.NoID
	first := `""`
	if whole {
		first = a.openaiArguments(c.Arguments)
	}
	delta(fmt.Sprintf(`{"tool_calls":[{%s%s"type":"function","function":{"name":%s,"arguments":%s}}]}`, index, id, quote(c.Name), first))
	if whole {
		return
	}
	for _, p := range a.pieces(c.Arguments) {
		delta(fmt.Sprintf(`{"tool_calls":[{%s"function":{"arguments":%s}}]}`, index, quote(p)))
	}
}
