// Package chains joins the tool chains of a person to what runs and judges
// commands: where commands look for programs, what the guard knows of them, and what
// the sandbox shows. The wiring imports it.
//
// Its one invariant: PATH, guard and sandbox go by the same directories, so that a
// command runs what was judged.
package chains

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// Chains are the tool chains that the settings name. The zero value has none.
type Chains struct {
	Base  string           // the directory of the project; empty: there is none
	Shown toolchains.Shown // for the sandbox

	machine  toolchains.Machine
	bins     []string // directories of programs, searched before those of the system
	trees    []string // the installations around them
	project  []string // directories of the project, searched last
	programs toolchains.Programs
}

// Needs is what Open takes besides the settings.
type Needs struct {
	Start    reach.Start
	Base     string   // where commands run
	Writable []string // the directories that agents can write
	Programs toolchains.Programs
	Make     bool // the cache of this project may be made
}

// Open looks the tool chains up. One that cannot be used is told and left out: which
// directories agents can write depends on where the program was started.
func Open(cfg settings.Config, needs Needs) (Chains, []toolcrib.LoadError, error) {
	start := needs.Start
	c := Chains{Base: needs.Base, programs: needs.Programs, machine: toolchains.Machine{
		Home: start.Home, Path: cmp.Or(start.Path, os.Getenv("PATH")), Getenv: start.Variable(),
		System: shellguard.SystemDirs(), Writable: needs.Writable, Private: start.Private,
	}}
	var faults []toolcrib.LoadError
	env := c.machine.Certificates()
	for _, entry := range cfg.Sandbox.Chains {
		if dir, ok := inProject(entry); ok {
			if c.Base != "" {
				c.project = append(c.project, filepath.Join(c.Base, dir))
			}
			continue
		}
		chain, err := c.machine.Find(entry)
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Tool: "sandbox.toolchains", Err: fmt.Errorf("%s: %w", entry, err)})
			continue
		}
		c.bins, c.trees = append(c.bins, chain.Bin...), append(c.trees, chain.Show...)
		maps.Copy(env, chain.Env)
	}
	slices.Sort(c.trees)
	c.trees = slices.Compact(c.trees)
	c.Shown = toolchains.Shown{Dirs: c.trees, Env: assigned(env), Place: toolchains.CachePlace, CacheEnv: assigned(toolchains.CacheEnv())}
	if cfg.Sandbox.Git == "write" {
		c.Shown.Git = toolchains.GitIdentity(gitconfig.Files(start.Home, start.Variable()))
	}
	if !cfg.Toolboxes.Shell.AllowShell && !cfg.Toolboxes.LSP.Enabled || c.Base == "" || start.State == "" {
		return c, faults, nil
	}
	if !needs.Make {
		c.Shown.Cache = toolchains.CacheFiles(toolchains.CachesDir(start.State), c.Base)
		return c, faults, nil
	}
	var err error
	c.Shown.Cache, err = toolchains.OpenCache(toolchains.CachesDir(start.State), c.Base, time.Now())
	return c, faults, err
}

// inProject: a relative entry means a directory, or a file, of the project. It has
// a slash in it, so that a word with a typing error is none.
func inProject(entry string) (string, bool) {
	if !strings.Contains(entry, "/") || filepath.IsAbs(entry) || strings.HasPrefix(entry, "~") {
		return "", false
	}
	clean := filepath.Clean(entry)
	return clean, filepath.IsLocal(clean)
}

// search is where commands look for programs, in order. What agents can write comes
// last, so that no file of theirs takes the place of a program that is known.
func (c *Chains) search() []string {
	var out []string
	for _, dir := range slices.Concat(c.bins, shellguard.SystemDirs(), c.project) {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// Programs is where programs are found that no agent can write.
func (c *Chains) Programs() []string { return slices.Concat(c.bins, shellguard.SystemDirs()) }

// KnownTo has the guard find programs where commands do. Virtual environments count
// where a sandbox bounds what comes of it.
func (c *Chains) KnownTo(opt *shellguard.Options, bounded bool) {
	opt.Look = shellguard.LookIn(c.search()...)
	opt.Trusted = slices.Concat(c.bins, shellguard.SystemDirs())
	opt.Trees = c.trees
	programs := c.programs
	if bounded {
		trusted, look := *opt, shellguard.LookIn(slices.Concat(c.bins, shellguard.SystemDirs())...)
		programs.Venvs = toolchains.Venvs{
			Interpreter: trusted.TrustedFile,
			Taken:       func(name string) bool { _, err := look(name); return err == nil },
		}
	}
	opt.Project = programs.Check
}

func assigned(vars map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}
