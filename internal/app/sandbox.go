package app

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/container"
	"github.com/toolcrib/toolcrib/internal/sandbox/host"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
	"github.com/toolcrib/toolcrib/internal/sandbox/microvm"
)

// Sandbox says where programs run and what they may use.
type Sandbox struct {
	Backend   string                 `yaml:"backend" enum:"auto,none,host,linux,container,microvm" doc:"Where programs run. auto: the strongest that works here and that the risk of the tool asks for. A backend named here is used or the call is refused, never a weaker one."`
	Memory    int64                  `yaml:"memory" unit:"bytes" project:"lower" min:"16MiB" doc:"The most memory that a program and all it starts may use."`
	Processes int                    `yaml:"processes" project:"lower" min:"8" doc:"The most processes and threads of a program."`
	FileSize  int64                  `yaml:"file_size" unit:"bytes" project:"lower" min:"1MiB" doc:"The largest file that a program may write."`
	ReadOnly  []string               `yaml:"read_only" doc:"Further directories of this machine that programs may read in the linux sandbox, such as /opt/tools."`
	Git       string                 `yaml:"git" enum:"read,write" doc:"What programs may do in Git directories. With write they can commit, but also leave settings there that make the next git command you run start a program of theirs."`
	Container ContainerBox           `yaml:"container" doc:"The container backend."`
	MicroVM   MicroVMBox             `yaml:"microvm" doc:"The microvm backend, a microsandbox server."`
	Tools     map[string]SandboxTool `yaml:"tools" doc:"What is different for one tool, by its name."`
}

// ContainerBox sets up the container backend.
type ContainerBox struct {
	Engine string `yaml:"engine" doc:"docker, podman or nerdctl, or the path of one that takes the same arguments. Empty: the first that works."`
	Image  string `yaml:"image" doc:"The image that programs run in. It must be there already."`
}

// MicroVMBox sets up the microvm backend.
type MicroVMBox struct {
	URL   string `yaml:"url" doc:"Address of the server. Empty: what MSB_SERVER_URL says, or http://127.0.0.1:5555. A key is taken from MSB_API_KEY."`
	Image string `yaml:"image" doc:"Image of the machines. Empty: microsandbox/python."`
}

// SandboxTool is what is set for the programs of one tool.
type SandboxTool struct {
	ForceBackend string        `yaml:"force_backend" enum:"auto,none,host,linux,container,microvm" doc:"Where its programs run, whatever their risk."`
	Network      string        `yaml:"network" enum:"granted,off" doc:"off: no network, even where it was granted."`
	MaxTimeout   time.Duration `yaml:"max_timeout" doc:"The longest that one of its programs may run. 0: as long as the tool may."`
}

// openSandbox makes the one sandbox of the crib. Nothing is tried yet: a
// backend is opened when a program needs it.
func openSandbox(cfg Sandbox, r reach, needs Needs) (*sandbox.Chooser, error) {
	shown := make([]string, 0, len(cfg.ReadOnly))
	for _, text := range cfg.ReadOnly {
		dir, err := needs.directory(text)
		if err != nil {
			return nil, fmt.Errorf("sandbox.read_only: %s: %w", text, err)
		}
		shown = append(shown, dir)
	}
	shield, err := sandbox.NewShield(needs.Home, r.protected, nil)
	if err != nil {
		return nil, fmt.Errorf("grant.protected: %w", err)
	}
	shield.WriteGit = cfg.Git == "write"
	shield.Obeyed, shield.Own, shield.Home = r.obeyed, r.own.places, needs.Home
	shield.Taken = r.own.clients.taken
	shield.Path, shield.Start = r.pathDirs(needs), needs.Dir
	shield.First = r.own.first
	shield.Git = gitSettings(needs.Home, needs.variable())
	if needs.State != "" {
		shield.Holds = &sandbox.Holds{Dir: holdsDir(needs.State)}
	}
	limits := sandbox.Limits{MemoryBytes: cfg.Memory, Processes: cfg.Processes, FileBytes: cfg.FileSize}
	kernel := linux.Config{Limits: limits, ReadOnly: shown, Shield: shield}
	engine := container.Config{Limits: limits, Engine: cfg.Container.Engine, Image: cfg.Container.Image, Shield: shield, Look: hostpath.Finder{Writable: r.commandsWrite}.Look}
	machine := microvm.Config{Limits: limits, URL: cfg.MicroVM.URL, Image: cfg.MicroVM.Image, Shield: shield}
	c := sandbox.Config{
		Backend: cfg.Backend,
		Candidates: []sandbox.Candidate{
			{Name: sandbox.Host, Strength: sandbox.Process, Open: opening(host.Open, host.Config{Limits: limits})},
			{Name: sandbox.Linux, Strength: sandbox.Isolated, Open: opening(linux.Open, kernel), Probe: func(ctx context.Context) []sandbox.Finding { return linux.Probe(ctx, kernel) }},
			{Name: sandbox.Container, Strength: sandbox.Isolated, Open: opening(container.Open, engine)},
			{Name: sandbox.MicroVM, Strength: sandbox.Machine, Open: opening(microvm.Open, machine)},
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
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return chooser, nil
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
