package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (a *answer) geminiStop() string {
	switch a.turn.Stop {
	case "length":
		return "MAX_TOKENS"
	case "refused":
		return "SAFETY"
	}
	return "STOP"
}

func (a *answer) geminiUsage() string {
	u := a.turn.Usage
	if a.turn.Quirks.NoUsage {
		return ""
	}
	return fmt.Sprintf(`,"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d,"cachedContentTokenCount":%d,"thoughtsTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%d}]}`,
		u.Input, u.Output-u.Thoughts, u.Input+u.Output, u.CacheRead, u.Thoughts, u.Input)
}

func (a *answer) geminiCall(c Call) string {
	args := c.Arguments
	if !json.Valid([]byte(args)) {
		args = "{}"
	}
	sign := ""
	if c.Signature != "" {
		sign = `,"thoughtSignature":` + quote(c.Signature)
	}
	id := ""
	if !a.turn.Quirks.NoID && !strings.HasPrefix(c.ID, "call_") {
		id = `"id":` + quote(c.ID) + `,`
	}
	return fmt.Sprintf(`{"functionCall":{%s"name":%s,"args":%s}%s}`, id, quote(c.Name), args, sign)
}

func (a *answer) geminiBody(parts []string, finish, usage string) string {
	if finish != "" {
		finish = `"finishReason":` + quote(finish) + `,`
	}
	content := `"content":{"parts":[` + strings.Join(parts, ",") + `],"role":"model"},`
	if len(parts) == 0 {
		content = `"content":{"role":"model"},`
	}
	return fmt.Sprintf(`{"candidates":[{%s%s"index":0}]%s,"modelVersion":%s,"responseId":"resp-%d"}`, content, finish, usage, quote(a.turn.Model), a.req.N)
}

func (a *answer) geminiThought(text string) string {
	return fmt.Sprintf(`{"text":%s,"thought":true}`, quote(text))
}

func (a *answer) geminiText(text, signature string) string {
	if signature != "" {
		signature = `,"thoughtSignature":` + quote(signature)
	}
	return fmt.Sprintf(`{"text":%s%s}`, quote(text), signature)
}

func (a *answer) geminiWhole() string {
	t := a.turn
	var parts []string
	if t.Thought != "" {
		parts = append(parts, a.geminiThought(t.Thought))
	}
	if t.Text != "" {
		parts = append(parts, a.geminiText(t.Text, t.Signature))
	}
	for _, c := range t.Calls {
		parts = append(parts, a.geminiCall(c))
	}
	return a.geminiBody(parts, a.geminiStop(), a.geminiUsage())
}

// geminiStream sends events with the line ends of that service.
func (a *answer) geminiStream() {
	t := a.turn
	a.stream()
	send := func(body string) { a.event("data: " + body + "\r\n\r\n") }
	for _, p := range a.pieces(t.Thought) {
		send(a.geminiBody([]string{a.geminiThought(p)}, "", a.geminiUsage()))
	}
	for i, p := range a.pieces(t.Text) {
		signature := ""
		if i == 0 {
			signature = t.Signature
		}
		send(a.geminiBody([]string{a.geminiText(p, signature)}, "", a.geminiUsage()))
	}
	var calls []string
	for _, c := range t.Calls {
		calls = append(calls, a.geminiCall(c))
	}
	if len(calls) > 0 {
		send(a.geminiBody(calls, "", a.geminiUsage()))
	}
	if t.FailLate != "" {
		_, body := failure("gemini", t.FailLate)
		send(strings.ReplaceAll(body, "\n", ""))
		return
	}
	send(a.geminiBody([]string{`{"text":""}`}, a.geminiStop(), a.geminiUsage()))
}
