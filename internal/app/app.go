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
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/chains"
	"github.com/toolcrib/toolcrib/internal/coding"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/follow"
	"github.com/toolcrib/toolcrib/internal/guards"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/learn"
	"github.com/toolcrib/toolcrib/internal/mcp/shelf"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/notebook"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/python"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/registries"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/watching"
	"github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// App is an open crib.
type App struct {
	exposed.View // how models are shown the tools

	Crib    *toolcrib.Crib
	Journal *store.Journal
	Sandbox *sandbox.Chooser
	Desk    *desk.Desk
	Hub     *mcphub.Hub
	APIs    *openapis.APIs
	Agents  *agents.Agents       // opens agents over the crib
	Models  *models.Models       // nil: in a crib that cannot be called
	Faults  []toolcrib.LoadError // what could not be put on the shelves

	// What words in grant.hosts stand for here.
	registries registries.Found
	own        []string // the toolboxes that are part of the program
	policy     livePolicy
	secrets    safety.Secrets
	bounds     *guards.Bounds
	states     []*safety.Hook // asked after each call
	reach      reach.Reach
	images     *sandboxes.Images               // containers that MCP servers run in
	shell      *shell.Box                      // nil: no commands are run
	keeper     *keeper.Keeper                  // of secrets; nil: in a crib that cannot be called
	hosted     node.Hosted                     // toolboxes of ours on a bus
	spill      *sandboxes.Output               // what commands printed that is too long for a result
	layers     func() bool                     // whether commands work on layers; nil: they do not
	bounded    bool                            // commands see nothing but what was granted
	shelving   toolcrib.Contents               // without the MCP servers, which come and go
	meta       toolcrib.Toolbox                // tools about the servers
	hubFile    bool                            // there is a file of settings that servers can be added to
	settings   atomic.Pointer[settings.Config] // those that the servers are of now
	plugins    string                          // the folder of programs that are servers
	marks      string                          // what was in it when it was first looked at
	launcher   *reach.Launcher                 // of the servers
	hosts      *python.Hosts                   // toolboxes in other languages
	looked     string                          // the marks of files of tools when they were first looked at
	toolsDir   string                          // the folder of the person's own tools
	trusted    func(path string, content []byte) bool
	wait       time.Duration // for servers that were never listed
	events     follow.Events
	watching   *watching.Watching // nil: what is only listed is not watched
	agents     shelf.Agents       // their instructions
	stateKey   []byte             // signs what MCP clients carry between requests
	state      string             // the directory of the program's state
	subject    string             // the person whose program this is
	names      httpapi.Names      // under which clients reach us over HTTP
	book       *learn.Book        // which searches led to which tools; nil: nothing is learned
	bundles    *bundles.Bundles
	brought    atomic.Pointer[bundles.Loaded] // by packages that are installed
	Notebook   notebook.Notebook              // what conversations keep: Notebook.Todos is the list of tasks of one
	closers    []io.Closer
	early      *hooked.Early // what was begun before its turn; nil: nothing
	client     string        // whose message is judged; empty: nobody's
	changed    chan struct{} // a box says that its tools are others now
	stop       func()

	chains chains.Chains // the person's tool chains
}

// Needs is what Open takes besides the configuration.
type Needs struct {
	For   Purpose
	State string // directory for the journal and its key
	// Subject is the person whose program this is. Empty: local.
	Subject string
	Dir     string // the working directory
	Home    string // the person's home directory
	Config  string // the directory of the settings, which plugins lie in
	// Settings is the person's file of settings, which mcp_import writes to.
	// Empty: it writes nowhere, and does not exist.
	Settings string
	Version  string // of this program
	// TellsFailures: whoever opens this tells a person which MCP servers are down, so the
	// log need not.
	TellsFailures bool
	Private       []string // absolute paths that no tool may touch: settings and state of the program itself
	// Unattended is what becomes of questions where nobody is there, unless the
	// settings say it.
	Unattended desk.Unattended
	Keys       keeper.Source // where the key of the vault is looked for
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
	Hook     *hooked.Message // what a crib that is opened ToHook is for
	// Trusted says whether the person has trusted a file of the project that declares
	// tools, by its path and its content. Nil: none.
	Trusted func(path string, content []byte) bool
}

func (n Needs) start() reach.Start {
	s := reach.Start{Dir: n.Dir, Home: n.Home, State: n.State, Private: n.Private, Path: n.Path, Getenv: n.Getenv}
	if n.Layers != nil {
		s.Whole = n.Layers.Grant
	}
	return s
}

// Registries says what words in grant.hosts stand for on this machine.
func (n Needs) Registries(cfg settings.Config) registries.Found {
	return n.start().Registries(cfg.Grant.Hosts, cfg.Grant.Write)
}

// Purpose is what a crib is opened for. What it does not need is not opened, so
// that it cannot fail.
type Purpose int

const (
	ToCall    Purpose = iota // everything
	ToCheck                  // what can go wrong in a configuration: without a journal, so it cannot be called, and nothing is written
	ToList                   // the tools as they are shown: that must not need a writable disk, or a key
	ToApprove                // what is kept of MCP servers, to approve and to forget: none is started
	ToHook                   // one message of a client's hook: judged and recorded here, done by the client
)

// Open builds the crib. A toolbox that cannot be opened is reported in Faults
// and the others work; a journal that cannot be opened is an error, because
// nothing may be done without one.
func Open(ctx context.Context, cfg settings.Config, needs Needs) (*App, error) {
	own := ownBoxes(needs.Boxes...)
	cfg = cfg.PlainNames(own)
	words := needs.Registries(cfg)
	cfg.Grant.Hosts = words.Hosts // from here on, no word is left
	a := &App{own: own, registries: words, state: needs.State, subject: needs.Subject, Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, AsCall: files.AsCall, Log: needs.Log}}
	a.policy.home, a.policy.dir = needs.Home, needs.Dir
	a.bundles = Bundles(cfg, needs)
	cfg, needs.Layers, a.Faults = a.withBundles(cfg, needs.Layers)
	a.Crib.Visible, a.Crib.MoreGuards = a.seen, a.policy.live.Guards
	a.View = exposed.View{Crib: a.Crib, Mode: cfg.Expose, Tokens: cfg.ExposeTokens, Most: cfg.ExposeTools, Text: cfg.ExposeText, Past: a.past, Aside: openapis.AsideNow(a.settings.Load)}
	if needs.For == ToHook {
		cfg.Toolboxes.Shell.AllowShell = true // the client has a shell, whether ours is switched on or not
		if needs.Hook.Event != nil {
			a.client = needs.Hook.Event.Client
		}
		a.early = hooked.Begin(func() (*store.Journal, error) { return journalOf(ctx, cfg, needs) }, needs.Hook.Scanner)
	}
	for _, step := range []struct {
		open func(context.Context, settings.Config, Needs) error
		of   []Purpose
	}{
		{a.openReach, []Purpose{ToCall, ToCheck, ToHook}},
		{a.openSpill, []Purpose{ToCall}},
		{a.openPolicy, []Purpose{ToCall, ToCheck, ToList, ToHook}},
		{a.openVault, []Purpose{ToCall, ToCheck, ToHook}},
		{a.openSafety, []Purpose{ToCall, ToCheck, ToHook}},
		{a.openJournal, []Purpose{ToCall, ToHook}},
		{a.openLearning, []Purpose{ToCall, ToList}},
		{a.openDesk, []Purpose{ToCall}},
		{a.openTelemetry, []Purpose{ToCall, ToCheck}},
		{a.openStates, []Purpose{ToCall}},
		{a.openAgents, []Purpose{ToCall, ToCheck, ToList}},
		{a.openHub, []Purpose{ToCall, ToCheck, ToList, ToApprove}},
		{a.openBoxes, []Purpose{ToCall, ToCheck, ToList}},
		{a.openModels, []Purpose{ToCall, ToCheck}},
		{a.start, []Purpose{ToCall}},
		{a.openHooked, []Purpose{ToHook}},
	} {
		if !slices.Contains(step.of, needs.For) {
			continue
		}
		if err := step.open(ctx, cfg, needs); err != nil {
			return nil, errors.Join(err, a.Close(ctx))
		}
	}
	return a, nil
}

// openReach settles what tools may touch and where programs run.
func (a *App) openReach(ctx context.Context, cfg settings.Config, needs Needs) error {
	reach, err := reach.Of(cfg.Grant, needs.start(), hub.PluginDir(cfg.Hub, needs.Config))
	if err != nil {
		return settings.Bad(err)
	}
	if err := httpclient.CheckHosts(cfg.Grant.Hosts); err != nil {
		return settings.Bad(fmt.Errorf("grant.hosts: %w", err))
	}
	found, faults, err := chains.Open(cfg, chains.Needs{Start: needs.start(), Base: reach.Base, Writable: chains.Writable(reach.Dirs), Programs: TrustedPrograms(needs.State), Make: needs.For == ToCall})
	if err != nil {
		return err
	}
	a.reach, a.chains, a.Faults = reach, found, slices.Concat(a.Faults, reach.Faults, faults)
	for _, note := range a.registries.Notes {
		a.Faults = append(a.Faults, toolcrib.LoadError{Tool: "grant.hosts", Err: errors.New(note)})
	}
	c := a.Crib
	if needs.For != ToHook { // a client runs its commands itself, and nothing of ours bounds them
		chooser, images, err := sandboxes.Open(cfg.Sandbox, reach, needs.start(), found.Shown)
		if err != nil {
			return settings.Bad(err)
		}
		a.Sandbox, a.images, a.closers = chooser, images, []io.Closer{chooser}
		a.bounded = cfg.Toolboxes.Shell.AllowShell
		for _, tool := range []string{"run_command", "start_command"} {
			a.bounded = a.bounded && chooser.Bounds(ctx, tool)&toolcrib.BoundFiles != 0
		}
		if a.bounded && cfg.Sandbox.Layers && needs.State != "" {
			a.layers = sandboxes.TryLayers(ctx, chooser, reach.Dirs, cmp.Or(needs.Log, slog.Default()))
		}
		c.Sandbox = &sandboxes.Telling{Chooser: chooser, Log: cmp.Or(needs.Log, slog.Default()), Crib: c}
	}
	c.Grant, c.Files = a.grant(cfg), reach.Files
	c.Limits = toolcrib.Limits{
		Timeout: cfg.Limits.Timeout, MaxTimeout: cfg.Limits.MaxTimeout, Ask: cfg.Limits.Ask,
		Input: int(cfg.Limits.Input), Output: int(cfg.Limits.Output), Record: int(cfg.Limits.Record),
	}
	for _, pattern := range cfg.TextOnly {
		if _, err := path.Match(pattern, ""); err != nil {
			return settings.Bad(fmt.Errorf("text_only: %q is no pattern: write a name such as my-agent, or one with * such as my-agent*", pattern))
		}
	}
	if a.names, err = httpapi.NewNames(cfg.Serve.Hosts); err != nil {
		return settings.Bad(err)
	}
	c.Emit = a.events.Emit
	return nil
}

// grant is the most any call may get.
func (a *App) grant(cfg settings.Config) toolcrib.Grant {
	g := toolcrib.Grant{Dirs: a.reach.Dirs, Hosts: cfg.Grant.Hosts, Fixed: a.reach.Shown()}
	if cfg.Toolboxes.Shell.AllowShell && a.Sandbox != nil {
		g.Programs = []string{commandShell}
	}
	return g
}

// openBoxes puts the tools on the shelves.
func (a *App) openBoxes(ctx context.Context, cfg settings.Config, needs Needs) error {
	a.shelving = toolcrib.Contents{
		Adapters: dialect.Adapters(dialect.Options{
			Root: a.reach.Base, MaxTimeout: cfg.Toolboxes.Shell.MaxTimeout, ReadOnly: !a.reach.Writable(), Home: needs.Home,
		}),
		Absent: notebook.Absent(cfg), BoxNames: busNames(),
		Rename: cfg.Tools.Rename, Alias: cfg.Tools.Alias, Disable: settings.WithStart(cfg.Tools.Disable),
	}
	agents.Absent(cfg, a.shelving.Absent)
	coding.Absent(cfg, a.shelving.Absent)
	if !cfg.Toolboxes.Shell.AllowShell {
		for _, name := range []string{"run_command", "start_command", "bash_exec"} {
			a.shelving.Absent[name] = "running commands is switched off; toolboxes.shell.allow_shell: true in the configuration switches it on"
		}
	}
	a.Notebook.State, a.Notebook.Home, a.Notebook.Log = needs.State, needs.Home, needs.Log
	a.closers = append(a.closers, &a.Notebook)
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
	a.shelving.Boxes = append(a.shelving.Boxes, needs.Boxes...)
	login := openapis.Login{Page: needs.Page, Secret: func(ctx context.Context, name string) (string, error) {
		return a.keeper.Expand(ctx, "${secret:"+name+"}")
	}}
	if a.keeper != nil {
		login.Tokens = a.keeper.Logins()
	}
	apis, faults, err := openapis.Open(ctx, cfg, openapis.Needs{Login: login, State: needs.State, Config: needs.Config, Home: needs.Home, Own: boxNames(), ReadOnly: needs.For != ToCall,
		Fetch: needs.For == ToCall, Follow: needs.For == ToCall, HTTP: a.Crib.HTTP, Version: needs.Version, Log: needs.Log,
		HasSecret: func(ctx context.Context, call toolcrib.Call, box, tool, secret string) error {
			return a.keeper.Check(ctx, call, box, tool, secret, false)
		}})
	if err != nil {
		return err
	}
	a.APIs, a.closers, a.Faults = apis, append(a.closers, apis), append(a.Faults, faults...)
	for _, box := range a.shelving.Boxes {
		if c, ok := box.(io.Closer); ok {
			a.closers = append(a.closers, c)
		}
	}
	_, faults = a.load(ctx, a.shelving)
	a.Faults = append(append(a.Faults, faults...), a.strangers(cfg)...)
	return nil
}

// Specs is everything on the shelves, whoever may see it.
func (a *App) Specs() []toolcrib.Entry {
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
	return append(faults, keeper.Strangers(cfg.Vault, a.hubShelving(a.shelving).Boxes)...)
}

// openVault gives calls their secrets.
func (a *App) openVault(_ context.Context, cfg settings.Config, needs Needs) (err error) {
	a.keeper, err = keeper.Open(a.Crib, cfg.Vault, needs.State, needs.Keys)
	return settings.Bad(err)
}

// openJournal opens the journal, with the vault before it.
func (a *App) openJournal(ctx context.Context, cfg settings.Config, needs Needs) (err error) {
	if a.Journal, err = a.early.JournalOr(func() (*store.Journal, error) { return journalOf(ctx, cfg, needs) }); err != nil {
		return err
	}
	a.Crib.Journal = a.keeper.Journal(a.Journal, func(caller toolcrib.Caller, tool string) bool {
		_, ok := a.Crib.Tool(caller, tool)
		return ok
	})
	return nil
}

// journalOf opens the journal, with the seals beside it.
func journalOf(ctx context.Context, cfg settings.Config, needs Needs) (*store.Journal, error) {
	// Before there is a journal: one without seals beside it is a trace.
	if _, err := seal.OfState(needs.State, true); err != nil {
		return nil, err
	}
	j, err := sqlite.Open(ctx, journalConfig(cfg, needs))
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return j, nil
}

// journalConfig says where the journal lies: the database and the key that
// signs its head are kept apart, so that one can be moved out of reach.
func journalConfig(cfg settings.Config, needs Needs) store.Config {
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

// ReadJournal opens the journal to be read.
func ReadJournal(ctx context.Context, cfg settings.Config, needs Needs) (*store.Reader, error) {
	return sqlite.OpenReader(ctx, journalConfig(cfg, needs))
}

// VerifyJournal checks every entry, the chain and its signed head.
func VerifyJournal(ctx context.Context, cfg settings.Config, needs Needs) (store.Report, error) {
	return sqlite.Verify(ctx, journalConfig(cfg, needs))
}

// VaultState tells how many secrets there are, and if they cannot be read why, and
// what helps. It asks nobody.
func (a *App) VaultState(ctx context.Context) (entries int, fix string, locked error) {
	entries, locked = a.keeper.State(ctx)
	return entries, a.keeper.Remedy(locked), locked
}

// LackingSecrets are the secrets that the settings and the person's own tools name, and
// nobody has set.
func (a *App) LackingSecrets(ctx context.Context, cfg settings.Config) []keeper.Want {
	wants := keeper.Wanted(cfg)
	for _, b := range a.shelving.Boxes {
		if named, ok := b.(interface{ Secrets() map[string]string }); ok {
			for name, file := range named.Secrets() {
				wants = append(wants, keeper.Want{Name: name, Where: file})
			}
		}
	}
	return a.keeper.Lacking(ctx, wants)
}

// OpenVault makes the vault of a configuration. It reads nothing yet and asks
// nobody: the first use does.
func OpenVault(cfg settings.Config, needs Needs) (*vault.Vault, error) {
	return keeper.OpenVault(cfg.Vault, needs.State, needs.Keys)
}

// VaultDir is where the secrets lie.
func VaultDir(state string) string { return keeper.Dir(state) }

// Close ends the boxes and then the journal, which must outlive every call.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	if a.stop != nil {
		a.stop()
	}
	errs = append(errs, a.Agents.Close())
	if a.Desk != nil {
		a.Desk.Drain(time.Second)
	}
	for _, c := range slices.Backward(a.closers) {
		errs = append(errs, c.Close())
	}
	if j := a.early.Left(a.Journal); j != nil {
		errs = append(errs, j.Close(ctx))
	}
	return errors.Join(errs...)
}

// WaitingLayer is a layer of commands whose changes nobody has answered for.
type WaitingLayer = sandboxes.Waiting

// OpenLayer is one of them that was opened to be looked at or applied.
type OpenLayer = sandboxes.WaitingBox

// Layers are those of commands, in a directory of state.
type Layers = sandboxes.Layers

// Shim must be called first thing in main, see [sandboxes.Shim].
func Shim() {
	sandboxes.Shim()
	coding.Shim()
}
