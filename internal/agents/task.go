package agents

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// task is a piece of work that one agent has given to another.
type task struct {
	of      *Agents
	id      string
	by      toolcrib.Caller // who gave it
	order   delegate.Order
	session *Session
	limit   time.Duration
	emit    func(agent.Event) // to those who watch who put it to work

	mu      sync.Mutex
	state   string
	summary string
	failed  string
	events  []string
	waits   string
	inbox   []string // what it is to be told when it has finished what it is at
	updated time.Time
	stop    context.CancelFunc // nil: it does not work
	done    chan struct{}      // of the run there is, or that there was last
}

// The states, in AgenticX' words.
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

const (
	keptEvents = 20
	maxSummary = 20_000 // letters of an answer that go to who asked for it
)

func newTaskID(kind string) string {
	var b [4]byte
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(b[:])
	return kind + "-" + hex.EncodeToString(b[:])
}

// run has the agent work on an input until it has ended, without being waited for.
func (t *task) run(ctx context.Context, input string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.limit)
	t.mu.Lock()
	t.stop, t.done, t.state, t.failed, t.summary = cancel, make(chan struct{}), running, "", ""
	t.updated = t.of.needs.Now()
	done := t.done
	t.mu.Unlock()
	t.of.enter(t.session.work)
	go func() {
		defer close(done)
		defer cancel()
		for more := true; more; {
			out, err := t.turn(ctx, input)
			input, more = t.after(ctx, out, err)
		}
		t.of.leave(t.session.work)
		if err := t.session.closeWriter(); err != nil {
			t.of.needs.Log.Warn("a delegate's session could not be closed", "agent", t.id, "err", err)
		}
		if store := t.of.needs.Sessions; t.order.Forget && store != nil {
			if err := store.Remove(Owner(t.session.options.Caller), t.session.id); err != nil && !errors.Is(err, sessions.ErrNotFound) { // nothing may have been kept
				t.of.needs.Log.Warn("a delegate's session could not be removed", "agent", t.id, "err", err)
			}
		}
	}()
}

// turn is one turn; an agent that breaks down takes nobody with it.
func (t *task) turn(ctx context.Context, input string) (out *agent.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it broke down: %v", p)
		}
	}()
	return t.session.Turn(ctx, model.Text(model.User, input), t.watch)
}

// after notes how a turn ended, and gives what is to be said next, if anything is.
func (t *task) after(ctx context.Context, out *agent.Outcome, err error) (next string, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.updated, t.waits = t.of.needs.Now(), ""
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		t.state, t.failed = failed, fmt.Sprintf("its time of %v was over", t.limit)
	case ctx.Err() != nil:
		t.state, t.failed = cancelled, "it was ended"
	case err != nil:
		t.state, t.failed = failed, err.Error()
	default:
		t.state = completed
	}
	if out != nil && out.Text != "" {
		t.summary = text.Clip(out.Text, maxSummary)
	}
	if t.state == completed && len(t.inbox) > 0 {
		next, t.inbox = strings.Join(t.inbox, "\n\n"), nil
		t.state = running
		return next, true
	}
	t.stop = nil
	return "", false
}

// watch notes what it does, and tells those who watch who put it to work.
func (t *task) watch(e agent.Event) {
	t.mu.Lock()
	t.updated = t.of.needs.Now()
	line := ""
	switch e.Kind {
	case agent.Call:
		line = "calls " + e.Tool + " " + text.Clip(text.ShowLine(string(e.Args)), 160)
	case agent.CallResult:
		line = e.Tool + " answered"
		if !e.Success() {
			line = e.Tool + " failed"
		}
		t.waits = ""
	case agent.AskUser:
		t.waits = e.Question.Text
		line = "asks a person"
	}
	if line != "" {
		t.events = append(t.events, line)
		t.events = t.events[max(0, len(t.events)-keptEvents):]
	}
	t.mu.Unlock()
	if t.emit != nil {
		t.emit(e)
	}
}

// cancel ends it, if it works.
func (t *task) cancel() {
	t.mu.Lock()
	stop := t.stop
	t.inbox = nil
	t.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// tell has it told something when it has finished what it is at; false: it does not work.
func (t *task) tell(message string) bool {
	told, _ := t.tellOr(message)
	return told
}

// tellOr is tell; if it does not work, ending is closed when its last run has ended. A run
// that begins meanwhile has another one, so that nobody waits for that.
func (t *task) tellOr(message string) (told bool, ending <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		return false, t.done
	}
	t.inbox = append(t.inbox, message)
	return true, nil
}

// idle reports whether no run of it is left, not even one that is just ending.
func (t *task) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		return true
	}
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// wait waits until it has ended.
func (t *task) wait(ctx context.Context) {
	t.mu.Lock()
	done := t.done
	t.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (t *task) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stop != nil
}

// status is how it is doing.
func (t *task) status() delegate.Status {
	w := t.session.work
	w.mu.Lock()
	calls, tokens, who := w.calls, w.tokens, w.model
	w.mu.Unlock()
	if named := t.session.Model().Name; named != "" {
		who = named
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return delegate.Status{
		ID: t.id, Name: t.order.Name, Role: t.order.Role, Task: t.order.Task, State: t.state, Summary: t.summary, Error: t.failed,
		Events: append([]string(nil), t.events...), Depth: 1, Parent: leadName(t.by), Model: who, Avatar: t.order.Avatar, Session: t.session.ID(),
		Updated: float64(t.updated.UnixMilli()) / 1000, Waits: t.waits, Calls: calls, Tokens: tokens,
	}
}

// leadName is what AgenticX calls the agent that a person has work, unless it has a name.
func leadName(c toolcrib.Caller) string {
	if c.Agent == "" {
		return "meta"
	}
	return c.Agent
}
