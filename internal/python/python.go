// Package python makes MCP servers of what people have in other languages: the
// toolboxes, files and modules of Python interpreters that the settings name, and the
// .py, .js and .mjs files in the folders of tools. It runs no code of theirs in this
// process and decides nothing about calls: the hub starts what it finds, in a sandbox.
// The wiring in internal/app imports it.
//
// Its one invariant: a program is given exactly what is declared for it, and what runs
// is the content that was read.
package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Needs is what the hosts are given by whoever opens them.
type Needs struct {
	// Start starts a program. Nil: none is, and what is not known is not found out.
	Start func(ctx context.Context, l mcphub.Launch) (client.Process, error)
	// Expand puts in what ${secret:NAME} and ${VAR} stand for.
	Expand func(ctx context.Context, text string) (string, error)
	// Look finds a program by its name.
	Look func(name string) (string, error)
	// Directory reads a directory as people write it.
	Directory func(text string) (string, error)
	// Check refuses what no server can be called.
	Check func(name string) error
	// Place is where copies of what runs are put: programs see it, and tools cannot
	// write there. Empty: nothing can run.
	Place string
	// State is where it is kept what an interpreter has. Empty: nowhere.
	State string
	Home  string
	// Folders are where tools are looked for.
	Folders []Folder
	// Mycroft gives what a mycroft.conf tells toolboxes, by entry point; a nil section
	// switches one off. Nil: there is none.
	Mycroft func(on settings.Bus) (map[string]json.RawMessage, error)
	Log     *slog.Logger
}

// Hosts finds out which servers there are.
type Hosts struct {
	needs Needs

	one      sync.Mutex // finds at a time
	mu       sync.Mutex
	known    map[string][]byte // what lies in Place, by path
	packages map[string]seenPackages
	last     Found
}

// Sections gives what a mycroft.conf tells toolboxes, by entry point.
func (h *Hosts) Sections(on settings.Bus) (map[string]json.RawMessage, error) {
	if h == nil || h.needs.Mycroft == nil {
		return nil, nil
	}
	return h.needs.Mycroft(on)
}

// New makes the hosts. Nothing is looked at yet.
func New(needs Needs) *Hosts {
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	return &Hosts{needs: needs, known: map[string][]byte{}, packages: map[string]seenPackages{}}
}

// Found is what there is.
type Found struct {
	Servers map[string]mcphub.Server
	// IDs are the ids that boxes have on a message bus, where that is not their name.
	IDs map[string]string
	// Sums are fingerprints of the files that boxes are made of, with what they may touch.
	Sums map[string]string
	// Skills are files with a SKILL.md that packages bring.
	Skills []string
	Faults []toolcrib.LoadError
}

// Find looks for everything. Anew: interpreters are asked again what they have, in a
// new process; else what they said last counts as long as nothing was installed since.
// Taken are names that other servers have.
func (h *Hosts) Find(ctx context.Context, cfg settings.Config, taken []string, anew bool) Found {
	h.one.Lock()
	defer h.one.Unlock()
	f := &finder{h: h, cfg: cfg, anew: anew, taken: taken, out: Found{Servers: map[string]mcphub.Server{}, IDs: map[string]string{}, Sums: map[string]string{}}}
	f.folders()
	for _, name := range slices.Sorted(maps.Keys(cfg.Python)) {
		if p := cfg.Python[name]; !p.Disabled {
			f.entry(ctx, name, p)
		}
	}
	if anew {
		h.prune()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = f.out
	return f.out
}

// Last is what was found last.
func (h *Hosts) Last() Found {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// ID is the id that a box has on a message bus. False: it is none of these.
func (h *Hosts) ID(box string) (string, bool) {
	last := h.Last()
	if id, ok := last.IDs[box]; ok {
		return id, true
	}
	_, is := last.Servers[box]
	return box, is
}

// Own reports whether a box is what a person wrote or installed here.
func (h *Hosts) Own(box string) bool {
	s, ok := h.Last().Servers[box]
	return ok && s.Own
}

// File is what a box is made of: a file, and a fingerprint of it and of what it may touch.
func (h *Hosts) File(box string) (path, sum string, ok bool) {
	last := h.Last()
	sum, ok = last.Sums[box]
	return last.Servers[box].Shown, sum, ok
}

// finder is one look.
type finder struct {
	h     *Hosts
	cfg   settings.Config
	anew  bool
	taken []string
	out   Found
}

func (f *finder) fault(box string, err error) {
	f.out.Faults = append(f.out.Faults, toolcrib.LoadError{Box: box, Err: err})
}

// add puts a server up, unless its name cannot be one.
func (f *finder) add(name string, s mcphub.Server) bool {
	err := f.h.needs.Check(name)
	switch _, twice := f.out.Servers[name]; {
	case err != nil:
	case slices.Contains(f.taken, name):
		err = fmt.Errorf("an MCP server or a plugin is called %s already, which counts: rename one of them", name)
	case twice:
		err = fmt.Errorf("two toolboxes are called %s, and the first one counts: rename one of them", name)
	}
	if err != nil {
		f.fault(name, err)
		return false
	}
	if s.Instance == "" && f.cfg.SeveralPeople() { // nothing of one may reach another
		s.Instance = mcphub.PerPerson
	}
	f.out.Servers[name] = s
	return true
}

// entry is one interpreter of the settings.
func (f *finder) entry(ctx context.Context, name string, p settings.Python) {
	key := "python." + name
	bad := func(err error) { f.fault(key, err) }
	in, err := f.h.finder().Python(p.Python)
	if err != nil {
		if missing, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
			err = remedy.With(err, "python3 -m venv "+text.ShellWord(missing.Path))
		}
		bad(fmt.Errorf("%s.python: %w", key, err))
		return
	}
	d, err := f.h.declared(key, p)
	if err != nil {
		bad(err)
		return
	}
	host, err := f.h.pythonHost()
	if err != nil {
		bad(err)
		return
	}
	for _, file := range p.Files {
		f.file(key, file, in, d)
	}
	for _, module := range p.Modules {
		if !moduleName(module) {
			bad(fmt.Errorf("%s.modules: %q is no name of a module, such as acme.tools", key, module))
			continue
		}
		s := d.server(in, host, []string{"serve", "--module", module})
		s.Shown = "module " + module + " of " + in.Path
		f.add(boxName(module), s)
	}
	if p.OPM {
		f.opm(ctx, name, p, in, host, d)
	}
}

// errNowhere: there is no home directory, or commands write in it.
var errNowhere = errors.New("there is no place for programs: the home directory is not known, or commands can write ~/.cache/toolcrib (grant.write)")

// finder finds interpreters.
func (h *Hosts) finder() interpreter.Finder {
	return interpreter.Finder{Home: h.needs.Home, Look: h.needs.Look, Directory: h.needs.Directory}
}
