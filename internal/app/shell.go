package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/registries"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// shellGuard understands command lines; its rules are those of the policy.
func (a *App) shellGuard(cfg settings.ShellBox) (*shellguard.Guard, error) {
	if _, ok := cfg.Env["PATH"]; ok {
		return nil, errors.New("toolboxes.shell.env: PATH cannot be set, since commands are judged by the programs of the system")
	}
	opt := shellguard.SystemOptions(a.reach.Base)
	opt.Writable = writable(a.reach.Dirs)
	a.chains.KnownTo(&opt, a.bounded)
	opt.Homes = shellguard.Homes(a.policy.home, a.reach.Base)
	return &shellguard.Guard{
		AllowShell: true, Bounded: a.bounded, Options: opt,
		Reach:    a.reach.Readable,
		Glob:     filepath.Glob,
		ReadFile: plainfile.Settings,
		Obeyed:   a.obeyedGuard().At,
		Job: func(call toolcrib.Call, id string) (shellguard.Job, bool) {
			if a.shell == nil {
				return shellguard.Job{}, false
			}
			line, dir, typed, ok := a.shell.Typed(call, id)
			return shellguard.Job{Command: line, WorkingDir: dir, Typed: typed}, ok
		},
	}, nil
}

// obeyedGuard finds calls that would write what other programs obey.
func (a *App) obeyedGuard() *policy.Obeyed {
	o := &policy.Obeyed{Set: a.reach.Obeyed, Own: a.reach.Own.Asked, Base: a.reach.Base, Home: a.policy.home, Resolve: policy.RealPath, List: linked.Read, Git: reach.GitSettings(a.policy.home, a.reach.Env)}
	for _, d := range a.reach.Dirs {
		o.Roots = append(o.Roots, d.Path)
	}
	return o
}

// writable lists the directories that an agent can put programs into: those,
// and where temporary files of everyone lie.
func writable(dirs []files.Dir) []string {
	list := []string{os.TempDir()}
	for _, d := range dirs {
		if d.Write {
			list = append(list, d.Path)
		}
	}
	return list
}

// noVCS keeps go from asking git, which would go by the settings of whatever
// repository it finds.
const noVCS = "-buildvcs=false"

// shellConfig is the box's own configuration. Its PATH is where the guard
// looks for programs: a command must run what was judged.
func shellConfig(c settings.ShellBox, bounded bool, dirs []files.Dir, reached registries.Found) shell.Config {
	home := "/nonexistent" // settings there could make harmless programs run others
	if bounded && !slices.ContainsFunc(dirs, func(d files.Dir) bool { return linked.Within("/tmp", d.Path) }) {
		home = "/tmp" // empty in a sandbox, and its own
	}
	env := map[string]string{
		"PATH": strings.Join(shellguard.SystemDirs(), ":"), "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
		"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1", "GOTOOLCHAIN": "local", "GOFLAGS": noVCS,
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "https:http",
		// Settings of a submodule must not make git start a program.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false",
	}
	maps.Copy(env, reached.Env)
	if len(reached.Hosts) == 0 { // said at once, instead of after a wait for nobody
		maps.Copy(env, offline())
	}
	maps.Copy(env, c.Env)
	if own := c.Env["GOFLAGS"]; own != "" {
		env["GOFLAGS"] = noVCS + " " + own
	}
	cfg := shell.Config{Shell: commandShell, MaxTimeout: c.MaxTimeout, JobTime: c.JobTime}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cfg.Env = append(cfg.Env, name+"="+env[name])
	}
	return cfg
}

// offline has programs without a network give up at the first try.
func offline() map[string]string {
	return map[string]string{
		"GOPROXY": "off", "GIT_ALLOW_PROTOCOL": "none", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "CARGO_NET_RETRY": "0",
		"NPM_CONFIG_FETCH_RETRIES": "0", "NPM_CONFIG_AUDIT": "false", "NPM_CONFIG_FUND": "false", "NPM_CONFIG_UPDATE_NOTIFIER": "false",
	}
}

// holdFiles has files stay the same files that programs in the sandbox find
// covered, and mends what was cut off while one was written.
func (a *App) holdFiles(_ context.Context, _ settings.Config, needs Needs) error {
	if needs.State == "" {
		return nil
	}
	obeyed, holds := a.obeyedGuard(), &sandbox.Holds{Dir: reach.HoldsDir(needs.State)}
	opt := &a.Crib.Files
	opt.Held = func(path string) bool {
		return obeyed.Has(filepath.ToSlash(path)) || a.policy.rules.Load().Covered(filepath.ToSlash(path))
	}
	opt.Busy = holds.Busy
	opt.Kept = filepath.Join(needs.State, "kept")
	if handle, err := files.New(a.Crib.Grant.Dirs, *opt); err == nil { // else each call will say why
		mend(handle, cmp.Or(a.Crib.Log, slog.Default()))
	}
	return nil
}

// mend puts right what was cut off while it was written.
func mend(handle *files.Handle, log *slog.Logger) {
	told, err := handle.Mend()
	for _, text := range told {
		log.Warn(text)
	}
	if err = errors.Join(err, handle.Close()); err != nil {
		log.Error("a write that was cut off cannot be mended", "err", err)
	}
}

// outOfReach is what the rules for everybody deny to programs as well.
func (a *App) outOfReach() policy.Taken { return a.policy.live.Policy().OutOfReach() }

// ProgramGrant is what a program may touch that no tool starts.
func (a *App) ProgramGrant() toolcrib.Grant {
	return a.outOfReach().From(a.Crib.Grant)
}
