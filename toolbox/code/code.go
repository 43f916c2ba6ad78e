// Package code is the toolbox that runs code: run_code is an interpreter with a memory, like a notebook.
//
// Code runs in a sandbox with a scratch directory of its own and nothing else: no file of the project or of the person,
// no network, no variable of ours. What it works on, the call brings in through the granted files; what it made leaves
// in the result, or by a call of its own that is judged and asked about as every other change.
//
// Its one invariant: whatever code does to its own process, a call ends in time, and says whether the session is still there.
package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Name is the name of the box.
const Name = "code"

// The tools of the box, and the group of the first.
const (
	RunCode    = "run_code"
	SaveOutput = "save_output"
	Group      = "code"
)

// Config bounds what code may use. The zero value of each field is its default.
type Config struct {
	MaxTimeout time.Duration // the longest a call may ask for; default 2 min
	Start      time.Duration // how long an interpreter has to start; default 20 s
	Grace      time.Duration // how long an interrupted cell has to end; default 3 s
	Idle       time.Duration // a session that was not used for so long is ended; default 10 min
	Sessions   int           // sessions at once; the one that was not used for the longest time makes room; default 4
	Output     int           // bytes that are kept of what a cell prints; default 32 KiB
	Flood      int64         // a cell that prints more than that is interrupted; default 64 MiB
	File       int64         // bytes of a file that is brought in or saved; default 16 MiB
	Packages   []string      // the packages that code may import; empty: all that the interpreter has
	// Risk rates a call that brings nothing in. One that brings files in is at least medium.
	Risk Risk
}

// Needs is what the box is given.
type Needs struct {
	// Languages are those that are offered.
	Languages []Language
	// Run runs a program in a sandbox that holds it, until it ends or ctx does.
	Run func(ctx context.Context, p Program) (toolcrib.Exit, error)
	// Place names where a program of this risk would run, or says why nowhere.
	Place func(language string, risk Risk) (string, error)
	// Ready says why nothing could run there now, so that nobody is asked about it.
	// Nil: that shows when code runs.
	Ready func(ctx context.Context, place string) error
	// Shown gives a text as callers may see it. Nil: as it is.
	Shown func(text string, from, to int) (string, error)
	// Reason says why there is no language or no place for it. It is told to who calls.
	Reason string
}

// Language is one that code can be written in.
type Language struct {
	Name string // python, javascript, typescript or shell
	Text string // the interpreter, as the model is told: Python 3.11
}

// Program is an interpreter to start.
type Program struct {
	Language       string
	Driver         string // the program that it is to run
	Place          string // as Place named it
	Stdin          io.Reader
	Stdout, Stderr io.Writer // frames, and what code prints
	Call           toolcrib.Call
}

// Box is the toolbox.
type Box struct {
	cfg   Config
	needs Needs

	ctx    context.Context // of all sessions
	cancel context.CancelFunc
	mu     sync.Mutex
	list   map[key]*session
	closed bool
	saves  approvals
}

// Open makes the box. Nothing is started until code is run.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if cfg.MaxTimeout < 0 || cfg.Start < 0 || cfg.Grace < 0 || cfg.Idle < 0 || cfg.Sessions < 0 || cfg.Output < 0 || cfg.Flood < 0 || cfg.File < 0 {
		return nil, errors.New("opening toolbox code: a bound is negative")
	}
	if len(needs.Languages) > 0 && (needs.Run == nil || needs.Place == nil) {
		return nil, errors.New("opening toolbox code: there is nothing to run code with")
	}
	for _, l := range needs.Languages {
		if _, ok := driverOf(l.Name); !ok {
			return nil, fmt.Errorf("opening toolbox code: there is no driver for %q", l.Name)
		}
	}
	b := &Box{cfg: cfg.filled(), needs: needs, list: map[key]*session{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

func (c Config) filled() Config {
	c.MaxTimeout = cmp.Or(c.MaxTimeout, 2*time.Minute)
	c.Start = cmp.Or(c.Start, 20*time.Second)
	c.Grace = cmp.Or(c.Grace, 3*time.Second)
	c.Idle = cmp.Or(c.Idle, 10*time.Minute)
	c.Sessions = cmp.Or(c.Sessions, 4)
	c.Output = cmp.Or(c.Output, 32<<10)
	c.Flood = cmp.Or(c.Flood, 64<<20)
	c.File = cmp.Or(c.File, 16<<20)
	return c
}

// Name is the box's name.
func (b *Box) Name() string { return Name }

// ToolNames are the names of the tools, be they there or not.
func ToolNames() []string { return []string{RunCode, SaveOutput} }

// Tools lists the box's tools: none where nothing can run.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	if len(b.needs.Languages) == 0 {
		return nil, nil
	}
	run, err := b.runCode()
	if err != nil {
		return nil, err
	}
	return []toolcrib.Tool{run, b.saveOutput()}, nil
}

// Absent says why there are no tools.
func (b *Box) Absent() (string, map[string]string) {
	if len(b.needs.Languages) > 0 {
		return Group, nil
	}
	why := map[string]string{}
	for _, tool := range ToolNames() {
		why[tool] = cmp.Or(b.needs.Reason, "no interpreter can run here")
	}
	return Group, why
}

// Close ends every session and waits for them.
func (b *Box) Close() error {
	b.mu.Lock()
	list := b.list
	b.list, b.closed = nil, true
	b.mu.Unlock()
	b.cancel()
	for _, s := range list {
		<-s.over
	}
	return nil
}

// offers says whether a language is one of the box.
func (b *Box) offers(language string) bool {
	return slices.ContainsFunc(b.needs.Languages, func(l Language) bool { return l.Name == language })
}
