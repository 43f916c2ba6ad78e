package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// HubDir is where it is kept what MCP servers offer, and what was approved.
func HubDir(state string) string { return filepath.Join(state, "hub") }

// servers reads the settings of MCP servers and adds the plugins. What makes no
// sense is left out and told.
func servers(cfg Config, plugins string) (map[string]mcphub.Server, []toolcrib.Fault) {
	out := map[string]mcphub.Server{}
	var faults []toolcrib.Fault
	own := ownBoxes()
	add := func(name string, s mcphub.Server) {
		if slices.Contains(own, name) || name == ovosBoxName {
			faults = append(faults, toolcrib.Fault{Box: name, Err: errors.New("an MCP server cannot have the name of a toolbox of Toolcrib's own: rules about that one would be about it")})
			return
		}
		out[name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		settings := cfg.MCPServers[name]
		if settings.Disabled {
			continue
		}
		s, err := settings.server()
		if err != nil {
			faults = append(faults, toolcrib.Fault{Box: name, Err: fmt.Errorf("mcp_servers.%s.%w", name, err)})
			continue
		}
		add(name, s)
	}
	found, err := pluginServers(plugins)
	if err != nil {
		faults = append(faults, toolcrib.Fault{Box: "plugins", Err: err})
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, twice := cfg.MCPServers[name]; twice {
			faults = append(faults, toolcrib.Fault{Box: name, Err: errors.New("a plugin is called as a server of mcp_servers, which counts")})
			continue
		}
		add(name, found[name])
	}
	return out, faults
}

// openHub opens the hub. Nothing is started.
func (a *App) openHub(ctx context.Context, cfg Config, needs Needs, readOnly bool) error {
	a.plugins = cfg.Hub.Plugins
	if a.plugins == "" && needs.Config != "" {
		a.plugins = filepath.Join(needs.Config, "plugins")
	}
	list, faults := servers(cfg, a.plugins)
	a.Faults = append(a.Faults, faults...)
	a.rescan = func() (map[string]mcphub.Server, []toolcrib.Fault) { return servers(cfg, a.plugins) }
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
	l := &launcher{chooser: a.Sandbox, env: os.LookupEnv, home: needs.Home, dir: needs.Dir, grant: a.Crib.Grant}
	web := serverHTTP()
	hub, err := mcphub.Open(ctx, list, mcphub.Needs{
		Start: l.start, HTTP: func(string, string) *http.Client { return web }, Expand: a.expandSetting, Login: a.login(web, needs.Page),
		State: state, ReadOnly: readOnly, Version: needs.Version, Log: needs.Log,
	})
	if err != nil {
		a.Faults = append(a.Faults, toolcrib.Fault{Box: "mcp_servers", Err: err})
	}
	a.Hub = hub
	a.meta = hub.Meta(a.imports(cfg, needs))
	a.closers = append(a.closers, hub)
	a.wait = cfg.Hub.Wait
	a.bare = map[string]bool{}
	for name, s := range cfg.MCPServers {
		a.bare[name] = s.Names == "bare"
	}
	return nil
}

// expandSetting puts secrets and variables into a setting that a person wrote:
// for it, every secret without a scope is there.
func (a *App) expandSetting(ctx context.Context, text string) (string, error) {
	if a.keeper == nil {
		return "", errors.New("the vault is not opened to list tools")
	}
	return expandAll(ctx, text, os.LookupEnv, a.keeper.vault.Granted(vault.Scope{}, []string{"*"}))
}

// hubShelving adds the servers to what goes onto the shelves.
func (a *App) hubShelving(s toolcrib.Shelving) toolcrib.Shelving {
	if a.Hub == nil {
		return s
	}
	s.Boxes = slices.Clone(s.Boxes)
	s.Qualify = nil
	if len(a.Hub.Boxes()) > 0 {
		s.Boxes = append(s.Boxes, a.meta)
	}
	for _, b := range a.Hub.Boxes() {
		s.Boxes = append(s.Boxes, b)
		if !a.bare[b.Name()] {
			s.Qualify = append(s.Qualify, b.Name())
		}
	}
	return s
}

// hubFaults tells what servers offer and is not on the shelves.
func (a *App) hubFaults() []toolcrib.Fault {
	if a.Hub == nil {
		return nil
	}
	var out []toolcrib.Fault
	for _, b := range a.Hub.Boxes() {
		out = append(out, b.Faults()...)
	}
	return out
}

// hubEvery is how often it is looked what another process has approved.
const hubEvery = 2 * time.Second

// findPlugins looks again for plugins, and lists those that are new.
func (a *App) findPlugins(ctx context.Context) []toolcrib.Fault {
	if a.Hub == nil || a.rescan == nil {
		return nil
	}
	list, faults := a.rescan()
	if err := a.Hub.Set(list); err != nil {
		faults = append(faults, toolcrib.Fault{Box: "mcp_servers", Err: err})
	}
	a.Hub.Await(ctx, a.wait)
	return faults
}

// HubState opens what is kept of MCP servers, to approve and to forget; no
// server is started.
func HubState(ctx context.Context, cfg Config, needs Needs) (*App, error) {
	a := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: needs.Log}}
	if err := a.openHub(ctx, cfg, needs, false); err != nil {
		return nil, err
	}
	return a, nil
}
