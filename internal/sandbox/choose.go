package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// The names of backends in a configuration. Auto is the strongest that is
// there; None is that no program may be run.
const (
	Auto      = "auto"
	None      = "none"
	Host      = "host"
	Linux     = "linux"
	Container = "container"
	MicroVM   = "microvm"
	Seatbelt  = "seatbelt"
)

// Strength is how far a backend keeps a program from the machine.
type Strength uint8

// The strengths.
const (
	Nothing  Strength = iota
	Process           // a process of the host
	Isolated          // namespaces of the host's kernel
	Machine           // a kernel of its own
)

// Candidate is a backend that might be used. Open must try it and not only
// look whether it is installed.
type Candidate struct {
	Name     string
	Strength Strength
	Open     func(ctx context.Context) (toolcrib.Sandbox, error)
	// Probe tries more than Open does and tells what it found. It may be nil.
	Probe func(ctx context.Context) []Finding
	// Asked: it is used only where a person names it, never by Auto.
	Asked bool
}

// Finding is one thing a probe tried.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Override is what is set for one tool. It may choose a weaker backend than
// the table of risks: that is then someone's word, and not a silent downgrade.
type Override struct {
	// Backend is used for this tool whatever its risk. Empty: by its risk.
	Backend string
	// Network false cuts the network off also where it was granted; true says
	// that the backend need not be able to cut it off. Neither gives more than
	// was granted. Nil: as granted.
	Network *bool
	// MaxTimeout is the longest that a program of this tool may run. Zero: no
	// limit but that of the call.
	MaxTimeout time.Duration
}

// Config is what a choice is made from.
type Config struct {
	Backend    string // empty is Auto
	Candidates []Candidate
	Overrides  map[string]Override // by native tool name
	Now        func() time.Time    // nil: time.Now
}

// Chooser picks a sandbox by risk. It opens a backend when it is first needed
// and keeps it; what could not be opened is tried again after a while.
type Chooser struct {
	cfg    Config
	opened map[string]*attempt // by name; one for each candidate
}

// attempt is what came of opening a backend. Each has a lock of its own: an
// engine that takes long to answer must not hold up the other backends.
type attempt struct {
	mu     sync.Mutex
	tried  bool
	closed bool
	box    toolcrib.Sandbox
	err    error
	at     time.Time
}

// again is how long a backend that could not be opened is left alone.
const again = 30 * time.Second

// NewChooser checks that every name in the configuration is one.
func NewChooser(cfg Config) (*Chooser, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Backend == "" {
		cfg.Backend = Auto
	}
	c := &Chooser{cfg: cfg, opened: map[string]*attempt{}}
	for _, k := range cfg.Candidates {
		c.opened[k.Name] = &attempt{}
	}
	if err := c.known(cfg.Backend); err != nil {
		return nil, err
	}
	for tool, o := range cfg.Overrides {
		if o.Backend == "" {
			o.Backend = Auto
		}
		if err := c.known(o.Backend); err != nil {
			return nil, fmt.Errorf("for the tool %s: %w", tool, err)
		}
		if o.MaxTimeout < 0 {
			return nil, fmt.Errorf("for the tool %s: the longest time must not be negative", tool)
		}
	}
	return c, nil
}

func (c *Chooser) known(name string) error {
	names := []string{Auto, None, Host, Linux, Container, MicroVM, Seatbelt}
	for _, k := range c.cfg.Candidates {
		names = append(names, k.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("unknown sandbox backend %q: want one of %s", name, strings.Join(slices.Compact(names), ", "))
}

// choose gives the sandbox for programs of a tool. It is nil for a low risk:
// such a tool runs no programs.
func (c *Chooser) choose(ctx context.Context, tool string, risk Risk, granted toolcrib.Bounds) (toolcrib.Sandbox, error) {
	d := c.decide(ctx, tool, risk, granted)
	if d.err != nil || d.box == nil {
		return nil, d.err
	}
	return &held{name: d.name, inner: d.box, override: c.cfg.Overrides[tool], bounds: d.demand.bounds}, nil
}

// Named gives a backend by its name, for programs that are no tool's: it is that
// one or an error.
func (c *Chooser) Named(ctx context.Context, name string) (toolcrib.Sandbox, error) {
	for _, k := range c.cfg.Candidates {
		if k.Name == name {
			return c.open(ctx, k)
		}
	}
	return nil, fmt.Errorf("there is no sandbox %q", name)
}

// Close closes what was opened.
func (c *Chooser) Close() error {
	var errs []error
	for _, a := range c.opened {
		a.mu.Lock()
		if closer, ok := a.box.(io.Closer); ok && a.err == nil && !a.closed {
			errs = append(errs, closer.Close())
		}
		a.closed = true
		a.mu.Unlock()
	}
	return errors.Join(errs...)
}

// open gives a backend, opened now or before.
func (c *Chooser) open(ctx context.Context, k Candidate) (toolcrib.Sandbox, error) {
	a := c.opened[k.Name]
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errors.New("the sandboxes were closed")
	}
	if a.tried && (a.err == nil || c.cfg.Now().Sub(a.at) < again) {
		return a.box, a.err
	}
	box, err := k.Open(ctx)
	if err == nil && box == nil {
		err = errors.New("it opened as nothing")
	}
	if ctx.Err() == nil { // what failed because the caller went away may work for the next
		a.tried, a.box, a.err, a.at = true, box, err, c.cfg.Now()
	}
	return box, err
}

// held is a backend under the override of a tool and the demands of its risk.
type held struct {
	name     string
	inner    toolcrib.Sandbox
	override Override
	bounds   toolcrib.Bounds
}

// Enforces is what the backend enforces.
func (h *held) Enforces() toolcrib.Bounds { return h.inner.Enforces() }

// Run narrows the grant and never widens it.
func (h *held) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	grant.Bounds |= h.bounds
	if h.override.Network != nil && !*h.override.Network {
		grant.Hosts = nil
		grant.Bounds |= toolcrib.BoundNetwork
	}
	if m := h.override.MaxTimeout; m > 0 && (grant.Time == 0 || grant.Time > m) {
		grant.Time = m
	}
	exit, err := h.inner.Run(ctx, cmd, grant)
	exit.Sandbox = h.name
	return exit, err
}
