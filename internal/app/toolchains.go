package app

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
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// chains are the tool chains of the person: PATH, guard and sandbox go by the same
// directories, so that a command runs what was judged.
type chains struct {
	machine  toolchains.Machine
	found    []toolchains.Chain
	bins     []string // directories of programs, searched before those of the system
	trees    []string // the installations around them
	project  []string // directories of the project, searched last
	programs toolchains.Programs
	tools    sandboxes.Tools
}

// CachesDir is where the build caches of all projects lie.
func CachesDir(state string) string { return filepath.Join(state, "caches") }

// TrustedPrograms is the list of programs in projects that the person has looked at.
func TrustedPrograms(state string) toolchains.Programs {
	return toolchains.Programs{
		Path:  filepath.Join(state, "programs.json"),
		Seals: func(write bool) (*seal.Box, error) { return OpenSeals(state, write) },
	}
}

// openChains looks the tool chains up that the settings name. One that cannot be
// used is told and left out: which directories agents can write depends on where
// the program was started.
func (a *App) openChains(cfg settings.Config, needs Needs) error {
	c := &a.chains
	start := needs.start()
	c.machine = toolchains.Machine{
		Home: needs.Home, Path: cmp.Or(needs.Path, os.Getenv("PATH")), Getenv: start.Variable(),
		System: shellguard.SystemDirs(), Writable: writable(a.reach.Dirs), Private: needs.Private,
	}
	c.programs = TrustedPrograms(needs.State)
	env := c.machine.Certificates()
	for _, entry := range cfg.Sandbox.Chains {
		if dir, ok := inProject(entry); ok {
			if a.reach.Base != "" {
				c.project = append(c.project, filepath.Join(a.reach.Base, dir))
			}
			continue
		}
		chain, err := c.machine.Find(entry)
		if err != nil {
			a.Faults = append(a.Faults, toolcrib.LoadError{Tool: "sandbox.toolchains", Err: fmt.Errorf("%s: %w", entry, err)})
			continue
		}
		c.found = append(c.found, chain)
		c.bins, c.trees = append(c.bins, chain.Bin...), append(c.trees, chain.Show...)
		maps.Copy(env, chain.Env)
	}
	slices.Sort(c.trees)
	c.trees = slices.Compact(c.trees)
	c.tools = sandboxes.Tools{Dirs: c.trees, Env: assigned(env), Place: toolchains.CachePlace, CacheEnv: assigned(toolchains.CacheEnv())}
	if cfg.Sandbox.Git == "write" {
		c.tools.Git = toolchains.GitIdentity(gitconfig.Files(needs.Home, start.Variable()))
	}
	if !cfg.Toolboxes.Shell.AllowShell || a.reach.Base == "" || needs.State == "" {
		return nil
	}
	if needs.For != ToCall { // nothing is written
		c.tools.Cache = filepath.Join(toolchains.CacheDir(CachesDir(needs.State), a.reach.Base), "files")
		return nil
	}
	var err error
	c.tools.Cache, err = toolchains.OpenCache(CachesDir(needs.State), a.reach.Base, time.Now())
	return err
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
func (c *chains) search() []string {
	var out []string
	for _, dir := range slices.Concat(c.bins, shellguard.SystemDirs(), c.project) {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// knownTo has the guard find programs where commands do. Virtual environments count
// where a sandbox bounds what comes of it.
func (c *chains) knownTo(opt *shellguard.Options, bounded bool) {
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

// onPath gives the environment of commands with that PATH.
func (c *chains) onPath(env []string) []string {
	env = slices.Clone(env)
	for i, v := range env {
		if strings.HasPrefix(v, "PATH=") {
			env[i] = "PATH=" + strings.Join(c.search(), ":")
		}
	}
	return env
}

func assigned(vars map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}
