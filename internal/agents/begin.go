package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// maxTasks is how many pieces of work are remembered of one agent; those that ended first
// are forgotten first.
const maxTasks = 200

// begin has one work, if there is room for it and who puts it to work still does. One that
// works already is told the input when it has finished; false: it is just ending.
func (a *Agents) begin(ctx context.Context, lead *work, one *task, input string) (begun bool, _ error) {
	most := a.needs.Settings().Delegation.AtOnce
	lead.mu.Lock() // also held by who ends all of them: nothing begins behind its back
	defer lead.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "nobody was put to work: the call was ended before", Err: err}
	}
	if one.tell(input) {
		return true, nil
	}
	if !one.idle() {
		return false, nil
	}
	n := 0
	for _, other := range lead.tasks {
		if other.working() {
			n++
		}
	}
	if n >= most {
		return false, &delegate.Refusal{Word: "max_concurrency_reached", Text: fmt.Sprintf("%d agents work for you already, which is the most (delegation.at_once): wait for one with query_subagent_status and wait_seconds", n)}
	}
	if !slices.Contains(lead.tasks, one) {
		for i := 0; i < len(lead.tasks) && len(lead.tasks) >= maxTasks; {
			if lead.tasks[i].idle() {
				lead.tasks = slices.Delete(lead.tasks, i, i+1)
			} else {
				i++
			}
		}
		lead.tasks = append(lead.tasks, one)
	}
	one.run(ctx, input)
	return true, nil
}

// again has one go on that has ended. What it may do is looked at anew: the settings may
// be others now.
func (t team) again(ctx context.Context, found *task, message string) (delegate.Status, error) {
	if found.order.Avatar != "" {
		if err := t.may(found.by, found.order.Avatar); err != nil {
			return delegate.Status{}, err
		}
	}
	if found.order.Forget {
		return delegate.Status{}, &delegate.Refusal{Word: "deleted", Text: "its session was not kept: put another one to work"}
	}
	for {
		told, ending := found.tellOr(message)
		if told { // somebody else's message has had it go on
			return found.status(), nil
		}
		if ending != nil {
			select {
			case <-ending:
			case <-ctx.Done():
			}
		}
		begun, err := t.begin(ctx, found.session.work.lead, found, message)
		if err != nil {
			return delegate.Status{}, err
		}
		if begun {
			return found.status(), nil
		}
	}
}
