package safety

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// Loop notices an agent that goes in circles: the same calls, with the same
// arguments and the same answers, again and again in one session, alone or in
// turn with one or two others. It says so in the result first, and then stops
// the call, until the session does something else.
//
// A call whose answer changes is no loop: that is how one waits for something.
// What may wait for long without news is named in Except. Calls without a
// session, and those that tools make of each other, are programs at work and
// are left alone.
//
// It is a guard, and a wrapper ([Loop.Around]) that sees the answers. What it
// says depends on the calls of the session alone, not on the time they took;
// after Idle without a call a session begins anew.
type Loop struct {
	Note   int               // from which repetition on the result says so; 0: 5
	Stop   int               // from which on the call is stopped; 0: 10
	With   toolcrib.Decision // how: Deny, or Ask
	Except []policy.Selector // tools that are never stopped
	Idle   time.Duration     // 0: 30 min
	Now    func() time.Time  // nil: time.Now

	mu       sync.Mutex
	sessions map[string]*loopSession
}

const (
	maxLoopCycle    = 3    // how many calls a circle may have
	maxLoopSessions = 1024 // how many sessions are watched; the one unused for longest makes room
	maxLoopSteps    = 96   // calls remembered of each
)

// loopStep is a call and its answer, by their hashes.
type loopStep struct{ call, answer [16]byte }

type loopSession struct {
	steps []loopStep
	used  time.Time
}

func (l *Loop) note() int { return loopBound(l.Note, 5) }
func (l *Loop) stop() int { return loopBound(l.Stop, 10) }

// loopBound gives a default, and a number that the history has room for.
func loopBound(n, otherwise int) int {
	if n <= 0 {
		n = otherwise
	}
	return min(max(n, 2), maxLoopSteps/maxLoopCycle)
}

func (l *Loop) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// watched gives the session that a call counts in; empty: none.
func (l *Loop) watched(c *toolcrib.Call, spec *toolcrib.Entry) string {
	nested := c.Parent != "" && !lineage.Delegate(c.Caller.Agent) // a delegate's calls all have one
	if c.Caller.Session == "" || nested || slices.ContainsFunc(l.Except, func(s policy.Selector) bool { return s.Picks(spec) }) {
		return ""
	}
	return budgetKey(fmt.Sprintf("%q %q %q %q", c.Caller.Organisation, c.Caller.Subject, c.Caller.Agent, c.Caller.Session))
}

// Judge stops a call that has been made too often. Its reason is the same
// every time, so that a question about it stays one question.
func (l *Loop) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	session := l.watched(&r.Call, &r.Spec)
	if session == "" || r.Change != nil { // the command counts, not what it changed
		return nil, nil
	}
	call := callHash(&r.Spec, r.Input)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil || l.forgotten(s) || repetitions(s.steps, call) < l.stop() {
		return nil, nil
	}
	return &toolcrib.Verdict{
		Decision: min(l.With, toolcrib.Ask), Guard: "loop", Rule: "repeated",
		Reason: "the same call was made again and again and got the same answer each time; it will not change by being repeated: use the answer, or do something else first",
	}, nil
}

// Around makes a tool's calls count, and adds a line to the result of one that
// has been repeated.
func (l *Loop) Around(spec toolcrib.Entry, t toolcrib.Tool) toolcrib.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		session := l.watched(&env.Call, &spec)
		if session == "" {
			return run(ctx, env, input)
		}
		step := loopStep{call: callHash(&spec, input)} // before the tool can change its input
		result, err := run(ctx, env, input)
		step.answer = answerHash(result, err)
		if n := l.count(session, step); n >= l.note() && err == nil && result != nil {
			return loopNoted(result, n), nil
		}
		return result, err
	}
	return t
}

// loopNoted is a result with a line more. Its value stands there as text too, for
// whoever reads nothing but the text once there is some.
func loopNoted(r *toolcrib.Result, times int) *toolcrib.Result {
	out := *r
	out.Content = slices.Clone(r.Content)
	if len(out.Content) == 0 && len(out.Value) > 0 {
		out.Content = []toolcrib.Content{{Type: "text", Text: string(out.Value)}}
	}
	out.Content = append(out.Content, toolcrib.Content{Type: "text", Text: fmt.Sprintf(
		"[this call was made %d times in a row with the same arguments and the same answer; repeating it will not change that]", times)})
	return &out
}

// count remembers a step and gives how often it has come round.
func (l *Loop) count(session string, step loopStep) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil || l.forgotten(s) {
		l.makeRoom()
		s = &loopSession{}
		l.sessions[session] = s
	}
	s.used = l.now()
	times := 1
	if n := len(s.steps); n > 0 {
		if before := lastStep(s.steps, step.call); before >= 0 && s.steps[before].answer == step.answer {
			times = repetitions(s.steps, step.call)
		}
	}
	if len(s.steps) >= maxLoopSteps {
		s.steps = slices.Delete(s.steps, 0, 1)
	}
	s.steps = append(s.steps, step)
	return times
}

// lastStep finds a call among the last few steps.
func lastStep(steps []loopStep, call [16]byte) int {
	for i := len(steps) - 1; i >= max(0, len(steps)-maxLoopCycle); i-- {
		if steps[i].call == call {
			return i
		}
	}
	return -1
}

// repetitions is the how manyth time a call would be made that comes next, in
// the circle that the steps have been going in: 1 if in none.
func repetitions(steps []loopStep, call [16]byte) int {
	most := 1
	for cycle := 1; cycle <= maxLoopCycle && cycle <= len(steps); cycle++ {
		if steps[len(steps)-cycle].call != call {
			continue
		}
		same := cycle // steps at the end that go round with this period
		for same < len(steps) && steps[len(steps)-1-same] == steps[len(steps)-1-same+cycle] {
			same++
		}
		most = max(most, same/cycle+1)
	}
	return most
}

func (l *Loop) forgotten(s *loopSession) bool {
	idle := l.Idle
	if idle <= 0 {
		idle = 30 * time.Minute
	}
	return l.now().Sub(s.used) > idle
}

// makeRoom bounds how many sessions are watched.
func (l *Loop) makeRoom() {
	if l.sessions == nil {
		l.sessions = map[string]*loopSession{}
	}
	if len(l.sessions) < maxLoopSessions {
		return
	}
	oldest, found := "", time.Time{}
	for key, s := range l.sessions {
		if oldest == "" || s.used.Before(found) || s.used.Equal(found) && key < oldest {
			oldest, found = key, s.used
		}
	}
	delete(l.sessions, oldest)
}

// callHash is what makes two calls the same: the tool, and its arguments
// whatever the order of their keys.
func callHash(spec *toolcrib.Entry, input json.RawMessage) [16]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q ", spec.Box, spec.Native)
	h.Write(loopNormal(input))
	return [16]byte(h.Sum(nil))
}

// maxLoopInput bounds the work: longer arguments count as they are written.
const maxLoopInput = 256 << 10

// loopNormal writes JSON with its keys in order and numbers as they stand.
func loopNormal(input json.RawMessage) []byte {
	if len(input) > maxLoopInput {
		return input
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return input
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return input
	}
	text, err := json.Marshal(value)
	if err != nil {
		return input
	}
	return text
}

func answerHash(r *toolcrib.Result, err error) [16]byte {
	h := sha256.New()
	if err != nil {
		fmt.Fprintf(h, "error %q", err.Error())
	}
	if r != nil {
		fmt.Fprintf(h, "%t %d:", r.Failed, len(r.Value))
		h.Write(r.Value)
		for i := range r.Content {
			c := &r.Content[i]
			fmt.Fprintf(h, " %q %q %q %d:%d:", c.Type, c.URI, c.MIME, len(c.Text), len(c.Data))
			h.Write([]byte(c.Text))
			h.Write(c.Data)
			h.Write(c.More)
		}
	}
	return [16]byte(h.Sum(nil))
}
