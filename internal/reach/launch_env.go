package reach

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// environment is what a program gets: a few plain variables and what is listed.
func (l *Launcher) environment(listed map[string]string, program, box string) []string {
	env := map[string]string{}
	for _, name := range plainVariables() {
		if value, ok := l.Env(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, listed)
	if listed["PATH"] == "" && onHost(box) {
		env["PATH"] = l.Outside.Path(env["PATH"]) // a program finds others by it, such as node
	}
	if env["PATH"] == "" {
		env["PATH"] = filepath.Dir(program)
	}
	return l.list(env)
}

// list writes variables as a program gets them, with the one of ours.
func (l *Launcher) list(env map[string]string) []string {
	env[depthVariable] = strconv.Itoa(l.depth() + 1)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// depthVariable tells a Toolcrib how many of them stand before it: one that is
// configured as its own server would start itself for ever.
const (
	depthVariable = "MCP_HUB_DEPTH"
	depthMost     = 2
)

func (l *Launcher) depth() int {
	text, _ := l.Env(depthVariable)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// plainVariables say where things are, and hold no secrets.
func plainVariables() []string {
	if runtime.GOOS == "windows" {
		return []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}
	}
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
}
