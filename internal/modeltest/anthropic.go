package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (a *answer) anthropicStop() string {
	switch {
	case a.turn.Stop == "length":
		return "max_tokens"
	case a.turn.Stop == "refused":
		return "refusal"
	case len(a.turn.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// anthropicUsage: input_tokens are those that neither came from the cache nor went there.
func (a *answer) anthropicUsage(output int) string {
	u := a.turn.Usage
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":0},"output_tokens":%d,"service_tier":"standard"}`,
		u.Input-u.CacheRead-u.CacheWrite, u.CacheWrite, u.CacheRead, u.CacheWrite, output)
}

func (a *answer) anthropicWhole() string {
	t := a.turn
	var blocks []string
	if t.Thought != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(t.Thought), quote(t.Signature)))
	}
	if t.Redacted != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"redacted_thinking","data":%s}`, quote(t.Redacted)))
	}
	if t.Text != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%s}`, quote(t.Text)))
	}
	for _, c := range t.Calls {
		input := c.Arguments
		if !json.Valid([]byte(input)) {
			input = "{}"
		}
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(c.ID), quote(c.Name), input))
	}
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":%s}`,
		a.req.N, quote(t.Model), strings.Join(blocks, ","), quote(a.anthropicStop()), a.anthropicUsage(t.Usage.Output))
}

func (a *answer) anthropicStream() {
	t := a.turn
	send := func(name, data string) {
		a.event("event: " + name + "\ndata: " + data + "\n\n")
	}
	index := 0
	block := func(start string, deltas ...string) {
		send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, start))
		if index == 0 {
			send("ping", `{"type": "ping"}`)
		}
		for _, d := range deltas {
			send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d))
		}
		send("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
		index++
	}
	wrap := func(kind, key string, pieces []string) []string {
		var out []string
		for _, p := range pieces {
			out = append(out, fmt.Sprintf(`{"type":%s,%s:%s}`, quote(kind), quote(key), quote(p)))
		}
		return out
	}
	a.stream()
	send("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":%s}}`,
		a.req.N, quote(t.Model), a.anthropicUsage(1)))
	if t.Thought != "" {
		deltas := append(wrap("thinking_delta", "thinking", a.pieces(t.Thought)), wrap("signature_delta", "signature", []string{t.Signature})...)
		block(`{"type":"thinking","thinking":"","signature":""}`, deltas...)
	}
	if t.Redacted != "" {
		block(fmt.Sprintf(`{"type":"redacted_thinking","data":%s}`, quote(t.Redacted)))
	}
	if t.Text != "" {
		block(`{"type":"text","text":""}`, wrap("text_delta", "text", a.pieces(t.Text))...)
	}
	for _, c := range t.Calls {
		pieces := append([]string{""}, a.pieces(c.Arguments)...)
		if c.Arguments == "{}" {
			pieces = []string{""} // a call without arguments sends none
		}
		block(fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(c.ID), quote(c.Name)), wrap("input_json_delta", "partial_json", pieces)...)
	}
	if t.FailLate != "" {
		_, body := failure("anthropic", t.FailLate)
		send("error", body)
		return
	}
	usage := fmt.Sprintf(`,"usage":{"output_tokens":%d}`, t.Usage.Output)
	if t.Quirks.NoUsage {
		usage = ""
	}
	send("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null}%s}`, quote(a.anthropicStop()), usage))
	send("message_stop", `{"type":"message_stop"}`)
}
