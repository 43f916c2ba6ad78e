package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// atOnce is how many calls are made together.
const atOnce = 8

// params are those of a call, with a token for its progress.
func (k *kit) params(token string) (json.RawMessage, *tool, error) {
	at := slices.IndexFunc(k.tools, func(t tool) bool { return t.Name == k.cfg.Call })
	if at < 0 {
		return nil, nil, fmt.Errorf("it has no tool %q", k.cfg.Call)
	}
	arguments := json.RawMessage(`{}`)
	if k.cfg.Arguments != nil {
		var err error
		if arguments, err = k.cfg.Arguments(k.tools[at].Input); err != nil {
			return nil, nil, err
		}
	}
	meta := map[string]any{"name": k.cfg.Call, "arguments": arguments}
	if token != "" {
		meta["_meta"] = map[string]string{"progressToken": token}
	}
	return jsonOf(meta), &k.tools[at], nil
}

// called makes one call and looks at its answer.
func (k *kit) called(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	params, called, err := k.params("check-progress")
	if err != nil {
		return err
	}
	before, began := len(t.all()), time.Now()
	id, err := t.request(mcp.MethodToolsCall, params)
	if err != nil {
		return err
	}
	m, err := t.answer(ctx, id, k.callPatience())
	if err != nil {
		return err
	}
	k.callID, k.took = id, time.Since(began)
	if err := t.alive(ctx); err != nil { // what is told too late has come by then
		return fmt.Errorf("after the call: %w", err)
	}
	k.answer = slices.Clone(t.all()[before:])
	if m.Error != nil {
		return fmt.Errorf("it is answered with an error of the protocol: %s", quote(m.raw))
	}
	return checkResult(m.Result, called)
}

func checkResult(result json.RawMessage, t *tool) error {
	var said struct {
		Content    *[]json.RawMessage `json:"content"`
		Structured json.RawMessage    `json:"structuredContent"`
		Failed     bool               `json:"isError"`
	}
	if err := json.Unmarshal(result, &said); err != nil {
		return fmt.Errorf("its result cannot be read (%w): %s", err, quote(result))
	}
	if said.Content == nil {
		return fmt.Errorf(`its result has no list "content": %s`, quote(result))
	}
	for _, piece := range *said.Content {
		var kind struct {
			Type string `json:"type"`
		}
		_, err := mcp.ReadContent(piece)
		if err == nil {
			err = json.Unmarshal(piece, &kind)
		}
		if err == nil && !slices.Contains([]string{"text", "image", "audio", "resource", "resource_link"}, kind.Type) {
			err = fmt.Errorf("there is no type %q", kind.Type)
		}
		if err != nil {
			return fmt.Errorf("a piece of its result: %w: %s", err, quote(piece))
		}
	}
	if said.Failed {
		return remark{Note, "the tool says that it failed: " + quote(result)}
	}
	if len(t.Output) == 0 {
		return nil
	}
	if len(said.Structured) == 0 {
		return fmt.Errorf("it has an outputSchema, and its result no structuredContent: %s", quote(result))
	}
	s, err := schema.Compile(t.Output)
	if err != nil {
		return nil // told already
	}
	doc, err := schema.Parse(said.Structured, schema.Limits{})
	if err != nil {
		return fmt.Errorf("its structuredContent: %w", err)
	}
	defer doc.Release()
	if bad := s.Validate(doc); len(bad) > 0 {
		return fmt.Errorf("its structuredContent does not fit its outputSchema: %s %s", bad[0].Path, bad[0].Message)
	}
	return nil
}

// progress looks at what was told in the call.
func (k *kit) progress(context.Context) error {
	if len(k.answer) == 0 {
		return remark{Skipped, "the call was not answered"}
	}
	told, answered, last := 0, false, 0.0
	for _, m := range k.answer {
		if m.IsAnswer() {
			answered = answered || bytes.Equal(m.ID, k.callID)
			continue
		}
		if m.Method != mcp.NotifyProgress {
			continue
		}
		var p struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress *float64        `json:"progress"`
		}
		switch err := json.Unmarshal(m.Params, &p); {
		case err != nil || p.Progress == nil:
			return fmt.Errorf("it has no number: %s", quote(m.raw))
		case string(p.Token) != `"check-progress"`:
			return fmt.Errorf("it has another progressToken than the call: %s", quote(m.raw))
		case answered:
			return fmt.Errorf("it comes after the answer: %s", quote(m.raw))
		case told > 0 && *p.Progress <= last:
			return fmt.Errorf("%v comes after %v: %s", *p.Progress, last, quote(m.raw))
		}
		told, last = told+1, *p.Progress
	}
	if told == 0 {
		return remark{Skipped, "it tells of none"}
	}
	return nil
}

// together makes several calls at once.
func (k *kit) together(ctx context.Context) error {
	if len(k.answer) == 0 {
		return remark{Skipped, "the call was not answered"}
	}
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	params, _, err := k.params("")
	if err != nil {
		return err
	}
	began := time.Now()
	var ids []json.RawMessage
	for range atOnce {
		id, err := t.request(mcp.MethodToolsCall, params)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for i, id := range ids {
		if _, err := t.answer(ctx, id, k.callPatience()); err != nil {
			return fmt.Errorf("of %d calls at once, the one with the id %s (number %d): %w", atOnce, id, i+1, err)
		}
	}
	took := time.Since(began)
	if err := t.alive(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if n := count(t.all(), id); n != 1 {
			return fmt.Errorf("the call with the id %s is answered %d times", id, n)
		}
	}
	if k.took > 100*time.Millisecond && took > k.took*atOnce*3/4 {
		return remark{Note, fmt.Sprintf("calls wait for each other: one takes %v, and %d at once %v", k.took.Round(time.Millisecond), atOnce, took.Round(time.Millisecond))}
	}
	return nil
}

func count(heard []event, id json.RawMessage) (n int) {
	for _, m := range heard {
		if m.IsAnswer() && bytes.Equal(m.ID, id) {
			n++
		}
	}
	return n
}

// cancelled gives a call up at once. It may be answered all the same: the two
// messages can cross.
func (k *kit) cancelled(ctx context.Context) error {
	if len(k.answer) == 0 {
		return remark{Skipped, "the call was not answered"}
	}
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	params, _, err := k.params("")
	if err != nil {
		return err
	}
	id, err := t.request(mcp.MethodToolsCall, params)
	if err != nil {
		return err
	}
	if err := t.write(nil, mcp.NotifyCancelled, json.RawMessage(fmt.Sprintf(`{"requestId":%s,"reason":"this is only a check"}`, id))); err != nil {
		return err
	}
	ping, err := t.request(mcp.MethodPing, nil)
	if err != nil {
		return err
	}
	if _, err := t.answer(ctx, ping, k.callPatience()); err != nil { // one that does one thing at a time finishes it first
		return fmt.Errorf("afterwards it does not answer ping: %w", err)
	}
	again, err := t.request(mcp.MethodToolsCall, params)
	if err != nil {
		return err
	}
	m, err := t.answer(ctx, again, k.callPatience())
	switch {
	case err != nil:
		return fmt.Errorf("the next call: %w", err)
	case m.Error != nil:
		return errors.New("the next call is answered with an error: " + quote(m.raw))
	}
	return nil
}
