package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// find gives a piece of work that a caller has given, by its ID or the latest by its name.
func (a *Agents) find(c toolcrib.Caller, id string) (*task, error) {
	if w := a.at(c); w != nil && w.lead == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, t := range slices.Backward(w.tasks) {
			if t.id == id || strings.EqualFold(t.order.Name, id) || t.order.Avatar == id {
				return t, nil
			}
		}
	}
	return nil, &delegate.Refusal{Word: "not_found", Text: fmt.Sprintf("you have put no agent %q to work", text.Clip(id, 100))}
}

// Tell implements [delegate.Team].
func (t team) Tell(ctx context.Context, call toolcrib.Call, id, message string) (delegate.Status, error) {
	found, err := t.find(call.Caller, id)
	if err != nil {
		return delegate.Status{}, err
	}
	if !found.tell(message) {
		return t.again(ctx, found, message)
	}
	return found.status(), nil
}

// Retry implements [delegate.Team].
func (t team) Retry(ctx context.Context, call toolcrib.Call, id, task string) (delegate.Status, error) {
	found, err := t.find(call.Caller, id)
	if err != nil {
		return delegate.Status{}, err
	}
	if found.working() {
		return delegate.Status{}, &delegate.Refusal{Word: "still_running", Text: found.order.Name + " still works: wait for it, or end it with cancel_subagent"}
	}
	order := found.order
	order.Task = cmp.Or(task, order.Task)
	return t.Start(ctx, call, order)
}

// Status implements [delegate.Team].
func (t team) Status(ctx context.Context, call toolcrib.Call, id string, wait time.Duration) ([]delegate.Status, error) {
	var list []*task
	if id != "" {
		found, err := t.find(call.Caller, id)
		if err != nil {
			return nil, err
		}
		list = []*task{found}
	} else if w := t.at(call.Caller); w != nil && w.lead == nil {
		w.mu.Lock()
		list = slices.Clone(w.tasks)
		w.mu.Unlock()
	}
	if wait > 0 {
		until, cancel := context.WithTimeout(ctx, wait)
		for _, one := range list {
			one.wait(until)
		}
		cancel()
	}
	out := make([]delegate.Status, 0, len(list))
	for _, one := range list {
		out = append(out, one.status())
	}
	return out, nil
}

// Cancel implements [delegate.Team].
func (t team) Cancel(call toolcrib.Call, id string) (delegate.Status, error) {
	found, err := t.find(call.Caller, id)
	if err != nil {
		return delegate.Status{}, err
	}
	found.cancel()
	until, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	found.wait(until)
	s := found.status()
	if found.working() {
		s.State = cancelled // it has been told, and notices
	}
	return s, nil
}

// Load implements [delegate.Team].
func (t team) Load(c toolcrib.Caller) delegate.Load {
	out := delegate.Load{}
	if t.needs.Load != nil {
		out.CPU, out.Memory = t.needs.Load()
	}
	if w := t.at(c); w != nil {
		w.mu.Lock()
		for _, one := range w.tasks {
			if one.working() {
				out.Working++
			}
		}
		w.mu.Unlock()
	}
	const busy = 98 // percent, as AgenticX has it
	if out.CPU > busy {
		out.Reasons = append(out.Reasons, fmt.Sprintf("the processors are busy (%.0f %%)", out.CPU))
	}
	if out.Memory > busy {
		out.Reasons = append(out.Reasons, fmt.Sprintf("the memory is full (%.0f %%)", out.Memory))
	}
	if most := t.needs.Settings().Delegation.AtOnce; out.Working >= most {
		out.Reasons = append(out.Reasons, fmt.Sprintf("%d agents work for you, which is the most", out.Working))
	}
	return out
}
