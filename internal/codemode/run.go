package codemode

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// session is one script in one worker, seen from the host.
type session struct {
	conn *Conn
	host Host
	code string

	write   sync.Mutex
	out     *bufio.Writer
	clock   stopwatch
	replies sync.WaitGroup

	mu      sync.Mutex
	open    map[uint32]bool // calls that are not answered
	waiting uint32          // the one that the script waits for; 0: it computes
	outcome Outcome
	logged  int
	looked  int // searches and descriptions
}

// speak runs a script in a worker that is ready.
func speak(ctx context.Context, conn *Conn, s Script, h Host) (Outcome, error) {
	limit := s.Time
	if limit <= 0 {
		limit = usualTime
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &session{conn: conn, host: h, code: s.Code, out: bufio.NewWriterSize(conn.To, 16<<10), open: map[uint32]bool{}}
	stop := context.AfterFunc(ctx, conn.End)
	defer stop()
	defer func() {
		gone := ctx.Err() != nil // then nobody has the time to wait
		if cancel(); !gone {
			v.replies.Wait() // no call goes on after the script that made it
		}
	}()
	v.clock.start(limit+graceTime, conn.End) // the worker itself stops in time, if it can, and says where
	defer v.clock.stop()
	err := v.send(Message{Kind: Run, ID: uint32(min(limit.Milliseconds(), math.MaxInt32)), Name: s.Code, Body: s.Input}) //nolint:gosec // bounded here
	if err == nil {
		err = v.listen(ctx, conn.in)
	}
	v.clock.stop()
	late := v.clock.over() || err != nil && v.clock.took() >= limit
	v.mu.Lock()
	defer v.mu.Unlock()
	v.outcome.Took = v.clock.took()
	return v.outcome, v.explain(ctx, err, late, limit)
}

// explain says why a script has not come to its end, in words for who wrote it.
func (v *session) explain(ctx context.Context, err error, late bool, limit time.Duration) error {
	own, is := errors.AsType[*ScriptError](err)
	switch {
	case err == nil:
		return nil
	case late:
		e := &ScriptError{Name: "TimeoutError", Code: "timeout", Message: fmt.Sprintf("the script computed for more than %v and was stopped. Do less in it, or let tools do the work", limit)}
		if is {
			e.Line, e.Column, e.Around = own.Line, own.Column, own.Around
		}
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case is:
		return own
	case errors.Is(err, errFrame):
		return fmt.Errorf("the worker of the script was ended: %w", err)
	}
	return &ScriptError{Name: "WorkerError", Message: "the worker of the script is gone, most likely because the script needed more memory than it has. Keep less at once"}
}

func (v *session) send(m Message) error {
	v.write.Lock()
	defer v.write.Unlock()
	if err := Write(v.out, m); err != nil {
		return err
	}
	return v.out.Flush()
}

// listen does what the worker asks for, until it says how the script ended.
func (v *session) listen(ctx context.Context, from *bufio.Reader) error {
	for {
		m, err := Read(from)
		if err != nil {
			return err
		}
		if v.waits() { // its clock stands: whoever speaks then could keep us busy for as long as a person thinks
			return fmt.Errorf("%w: it says something while it waits", errFrame)
		}
		switch m.Kind {
		case Log:
			v.log(m.Name)
		case Wait:
			if err := v.wait(m.ID); err != nil {
				return err
			}
		case Call, Search, Describe:
			if err := v.begin(ctx, m); err != nil {
				return err
			}
		case Done:
			if !json.Valid(m.Body) {
				return fmt.Errorf("%w: the value is no JSON", errFrame)
			}
			v.mu.Lock()
			v.outcome.Value = m.Body
			v.outcome.Lost += int(m.ID)
			v.mu.Unlock()
			return nil
		case Failed:
			return v.failed(m)
		default:
			return fmt.Errorf("%w: kind %d comes from the host", errFrame, m.Kind)
		}
	}
}

// waits reports whether the script waits for a call.
func (v *session) waits() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.waiting != 0
}

// wait stops the clock until a call is answered.
func (v *session) wait(id uint32) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waiting != 0 {
		return fmt.Errorf("%w: it waits twice", errFrame)
	}
	if v.open[id] {
		v.waiting = id
		v.clock.pause()
	}
	return nil
}

// begin makes a call, in a goroutine of its own unless the script waits for nothing else.
func (v *session) begin(ctx context.Context, m Message) error {
	v.mu.Lock()
	switch {
	case m.ID == 0 || v.open[m.ID]:
		v.mu.Unlock()
		return fmt.Errorf("%w: call %d is there already", errFrame, m.ID)
	case len(v.open) >= Parallel || v.waiting != 0:
		v.mu.Unlock()
		return fmt.Errorf("%w: more calls at once than %d", errFrame, Parallel)
	}
	v.open[m.ID] = true
	v.outcome.Calls++
	if m.Kind != Call { // no budget counts them, and looking takes long
		v.looked++
	}
	many, alone := v.outcome.Calls > maxCalls || v.looked > maxLooks && m.Kind != Call, m.Waits && len(v.open) == 1
	v.mu.Unlock()
	if m.Waits {
		if err := v.wait(m.ID); err != nil {
			return err
		}
	}
	answer := func() {
		var value json.RawMessage
		var err error = &Fault{Code: "denied", Message: fmt.Sprintf("a script makes at most %d calls, and looks for tools at most %d times", maxCalls, maxLooks)}
		if !many {
			value, err = v.do(ctx, m)
		}
		_ = v.answer(m.ID, value, err) // a worker that is gone is noticed by who listens to it
	}
	if alone { // nothing else can come before this is answered
		answer()
	} else {
		v.replies.Go(answer)
	}
	return nil
}

// do has the host do what a message asks for.
func (v *session) do(ctx context.Context, m Message) (json.RawMessage, error) {
	switch {
	case m.Kind == Call && v.host.Call != nil:
		if !utf8.ValidString(m.Name) || !json.Valid(m.Body) {
			return nil, &Fault{Code: "invalid", Message: "the arguments are no JSON"}
		}
		return v.host.Call(ctx, m.Name, m.Body)
	case m.Kind == Search && v.host.Search != nil:
		return v.host.Search(ctx, strings.ToValidUTF8(m.Name, "�"))
	case m.Kind == Describe && v.host.Describe != nil:
		return v.host.Describe(ctx, strings.ToValidUTF8(m.Name, "�"))
	}
	return nil, &Fault{Code: "unavailable", Message: "scripts cannot do that here"}
}

// answer replies to a call, and has the clock go on if the script waited for it.
func (v *session) answer(id uint32, value json.RawMessage, err error) error {
	m := Message{Kind: Reply, ID: id, Body: value}
	if err == nil && len(value) > MaxValue {
		err = &Fault{Code: "invalid", Message: fmt.Sprintf("the result has %d bytes, and scripts take at most %d: ask for less", len(value), MaxValue)}
	}
	if err != nil {
		f, ok := errors.AsType[*Fault](err)
		if !ok {
			f = &Fault{Code: "internal", Message: err.Error()}
		}
		m = Message{Kind: Refuse, ID: id, Name: clip(f.Code, 100), Body: []byte(clip(f.Message, maxFault))}
	}
	v.mu.Lock()
	delete(v.open, id)
	if v.waiting == id {
		v.waiting = 0
		v.clock.resume()
	}
	v.mu.Unlock()
	return v.send(m)
}

// log keeps a line, as long as there is room.
func (v *session) log(line string) {
	line = clip(strings.ToValidUTF8(line, "�"), maxLine)
	v.mu.Lock()
	if len(v.outcome.Log) >= maxLines || v.logged+len(line) > maxLog {
		v.outcome.Lost++
		v.mu.Unlock()
		return
	}
	v.logged += len(line)
	v.outcome.Log = append(v.outcome.Log, line)
	v.mu.Unlock()
	if v.host.Logged != nil {
		v.host.Logged(line)
	}
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
