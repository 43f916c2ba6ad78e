package toolcrib

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/worker"
)

// Crib is the runtime. Set the fields, then call; they must not change once
// calls are made. Two cribs in one process do not know of each other.
type Crib struct {
	Catalog *Catalog
	// Guards judge every call; the strictest verdict wins. With no guard, or
	// none that has an opinion, a call is denied.
	Guards []Guard
	// MoreGuards gives further guards that may be others at the next call, such as
	// rules that a person edits meanwhile. One look at a call sees one set. Nil:
	// none.
	MoreGuards func() []Guard
	Approver   Approver // nil: what has to be asked is refused
	Sandbox    Sandbox  // nil: what has to run programs is refused
	Journal    Journal  // nil: everything is refused

	// Visible says which tools exist for a caller, for listing and for calling
	// alike. Nil: all of them.
	Visible func(Caller, *Entry) bool
	// Grant is the most any call may get; guards narrow it.
	Grant Grant
	// Files says where relative names begin, what stays out of reach inside
	// granted directories, and where removed files go.
	Files files.Options
	// AsCall gives the call that counts for a change that a program made on a layer, so
	// that it is judged by the guards of the tool that makes such changes. Nil: programs
	// change nothing on layers.
	AsCall func(c Change, content []byte) (box, tool string, input json.RawMessage, err error)
	// HTTP says how the granted hosts are reached.
	HTTP httpclient.Options
	// Secret looks a credential up for a call of a tool; only granted names get
	// here. Nil: tools have none.
	Secret func(ctx context.Context, call Call, tool Entry, name string) (string, error)
	// Vetters look over every result before its caller gets it, in this order.
	Vetters []Vetter
	// OnEnd hears of every call that has ended, in the goroutine of the call:
	// state that goes by what was done is kept there. It gets the record as the
	// journal has it.
	OnEnd []func(ctx context.Context, r *Record)
	// Around wraps tools where they run: retry, cache, trace. The grant is
	// settled by then, so nothing here can widen it.
	Around []func(Entry, Tool) Tool
	// Redact takes secrets out of a JSON text before it is recorded. Nil:
	// values under keys such as password and token, and texts that are keys by
	// their look.
	Redact func(json.RawMessage) json.RawMessage
	// RedactText does the same with the texts of refusals and verdicts, also with
	// those that go to the caller. Nil: words that are keys by their look.
	RedactText func(string) string
	Emit       func(Event) // nil: events are dropped
	Limits     Limits
	Now        func() time.Time // nil: time.Now
	Log        *slog.Logger     // nil: slog.Default

	workers worker.Pool[*Result]
	digests struct { // where the journal gives none
		once sync.Once
		*seal.Digest
	}
}

// Limits bounds every call. The zero value of each field is its default.
type Limits struct {
	Timeout time.Duration // of a tool that names none; default 60 s
	// MaxTimeout bounds what a tool may name: a contract is a claim and widens
	// nothing. Default 10 min.
	MaxTimeout time.Duration
	Ask        time.Duration // how long a person has to answer; default 5 min
	Grace      time.Duration // how long a tool has to notice its deadline; default 500 ms
	Input      int           // bytes of input; default 4 MiB
	Output     int           // bytes of result; default 8 MiB
	Depth      int           // nesting of either; default 128
	Record     int           // bytes of input, and of result, kept in the journal; default 64 KiB
}

func (l Limits) filled() Limits {
	return Limits{
		Timeout:    cmp.Or(l.Timeout, 60*time.Second),
		MaxTimeout: cmp.Or(l.MaxTimeout, 10*time.Minute),
		Ask:        cmp.Or(l.Ask, 5*time.Minute),
		Grace:      cmp.Or(l.Grace, 500*time.Millisecond),
		Input:      cmp.Or(l.Input, 4<<20),
		Output:     cmp.Or(l.Output, 8<<20),
		Depth:      cmp.Or(l.Depth, 128),
		Record:     cmp.Or(l.Record, 64<<10),
	}
}

func (c *Crib) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Crib) log() *slog.Logger {
	if c.Log != nil {
		return c.Log
	}
	return slog.Default()
}

// Tools gives the tools that exist for this caller, by name.
func (c *Crib) Tools(caller Caller) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		specs := c.Catalog.all(caller.Dialect)
		for i := range specs {
			if c.visible(caller, &specs[i]) && !yield(specs[i]) {
				return
			}
		}
	}
}

// Tool gives one of them.
func (c *Crib) Tool(caller Caller, name string) (Entry, bool) {
	e := c.Catalog.find(caller.Dialect, name)
	if e == nil || !c.visible(caller, &e.spec) {
		return Entry{}, false
	}
	return e.spec, true
}

func (c *Crib) visible(caller Caller, s *Entry) bool {
	return c.Visible == nil || c.Visible(caller, s)
}

// flight is one call on its way. The step types below are all the same flight;
// each step takes the type that only the step before it makes, so none can be
// left out or swapped.
type flight struct {
	call   Call
	limits Limits
	rec    Record
	old    *Record // the call was made before under this ID, and this is its record

	doc    *schema.Doc // the input as given, canonical in text
	docErr error
	text   []byte

	entry *callable
	given json.RawMessage // admitted input in the caller's dialect
	input json.RawMessage // admitted input of the native tool
	sent  json.RawMessage // what a foreign tool gets instead of input
	unfit []FieldError    // what of it does not fit the schema of a foreign tool

	ways     files.Judged // where its paths led when it was judged
	grant    Grant
	effects  Effects // of this call, as far as guards understood it
	decision Decision
	ended    ending // of the native tool, whatever its dialect makes of that

	layersMu sync.Mutex
	layers   []Changes // what programs did on layers, until it is settled
	settled  bool      // and what comes later has to be settled by itself

	changesUnjudged bool    // a guard allowed the program and not what it changes
	programAllowed  bool    // a rule or a person allowed the program that made its changes
	unasked         []Grant // what guards leave where nobody was asked
	change          *Change // what it stands for, of what a program did

	env   *Env
	files *files.Handle    // of env; the tool may do with its own as it likes
	gate  *httpclient.Gate // of env.HTTP, likewise
	clean bool             // the result is one value without secrets
	over  atomic.Bool      // handles of a call that has ended give nothing any more
}

type (
	begun    struct{ *flight }
	resolved struct{ *flight }
	admitted struct{ *flight }
	judged   struct{ *flight }
	cleared  struct{ *flight }
	equipped struct {
		*flight
		env *Env
	}
	ran struct {
		*flight
		result *Result
	}
)

// Call uses a tool. It gives a Result if the tool ran, failed or not, and an
// *Error if the call was refused. Every call is recorded from before its first
// step to after its last.
func (c *Crib) Call(ctx context.Context, call Call) (*Result, error) {
	b, err := c.begin(ctx, call)
	if err != nil {
		return nil, err
	}
	ended := false
	defer func() { // a part that ends the goroutine must not leave the record open
		if !ended {
			_, _ = c.end(ctx, b, nil, refuse(CodeInternal, b.call.Tool, "the call broke down", worker.ErrGone))
		}
	}()
	result, err := c.proceed(ctx, b)
	ended = true
	result, err = c.end(ctx, b, result, err)
	if err != nil && b.given != nil && b.entry.adapter != nil && b.entry.adapter.Refused != nil {
		return c.reworded(b, err)
	}
	return result, err
}

// proceed is the way of a call between its two records. A part that breaks
// down (a guard, an adapter) refuses this call and takes nothing else with it.
func (c *Crib) proceed(ctx context.Context, b begun) (result *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("the pipeline broke down", "tool", b.call.Tool, "call", b.call.ID, "err", p, "stack", string(debug.Stack()))
			result, err = nil, refuse(CodeInternal, b.call.Tool, "the call broke down; this is a fault of the crib, not of the call", fmt.Errorf("panic: %v", p))
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, overdue(b.call.Tool, "waiting to begin", err)
	}
	r, err := c.resolve(b)
	if err != nil {
		return nil, err
	}
	if b.old != nil && !c.sameCall(b.flight) {
		return nil, b.again("was used for another call; use a new ID")
	}
	a, err := c.admit(r)
	if err != nil {
		return nil, err
	}
	j, err := c.judge(ctx, a)
	if err != nil {
		return nil, err
	}
	again := false
	if b.old != nil {
		if result, err = c.replay(ctx, j); !errors.Is(err, errLookAgain) {
			return result, err
		}
		again, b.old, err = true, nil, nil
	}
	p := cleared{j.flight}
	if !again { // who approved it then is not asked about the same look again
		p, err = c.approve(ctx, j)
	}
	if early, ok := errors.AsType[foreseen](err); ok {
		return c.vet(ctx, ran{j.flight, Failed(early.Error())})
	}
	if err != nil {
		return nil, err
	}
	e, err := c.equip(p)
	if err != nil {
		return nil, err
	}
	o, err := c.run(ctx, e)
	if err != nil {
		return nil, err
	}
	return c.vet(ctx, c.applyChanges(ctx, o))
}
