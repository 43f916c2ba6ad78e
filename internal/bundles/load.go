package bundles

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// Loaded is what installed packages bring, in the words of the settings.
type Loaded struct {
	Skills  []skill.Place
	Servers map[string]settings.MCPServer
	Agents  map[string]settings.Agent
	// Faults is what does not count, and why.
	Faults []toolcrib.LoadError
	// Off are the skills of packages that do not count.
	Off []OffSkill
}

// OffSkill is a skill of a package that does not count.
type OffSkill struct {
	Name   string `json:"name"`
	Bundle string `json:"bundle"`
	Reason string `json:"reason"`
}

// Load looks at all packages that count here. One of which a file was changed does not
// count, and it is said which file.
func (b *Bundles) Load() Loaded {
	l := Loaded{Servers: map[string]settings.MCPServer{}, Agents: map[string]settings.Agent{}}
	r, err := b.read()
	if err != nil {
		l.fault("", err)
		return l
	}
	for _, name := range slices.Sorted(maps.Keys(r.Bundles)) {
		b.load(&l, "", name, r.Bundles[name])
	}
	b.loadProject(&l, r)
	return l
}

// loadProject loads the packages of the project: those that its lock file names and that
// the person said yes to, each in the state that the file names.
func (b *Bundles) loadProject(l *Loaded, r *record) {
	dir, err := b.project(false)
	if err != nil || dir == "" {
		return
	}
	lock, err := readLock(projectLock(dir))
	if err != nil {
		l.fault("", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Bundles)) {
		i, there := r.Projects[dir][name]
		states := append([]Installed{i}, i.Before...)
		at := slices.IndexFunc(states, func(s Installed) bool { return s.Tree == lock.Bundles[name].Tree })
		if !there || at < 0 {
			l.fault(name, errors.New("the project's lock file names it, and you have not said yes to it like that: 'toolcrib bundle sync' shows it and asks"))
			continue
		}
		states[at].Sandbox = i.Sandbox // an earlier state does not leave it
		b.load(l, dir, name, states[at])
	}
}

func (l *Loaded) fault(name string, err error) {
	box := "bundles"
	if name != "" {
		box = "bundle " + name
	}
	l.Faults = append(l.Faults, toolcrib.LoadError{Box: box, Err: err})
}

func (b *Bundles) load(l *Loaded, project, name string, i Installed) {
	changed, err := b.check(i.Tree)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = errors.New("its files are gone, and it does not count: install it again, or 'toolcrib bundle remove " + name + "'")
	case err == nil && len(changed) > 0:
		err = fmt.Errorf("its files are not what was installed, and it does not count: %s; 'toolcrib bundle update %s' installs it again", text.ShowLine(strings.Join(changed[:min(len(changed), 5)], ", ")), name)
	}
	if err != nil {
		l.fault(name, err)
		for _, s := range i.Package.Skills {
			l.Off = append(l.Off, OffSkill{s.Name, name, err.Error()})
		}
		return
	}
	root := b.root(i.Tree)
	files, err := b.listing(i.Tree)
	if err != nil {
		l.fault(name, err)
		return
	}
	for _, s := range i.Package.Skills {
		at := filepath.Join(root, filepath.FromSlash(s.Dir))
		l.Skills = append(l.Skills, skill.Place{Path: at, Root: root, Scope: "bundle", Origin: skill.Installed, Consent: files.below(s.Dir).consent(at)})
	}
	at := places{root: root, data: b.data(project, name), home: b.Home}
	for _, s := range i.Package.Servers {
		if i.Left[s.Name] != "" {
			continue // it was said when it was installed
		}
		as, err := server(s, at, i)
		if err != nil {
			l.fault(name, fmt.Errorf("the server %s: %w", s.Name, err))
			continue
		}
		if called := bundle.PartName(name, s.Name); !taken(l.Servers, called) {
			l.Servers[called] = as
		} else {
			l.fault(name, fmt.Errorf("the server %s is left out: another bundle has one called %s", s.Name, called))
		}
	}
	for _, a := range i.Package.Agents {
		if a.Instructions == "" {
			continue
		}
		if called := bundle.PartName(name, a.Name); !taken(l.Agents, called) {
			l.Agents[called] = settings.Agent{Instructions: a.Instructions}
		} else {
			l.fault(name, fmt.Errorf("the agent %s is left out: another bundle has one called %s", a.Name, called))
		}
	}
}

func taken[V any](in map[string]V, name string) bool {
	_, there := in[name]
	return there
}

// server is a server of a package in the words of the settings.
func server(s bundle.Server, at places, i Installed) (settings.MCPServer, error) {
	s, err := expand(s, at, i.Package.Asks, i.Values, i.vault())
	if err != nil {
		return settings.MCPServer{}, err
	}
	out := settings.MCPServer{Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Dir, URL: s.URL, Headers: s.Headers}
	if s.SSE {
		out.Transport = "sse"
	}
	if s.Command == "" {
		return out, nil
	}
	out.Sandbox = i.Sandbox
	if !taken(out.Env, "PYTHONDONTWRITEBYTECODE") {
		// Python would keep what it compiled beside its files, which are not what was
		// installed then.
		out.Env["PYTHONDONTWRITEBYTECODE"] = "1"
	}
	for key, value := range map[string]map[string]string{
		"agent-plugin": {"PLUGIN_ROOT": at.root, "PLUGIN_DATA": at.data}, "claude-plugin": {"CLAUDE_PLUGIN_ROOT": at.root, "CLAUDE_PLUGIN_DATA": at.data},
	}[i.Package.Format] {
		if !taken(out.Env, key) {
			out.Env[key] = strings.ReplaceAll(value, "${", "$${")
		}
	}
	return out, nil
}

// Into adds what packages bring to settings, as if it stood there. Nothing that stands
// there is replaced.
func (l Loaded) Into(cfg settings.Config, layers *settings.Layers) (settings.Config, *settings.Layers, []toolcrib.LoadError) {
	if len(l.Servers)+len(l.Agents) == 0 {
		return cfg, layers, l.Faults
	}
	faults := slices.Clone(l.Faults)
	if layers != nil {
		copied := *layers
		layers = &copied
	}
	cfg.MCPServers = maps.Clone(cfg.MCPServers)
	if cfg.MCPServers == nil {
		cfg.MCPServers = map[string]settings.MCPServer{}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Servers)) {
		if taken(cfg.MCPServers, name) || taken(cfg.OpenAPI, name) {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: errors.New("the settings have a server of this name, which counts; that of the bundle is left out")})
			continue
		}
		cfg.MCPServers[name] = l.Servers[name]
	}
	cfg.Agents = maps.Clone(cfg.Agents)
	if cfg.Agents == nil {
		cfg.Agents = map[string]settings.Agent{}
	}
	if layers != nil {
		layers.User.Agents = maps.Clone(layers.User.Agents)
		if layers.User.Agents == nil {
			layers.User.Agents = map[string]settings.Agent{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Agents)) {
		if taken(cfg.Agents, name) || layers != nil && (taken(layers.User.Agents, name) || taken(layers.Admin.Agents, name)) {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: errors.New("the settings have an agent of this name, which counts; that of the bundle is left out")})
			continue
		}
		cfg.Agents[name] = l.Agents[name]
		if layers != nil {
			layers.User.Agents[name] = l.Agents[name]
		}
	}
	return cfg, layers, faults
}

// makeData makes the folders that packages keep something in, takes those up that were
// kept, and removes those of packages that are gone.
func (b *Bundles) makeData(r *record) error {
	var errs []error
	used := map[string]bool{}
	r.all(func(project, name string, i Installed) {
		dir := b.data(project, name)
		used[filepath.Base(dir)] = true
		if _, err := os.Lstat(dir); err == nil {
			return
		}
		if os.Rename(dir+keptMark, dir) == nil {
			return
		}
		for _, s := range i.Package.Servers {
			if s.Command != "" {
				errs = append(errs, os.MkdirAll(dir, 0o700))
				return
			}
		}
	})
	all := filepath.Join(b.dir(), "data")
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, e := range entries {
		if !used[e.Name()] && !strings.HasSuffix(e.Name(), keptMark) {
			errs = append(errs, removeTree(filepath.Join(all, e.Name())))
		}
	}
	_ = os.Remove(all) // only where it is empty
	return errors.Join(errs...)
}
