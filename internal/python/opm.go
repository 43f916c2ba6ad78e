package python

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// installed is what an interpreter has of OpenVoiceOS.
type installed struct {
	Toolboxes []toolbox `json:"toolboxes"`
	Skills    []struct {
		Name         string `json:"name"`
		Path         string `json:"path"`
		Distribution string `json:"distribution"`
		Error        string `json:"error"`
	} `json:"skills"`
}

type toolbox struct {
	EntryPoint   string `json:"entry_point"`
	ID           string `json:"toolbox_id"`
	Distribution string `json:"distribution"`
	Version      string `json:"version"`
	Error        string `json:"error"`
}

// mostServers bounds the programs that there are: each takes memory and time to start.
const mostServers = 200

// opm puts up a server for each toolbox that is installed.
func (f *finder) opm(ctx context.Context, name string, p settings.Python, in interpreter.Interpreter, host string, d declaration) {
	key := "python." + name
	list, err := f.installed(ctx, name, p, in, host, d)
	if err != nil {
		f.fault(key, err)
		return
	}
	var sections map[string]json.RawMessage
	if f.h.needs.Mycroft != nil {
		if sections, err = f.h.needs.Mycroft(f.cfg.Bus); err != nil {
			f.fault(key, err)
			return
		}
	}
	var off []string
	for entry, section := range sections {
		if section == nil {
			off = append(off, entry)
		}
	}
	for _, t := range list.Toolboxes {
		id := t.ID
		if id == "" {
			id = t.EntryPoint
		}
		if !f.wanted(p, id, t.EntryPoint) || slices.Contains(off, t.EntryPoint) {
			continue
		}
		s, err := f.toolbox(name, p, in, host, d, t, sections[t.EntryPoint])
		if t.Error != "" {
			err = remedy.With(fmt.Errorf("the toolbox %s of %s %s cannot be loaded: %s", t.EntryPoint, t.Distribution, t.Version, text.ShowLine(text.Clip(t.Error, 500))), pipFix(in.Path, t.Distribution))
		}
		if err != nil {
			f.fault(boxName(id), err)
			continue
		}
		if len(f.out.Servers) >= mostServers {
			f.fault(key, fmt.Errorf("%s says that it has %d toolboxes, and there are %d toolboxes here already: name those that you want (%s.toolboxes)", in.Path, len(list.Toolboxes), mostServers, key))
			break
		}
		box, clash := f.nameFor(id)
		if clash { // its tools are called as ours are, and nobody may take one for the other
			s.Bare = false
		}
		if f.add(box, s) && box != id {
			f.out.IDs[box] = id
		}
	}
	for _, s := range list.Skills {
		switch {
		case s.Error != "":
			f.fault(key, remedy.With(fmt.Errorf("the skill %s of %s cannot be loaded: %s", s.Name, s.Distribution, text.ShowLine(text.Clip(s.Error, 500))), pipFix(in.Path, s.Distribution)))
		case !filepath.IsAbs(s.Path):
			f.fault(key, fmt.Errorf("the skill %s of %s has no whole path", s.Name, s.Distribution))
		case p.Sandbox != sandboxHost && !in.Holds(s.Path, d.dirs):
			f.fault(key, fmt.Errorf("the skill %s of %s is left out: %s does not lie where packages of %s are installed, nor in a directory under %s.read", s.Name, s.Distribution, s.Path, in.Path, key))
		default:
			f.out.Skills = append(f.out.Skills, s.Path)
		}
	}
}

func (f *finder) wanted(p settings.Python, id, entry string) bool {
	match := func(pattern string) bool {
		for _, name := range []string{id, entry} {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return true
			}
		}
		return false
	}
	return (len(p.Toolboxes) == 0 || slices.ContainsFunc(p.Toolboxes, match)) && !slices.ContainsFunc(p.Skip, match)
}

// nameFor is the name of the box of an id. Ids that boxes of ours have on a bus mean
// those in rules, so that the box of another must not be called so.
func (f *finder) nameFor(id string) (name string, clash bool) {
	name = boxName(id)
	if f.h.needs.Check(name) != nil || dialect.OVOSOwner(id) != "" {
		return boxName("opm-" + name), true
	}
	return name, false
}

// toolbox makes a server of one toolbox.
func (f *finder) toolbox(name string, p settings.Python, in interpreter.Interpreter, host string, d declaration, t toolbox, section json.RawMessage) (mcphub.Server, error) {
	entry, err := plain(t.EntryPoint)
	if err != nil || entry == "" || strings.HasPrefix(entry, "-") {
		return mcphub.Server{}, fmt.Errorf("%q is no entry point that can be used", t.EntryPoint)
	}
	s := d.server(in, host, []string{"serve", "--opm", entry})
	config, env, err := configOf(section, p.Config[t.ID], p.Config[t.EntryPoint])
	if err != nil {
		return s, fmt.Errorf("python.%s.config.%s: %w", name, t.ID, err)
	}
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	if config != "" {
		s.Args = append(s.Args, "--config", config)
		maps.Copy(s.Env, env)
	}
	if p.Bus {
		if err := f.bus(&s, p); err != nil {
			return s, fmt.Errorf("python.%s.bus: %w", name, err)
		}
	}
	s.Shown = fmt.Sprintf("toolbox %s of %s %s (%s)", t.ID, t.Distribution, t.Version, in.Path)
	return s, nil
}

// distributionName is what a package can be called. It is what a package says of
// itself, and a person will type it.
var distributionName = pattern.Of(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// pipFix is the command that installs a package anew, with what it needs. What it says
// that it misses is not taken for the name of a package: that could be anybody's.
func pipFix(python, distribution string) string {
	if !distributionName.MatchString(distribution) {
		return "toolcrib hub test --all"
	}
	return text.ShellWord(python) + " -m pip install --force-reinstall " + distribution
}
