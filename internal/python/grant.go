package python

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// declaration is what programs may touch and how they run, whoever declares it.
type declaration struct {
	dirs    []files.Dir
	hosts   []string
	effects map[string]toolcrib.Effects
	env     map[string]string
	sandbox string
	// everything: the person wrote effects for all tools.
	everything bool
	theirs     bool          // a project brought it: what it says of itself counts as what servers say
	base       mcphub.Server // times, names, pins
}

// declared reads the declaration of an interpreter.
func (h *Hosts) declared(key string, p settings.Python) (declaration, error) {
	d := declaration{sandbox: p.Sandbox, hosts: p.Hosts, env: maps.Clone(p.Env)}
	var err error
	if d.dirs, err = h.directories(key, p.Read, p.Write); err != nil {
		return d, err
	}
	if err := httpclient.CheckHosts(p.Hosts); err != nil {
		return d, fmt.Errorf("%s.hosts: %w", key, err)
	}
	for _, pattern := range slices.Concat(p.Toolboxes, p.Skip, slices.Collect(maps.Keys(p.Effects))) {
		if _, err := path.Match(pattern, ""); err != nil {
			return d, fmt.Errorf("%s: %q is no pattern: write a name, or one with * such as get_*", key, pattern)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(p.Effects)) {
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(p.Effects[tool])); err != nil {
			return d, fmt.Errorf("%s.effects.%s: %w", key, tool, err)
		}
		if d.effects == nil {
			d.effects = map[string]toolcrib.Effects{}
		}
		d.effects[tool] = e
	}
	if _, d.everything = d.effects["*"]; !d.everything && p.Sandbox != sandboxHost {
		if e := toolfile.Held(len(p.Read) > 0, len(p.Write) > 0, p.Bus || len(p.Hosts)+len(p.Secrets) > 0); e != 0 {
			if d.effects == nil {
				d.effects = map[string]toolcrib.Effects{}
			}
			d.effects["*"] = e
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		if d.env == nil {
			d.env = map[string]string{}
		}
		d.env[name] = "${secret:" + p.Secrets[name] + "}"
	}
	d.base = mcphub.Server{
		Timeout: p.Timeout, Starting: p.StartTimeout, Idle: p.IdleTimeout, Instance: mcphub.Instance(p.Instance),
		Bare: p.Names != "qualified", Unpinned: cmp.Or(p.Pins, "off") == "off", Approve: p.Pins == "approve",
	}
	return d, nil
}

// directories reads directories as people write them.
func (h *Hosts) directories(key string, read, write []string) (dirs []files.Dir, _ error) {
	for _, list := range []struct {
		key   string
		texts []string
		write bool
	}{{"write", write, true}, {"read", read, false}} {
		for _, text := range list.texts {
			dir, err := h.needs.Directory(text)
			if err == nil && dir == filepath.Dir(dir) {
				err = errors.New("it is the whole machine: name the directories that are needed")
			}
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %s: %w", key, list.key, text, err)
			}
			if !slices.ContainsFunc(dirs, func(d files.Dir) bool { return d.Path == dir }) {
				dirs = append(dirs, files.Dir{Path: dir, Write: list.write})
			}
		}
	}
	return dirs, nil
}

// all is what the tools may do together, if all of them are declared; zero: not all are.
func (d declaration) all() (e toolcrib.Effects) {
	if d.effects["*"] == 0 {
		return 0
	}
	for _, one := range d.effects {
		if one == 0 {
			return 0
		}
		e |= one
	}
	if e != toolcrib.Pure {
		e &^= toolcrib.Pure
	}
	return e
}

// grant is what a program may touch: what is declared, narrowed to its effects.
func (d declaration) grant() *toolcrib.Grant {
	g := &toolcrib.Grant{Dirs: slices.Clone(d.dirs), Hosts: slices.Clone(d.hosts)}
	if e := d.all(); e != 0 {
		if e.All()&(toolcrib.Writes|toolcrib.Destroys) == 0 {
			for i := range g.Dirs {
				g.Dirs[i].Write = false
			}
		}
		if e.All()&toolcrib.Network == 0 {
			g.Hosts = nil
		}
		if e.All()&(toolcrib.Reads|toolcrib.Writes|toolcrib.Destroys) == 0 {
			g.Dirs = nil // who judges its calls takes it that it reads nothing
		}
	}
	return g
}

// server makes a server of a host and its arguments. Needed are further directories
// that the program has to see.
func (d declaration) server(in interpreter.Interpreter, host string, args []string, needed ...string) mcphub.Server {
	s := d.base
	s.Command, s.Args = in.Path, slices.Concat(in.Flags, []string{host}, args)
	s.Env, s.Sandbox, s.Effects, s.Own = maps.Clone(d.env), d.sandbox, d.effects, !d.theirs
	s.Grant, s.Tools = d.grant(), slices.Concat(in.Dirs, []string{filepath.Dir(host)}, needed)
	// What such a program wants of a client's model is nobody's wish.
	s.Sampling, s.Elicitation = mcphub.ConsentDeny, mcphub.ConsentDeny
	return s
}

// plain keeps a text from being read as a reference to a secret or a variable.
func plain(text string) (string, error) {
	if strings.Contains(text, "${") {
		return "", fmt.Errorf("%q cannot be used: it has ${ in it", text)
	}
	return text, nil
}
