package app

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// shellGuard understands command lines; its rules are those of the policy.
func (a *App) shellGuard(cfg settings.ShellBox) (*shellguard.Guard, error) {
	if _, ok := cfg.Env["PATH"]; ok {
		return nil, errors.New("toolboxes.shell.env: PATH cannot be set, since commands are judged by the programs of the system")
	}
	opt := shellguard.SystemOptions(a.reach.base)
	opt.Writable = writable(a.reach.dirs)
	opt.Homes = shellguard.Homes(a.policy.home, a.reach.base)
	return &shellguard.Guard{
		AllowShell: true, Bounded: a.bounded, Options: opt,
		Reach:    a.reach.readable,
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

// gitSettings reads what git goes by, outside of repositories too.
func gitSettings(home string, env func(name string) string) gitconfig.Source {
	return gitconfig.Source{Read: plainfile.Settings, Home: home, Settings: gitconfig.Files(home, env)}
}

// obeyedGuard finds calls that would write what other programs obey.
func (a *App) obeyedGuard() *policy.Obeyed {
	o := &policy.Obeyed{Set: a.reach.obeyed, Own: a.reach.own.asked, Base: a.reach.base, Home: a.policy.home, Resolve: policy.RealPath, List: linked.Read, Git: gitSettings(a.policy.home, a.reach.env)}
	for _, d := range a.reach.dirs {
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

// readable says whether a command may read a path unasked. It goes by the very
// handle that the file tools get.
func (r reach) readable(path string) error {
	if len(r.dirs) == 0 {
		return errors.New("no directory was granted")
	}
	files, err := files.New(r.dirs, r.files)
	if err != nil {
		return err
	}
	_, err = files.Real(path)
	return errors.Join(err, files.Close())
}

// noVCS keeps go from asking git, which would go by the settings of whatever
// repository it finds.
const noVCS = "-buildvcs=false"

// shellConfig is the box's own configuration. Its PATH is where the guard
// looks for programs: a command must run what was judged.
func shellConfig(c settings.ShellBox, bounded bool, dirs []files.Dir, hosts []string) shell.Config {
	home := "/nonexistent" // settings there could make harmless programs run others
	if bounded && !slices.ContainsFunc(dirs, func(d files.Dir) bool { return within("/tmp", d.Path) }) {
		home = "/tmp" // empty in a sandbox, and its own
	}
	env := map[string]string{
		"PATH": strings.Join(shellguard.SystemDirs(), ":"), "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
		"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1", "GOTOOLCHAIN": "local", "GOFLAGS": noVCS,
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "https:http",
		// Settings of a submodule must not make git start a program.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false",
	}
	if len(hosts) == 0 { // said at once, instead of after a wait for nobody
		env["GOPROXY"], env["GIT_ALLOW_PROTOCOL"] = "off", "none"
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
