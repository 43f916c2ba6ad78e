package hub

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// PluginDir is where programs lie that are servers: never in a working directory,
// which may be anybody's.
func PluginDir(cfg settings.Hub, settingsDir string) string {
	if dir := cfg.Plugins; settingsDir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(settingsDir, cmp.Or(cfg.Plugins, "plugins"))
}

// pluginServers finds the programs in the folder of plugins.
func pluginServers(dir string) (map[string]mcphub.Server, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for plugins: %w", err)
	}
	out := map[string]mcphub.Server{}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name())) // a link is followed: who made it may write here
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		switch ext := strings.ToLower(filepath.Ext(e.Name())); {
		case runtime.GOOS == "windows" && ext != ".exe" && ext != ".bat" && ext != ".cmd":
			continue
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
			continue
		}
		if was, twice := out[name]; twice {
			return out, fmt.Errorf("two plugins are called %s, and neither may be meant: %s and %s", name, filepath.Base(was.Command), e.Name())
		}
		out[name] = mcphub.Server{Command: filepath.Join(dir, e.Name())}
	}
	return out, nil
}

// PluginMarks tells whether the folder of plugins is another than before.
func PluginMarks(dir string) string {
	if dir == "" {
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			fmt.Fprintln(&b, e.Name(), info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
