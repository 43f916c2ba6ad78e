// Package codegen writes tools, skills, agents and workflows from a description. It fills templates, with a model where there
// is one, checks the result, and only then has it written: by a call of write_file, which the rules about files judge, or by
// install_tool, which a person is asked about in every mode.
//
// The invariant: what a model wrote is text until a person has seen it. It runs in the sandbox alone, with an empty directory
// of its own, and what a tool declares to touch is never more than what the call asked for.
package codegen

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/model"
)

// Name is the name of the box, and the group of its tools.
const Name = "codegen"

// The tools of the box.
const (
	Codegen     = "codegen"
	InstallTool = "install_tool"
)

// Config sets up the box.
type Config struct {
	// Model is the model that fills templates; empty: the one that is used where none is named.
	Model string
	// Repairs is how often a model gets back what was wrong with its answer. Negative: never. Zero: twice.
	Repairs int
}

// Needs is what the box is given.
type Needs struct {
	// Model gives the model for a call. Nil, or Ready says no: templates stay as they are, with marks where something has to be filled in.
	Model func(ctx context.Context, name string, caller toolcrib.Caller, parent string) (model.Model, error)
	Ready func() bool
	// Try puts files into an empty directory and runs steps there, one after the other, until one fails. Each runs in the
	// sandbox, with that directory alone and without a network. Nil: nothing can be tried, and no tool is written.
	Try func(ctx context.Context, call toolcrib.Call, files []scaffold.File, steps []Step) ([]Outcome, error)
	// Able says why Try could run nothing now, so that nobody is asked about a tool that
	// cannot be checked. Nil: that shows when it is tried.
	Able func(ctx context.Context) error
	// Has says whether a language can be tried here, and if not why.
	Has func(language string) error
	// Declared reads what a file of a tool declares.
	Declared func(file string, content []byte) (Declaration, []string)
	// Skill, Agent and Workflow say what is wrong with a text of that kind. Nil: such are not made here.
	Skill    func(name, text string) []string
	Agent    func(name, text string) []string
	Workflow func(ctx context.Context, code string) []string
	// Tools is the folder of the person's own tools. Nil: nothing can be installed.
	Tools Folder
}

// Folder is the folder of the person's own tools.
type Folder interface {
	// Read gives a file of it; nil: it is not there.
	Read(file string) ([]byte, error)
	// Taken names what else has the name of a tool already; empty: nothing has.
	Taken(name, file string) string
	// Install writes a tool and its test, and waits until it can be called. Loaded is false if that took too long.
	Install(ctx context.Context, name string, files []scaffold.File) (path string, loaded bool, err error)
}

// Declaration is what a file of a tool declares.
type Declaration struct {
	Name               string
	Description        string
	Effects            toolcrib.Effects
	Read, Write, Hosts []string
	// Beyond names keys that generated tools may not have, such as secrets.
	Beyond []string
}

// Step is one program of a trial.
type Step struct {
	What    string // as people are told
	Program string // a name, or ./NAME for one that a step before made
	Args    []string
	Stdin   string
	Until   string // its input ends when it has printed this
	Go      bool   // it is the Go tool chain, which needs its cache
}

// Outcome is how a step ended.
type Outcome struct {
	Step   Step
	Code   int
	How    string // if it was ended: why
	Stdout string
	Stderr string
}

// Box is the toolbox.
type Box struct {
	cfg   Config
	needs Needs

	mu      sync.Mutex
	checked map[[32]byte]bool // what was tried and passed, by its content
}

// Open makes the box.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if needs.Declared == nil {
		return nil, errors.New("opening toolbox codegen: nothing reads what tools declare")
	}
	if cfg.Repairs = cmp.Or(cfg.Repairs, 2); cfg.Repairs < 0 {
		cfg.Repairs = 0
	}
	return &Box{cfg: cfg, needs: needs, checked: map[[32]byte]bool{}}, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return Name }

// Tools lists the tools.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	tools := []toolcrib.Tool{b.codegen()}
	if b.needs.Tools != nil {
		tools = append(tools, b.installTool())
	}
	return tools, nil
}

// thinks reports whether there is a model.
func (b *Box) thinks() bool {
	return b.needs.Model != nil && (b.needs.Ready == nil || b.needs.Ready())
}
