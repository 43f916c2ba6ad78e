package config

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Paths says where Toolcrib keeps its files. The directories need not exist yet.
type Paths struct {
	Config     string // settings a person writes
	State      string // what must survive a restart and is of no use elsewhere: the journal
	Data       string // what a person put there through the program: bundles, memory
	Cache      string // what can be made again
	ConfigFile string // the user's file, in Config
	SystemFile string // the administrator's file
}

// Locate finds the paths of one user on one operating system. TOOLCRIB_HOME puts everything but the system file under
// one directory. Nothing is read from the machine but what the arguments give, so every system can be tested on every
// other.
func Locate(getenv func(string) string, home, goos string) (Paths, error) {
	l := locator{getenv: getenv, home: home, windows: goos == "windows"}
	system := "/etc/toolcrib/config.yaml"
	if l.windows {
		system = l.join(l.base("ProgramData", `C:\ProgramData`), "toolcrib", "config.yaml")
	}

	if root := getenv("TOOLCRIB_HOME"); root != "" {
		if !l.abs(root) {
			// A relative one would move with the working directory, into whatever folder the program is started in.
			return Paths{}, fmt.Errorf("TOOLCRIB_HOME is %s: it must be an absolute path", clip(root))
		}
		return Paths{
			Config:     l.join(root),
			State:      l.join(root, "state"),
			Data:       l.join(root, "data"),
			Cache:      l.join(root, "cache"),
			ConfigFile: l.join(root, "config.yaml"),
			SystemFile: system,
		}, nil
	}

	var p Paths
	switch goos {
	case "windows":
		roaming := l.base("AppData", l.under("AppData", "Roaming"))
		local := l.base("LocalAppData", l.under("AppData", "Local"))
		p.Config = l.join(roaming, "toolcrib")
		p.State = l.join(local, "toolcrib", "state")
		p.Data = l.join(local, "toolcrib", "data")
		p.Cache = l.join(local, "toolcrib", "cache")
	case "darwin":
		support := l.under("Library", "Application Support")
		p.Config = l.join(support, "toolcrib")
		p.State = l.join(support, "toolcrib", "state")
		p.Data = l.join(support, "toolcrib", "data")
		p.Cache = l.join(l.under("Library", "Caches"), "toolcrib")
	default:
		p.Config = l.join(l.base("XDG_CONFIG_HOME", l.under(".config")), "toolcrib")
		p.State = l.join(l.base("XDG_STATE_HOME", l.under(".local", "state")), "toolcrib")
		p.Data = l.join(l.base("XDG_DATA_HOME", l.under(".local", "share")), "toolcrib")
		p.Cache = l.join(l.base("XDG_CACHE_HOME", l.under(".cache")), "toolcrib")
	}
	for _, dir := range []string{p.Config, p.State, p.Data, p.Cache} {
		if !l.abs(dir) {
			if home == "" {
				return Paths{}, errors.New("the home directory is not known: set TOOLCRIB_HOME or HOME")
			}
			return Paths{}, fmt.Errorf("the home directory is %s: it must be an absolute path", clip(home))
		}
	}
	p.ConfigFile = l.join(p.Config, "config.yaml")
	p.SystemFile = system
	return p, nil
}

// locator holds what Locate asks again and again.
type locator struct {
	getenv  func(string) string
	home    string
	windows bool
}

// base gives a variable if it holds an absolute path, else the fallback: the XDG specification says to ignore relative
// ones, and elsewhere they make no more sense.
func (l locator) base(name, fallback string) string {
	if dir := l.getenv(name); l.abs(dir) {
		return dir
	}
	return fallback
}

// under gives a path below the home directory, or nothing if there is none: a relative path must not come into being.
func (l locator) under(parts ...string) string {
	if l.home == "" {
		return ""
	}
	return l.join(append([]string{l.home}, parts...)...)
}

func (l locator) abs(dir string) bool {
	if !l.windows {
		return strings.HasPrefix(dir, "/")
	}
	dir = strings.ReplaceAll(dir, "/", `\`)
	if strings.HasPrefix(dir, `\\`) {
		return len(dir) > 2
	}
	return len(dir) >= 3 && dir[1] == ':' && dir[2] == '\\' &&
		(dir[0] >= 'a' && dir[0] <= 'z' || dir[0] >= 'A' && dir[0] <= 'Z')
}

// join is filepath.Join for the system asked about, which need not be the one this runs on. An empty first part gives
// a relative path on purpose, which Locate then refuses.
func (l locator) join(parts ...string) string {
	if !l.windows {
		return path.Join(parts...)
	}
	joined := strings.ReplaceAll(strings.Join(parts, `\`), `\`, "/")
	clean := strings.ReplaceAll(path.Clean(joined), "/", `\`)
	if strings.HasPrefix(joined, "//") {
		clean = `\` + clean // a share, which path.Clean takes for a rooted path
	}
	return clean
}
