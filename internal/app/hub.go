package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/undo"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// boxNames are the names that no MCP server can have.
func boxNames() []string {
	return append(ownBoxes(), node.BoxName, undo.BoxName, sandboxes.WaitingBoxName)
}

// BoxNames are the names that nobody else can have.
func BoxNames() []string { return boxNames() }

// HubDir is where it is kept what MCP servers offer, and what was approved.
func HubDir(state string) string { return hub.Dir(state) }

// LooksSecret gives what tells whether a text has a key, a token or a password in
// it, as far as it can be told by its form.
func LooksSecret() (func(text string) bool, error) {
	scanner, err := secrets.New()
	if err != nil {
		return nil, err
	}
	return func(text string) bool { return len(scanner.Find(text, nil)) > 0 }, nil
}

// CheckServerName refuses what no MCP server can be called here.
func CheckServerName(name string) error { return hub.CheckName(name, boxNames()) }

// openHub opens the hub. Nothing is started.
func (a *App) openHub(ctx context.Context, cfg settings.Config, needs Needs) error {
	readOnly := needs.For == ToCheck || needs.For == ToList
	a.plugins, a.toolsDir, a.trusted = hub.PluginDir(cfg.Hub, needs.Config), cfg.Toolboxes.Tools.Folder(needs.Config, needs.Home), needs.Trusted
	a.marks = hub.PluginMarks(a.plugins) // before they are looked for: what comes meanwhile is noticed
	a.settings.Store(&cfg)
	var state *os.Root
	if dir := hub.Dir(needs.State); needs.State != "" {
		if !readOnly {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("keeping what MCP servers offer: %w", err)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil && !(readOnly && errors.Is(err, os.ErrNotExist)) {
			return fmt.Errorf("keeping what MCP servers offer: %w", err)
		}
		if err == nil {
			state = root
			a.closers = append(a.closers, root)
		}
	}
	var seals mcphub.Seals // what is kept in memory needs none
	if state != nil {
		box, err := seal.OfState(needs.State, !readOnly)
		if err != nil {
			return err
		}
		if seals = box; !readOnly && !box.Lost().IsZero() {
			a.Crib.Log.Warn("the key of the seals was gone: definitions of MCP servers that were not approved since are held back", "since", box.Lost())
		}
	}
	l := &reach.Launcher{Chooser: a.Sandbox, Images: a.images.Open, Env: os.LookupEnv, Path: cmp.Or(needs.Path, os.Getenv("PATH")), Home: needs.Home, Dir: needs.Dir, Grant: a.grant(cfg), Bounded: a.bounded, Log: needs.Log, Kept: []string{a.plugins, a.toolsDir},
		Outside: reach.Outside{Finder: hostpath.Finder{Writable: a.reach.CommandsWrite}, Home: needs.Home, Dir: needs.Dir}}
	if told, ok := a.Crib.Sandbox.(*sandboxes.Telling); ok {
		l.Watch = told.Watch
	}
	if needs.State != "" {
		l.Homes = filepath.Join(needs.State, "servers")
	}
	if needs.Home != "" {
		l.Certificates = filepath.Join(reach.ShownDir(needs.Home), "certificates")
	}
	l.Pass = cfg.Hub.PassEnv
	if err := l.Pass.Check(); err != nil {
		return settings.Bad(fmt.Errorf("hub.pass_env: %w", err))
	}
	a.keeper.HideAlso(l.Pass.Passwords(os.LookupEnv))
	l.Rules = a.outOfReach
	a.launcher = l
	a.openHosts(cfg, needs, readOnly)
	list, faults := a.servers(ctx, cfg, false)
	a.Faults = append(a.Faults, faults...)
	web := hub.HTTP()
	of := mcphub.Needs{
		Start: a.hosts.Starting(l.Start), Ready: l.Ready, Lacks: a.keeper.CheckSetting, HTTP: func(string, string) *http.Client { return web }, Expand: a.keeper.Setting,
		Missing: l.Missing, TellsFailures: needs.TellsFailures,
		Redact: a.redactText, Harmless: safety.NeutralJSON, State: state, Seals: seals, ReadOnly: readOnly, Version: needs.Version, Log: needs.Log,
		// A result is longer on its way than as it is counted: letters are escaped.
		Most: int(max(16<<20, 2*cfg.Limits.Output)),
	}
	if a.keeper != nil { // else nothing comes from servers, and what is kept of them has no values
		of.Hide, of.Hiding, of.Login = a.keeper.Hide, a.keeper.Hiding, hub.Login(a.keeper.Logins(), web, needs.Page)
	}
	if t := a.watching.Observer(); t != nil {
		of.Observer = t
	}
	of.Model = a.model
	opened, err := mcphub.Open(ctx, list, of)
	if err != nil {
		a.Faults = append(a.Faults, toolcrib.LoadError{Box: "mcp_servers", Err: err})
	}
	a.Hub = opened
	a.Crib.Guards = append(a.Crib.Guards, opened)
	a.hubFile = needs.Settings != ""
	a.meta = opened.Meta(hub.Files{Settings: needs.Settings, Home: needs.Home, Dir: needs.Dir, Boxes: boxNames()}.Imports(cfg.MCPServers), a.mayStart)
	a.closers = append(a.closers, opened)
	a.wait = cfg.Hub.Wait
	if needs.For == ToCall {
		opened.Await(ctx, a.wait)
	}
	return nil
}

// Passed names the variables of this process that MCP servers get by hub.pass_env.
func (a *App) Passed() []string { return a.launcher.Pass.Names(os.LookupEnv) }

// Unpassed is a word of hub.pass_env that is not passed, although its variables are set.
type Unpassed = reach.Unpassed

// UnpassedVariables are the words of hub.pass_env whose variables are set in this process
// and that servers do not get.
func UnpassedVariables(cfg settings.Config) []Unpassed {
	return reach.Pass(cfg.Hub.PassEnv).Unpassed(os.LookupEnv, nil)
}

// StartError says why an MCP server did not start.
type StartError = mcphub.StartError

// FetchedByServer is what the command of a server may have to fetch before it runs it.
func FetchedByServer(s settings.MCPServer) string { return hub.Fetched(s) }

// CheckServer says what is wrong with the settings of a server, before they are kept.
func CheckServer(s settings.MCPServer, cfg settings.Sandbox) error { return hub.Check(s, cfg) }

// ServerPlace says where the program of a server runs, if that is a sandbox, and
// TryServerPlace whether it could run there; a program is not started.
func (a *App) ServerPlace(b ServerBox) string { return a.launcher.Describe(b.Name(), b.Server()) }

// TryServerPlace tries the container of a server.
func (a *App) TryServerPlace(ctx context.Context, b ServerBox) error {
	return a.launcher.Try(ctx, b.Name(), b.Server())
}

// mayStart refuses to start a server for a caller to whom none of its tools
// exists, or for whom a rule denies it. One that was never listed has no tools to
// go by, so a made-up one stands for them.
func (a *App) mayStart(ctx context.Context, caller toolcrib.Caller, server string) error {
	stand := toolcrib.Entry{Spec: toolcrib.Spec{Name: server + "__mcp", Group: "mcp"}, Box: server, Native: "mcp"}
	listed := false
	for _, spec := range a.Specs() {
		listed = listed || spec.Box == server
	}
	seen := !listed && a.seen(caller, &stand)
	for spec := range a.Crib.Tools(caller) {
		seen = seen || spec.Box == server
	}
	if !seen {
		return fmt.Errorf("there is no MCP server %q", server)
	}
	input := json.RawMessage("{}")
	review := toolcrib.Review{Call: toolcrib.Call{Tool: stand.Name, Caller: caller, Input: input}, Spec: stand, Input: input}
	for _, g := range a.policy.live.Guards() {
		v, err := g.Judge(ctx, review)
		if err != nil || v != nil && v.Decision == toolcrib.Deny && !v.Note {
			return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the MCP server " + server + " may not be started", Err: err}
		}
	}
	return nil
}

// hubShelving adds the servers to what goes onto the shelves.
func (a *App) hubShelving(s toolcrib.Contents) toolcrib.Contents {
	if s = a.APIs.Shelve(s); a.Hub == nil {
		return s
	}
	s.Boxes = slices.Clone(s.Boxes)
	s.Qualify, s.Yield = slices.Clone(s.Qualify), slices.Clone(s.Yield)
	// Also before there is a server, where there is a file to write one into: a model
	// may be asked to take some over.
	if len(a.Hub.Boxes()) > 0 || a.hubFile {
		s.Boxes = append(s.Boxes, a.meta)
	}
	for _, b := range a.Hub.Boxes() {
		s.Boxes = append(s.Boxes, b)
		if b.Server().Bare {
			s.Yield = append(s.Yield, b.Name())
		} else {
			s.Qualify = append(s.Qualify, b.Name())
		}
	}
	return s
}

// ServerStatus is how an MCP server is doing.
type ServerStatus = mcphub.Status

// ServerBox is an MCP server as a toolbox, and HeldTool a definition of it that waits
// for a person.
type (
	ServerBox = *mcphub.Box
	HeldTool  = mcphub.Held
)

// ClassifiedTool is what is known and proposed about what a tool may do.
type ClassifiedTool = mcphub.Classified

// FromSettings says that the effects of a tool are in the settings.
const FromSettings = mcphub.FromSettings

// hubFaults tells what servers offer and is not on the shelves.
func (a *App) hubFaults() []toolcrib.LoadError {
	if a.Hub == nil {
		return nil
	}
	var out []toolcrib.LoadError
	for _, b := range a.Hub.Boxes() {
		out = append(out, b.Faults()...)
	}
	return out
}

// hubEvery is how often it is looked what another process has approved.
const hubEvery = 2 * time.Second

// findServers looks again for plugins and for toolboxes in other languages, and lists
// those that are new.
func (a *App) findServers(ctx context.Context, anew bool) []toolcrib.LoadError {
	if a.Hub == nil {
		return nil
	}
	list, faults := a.servers(ctx, *a.settings.Load(), anew)
	if err := a.Hub.Set(list); err != nil {
		faults = append(faults, toolcrib.LoadError{Box: "mcp_servers", Err: err})
	}
	a.Hub.Await(ctx, a.wait)
	return faults
}

// takeServers goes over to the servers of other settings: new ones come, and
// those that are gone are ended.
func (a *App) takeServers(ctx context.Context, cfg settings.Config) {
	if a.Hub == nil {
		return
	}
	a.policy.servers.Lock() // who comes meanwhile waits until the servers are other ones
	defer a.policy.servers.Unlock()
	if was := a.settings.Load(); reflect.DeepEqual(was.MCPServers, cfg.MCPServers) && reflect.DeepEqual(was.Python, cfg.Python) && reflect.DeepEqual(was.OpenAPI, cfg.OpenAPI) && was.SeveralPeople() == cfg.SeveralPeople() {
		return
	}
	a.settings.Store(&cfg)
	if _, faults := a.reload(ctx, false); faults != nil {
		a.Crib.Log.Warn("left out of the new settings", "faults", faults)
	}
}

// redactText takes secrets out of what the hub logs and tells.
func (a *App) redactText(text string) string {
	if a.Crib.RedactText == nil {
		return redact.Text(text)
	}
	return a.Crib.RedactText(text)
}
