package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// HubDir is where it is kept what MCP servers offer, and what was approved.
func HubDir(state string) string { return filepath.Join(state, "hub") }

// servers reads the settings of MCP servers and adds the plugins. What makes no
// sense is left out and told.
func servers(cfg settings.Config, plugins string) (map[string]mcphub.Server, []toolcrib.LoadError) {
	out := map[string]mcphub.Server{}
	var faults []toolcrib.LoadError
	add := func(name string, s mcphub.Server) {
		if err := CheckServerName(name); err != nil { // rules about a box of ours would be about it
			faults = append(faults, toolcrib.LoadError{Box: name, Err: err})
			return
		}
		out[name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		settings := cfg.MCPServers[name]
		if settings.Disabled {
			continue
		}
		settings.EnabledTools = cfg.Tools.ServerNames(name, settings.EnabledTools)
		settings.DisabledTools = cfg.Tools.ServerNames(name, settings.DisabledTools)
		s, err := hubServer(settings)
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: fmt.Errorf("mcp_servers.%s.%w", name, err)})
			continue
		}
		add(name, s)
	}
	found, err := pluginServers(plugins)
	if err != nil {
		faults = append(faults, toolcrib.LoadError{Box: "plugins", Err: err})
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, twice := cfg.MCPServers[name]; twice {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: errors.New("a plugin is called as a server of mcp_servers, which counts")})
			continue
		}
		add(name, found[name])
	}
	return out, faults
}

// pluginDir is where programs lie that are servers: never in a working directory,
// which may be anybody's.
func pluginDir(cfg settings.Config, needs Needs) string {
	if dir := cfg.Hub.Plugins; needs.Config == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(needs.Config, cmp.Or(cfg.Hub.Plugins, "plugins"))
}

// openHub opens the hub. Nothing is started.
func (a *App) openHub(ctx context.Context, cfg settings.Config, needs Needs, readOnly bool) error {
	a.plugins = pluginDir(cfg, needs)
	list, faults := servers(cfg, a.plugins)
	a.Faults = append(a.Faults, faults...)
	a.settings.Store(&cfg)
	var state *os.Root
	if dir := HubDir(needs.State); needs.State != "" {
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
		box, err := OpenSeals(needs.State, !readOnly)
		if err != nil {
			return err
		}
		if seals = box; !readOnly && !box.Lost().IsZero() {
			a.Crib.Log.Warn("the key of the seals was gone: definitions of MCP servers that were not approved since are held back", "since", box.Lost())
		}
	}
	l := &reach.Launcher{Chooser: a.Sandbox, Env: os.LookupEnv, Path: cmp.Or(needs.Path, os.Getenv("PATH")), Home: needs.Home, Dir: needs.Dir, Grant: a.Crib.Grant, Bounded: a.bounded, Log: needs.Log,
		Outside: reach.Outside{Finder: hostpath.Finder{Writable: a.reach.CommandsWrite}, Home: needs.Home, Dir: needs.Dir}}
	if needs.State != "" {
		l.Homes = filepath.Join(needs.State, "servers")
	}
	l.Rules = a.outOfReach
	a.launcher = l
	a.reach.SetOwn(cfg, list, l)
	web := serverHTTP()
	of := mcphub.Needs{
		Start: l.Start, HTTP: func(string, string) *http.Client { return web }, Expand: a.expandSetting, Login: a.login(web, needs.Page),
		Redact: a.redactText, Harmless: safety.NeutralJSON, State: state, Seals: seals, ReadOnly: readOnly, Version: needs.Version, Log: needs.Log,
	}
	if a.keeper != nil { // else nothing comes from servers, and what is kept of them has no values
		of.Hide, of.Hiding = a.keeper.hide, a.keeper.hiding
	}
	hub, err := mcphub.Open(ctx, list, of)
	if err != nil {
		a.Faults = append(a.Faults, toolcrib.LoadError{Box: "mcp_servers", Err: err})
	}
	a.Hub = hub
	a.meta = hub.Meta(a.imports(cfg, needs), a.mayStart)
	a.closers = append(a.closers, hub)
	a.wait = cfg.Hub.Wait
	return nil
}

// mayStart refuses to start a server for a caller to whom none of its tools
// exists, or for whom a rule denies it. One that was never listed has no tools to
// go by, so a made-up one stands for them.
func (a *App) mayStart(ctx context.Context, caller toolcrib.Caller, server string) error {
	stand := toolcrib.Spec{Name: server + "__mcp", Box: server, Native: "mcp", Group: "mcp"}
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

// expandSetting puts secrets and variables into a setting that a person wrote:
// for it, every secret without a scope is there.
func (a *App) expandSetting(ctx context.Context, text string) (string, error) {
	if a.keeper == nil {
		return "", errors.New("the vault is not opened to list tools")
	}
	return settings.Expand(ctx, text, os.LookupEnv, a.keeper.vault.Granted(vault.Scope{}, []string{"*"}))
}

// hubShelving adds the servers to what goes onto the shelves.
func (a *App) hubShelving(s toolcrib.Contents) toolcrib.Contents {
	if a.Hub == nil {
		return s
	}
	s.Boxes = slices.Clone(s.Boxes)
	s.Qualify, s.Yield = nil, nil
	if len(a.Hub.Boxes()) > 0 {
		s.Boxes = append(s.Boxes, a.meta)
	}
	settings := a.settings.Load()
	for _, b := range a.Hub.Boxes() {
		s.Boxes = append(s.Boxes, b)
		if settings.MCPServers[b.Name()].Names == "bare" {
			s.Yield = append(s.Yield, b.Name())
		} else {
			s.Qualify = append(s.Qualify, b.Name())
		}
	}
	return s
}

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

// findPlugins looks again for plugins, and lists those that are new.
func (a *App) findPlugins(ctx context.Context) []toolcrib.LoadError {
	if a.Hub == nil {
		return nil
	}
	list, faults := servers(*a.settings.Load(), a.plugins)
	a.reach.SetOwn(*a.settings.Load(), list, a.launcher)
	if err := a.Hub.Set(list); err != nil {
		faults = append(faults, toolcrib.LoadError{Box: "mcp_servers", Err: err})
	}
	a.Hub.Await(ctx, a.wait)
	return faults
}

// HubState opens what is kept of MCP servers, to approve and to forget; no
// server is started.
func HubState(ctx context.Context, cfg settings.Config, needs Needs) (*App, error) {
	a := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: needs.Log}}
	if err := a.openHub(ctx, cfg, needs, false); err != nil {
		return nil, err
	}
	return a, nil
}

// takeServers goes over to the servers of other settings: new ones come, and
// those that are gone are ended.
func (a *App) takeServers(ctx context.Context, cfg settings.Config) {
	if a.Hub == nil || reflect.DeepEqual(a.settings.Load().MCPServers, cfg.MCPServers) {
		return
	}
	a.settings.Store(&cfg)
	if _, faults := a.Reload(ctx); faults != nil {
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

// server puts the settings into the hub's words.
func hubServer(s settings.MCPServer) (mcphub.Server, error) {
	out := mcphub.Server{
		Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd, URL: s.URL, Headers: s.Headers,
		Timeout: s.Timeout, Starting: s.StartTimeout, Idle: s.IdleTimeout, Eager: s.Start == "eager",
		Enabled: s.EnabledTools, Disabled: s.DisabledTools, Sandbox: s.Sandbox, Instance: mcphub.Instance(s.Instance),
		Sampling: mcphub.Consent(s.Sampling), Elicitation: mcphub.Consent(s.Elicitation),
		Unpinned: s.Pins == "off", Approve: s.Pins == "approve",
		OAuth: mcphub.OAuth{ClientID: s.OAuth.ClientID, ClientSecret: s.OAuth.ClientSecret, Issuer: s.OAuth.Issuer, Scopes: s.OAuth.Scopes, ClientCredentials: s.OAuth.Flow == "client_credentials", Off: s.OAuth.Flow == "off"},
	}
	if s.Transport != "auto" {
		out.Transport = s.Transport
	}
	for _, tool := range slices.Sorted(maps.Keys(s.Effects)) {
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(s.Effects[tool])); err != nil {
			return out, fmt.Errorf("effects.%s: %w", tool, err)
		}
		if out.Effects == nil {
			out.Effects = map[string]toolcrib.Effects{}
		}
		out.Effects[tool] = e
	}
	return out, nil
}

// serverHTTP is the client for servers elsewhere. Where they are is what the
// person wrote into the settings, so private addresses are fine; they are never
// followed anywhere else.
func serverHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone() // the standard library's own
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = time.Minute
	t.ResponseHeaderTimeout = 0 // a call may take its time before the first byte
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
