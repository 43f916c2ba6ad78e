// Package coding opens the toolboxes for people who program: it joins them to the
// settings, the sandbox and the models. What runs here are programs with an exact
// grant of their own, never command lines.
//
// Its invariant: where nothing holds a program to its grant, it is not started.
package coding

import (
	"context"
	"log/slog"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/code"
	"github.com/toolcrib/toolcrib/toolbox/codemode"
	"github.com/toolcrib/toolcrib/toolbox/lsp"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

// Needs is what the wiring gives.
type Needs struct {
	Dir   string // the working directory of the tools
	Home  string // the person's home directory
	State string // where the program keeps its state; empty: nowhere
	Tools string // the folder of the person's own tools; empty: there is none
	// Dirs are the directories that tools are granted.
	Dirs []files.Dir
	// Run runs a program in the sandbox with exactly this grant, less what rules
	// deny to everybody. What the sandbox cannot hold is an error.
	Run func(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error)
	// ReadyRun says why Run could run nothing of a tool now. A nil one never says.
	ReadyRun func(ctx context.Context, tool string) error
	// In is Run in the sandbox of this name, or in none.
	In func(ctx context.Context, sandbox string, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error)
	// ReadyIn says why that sandbox cannot be had; nil: it can. A nil one never says.
	ReadyIn func(ctx context.Context, sandbox string) error
	// Directory is a directory as people write it in the settings.
	Directory func(text string) (string, error)
	// Shown gives a part of a text with marks in the place of what is hidden in it. Nil:
	// nothing is hidden.
	Shown func(text string, from, to int) (string, error)
	// Obeyed says under which name a file is obeyed by programs outside of the sandbox, and by whom.
	Obeyed func(path string) (name, by string, ok bool)
	// Program finds a program as command lines find it.
	Program func(name string) (string, error)
	// Env are the variables that a program with these directories and hosts gets, with
	// the settings of the tool chains.
	Env func(dirs []files.Dir, hosts []string) []string
	// Model asks a model for a call: each request is a call of its own. Ready says
	// whether there is one.
	Model func(ctx context.Context, name string, caller toolcrib.Caller, parent string) (model.Model, error)
	Ready func() bool
	Crib  *toolcrib.Crib
	Log   *slog.Logger
}

// Kind is a toolbox that can be opened.
type Kind struct {
	Name    string
	Enabled bool
	Open    func(context.Context) (toolcrib.Toolbox, error)
}

// Kinds are the toolboxes for people who program. What needs gives is asked for when
// one is opened.
func Kinds(cfg settings.Config, needs func() Needs) []Kind {
	boxes := cfg.Toolboxes
	scripts := &scripting{cfg: boxes.Codemode, needs: needs}
	return []Kind{
		codegenKind(cfg, needs),
		{codemode.Name, boxes.Codemode.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) { return scripts.open(ctx) }},
		{code.Name, boxes.Code.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) { return openCode(ctx, cfg, needs()) }},
		{lsp.Name, boxes.LSP.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) { return openLSP(ctx, boxes.LSP, needs()) }},
		{saved.Name, boxes.Codemode.Enabled && boxes.Codemode.Saved, func(ctx context.Context) (toolcrib.Toolbox, error) { return scripts.openSaved(ctx) }},
	}
}
