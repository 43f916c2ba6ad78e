package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

func (k *kit) pings(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	_, err = t.must(ctx, mcp.MethodPing, nil)
	return err
}

// many: requests come without waiting, and answers in any order.
func (k *kit) many(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	const n = 50
	var ids []json.RawMessage
	for i := range n {
		method := mcp.MethodPing
		if i%10 == 9 {
			method = mcp.MethodToolsList
		}
		id, err := t.request(method, nil)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	missing := 0
	var last error
	for _, id := range ids {
		m, err := t.answer(ctx, id, t.patience)
		if err == nil && m.Error != nil {
			err = fmt.Errorf("one is answered with an error: %s", quote(m.raw))
		}
		if err != nil {
			missing++
			if last = err; t.over() || ctx.Err() != nil {
				break
			}
			if missing > 2 { // they will not come any more
				break
			}
		}
	}
	if last != nil {
		return fmt.Errorf("of %d requests not all are answered under their ids: %w", n, last)
	}
	if err := t.alive(ctx); err != nil { // what comes twice has come by then
		return err
	}
	for _, id := range ids {
		count := 0
		for _, m := range t.all() {
			if m.IsAnswer() && bytes.Equal(m.ID, id) {
				count++
			}
		}
		if count > 1 {
			return fmt.Errorf("the request %s is answered %d times", id, count)
		}
	}
	return nil
}

func (k *kit) unknownMethod(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	m, err := t.ask(ctx, "toolcrib/no-such-method", json.RawMessage(`{}`))
	switch {
	case err != nil:
		return err
	case m.Error == nil:
		return fmt.Errorf("it is answered with a result: %s", quote(m.raw))
	case m.Error.Code != mcp.CodeMethodNotFound:
		return fmt.Errorf("it is answered with the code %d: %s", m.Error.Code, quote(m.raw))
	}
	return nil
}

func (k *kit) notified(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	before := len(t.all())
	for _, method := range []string{"notifications/no-such-thing", mcp.NotifyRoots} {
		if err := t.write(nil, method, json.RawMessage(`{}`)); err != nil {
			return err
		}
	}
	if err := t.write(nil, mcp.NotifyCancelled, json.RawMessage(`{"requestId":"check-never-asked"}`)); err != nil {
		return err
	}
	if err := t.alive(ctx); err != nil {
		return err
	}
	for _, m := range t.all()[before:] {
		if m.IsAnswer() && (len(m.ID) == 0 || string(m.ID) == "null") {
			return fmt.Errorf("it says %s", quote(m.raw))
		}
	}
	return nil
}

func (k *kit) unknownTool(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	m, err := t.ask(ctx, mcp.MethodToolsCall, json.RawMessage(`{"name":"toolcrib_no_such_tool","arguments":{}}`))
	if err != nil {
		return err
	}
	var said struct {
		Failed bool `json:"isError"`
	}
	if m.Error == nil && (json.Unmarshal(m.Result, &said) != nil || !said.Failed) {
		return fmt.Errorf("it is answered as if there were one: %s", quote(m.raw))
	}
	return t.alive(ctx)
}

func (k *kit) badLine(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,`, `this is no message`, `[]`, `{"jsonrpc":"2.0"}`, ``} {
		if err := t.say([]byte(line)); err != nil {
			return fmt.Errorf("after the line %q: %w", line, err)
		}
		if err := t.alive(ctx); err != nil {
			return fmt.Errorf("after the line %q: %w", line, err)
		}
	}
	return nil
}

// onlyMessages looks at all that was written in every check.
func (k *kit) onlyMessages(context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.noise) > 0 {
		return fmt.Errorf("it wrote: %s. What is printed belongs on the standard error", strings.Join(k.noise, "; "))
	}
	return nil
}

// ends: the hub kills who does not.
func (k *kit) ends(ctx context.Context) error {
	t, err := k.running(ctx)
	if err != nil {
		return err
	}
	k.now = nil
	if end := cmp.Or(k.cfg.End, exitTime); !t.close(end) {
		return fmt.Errorf("it still runs after %v, and is killed", end)
	}
	return nil
}
