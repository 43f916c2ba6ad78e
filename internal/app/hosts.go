package app

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/python"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// openHosts prepares what finds toolboxes, files and modules of other languages.
func (a *App) openHosts(cfg settings.Config, needs Needs, readOnly bool) {
	of := python.Needs{
		Expand: a.keeper.Setting, Look: a.launcher.Outside.Look, Directory: needs.start().Directory, Check: CheckServerName,
		Home: needs.Home, Folders: a.toolFolders(cfg.Toolboxes.Tools), Log: needs.Log,
		Mycroft: func(on settings.Bus) (map[string]json.RawMessage, error) {
			return node.ToolboxSections(on.Mycroft, needs.start().Variable(), needs.Home)
		},
	}
	of.Place = reach.HostsDir(needs.Home) // no tool writes there; programs are shown single directories of it
	if needs.State != "" {
		of.State = filepath.Join(needs.State, "python")
	}
	if !readOnly && needs.For == ToCall {
		of.Start = a.launcher.Start
	}
	if of.Place != "" && a.reach.CommandsWrite(of.Place) { // they would write what runs
		of.Place = ""
	}
	a.hosts = python.New(of)
	a.looked = a.hosts.Marks(cfg) // as with plugins: before they are read
}

// toolFolders is where people keep files of tools.
func (a *App) toolFolders(cfg settings.ToolsBox) (list []python.Folder) {
	if cfg.Enabled && a.toolsDir != "" {
		list = append(list, python.Folder{Files: a.reach.Safe(toolfile.Folder{Dir: a.toolsDir})})
	}
	if l := a.launcher; cfg.Project {
		list = append(list, python.Folder{Files: reach.Also(toolfile.ProjectFolder(l.Dir, l.Home), config.TrustFile(a.state)), Trusted: a.trusts})
	}
	return list
}

// servers are all programs and addresses that the hub has under these settings: MCP
// servers, plugins, and what is there in other languages. Anew: nothing that was kept
// of it counts.
func (a *App) servers(ctx context.Context, cfg settings.Config, anew bool) (map[string]mcphub.Server, []toolcrib.LoadError) {
	list, faults := hub.Servers(cfg, a.plugins, boxNames())
	found := a.hosts.Find(ctx, cfg, slices.AppendSeq(slices.Collect(maps.Keys(list)), maps.Keys(cfg.OpenAPI)), anew)
	maps.Copy(list, found.Servers)
	a.reach.SetOwn(cfg, list, a.launcher)
	return list, append(faults, found.Faults...)
}

// persons reports whether a box is what the person wrote or installed.
func (a *App) persons(box string) bool { return a.hosts != nil && a.hosts.Own(box) }
