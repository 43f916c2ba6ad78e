package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/host"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// launcher starts the programs of MCP servers in the sandbox that is named for
// each. All that a program starts ends with it, and it with us, however we end.
type launcher struct {
	chooser *sandbox.Chooser
	env     func(string) (string, bool)
	home    string
	dir     string // where they run unless they say otherwise
	grant   toolcrib.Grant

	once sync.Once
	own  *host.Sandbox // without the limits that commands have: a server runs for long
	err  error
}

// start starts a program. It runs on when ctx ends.
func (l *launcher) start(ctx context.Context, launch mcphub.Launch) (client.Process, error) {
	if l.depth() > depthMost {
		return client.Process{}, fmt.Errorf("the MCP server %s is not started: Toolcrib stands behind Toolcrib too often, so one of them is probably its own server", launch.Server)
	}
	path, err := l.program(launch)
	if err != nil {
		return client.Process{}, err
	}
	box, err := l.sandbox(ctx, launch.Sandbox)
	if err != nil {
		return client.Process{}, fmt.Errorf("the sandbox %s, which the MCP server %s is to run in: %w", launch.Sandbox, launch.Server, err)
	}
	fromUs, stdin := io.Pipe()
	stdout, fromIt := io.Pipe()
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	var ended error
	cmd := toolcrib.Cmd{
		Path: path, Args: launch.Args, Dir: l.place(launch.Dir), Env: l.environment(launch.Env, path),
		Stdin: fromUs, Stdout: fromIt, Stderr: launch.Stderr, Tool: "mcp server " + launch.Server,
	}
	go func() {
		defer close(done)
		defer kill()
		exit, err := box.Run(life, cmd, l.granted(launch.Sandbox))
		ended = exited(exit, err, life.Err() != nil)
		// Whoever reads or writes is told, after all that was written was read.
		_ = fromIt.CloseWithError(io.EOF) // both never fail
		_ = fromUs.CloseWithError(io.ErrClosedPipe)
	}()
	return client.Process{
		Stdin: stdin, Stdout: stdout, Done: done, Kill: kill,
		Err: func() error {
			<-done
			return ended
		},
	}, nil
}

// exited says how a program ended.
func exited(exit toolcrib.Exit, err error, killed bool) error {
	switch {
	case killed:
		return errors.New("it was ended")
	case err != nil:
		return err
	case exit.Signal != "":
		return fmt.Errorf("its program was ended by %s", exit.Signal)
	case exit.Code != 0:
		return fmt.Errorf("its program ended with code %d", exit.Code)
	}
	return errors.New("its program has ended")
}

func (l *launcher) sandbox(ctx context.Context, name string) (toolcrib.Sandbox, error) {
	if name != "" && name != sandbox.Host {
		return l.chooser.Named(ctx, name)
	}
	l.once.Do(func() { l.own, l.err = host.Open(ctx, host.Config{}) })
	if l.err != nil {
		return nil, l.err
	}
	return l.own, nil
}

// granted is what a program in a sandbox may touch. On the host there is none
// that would be held.
func (l *launcher) granted(name string) toolcrib.Grant {
	if name == "" || name == sandbox.Host {
		return toolcrib.Grant{}
	}
	g := l.grant
	g.Bounds = toolcrib.BoundFiles
	return g
}

// program finds the file to start.
func (l *launcher) program(launch mcphub.Launch) (string, error) {
	name := launch.Command
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(l.home, rest)
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") {
		return filepath.Join(l.place(launch.Dir), name), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		hint := ""
		if strings.ContainsAny(name, " \t") {
			hint = "; the command is one program, and its arguments stand in args"
		}
		return "", fmt.Errorf("the program %q of the MCP server %s was not found in PATH%s", name, launch.Server, hint)
	}
	return filepath.Abs(path)
}

func (l *launcher) place(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(l.home, rest)
	}
	if dir == "" || !filepath.IsAbs(dir) {
		return filepath.Join(l.dir, dir)
	}
	return dir
}

// environment is what a program gets: a few plain variables and what is listed.
func (l *launcher) environment(listed map[string]string, program string) []string {
	env := map[string]string{}
	for _, name := range plainVariables() {
		if value, ok := l.env(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, listed)
	env[depthVariable] = strconv.Itoa(l.depth() + 1)
	if env["PATH"] == "" {
		env["PATH"] = filepath.Dir(program)
	}
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

func (l *launcher) depth() int {
	text, _ := l.env(depthVariable)
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

// serverHTTP is the client for servers elsewhere. Where they are is what the
// person wrote into the settings, so private addresses are fine; they are never
// followed anywhere else.
func serverHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone() // the standard library's own
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = time.Minute
	t.ResponseHeaderTimeout = 0 // a call may take its time before the first byte
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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

// pluginMarks tells whether the folder of plugins is another than before.
func pluginMarks(dir string) string {
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
