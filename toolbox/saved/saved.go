// Package saved is the toolbox of scripts that a person kept as tools of their own: small programs of code mode with declared
// arguments, each of which may call the tools that were read out of it when it was saved, and no others.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its invariants: nothing becomes a tool here that a person has
// not been shown whole and said yes to, at that time, whatever the mode is; and what a person said yes to is what runs, with tools
// that can do no more than they could then.
package saved

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Name is the name of the box.
const Name = "scripts"

// Group is that of its tools.
const Group = "code"

// Config sets up the box.
type Config struct {
	// Every is how often it is looked for other scripts. Zero: a second.
	Every time.Duration
	// Timeout is how long a call may take, with all the calls that it makes. Zero: ten minutes.
	Timeout time.Duration
}

// Needs is what the box works with.
type Needs struct {
	Store Store
	// Tools gives the tools that a caller may see, as Crib.Tools does.
	Tools func(caller toolcrib.Caller) iter.Seq[toolcrib.Entry]
	// Run runs a script for a call. An error is what the call fails with. Nil: there is nothing to run it with.
	Run func(ctx context.Context, env *toolcrib.Env, p Program) (Outcome, error)
	// Parse says what is wrong with the text of a script. Nil: it is found out when it runs.
	Parse func(code string) error
	// Ran gives the tools that runs of exactly this code have called and worked with, and how many runs there were. Nil: none is known.
	Ran func(code string) (tools []string, runs int)
	// Hides reports whether a person who is asked would not be shown all of a text. Nil: all is shown.
	Hides func(text string) bool
	Now   func() time.Time // nil: the clock
	// Absent says why there are no scripts here; empty: there are.
	Absent string
}

// Program is one run of a script.
type Program struct {
	Name, Code string
	Input      json.RawMessage
	// Tool gives the name by which a tool is to be called that the script calls by this one, or says why it may not.
	Tool func(name string) (string, error)
}

// Outcome is what a script gave.
type Outcome struct {
	Value json.RawMessage `json:"result" doc:"What the script returned."`
	Log   []string        `json:"log,omitempty" doc:"What it logged."`
	// Mark is what a model is told before it reads a value that is made of what came from outside.
	Mark string `json:"-"`
	// Failure is why the script did not come to its end, for who called it; empty: it did.
	Failure string `json:"-"`
}

// Script is a program that was kept.
type Script struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Code        string          `json:"code"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // JSON Schema of an object; none: it takes nothing
	Example     json.RawMessage `json:"example,omitempty"`
	Calls       []Called        `json:"calls,omitempty"`
	Saved       time.Time       `json:"saved"`
	By          string          `json:"by,omitempty"` // who said yes
}

// Called is a tool that a script may call.
type Called struct {
	Name    string           `json:"name"` // as the script calls it
	Box     string           `json:"box"`
	Native  string           `json:"native"`
	Effects toolcrib.Effects `json:"effects"` // when the script was saved
}

// Effects are all that its tools can do.
func (s *Script) Effects() toolcrib.Effects {
	var all toolcrib.Effects
	for _, c := range s.Calls {
		all |= c.Effects.All()
	}
	return cmp.Or(all, toolcrib.Pure)
}

// Store keeps scripts, and gives back those that are as a person has seen them.
type Store interface {
	// List gives the scripts in the order of their names, and what is left out and why.
	List(ctx context.Context) ([]Script, []Fault, error)
	Put(ctx context.Context, s Script) error
	// Remove gives an ErrNone if there is none.
	Remove(ctx context.Context, name string) error
	// Marks is a text that differs when the list does.
	Marks() string
}

// ErrNone: there is no such script.
var ErrNone = errors.New("there is no such script")

// Fault is a script that does not count.
type Fault struct {
	Name string
	Err  error
}

// Box is the toolbox.
type Box struct {
	cfg   Config
	needs Needs

	mu     sync.Mutex
	marks  string
	read   bool
	faults []toolcrib.LoadError
	saving sync.Mutex // one person is asked at a time

	watchers watch.List[func()]
	once     sync.Once
	stop     chan struct{}
	closing  sync.Once
	polling  sync.WaitGroup
}

// Open makes the box. It reads nothing yet.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if needs.Absent == "" && (needs.Store == nil || needs.Tools == nil) {
		return nil, errors.New("opening toolbox scripts: there is nowhere to keep them")
	}
	if needs.Now == nil {
		needs.Now = time.Now
	}
	cfg.Every, cfg.Timeout = cmp.Or(cfg.Every, time.Second), cmp.Or(cfg.Timeout, 10*time.Minute)
	return &Box{cfg: cfg, needs: needs, stop: make(chan struct{})}, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return Name }

// Absent says why there is nothing here.
func (b *Box) Absent() (group string, why map[string]string) {
	if b.needs.Absent == "" {
		return Group, nil
	}
	return Group, map[string]string{SaveTool: b.needs.Absent}
}

// Tools gives the tool that saves, and a tool for each script.
func (b *Box) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	if b.needs.Absent != "" {
		return nil, nil
	}
	marks := b.needs.Store.Marks() // first, so that what changes meanwhile is noticed
	scripts, faults, err := b.needs.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	tools := []toolcrib.Tool{b.scriptSave()}
	var told []toolcrib.LoadError
	for _, f := range faults {
		told = append(told, toolcrib.LoadError{Box: Name, Tool: f.Name, Err: f.Err})
	}
	for _, s := range scripts {
		if err := s.check(nil); err != nil { // of an older version, which took more
			told = append(told, toolcrib.LoadError{Box: Name, Tool: s.Name, Err: err})
			continue
		}
		tools = append(tools, b.tool(s))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks, b.read, b.faults = marks, true, told
	return tools, nil
}

// Faults tells which scripts do not count, as of the last time that Tools was called.
func (b *Box) Faults() []toolcrib.LoadError {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// Notify has changed called after the scripts have become others.
func (b *Box) Notify(changed func()) (stop func()) {
	stop = b.watchers.Add(changed)
	b.once.Do(func() {
		if b.needs.Absent != "" {
			return
		}
		b.polling.Add(1)
		go b.poll()
	})
	return stop
}

// Close ends the looking for changes.
func (b *Box) Close() error {
	b.closing.Do(func() { close(b.stop) })
	b.once.Do(func() {}) // nothing begins after it
	b.polling.Wait()
	return nil
}

// changed tells who watches. Whoever is told calls Tools, which remembers what it read.
func (b *Box) changed() { b.watchers.Each(func(do func()) { do() }) }

// poll looks for what another process did.
func (b *Box) poll() {
	defer b.polling.Done()
	tick := time.NewTicker(b.cfg.Every)
	defer tick.Stop()
	told, ever := "", false // what was told last, if anything was
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		now := b.needs.Store.Marks()
		b.mu.Lock()
		same := b.read && now == b.marks
		b.mu.Unlock()
		if same || ever && now == told {
			continue
		}
		told, ever = now, true
		b.changed()
	}
}
