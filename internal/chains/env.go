package chains

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/registries"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// noVCS keeps go from asking git, which would go by the settings of whatever
// repository it finds.
const noVCS = "-buildvcs=false"

// Environment is that of commands. Its PATH is where the guard looks for programs: a
// command must run what was judged.
func (c *Chains) Environment(cfg settings.ShellBox, bounded bool, dirs []files.Dir, reached registries.Found) []string {
	home := "/nonexistent" // settings there could make harmless programs run others
	if bounded && !slices.ContainsFunc(dirs, func(d files.Dir) bool { return linked.Within("/tmp", d.Path) }) {
		home = "/tmp" // empty in a sandbox, and its own
	}
	env := map[string]string{
		"PATH": strings.Join(c.search(), ":"), "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
		"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1", "GOTOOLCHAIN": "local", "GOFLAGS": noVCS,
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "https:http",
		// Settings of a submodule must not make git start a program.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false",
	}
	maps.Copy(env, reached.Env)
	if len(reached.Hosts) == 0 { // said at once, instead of after a wait for nobody
		maps.Copy(env, offline())
	}
	maps.Copy(env, cfg.Env)
	if own := cfg.Env["GOFLAGS"]; own != "" {
		env["GOFLAGS"] = noVCS + " " + own
	}
	return assigned(env)
}

// offline has programs without a network give up at the first try.
func offline() map[string]string {
	return map[string]string{
		"GOPROXY": "off", "GIT_ALLOW_PROTOCOL": "none", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "CARGO_NET_RETRY": "0",
		"NPM_CONFIG_FETCH_RETRIES": "0", "NPM_CONFIG_AUDIT": "false", "NPM_CONFIG_FUND": "false", "NPM_CONFIG_UPDATE_NOTIFIER": "false",
	}
}

// Writable lists the directories that an agent can put programs into: those,
// and where temporary files of everyone lie.
func Writable(dirs []files.Dir) []string {
	list := []string{os.TempDir()}
	for _, d := range dirs {
		if d.Write {
			list = append(list, d.Path)
		}
	}
	return list
}
