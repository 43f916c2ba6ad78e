package governed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// Config says what a crib has and what it may do. Only State is needed. With
// nothing else there are no tools but read_artifact, nothing can be touched, and what would change
// something is asked about.
type Config struct {
	// State is the directory of the journal, its key and open questions. It is
	// made if it is not there, and no tool can touch it.
	State string

	// Toolboxes are your own tools.
	Toolboxes []toolcrib.Toolbox
	// BuiltIn names toolboxes that come with Toolcrib: clock, files, interact,
	// math, memory, notes, shell, skill, web. The box skill reads the skills of the person
	// (~/.claude/skills, ~/.agents/skills), whatever was granted.
	BuiltIn []string

	// Mode says when a person is asked. plan: never, since nothing is done but
	// looking. default, or empty: before anything is changed, run or sent.
	// auto-edit: not about files. yolo: only about what wipes a disk and the like.
	Mode string
	// Allow, Ask and Deny are rules, such as send_mail, write_file(./src/**) or
	// run_command(go test *). Deny comes before Ask, and Ask before Allow.
	Allow, Ask, Deny []string

	// Read and Write are directories that tools may read, or read and change.
	// A relative one begins in Dir.
	Read, Write []string
	// Hosts are other machines that tools may reach: names, *.suffix, * for every
	// public one, addresses and ranges.
	Hosts []string
	// Dir is where relative names begin. Empty: the working directory.
	Dir string

	// Programs is what [Main] gave. Without it no tool can run programs; with it
	// those of the toolbox shell can.
	Programs Programs
	// Sandbox is where programs run: auto, linux, container or microvm. Empty:
	// auto, the first that this machine has. There is never none.
	Sandbox string

	// Approver asks the person. Nil: the desk does. An MCP client that can ask the
	// person who uses it does so (see package mcpserver). Where nobody can be asked
	// the call is refused and its question kept: 'toolcrib approvals' answers it, with
	// TOOLCRIB_HOME set to the directory in which State lies under the name state,
	// and the repeated call goes by the answer.
	Approver toolcrib.Approver

	// Subject is whose program this is, as the desk and the journal know it.
	// Empty: local.
	Subject string
	Log     *slog.Logger // nil: slog.Default
}

// Programs proves that [Main] was called. Its zero value does not.
type Programs struct{ started bool }

// Main must be called first thing in main, if tools are to run programs: a
// sandbox starts this program again to stand between it and what it runs. If
// that is what the process was started for, Main does it and does not return.
func Main() Programs {
	app.Shim()
	return Programs{started: true}
}

// Crib is an open crib with its guards, desk, sandbox and journal. Use the
// embedded crib as any other, but do not set its fields.
type Crib struct {
	*toolcrib.Crib

	app     *app.App
	journal func(context.Context) (*store.Reader, error)
}

// Open opens a crib. Whatever of the configuration does not work is an error, but
// for a Dir that is the home directory, holds it, or is the top of the file system:
// that is never granted by ".". The crib has to be closed.
func Open(ctx context.Context, cfg Config) (*Crib, error) {
	s, err := cfg.settings()
	if err != nil {
		return nil, err
	}
	needs, err := cfg.needs()
	if err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, s, needs)
	if err != nil {
		return nil, fmt.Errorf("opening a crib: %w", err)
	}
	errs := make([]error, 0, len(a.Faults))
	for _, f := range a.Faults {
		errs = append(errs, f)
	}
	for _, u := range a.Unmatched(ctx, nil) {
		errs = append(errs, errors.New(u.String()))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(fmt.Errorf("opening a crib: %w", err), a.Close(ctx))
	}
	if !cfg.Programs.started {
		a.Crib.Sandbox = nil
	}
	return &Crib{Crib: a.Crib, app: a, journal: func(ctx context.Context) (*store.Reader, error) { return app.ReadJournal(ctx, s, needs) }}, nil
}

// Close closes toolboxes, sandbox, desk and journal.
func (c *Crib) Close() error { return c.app.Close(context.Background()) }

// Records gives the newest records of the journal, the newest first, n at most;
// 0: all.
func (c *Crib) Records(ctx context.Context, n int) ([]toolcrib.Record, error) {
	r, err := c.journal(ctx)
	if err != nil {
		return nil, err
	}
	list, err := r.List(ctx, store.Filter{Limit: n})
	return list, errors.Join(err, r.Close())
}

// settings writes the configuration as that of the program.
func (cfg Config) settings() (settings.Config, error) {
	s := settings.Defaults()
	s.Expose = settings.ExposeFull
	s.Grant.Read, s.Grant.Write, s.Grant.Hosts = cfg.Read, cfg.Write, cfg.Hosts
	s.Permissions.Allow, s.Permissions.Ask, s.Permissions.Deny = cfg.Allow, cfg.Ask, cfg.Deny
	switch cfg.Mode {
	case "":
	case "plan", "default", "auto-edit", "yolo":
		s.Mode = cfg.Mode
	default:
		return s, fmt.Errorf("opening a crib: there is no mode %q; there are plan, default, auto-edit and yolo", cfg.Mode)
	}
	if cfg.Sandbox != "" {
		s.Sandbox.Backend = cfg.Sandbox
	}
	if cfg.Sandbox == "host" || cfg.Sandbox == "none" {
		return s, fmt.Errorf("opening a crib: Sandbox: %q holds nothing back", cfg.Sandbox)
	}
	b := &s.Toolboxes
	on := map[string]*bool{
		"clock": &b.Clock.Enabled, "files": &b.Files.Enabled, "interact": &b.Interact.Enabled, "math": &b.Math.Enabled,
		"memory": &b.Memory.Everyone, "notes": &b.Notes.Enabled, // who names a memory wants it for all callers
		"shell": &b.Shell.AllowShell, "skill": &b.Skill.Enabled, "web": &b.Web.Enabled,
	}
	for _, enabled := range on {
		*enabled = false
	}
	for _, name := range cfg.BuiltIn {
		enabled, ok := on[name]
		if !ok {
			return s, fmt.Errorf("opening a crib: BuiltIn: there is no toolbox %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(on)), ", "))
		}
		*enabled = true
	}
	if b.Shell.AllowShell && !cfg.Programs.started {
		return s, errors.New("opening a crib: the toolbox shell runs programs: call governed.Main first thing in main, and give what it returns as Programs")
	}
	return s, nil
}

func (cfg Config) needs() (app.Needs, error) {
	if cfg.State == "" {
		return app.Needs{}, errors.New("opening a crib: State has to name a directory for the journal")
	}
	state, err := filepath.Abs(cfg.State)
	if err != nil {
		return app.Needs{}, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return app.Needs{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // a service may have none
	}
	return app.Needs{
		State: state, Subject: cfg.Subject, Dir: dir, Home: home, Private: []string{state},
		Unattended: desk.Leave, Boxes: cfg.Toolboxes, Approver: cfg.Approver, Log: cfg.Log,
	}, nil
}
