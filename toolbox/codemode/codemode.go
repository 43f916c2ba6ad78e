// Package codemode is the toolbox for programs instead of calls: a model writes one
// small script that calls tools, and is shown what came of it, not every step.
//
// Its one invariant: a script can do nothing but make calls, and each of them is a
// call of its own by Env.Use: judged, asked about and recorded, with run_script as its
// parent.
package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/codemode"
)

// Name is the name of the box, Group the group of its tools.
const (
	Name  = "codemode"
	Group = "code"
)

// RunScript is the name of the tool.
const RunScript = "run_script"

// Config bounds scripts.
type Config struct {
	Time    time.Duration // how long a script computes that names no time; 0: 10 s
	MaxTime time.Duration // the most that one may name; 0: 1 minute
	Result  int           // bytes of a value that a model is shown; 0: 16,000
	Log     int           // bytes of a log that a model is shown; 0: 4,000
}

func (c Config) filled() Config {
	for _, p := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&c.Time, 10 * time.Second}, {&c.MaxTime, time.Minute}} {
		if *p.at <= 0 {
			*p.at = p.usual
		}
	}
	if c.Result <= 0 {
		c.Result = 16_000
	}
	if c.Log <= 0 {
		c.Log = 4_000
	}
	c.Time = min(c.Time, c.MaxTime)
	return c
}

// Needs is what the box works with.
type Needs struct {
	// Engine runs scripts. Nil: there is none here, and Absent says why.
	Engine codemode.Engine
	Absent string
	// Search finds tools that a caller may use, and Describe tells how one is called, both
	// in a few hundred tokens. Nil: scripts are told that there is none.
	Search, Describe func(ctx context.Context, caller toolcrib.Caller, words string) (string, error)
	// Parse says what is wrong with the text of a script. Nil: that shows when it runs.
	Parse func(code string) error
	// Worked is told of each script of run_script that came to its end, and which tools it
	// called well. It may be nil.
	Worked func(code string, tools []string)
	// Close gives back what the engine holds. It may be nil.
	Close func() error
}

// Box is the toolbox.
type Box struct {
	cfg   Config
	needs Needs
	run   *Runner
}

// Open makes the box.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if needs.Engine == nil && needs.Absent == "" {
		return nil, errors.New("opening toolbox codemode: there is nothing that runs scripts")
	}
	return &Box{cfg: cfg.filled(), needs: needs, run: NewRunner(cfg, needs)}, nil
}

// Runner runs scripts as run_script does.
func (b *Box) Runner() *Runner { return b.run }

// Name implements [toolcrib.Toolbox].
func (b *Box) Name() string { return Name }

// Tools implements [toolcrib.Toolbox].
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	if b.needs.Engine == nil {
		return nil, nil
	}
	return []toolcrib.Tool{b.runScript()}, nil
}

// Absent says why there is no run_script.
func (b *Box) Absent() (group string, why map[string]string) {
	if b.needs.Engine != nil {
		return Group, nil
	}
	return Group, map[string]string{RunScript: b.needs.Absent}
}

// Close ends the worker that is kept ready.
func (b *Box) Close() error {
	if b.needs.Close == nil {
		return nil
	}
	return b.needs.Close()
}

// Program is one script to run for a call.
type Program struct {
	Name  string // of a saved script; empty: it is one that a model just wrote
	Code  string
	Input json.RawMessage
	Time  time.Duration // how long it may compute; 0: the usual time
	// Tool gives the name by which a tool is called that the script calls by this one, or
	// says why it may not be called. Nil: every tool by its name.
	Tool func(name string) (string, error)
}
