//go:build amd64 || arm64

package linux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestToolsAndCache: programs see tool chains and cannot change them, what they
// write into the cache is there for the next one under the same name, and nothing
// beside either is shown.
func TestToolsAndCache(t *testing.T) {
	root, home, cache := tempProject(t), tempProject(t), tempProject(t)
	putProgram(t, filepath.Join(home, "bin", "tool"))
	put(t, home, map[string]string{"lib/data": "data", "secret": "x"})
	if err := os.Chmod(filepath.Join(home, "lib"), 0o700); err != nil { // as in many homes: for its owner only
		t.Fatal(err)
	}
	gone := filepath.Join(home, "gone")
	s := open(t, Config{
		Tools: []string{filepath.Join(home, "bin"), filepath.Join(home, "lib"), gone}, ToolEnv: []string{"TOOL_HOME=" + home, "GOCACHE=/no"},
		Cache: cache, CachePlace: "/var/cache/build", CacheEnv: []string{"GOCACHE=/var/cache/build/go", "OWN=/no"}, CacheTools: []string{"run_command"},
	})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	out, exit := inTools(t, s, grant, `test -x bin/tool || test -x `+home+`/bin/tool; cat `+home+`/lib/data; echo " $TOOL_HOME $OWN"
echo x > `+home+`/bin/tool && echo "changed a tool"
echo x > `+home+`/lib/new && echo "made a file"
rm -f `+home+`/lib/data; cat `+home+`/secret && echo "saw more"
ls `+home+` `+cache+` 2>/dev/null
mkdir -p /var/cache/build/m/v1 && echo kept > /var/cache/build/m/v1/f && chmod -w /var/cache/build/m/v1
echo x > /var/cache/x && echo "wrote beside the cache"; true`)
	if exit.Code != 0 || !strings.Contains(out, "data "+home+" mine") || strings.Contains(out, "changed") || strings.Contains(out, "made") || strings.Contains(out, "saw more") || strings.Contains(out, "beside") || strings.Contains(out, "secret") && !strings.Contains(out, "No such file") {
		t.Errorf("%+v\n%s", exit, out)
	}
	if len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], gone) {
		t.Errorf("%q", exit.Notes)
	}
	if out, _ := inTools(t, s, grant, "cat /var/cache/build/m/v1/f; ls "+home); !strings.Contains(out, "kept") || strings.Contains(out, "secret") {
		t.Errorf("%s", out)
	}
	if text, err := os.ReadFile(filepath.Join(cache, "m", "v1", "f")); err != nil || string(text) != "kept\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestCacheIsForCommands: an MCP server, which may have secrets, does not run what a
// command has put into the cache.
func TestCacheIsForCommands(t *testing.T) {
	root, cache := tempProject(t), tempProject(t)
	put(t, cache, map[string]string{"npm/poisoned": "x"})
	s := open(t, Config{Cache: cache, CachePlace: "/var/cache/build", CacheEnv: []string{"npm_config_cache=/var/cache/build/npm"}, CacheTools: []string{"run_command"}})
	for tool, want := range map[string]string{"mcp server x": "[] ", "": "[] ", "run_command": "[/var/cache/build/npm] poisoned"} {
		var out strings.Builder
		exit, err := s.Run(context.Background(), toolcrib.Cmd{Tool: tool, Path: "/bin/sh", Args: []string{"-c", `echo "[$npm_config_cache] $(ls /var/cache/build/npm 2>/dev/null)"`}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out}, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}})
		if err != nil || exit.Code != 0 || strings.TrimRight(out.String(), "\n") != want {
			t.Errorf("%q: %q, %+v, %v", tool, out.String(), exit, err)
		}
	}
}

// TestNoCache: without one its variables are not set either.
func TestNoCache(t *testing.T) {
	root := tempProject(t)
	s := open(t, Config{CacheTools: []string{"run_command"}, Cache: filepath.Join(root, "missing"), CachePlace: "/var/cache/build", CacheEnv: []string{"GOCACHE=/var/cache/build/go"}})
	out, exit := inTools(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, `echo "[$GOCACHE]"; ls /var/cache; true`)
	if exit.Code != 0 || !strings.Contains(out, "[]") {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestGitSettings: git is told who commits where it would be told nothing, by a file
// that no program can change.
func TestGitSettings(t *testing.T) {
	root := tempProject(t)
	s := open(t, Config{GitSettings: "[user]\n\tname = \"Ada\"\n"})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	out, exit := inTools(t, s, grant, `cat $GIT_CONFIG_GLOBAL; echo evil > $GIT_CONFIG_GLOBAL; rm -f $GIT_CONFIG_GLOBAL; mv $GIT_CONFIG_GLOBAL /tmp/x; chmod u+w $GIT_CONFIG_GLOBAL; echo evil >> $GIT_CONFIG_GLOBAL; cat $GIT_CONFIG_GLOBAL`, "GIT_CONFIG_GLOBAL=/dev/null")
	if exit.Code != 0 || strings.Count(out, "name = \"Ada\"") != 2 || strings.Contains(out, "evil") {
		t.Errorf("%+v\n%s", exit, out)
	}
	if out, _ := inTools(t, s, grant, `echo "[$GIT_CONFIG_GLOBAL]"`, "GIT_CONFIG_GLOBAL=/x"); !strings.Contains(out, "[/x]") {
		t.Errorf("%s", out)
	}
}

// inTools runs a script with variables that count more than those of the sandbox.
func inTools(t *testing.T, s *Sandbox, grant toolcrib.Grant, script string, env ...string) (string, toolcrib.Exit) {
	t.Helper()
	var out strings.Builder
	exit, err := s.Run(context.Background(), toolcrib.Cmd{
		Tool: "run_command", Path: "/bin/sh", Args: []string{"-c", "exec 2>&1\n" + script}, Env: append([]string{"PATH=/usr/bin:/bin", "OWN=mine"}, env...), Stdout: &out,
	}, grant)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}
