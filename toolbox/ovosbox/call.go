package ovosbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/retry"
)

// tool makes the tool of a claim.
func (b *Box) tool(r *remote, c claimedTool) toolcrib.Tool {
	id, static := r.id, r.static
	limit := b.limit(id, c)
	return toolcrib.Tool{
		Spec: toolcrib.Spec{
			Name: toolName(id, c.name), Title: c.name, Description: c.doc, Input: c.input, Output: c.output,
			Effects: b.effects(id, c.name), Group: "ovos", Timeout: limit,
		},
		Preview: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (string, error) {
			return "", b.here(ctx)
		},
		Run: func(ctx context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			return b.call(ctx, id, c, static, input)
		},
	}
}

// here says that there is no bus, before a person is asked about a call over it. A
// bus that cannot tell is there.
func (b *Box) here(ctx context.Context) error {
	bus, ok := b.bus.(interface{ Here(context.Context) error })
	if !ok {
		return nil
	}
	if err := bus.Here(ctx); errors.Is(err, ErrAway) {
		return errAway(err)
	}
	return nil
}

func errAway(err error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the OpenVoiceOS bus is not there; nothing was sent, try again later", Err: err}
}

// effects is what the owner of this program says; a host is not asked.
func (b *Box) effects(id, name string) toolcrib.Effects {
	if e, ok := b.cfg.Effects[id+"/"+name]; ok {
		return e
	}
	return b.cfg.Effects[id]
}

// limit is the longest a call of a tool may take.
func (b *Box) limit(id string, c claimedTool) time.Duration {
	for _, key := range []string{id + "/" + c.name, id} {
		if d := b.cfg.Timeouts[key]; d > 0 {
			return d
		}
	}
	if c.timeout {
		return max(b.cfg.Timeout, b.cfg.MaxTimeout)
	}
	return b.cfg.Timeout
}

// grace is what a host has beyond the timeout that its tool was given.
const grace = 10 * time.Second

// deadline is how long this call may take: a tool that is told its timeout
// gets that and a little more, so that its own answer about it arrives.
func (b *Box) deadline(id string, c claimedTool, input json.RawMessage) time.Duration {
	limit := b.limit(id, c)
	if !c.timeout {
		return limit
	}
	var args struct {
		Timeout *float64 `json:"timeout"`
	}
	if json.Unmarshal(input, &args) != nil || args.Timeout == nil || !(*args.Timeout > 0) {
		return min(limit, b.cfg.Timeout)
	}
	asked := limit
	if seconds := *args.Timeout; seconds < math.MaxInt32 {
		asked = time.Duration(seconds*float64(time.Second)) + grace
	}
	return min(limit, max(asked, b.cfg.Timeout))
}

// callMessage is the request to run a tool.
func callMessage(id, name string, input json.RawMessage, static bool) Message {
	data := map[string]any{"name": name, "kwargs": input}
	topic := topicPrefix + id + topicSuffix
	if static {
		topic = topicCall
		data["toolbox_id"] = id
	}
	body, err := jsontext.Marshal(data)
	if err != nil { // an input that is no JSON; the bus refuses it
		return Message{Type: topic, Data: input}
	}
	return Message{Type: topic, Data: body}
}

// fromBox chooses the answers of one toolbox; the topic may be shared.
func fromBox(id string) func(Message) bool {
	return func(m Message) bool {
		got, err := announcedBy(m.Data)
		return err != nil || got == id // old hosts may leave it out
	}
}

// call runs a tool on its host. It is never sent twice.
func (b *Box) call(ctx context.Context, id string, c claimedTool, static bool, input json.RawMessage) (*toolcrib.Result, error) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	limit := b.deadline(id, c, input)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	waiting, end := context.WithCancelCause(timed)
	defer end(nil)
	go b.guard(waiting, id, static, limit, end)
	answer, err := b.bus.Ask(waiting, callMessage(id, c.name, input, static), fromBox(id))
	switch {
	case err == nil:
		return b.result(id, answer.Data), nil
	case errors.Is(err, ErrAway):
		return nil, retry.Safe(errAway(err))
	case ctx.Err() != nil:
		b.lookAgain(id)
		return nil, ctx.Err()
	case errors.Is(context.Cause(waiting), errGone):
		b.gone(id)
		return nil, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: fmt.Sprintf("the host of the toolbox %s is gone, or hangs: it answers nothing any more; whether it did what it was asked to is not known", id), Err: errGone}
	case waiting.Err() != nil:
		b.lookAgain(id)
		return nil, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: fmt.Sprintf("the toolbox %s did not answer within %v; it may be gone, or still at work", id, limit), Err: err}
	}
	return nil, fmt.Errorf("calling the toolbox %s over the bus: %w", id, err)
}

// lookAgain has a toolbox looked for again that did not answer: it may be gone, or
// be called in another way now.
func (b *Box) lookAgain(id string) {
	b.mu.Lock()
	if r := b.remotes[id]; r != nil {
		r.doubted = true
	}
	b.mu.Unlock()
	b.Look()
}

// gone has a toolbox taken off the list unless its host is found again now.
func (b *Box) gone(id string) {
	b.mu.Lock()
	if r := b.remotes[id]; r != nil {
		r.doubted, r.missed = true, maxMissed-1
	}
	b.mu.Unlock()
	b.Look()
}

// result reads an answer to a call. Whatever a host answers is a result: it
// has had the call, and may have done something.
func (b *Box) result(id string, data json.RawMessage) *toolcrib.Result {
	if len(data) > b.cfg.MaxResult {
		return toolcrib.Failed(fmt.Sprintf("the toolbox %s answered with %d bytes; the limit is %d", id, len(data), b.cfg.MaxResult))
	}
	r, unknown := parseAnswer(id, data)
	if unknown {
		b.Look() // its tools are not those that it announced
	}
	return r
}

const maxError = 4 << 10

// parseAnswer reads the data of an answer to a call, and whether it says that
// there is no such tool.
func parseAnswer(id string, data json.RawMessage) (result *toolcrib.Result, unknown bool) {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(data, &answer); err != nil {
		return toolcrib.Failed("the toolbox " + id + " answered with something that is not in the known form"), false
	}
	if !isNull(answer["error"]) {
		text := cmp.Or(words(answer["error"]), "it failed without saying why")
		if detail := words(answer["detail"]); detail != "" {
			text = strings.TrimSuffix(text, ".") + ": " + detail
		}
		return toolcrib.Failed(text), strings.Contains(text, "Unknown tool")
	}
	value := bytes.TrimSpace(answer["result"])
	switch {
	case isNull(value):
		return toolcrib.Failed("the toolbox " + id + " answered with neither a result nor an error"), false
	case value[0] != '{':
		return toolcrib.Failed("the toolbox " + id + " answered with a result that is no object: " + words(json.RawMessage(value))), false
	}
	return &toolcrib.Result{Value: json.RawMessage(value)}, false
}

// words is what a host says, as it may be shown; JSON if it is not a text.
func words(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	var given string
	if json.Unmarshal(raw, &given) != nil {
		given = string(raw)
	}
	return strings.TrimSpace(text.Clip(visible(given), maxError))
}
