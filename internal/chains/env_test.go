package chains

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/registries"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestCommandEnvironment: nothing a project can write is read by the programs
// that run unasked as if it were the person's own settings.
func TestCommandEnvironment(t *testing.T) {
	cfg := settings.ShellBox{Env: map[string]string{"GOCACHE": "/cache"}}
	for _, c := range []struct {
		bounded bool
		dir     string
		home    string
	}{{true, "/home/ann/project", "HOME=/tmp"}, {true, "/tmp", "HOME=/nonexistent"}, {true, "/", "HOME=/nonexistent"}, {false, "/home/ann/project", "HOME=/nonexistent"}} {
		env := (&Chains{}).Environment(cfg, c.bounded, []files.Dir{{Path: c.dir, Write: true}}, registries.Found{})
		for _, want := range []string{
			c.home, "GOCACHE=/cache", "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		} {
			if !slices.Contains(env, want) {
				t.Errorf("%s is not in %q", want, env)
			}
		}
	}
	// With the network granted modules can be fetched, and one's own flags add.
	cfg.Env["GOFLAGS"] = "-mod=mod"
	env := (&Chains{}).Environment(cfg, true, nil, registries.Found{Hosts: []string{"*"}})
	if !slices.Contains(env, "GOFLAGS=-buildvcs=false -mod=mod") || slices.Contains(env, "GOPROXY=off") || !slices.Contains(env, "GIT_ALLOW_PROTOCOL=https:http") {
		t.Errorf("%q", env)
	}
}
