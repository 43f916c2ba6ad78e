// Package app makes a running program of the parts: configuration in, a crib
// with its journal out, and everything closed again in the reverse order. It
// may import every other package; only internal/cli and cmd import it.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/terms"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// App is an open crib.
type App struct {
	Crib    *toolcrib.Crib
	Journal *store.Journal
	Sandbox *sandbox.Chooser
	Desk    *desk.Desk
	Hub     *mcphub.Hub
	Faults  []toolcrib.LoadError // what could not be put on the shelves

	own          []string // the toolboxes that are part of the program
	policy       livePolicy
	secrets      safety.Secrets
	bounds       *boundsSafety
	reach        reach.Reach
	shell        *shell.Box                      // nil: no commands are run
	keeper       *keeper                         // of secrets; nil: in a crib that cannot be called
	hosted       hosted                          // toolboxes of ours on a bus
	spill        *spill                          // what commands printed that is too long for a result
	bounded      bool                            // commands see nothing but what was granted
	shelving     toolcrib.Contents               // without the MCP servers, which come and go
	meta         toolcrib.Toolbox                // tools about the servers
	settings     atomic.Pointer[settings.Config] // those that the servers are of now
	plugins      string                          // the folder of programs that are servers
	launcher     *reach.Launcher                 // of the servers
	wait         time.Duration                   // for servers that were never listed
	events       events
	instructions map[string]string // of agents
	stateKey     []byte            // signs what MCP clients carry between requests
	state        string            // the directory of the program's state
	subject      string            // the person whose program this is
	expose       string            // how models are shown tools, and from which size on they search
	exposeTokens int
	closers      []io.Closer
	changed      chan struct{} // a box says that its tools are others now
	stop         func()
}

// Needs is what Open takes besides the configuration.
type Needs struct {
	State string // directory for the journal and its key
	// Subject is the person whose program this is. Empty: local.
	Subject string
	Dir     string // the working directory
	Home    string // the person's home directory
	Config  string // the directory of the settings, which plugins lie in
	// Settings is the person's file of settings, which mcp_import writes to.
	// Empty: it writes nowhere, and does not exist.
	Settings string
	Version  string   // of this program
	Private  []string // absolute paths that no tool may touch: settings and state of the program itself
	// Unattended is what becomes of questions where nobody is there, unless the
	// settings say it.
	Unattended desk.Unattended
	Keys       KeySource // where the key of the vault is looked for
	// Page shows the person a page, to log in to a server. Nil: nobody is there.
	Page   func(ctx context.Context, url string) error
	Layers *settings.Layers // nil: the whole configuration is the user's
	// AgeFrom and SizeFrom say where journal.max_age and journal.max_size were
	// set: it is told beside what they remove.
	AgeFrom, SizeFrom string
	Log               *slog.Logger
	// Path is the person's PATH. This program's own may lack directories that
	// commands can write. Empty: they are the same.
	Path string
	// Getenv reads the variables of the person. This program's own may lack those
	// that lead to what commands can write. Nil: they are the same.
	Getenv func(name string) string
	// Boxes are toolboxes of the program that has this one in it.
	Boxes []toolcrib.Toolbox
	// Approver is asked instead of the desk. Nil: the desk is.
	Approver toolcrib.Approver
}

func (n Needs) start() reach.Start {
	return reach.Start{Dir: n.Dir, Home: n.Home, State: n.State, Private: n.Private, Path: n.Path, Getenv: n.Getenv}
}

// BadConfig is a configuration that reads well and makes no sense.
type BadConfig struct{ error }

// Unwrap gives what is wrong.
func (b BadConfig) Unwrap() error { return b.error }

// Open builds the crib. A toolbox that cannot be opened is reported in Faults
// and the others work; a journal that cannot be opened is an error, because
// nothing may be done without one.
func Open(ctx context.Context, cfg settings.Config, needs Needs) (*App, error) {
	cfg = cfg.PlainNames(ownBoxes(needs.Boxes...))
	a, err := prepare(cfg, needs)
	if err != nil {
		return nil, err
	}
	if err := a.complete(ctx, cfg, needs); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	if a.stateKey, err = stateKey(needs.State); err != nil {
		return nil, errors.Join(fmt.Errorf("the key for MCP clients: %w", err), a.Close(ctx))
	}
	if err := a.openHub(ctx, cfg, needs, false); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.Hub.Await(ctx, cfg.Hub.Wait)
	a.shelve(ctx, cfg, needs.Boxes)
	if err := a.bounds.recall(ctx, a.Journal, a.Crib, time.Now()); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.follow()
	return a, nil
}

// prepare settles what tools may touch and where programs run.
func prepare(cfg settings.Config, needs Needs) (*App, error) {
	reach, err := reach.Of(cfg.Grant, needs.start(), pluginDir(cfg, needs))
	if err != nil {
		return nil, BadConfig{err}
	}
	if err := httpclient.CheckHosts(cfg.Grant.Hosts); err != nil {
		return nil, BadConfig{fmt.Errorf("grant.hosts: %w", err)}
	}
	if err := checkVault(cfg.Vault); err != nil {
		return nil, BadConfig{err}
	}
	chooser, err := openSandbox(cfg.Sandbox, reach, needs)
	if err != nil {
		return nil, BadConfig{err}
	}
	a := &App{own: ownBoxes(needs.Boxes...), reach: reach, Sandbox: chooser, Faults: reach.Faults, closers: []io.Closer{chooser}, state: needs.State, subject: needs.Subject}
	a.Crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Sandbox: &openBox{Chooser: chooser, log: cmp.Or(needs.Log, slog.Default())}, Grant: a.grant(cfg), Files: reach.Files,
		Limits: toolcrib.Limits{
			Timeout: cfg.Limits.Timeout, MaxTimeout: cfg.Limits.MaxTimeout, Ask: cfg.Limits.Ask,
			Input: int(cfg.Limits.Input), Output: int(cfg.Limits.Output), Record: int(cfg.Limits.Record),
		},
		Log: needs.Log,
	}
	a.policy.home = needs.Home
	a.expose, a.exposeTokens = cfg.Expose, cfg.ExposeTokens
	a.Crib.Emit = a.events.emit
	a.Crib.Visible, a.Crib.MoreGuards = a.seen, a.policy.live.Guards
	return a, nil
}

// complete adds what calls need.
func (a *App) complete(ctx context.Context, cfg settings.Config, needs Needs) (err error) {
	if cfg.Toolboxes.Shell.AllowShell {
		if a.spill, err = openSpill(needs.State); err != nil {
			return err
		}
		a.closers = append(a.closers, a.spill)
	}
	a.bound(ctx, cfg)
	if err := a.setPolicy(cfg, needs.Layers); err != nil {
		return BadConfig{err}
	}
	a.holdFiles(needs)
	if a.keeper, err = openSecrets(a.Crib, cfg.Vault, needs.State, needs.Keys); err != nil {
		return BadConfig{err}
	}
	if err := a.openSafety(ctx, cfg, needs); err != nil {
		return err
	}
	// Before there is a journal: one without seals beside it is a trace.
	if _, err := OpenSeals(needs.State, true); err != nil {
		return err
	}
	if a.Journal, err = sqlite.Open(ctx, JournalConfig(cfg, needs)); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	d, kept, err := openDesk(ctx, cfg.Desk, deskNeeds{
		State: needs.State, Project: a.reach.Base, Auto: needs.Unattended, Ask: cfg.Limits.Ask, Terms: terms.Of(a.shellNow),
		RedactJSON: a.secrets.RedactJSON, RedactText: a.secrets.RedactText, Log: needs.Log,
	})
	if err != nil {
		return err
	}
	a.Desk, a.closers = d, append(a.closers, kept)
	a.Crib.Approver = sealedDesk{d, a.keeper}
	if needs.Approver != nil {
		a.Crib.Approver = sealedDesk{needs.Approver, a.keeper}
	}
	a.Crib.Journal = &sealedJournal{Journal: a.Journal, locked: a.keeper.locked, without: map[*toolcrib.Record]string{}, known: func(caller toolcrib.Caller, tool string) bool {
		_, ok := a.Crib.Tool(caller, tool)
		return ok
	}}
	return nil
}

// bound finds out whether commands see nothing but what was granted.
func (a *App) bound(ctx context.Context, cfg settings.Config) {
	a.bounded = cfg.Toolboxes.Shell.AllowShell
	for _, tool := range []string{"run_command", "start_command"} {
		a.bounded = a.bounded && a.Sandbox.Bounds(ctx, tool)&toolcrib.BoundFiles != 0
	}
}

// Prepare builds everything that can go wrong in a configuration: a crib with
// its tools, guards and sandbox that cannot be called, since it has no journal.
func Prepare(ctx context.Context, cfg settings.Config, needs Needs) (*App, error) {
	cfg = cfg.PlainNames(ownBoxes(needs.Boxes...))
	a, err := prepare(cfg, needs)
	if err != nil {
		return nil, err
	}
	a.bound(ctx, cfg)
	if err := a.setPolicy(cfg, needs.Layers); err != nil {
		return nil, errors.Join(BadConfig{err}, a.Close(ctx))
	}
	if a.keeper, err = openSecrets(a.Crib, cfg.Vault, needs.State, needs.Keys); err != nil {
		return nil, errors.Join(BadConfig{err}, a.Close(ctx))
	}
	unkept := cfg
	unkept.Bounds.Artifacts.Enabled = false // nothing is written here
	if err := a.openSafety(ctx, unkept, needs); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	if err := a.openHub(ctx, cfg, needs, true); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.shelve(ctx, cfg, needs.Boxes)
	return a, nil
}

// grant is the most any call may get.
func (a *App) grant(cfg settings.Config) toolcrib.Grant {
	g := toolcrib.Grant{Dirs: a.reach.Dirs, Hosts: cfg.Grant.Hosts}
	if cfg.Toolboxes.Shell.AllowShell {
		g.Programs = []string{commandShell}
	}
	return g
}

// Catalog builds a crib that can show its tools but not be called: it has no
// journal. Listing must not need a writable disk.
func Catalog(ctx context.Context, cfg settings.Config, needs Needs) (*App, error) {
	layers := needs.Layers
	if layers == nil {
		layers = &settings.Layers{User: cfg}
	}
	visible, err := layers.Visibility(ownBoxes())
	if err != nil {
		return nil, BadConfig{err}
	}
	a := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Visible: visible.Visible}}
	a.policy.home = needs.Home
	if err := a.openHub(ctx, cfg, needs, true); err != nil {
		return nil, err
	}
	a.shelve(ctx, cfg, needs.Boxes)
	return a, nil // nothing was started, so nothing needs to be closed
}

func (a *App) shelve(ctx context.Context, cfg settings.Config, others []toolcrib.Toolbox) {
	a.shelving = toolcrib.Contents{
		Adapters: dialect.Adapters(dialect.Options{
			Root: a.reach.Base, MaxTimeout: cfg.Toolboxes.Shell.MaxTimeout, ReadOnly: !a.reach.Writable(),
		}),
		Absent: map[string]string{}, BoxNames: busNames(),
		Rename: cfg.Tools.Rename, Alias: cfg.Tools.Alias, Disable: settings.WithStart(cfg.Tools.Disable),
	}
	if !cfg.Toolboxes.Shell.AllowShell {
		for _, name := range []string{"run_command", "start_command", "bash_exec"} {
			a.shelving.Absent[name] = "running commands is switched off; toolboxes.shell.allow_shell: true in the configuration switches it on"
		}
	}
	for _, k := range a.kinds(cfg) {
		if !k.enabled {
			continue
		}
		box, err := k.open(ctx)
		if err != nil {
			a.Faults = append(a.Faults, toolcrib.LoadError{Box: k.name, Err: err})
			continue
		}
		a.shelving.Boxes = append(a.shelving.Boxes, box)
	}
	a.shelving.Boxes = append(a.shelving.Boxes, others...)
	for _, box := range a.shelving.Boxes {
		if c, ok := box.(io.Closer); ok {
			a.closers = append(a.closers, c)
		}
	}
	_, faults := a.load(ctx, a.shelving)
	a.Faults = append(append(a.Faults, faults...), a.strangers(cfg)...)
}

// Specs is everything on the shelves, whoever may see it.
func (a *App) Specs() []toolcrib.Spec {
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	return slices.Collect(shelves.Tools(toolcrib.Caller{}))
}

// strangers finds settings for tools that nobody has.
func (a *App) strangers(cfg settings.Config) []toolcrib.LoadError {
	known := map[string]bool{"run_command": true, "start_command": true} // also while they are switched off
	for _, spec := range a.Specs() {
		known[spec.Native] = true
	}
	var faults []toolcrib.LoadError
	for _, name := range slices.Sorted(maps.Keys(cfg.Sandbox.Tools)) {
		if !known[name] {
			faults = append(faults, toolcrib.LoadError{Tool: name, Err: errors.New("sandbox.tools has settings for it, but there is no such tool")})
		}
	}
	return append(faults, vaultStrangers(cfg.Vault, a.hubShelving(a.shelving).Boxes)...)
}

// JournalConfig says where the journal lies: the database and the key that
// signs its head are kept apart, so that one can be moved out of reach.
func JournalConfig(cfg settings.Config, needs Needs) store.Config {
	return store.Config{
		Dir:      filepath.Join(needs.State, "journal"),
		Keys:     filepath.Join(needs.State, "journal-key"),
		MaxAge:   cfg.Journal.MaxAge,
		MaxBytes: cfg.Journal.MaxSize,
		AgeFrom:  needs.AgeFrom, BytesFrom: needs.SizeFrom,
		Sync: cfg.Journal.Sync,
		Log:  needs.Log,
	}
}

// Close ends the boxes and then the journal, which must outlive every call.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	if a.stop != nil {
		a.stop()
	}
	if a.Desk != nil {
		a.Desk.Drain(time.Second)
	}
	for _, c := range slices.Backward(a.closers) {
		errs = append(errs, c.Close())
	}
	if a.Journal != nil {
		errs = append(errs, a.Journal.Close(ctx))
	}
	return errors.Join(errs...)
}
