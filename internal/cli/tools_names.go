package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// shelved are the tools that are there without MCP servers. It starts nothing.
func (c *command) shelved(ctx context.Context) ([]toolcrib.Entry, error) {
	a, err := c.openFor(ctx, app.ToList, func(cfg *settings.Config, _ *app.Needs) { cfg.MCPServers = nil })
	if err != nil {
		return nil, err
	}
	defer c.closeApp(ctx, a)
	return a.Specs(), nil
}

// namesIn says which files of a folder declare a tool, by its name, in their order. What
// cannot be read declares none.
func namesIn(dir string) map[string][]string {
	names := map[string][]string{}
	sources, err := toolfile.Folder{Dir: dir}.Read()
	if err != nil {
		return names
	}
	for _, s := range sources {
		file, faults := toolfile.Parse(s.Path, s.Content)
		if !toolfile.Broken(faults) && (file.Kind == toolfile.Command || file.Kind == toolfile.Script) {
			names[file.Name] = append(names[file.Name], filepath.Base(s.Path))
		}
	}
	return names
}

// nameFaults is what the name of a tool collides with: files beside it, and tools of
// other boxes. Of two tools with one name, each is shown with its box before it.
func nameFaults(path string, file toolfile.File, names map[string][]string, shelved []toolcrib.Entry) (faults []toolfile.Fault) {
	if file.Kind != toolfile.Command && file.Kind != toolfile.Script {
		return nil
	}
	add := func(warning bool, format string, args ...any) {
		faults = append(faults, toolfile.Fault{File: file.Path, Line: file.Lines["name"], Key: "name", Message: fmt.Sprintf(format, args...), Warning: warning})
	}
	for _, other := range names[file.Name] {
		if own := filepath.Base(path); other < own {
			add(false, "%s declares the tool %s as well, and that file counts: rename one of them", other, file.Name)
		} else if other > own {
			add(true, "%s declares the tool %s as well, and this file counts: rename one of them", other, file.Name)
		}
	}
	for _, e := range shelved {
		if e.Native == file.Name && e.Box != "tools" && e.Box != "project" {
			add(true, "there is a tool %s in the box %s: both are shown with their boxes before their names", file.Name, e.Box)
		}
	}
	return faults
}
