// Package sandboxes is the one list of sandboxes: it opens the one that the
// settings ask for, and sees to what a sandbox needs around it: that the person is
// told what it says, and room for long output. It runs nothing itself. The wiring
// in internal/app imports it.
package sandboxes

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/container"
	"github.com/toolcrib/toolcrib/internal/sandbox/host"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
	"github.com/toolcrib/toolcrib/internal/sandbox/microvm"
	"github.com/toolcrib/toolcrib/internal/sandbox/seatbelt"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// Open makes the one sandbox of the crib, and the containers of its MCP servers.
// Nothing is tried yet: a backend is opened when a program needs it.
func Open(cfg settings.Sandbox, r reach.Reach, start reach.Start, tools toolchains.Shown) (*sandbox.Chooser, *Images, error) {
	shown := make([]string, 0, len(cfg.ReadOnly))
	for _, text := range cfg.ReadOnly {
		dir, err := start.Directory(text)
		if err != nil {
			return nil, nil, fmt.Errorf("sandbox.read_only: %s: %w", text, err)
		}
		shown = append(shown, dir)
	}
	shield, err := sandbox.NewShield(start.Home, r.Protected, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("grant.protected: %w", err)
	}
	shield.WriteGit = cfg.Git == "write"
	shield.Obeyed, shield.Own, shield.Home = r.Obeyed, r.Own.Places, start.Home
	shield.Start = start.Dir
	if shield.Scratch = ScratchDir(start.Home); shield.Scratch != "" {
		if cache, err := filepath.EvalSymlinks(filepath.Dir(shield.Scratch)); err == nil {
			shield.Scratch = filepath.Join(cache, filepath.Base(shield.Scratch))
		}
	}
	shield.Git = reach.GitSettings(start.Home, start.Variable())
	limits := sandbox.Limits{MemoryBytes: cfg.Memory, Processes: cfg.Processes, FileBytes: cfg.FileSize}
	kernel := linux.Config{Limits: limits, ReadOnly: shown, Shield: shield}
	if start.State != "" { // also without sandbox.layers: what a killed Toolcrib was applying is taken back
		kernel.Layers = Layers(start.State).dir()
	}
	engine := container.Config{Limits: limits, Engine: cfg.Container.Engine, Image: cfg.Container.Image, User: cfg.Container.User, Shield: shield, Look: hostpath.Finder{Writable: r.CommandsWrite}.Look}
	machine := microvm.Config{Limits: limits, URL: cfg.MicroVM.URL, Image: cfg.MicroVM.Image, Shield: shield}
	belt := seatbelt.Config{Shield: shield, Plain: opening(host.Open, host.Config{Limits: limits})}
	kernel.Tools, kernel.ToolEnv, kernel.GitSettings = tools.Dirs, tools.Env, tools.Git
	kernel.Cache, kernel.CachePlace, kernel.CacheEnv = tools.Cache, tools.Place, tools.CacheEnv
	kernel.CacheTools = []string{"run_command", "start_command", "lsp"} // language servers go by what commands have built
	c := sandbox.Config{
		Backend: cfg.Backend,
		Candidates: []sandbox.Candidate{
			{Name: sandbox.Host, Strength: sandbox.Process, Open: opening(host.Open, host.Config{Limits: limits})},
			{Name: sandbox.Linux, Strength: sandbox.Isolated, Open: opening(linux.Open, kernel), Probe: func(ctx context.Context) []sandbox.Finding { return linux.Probe(ctx, kernel) }},
			{Name: sandbox.Container, Strength: sandbox.Isolated, Open: opening(container.Open, engine)},
			{Name: sandbox.MicroVM, Strength: sandbox.Machine, Open: opening(microvm.Open, machine)},
			{Name: sandbox.Seatbelt, Strength: sandbox.Isolated, Open: opening(seatbelt.Open, belt), Asked: true, Probe: func(ctx context.Context) []sandbox.Finding { return seatbelt.Probe(ctx, belt) }},
		},
		Overrides: map[string]sandbox.Override{},
	}
	for tool, t := range cfg.Tools {
		o := sandbox.Override{Backend: t.ForceBackend, MaxTimeout: t.MaxTimeout}
		if t.Network == "off" {
			o.Network = new(bool)
		}
		c.Overrides[tool] = o
	}
	chooser, err := sandbox.NewChooser(c)
	if err != nil {
		return nil, nil, fmt.Errorf("sandbox: %w", err)
	}
	return chooser, newImages(engine), nil
}

// opening lets a backend's own Open stand for the port.
func opening[C any, S toolcrib.Sandbox](open func(context.Context, C) (S, error), cfg C) func(context.Context) (toolcrib.Sandbox, error) {
	return func(ctx context.Context) (toolcrib.Sandbox, error) {
		s, err := open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// Shim must be called first thing in main. Sandboxes start this program again
// to stand between them and what they run: if that is what the process was
// started for, Shim does it and does not return. Otherwise nothing that whoever
// started us has left open is handed on to programs.
func Shim() {
	host.Main()
	linux.Main()
	_ = sandbox.KeepInherited() // the sandboxes close what they do not hand out besides
}
