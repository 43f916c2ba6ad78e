package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/execfile"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/image"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/host"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Launcher starts the programs of MCP servers in the sandbox that is named for
// each. All that a program starts ends with it, and it with us, however we end.
type Launcher struct {
	Chooser *sandbox.Chooser
	// Images gives the containers of an image. Nil: there are none.
	Images func(ctx context.Context, image string) (toolcrib.Sandbox, error)
	// Watch has the connections of a program written down until it has ended. Nil:
	// nobody does.
	Watch func(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (context.Context, func() error)
	Env   func(string) (string, bool)
	Path  string // the person's PATH
	Home  string
	Dir   string // where relative names begin, and where those in a sandbox run
	Homes string // where each has a directory of its own, which it runs in on the host
	Grant toolcrib.Grant
	Pass  Pass // variables of ours that all servers get
	// Certificates is where those that servers in a sandbox need are put. Empty:
	// nowhere.
	Certificates string
	// Rules gives the places that rules deny now, as commands have them. Nil: none.
	Rules func() policy.Taken
	// Kept are places of ours from which programs run with more rights than most have: the folders of tools and of plugins. A
	// program with a grant of its own can only read them, whatever it declares.
	Kept    []string
	Outside Outside
	Bounded bool // commands see nothing but what was granted
	Log     *slog.Logger

	once sync.Once
	told sync.Map      // what was said of variables, once for a server
	own  *host.Sandbox // without the limits that commands have: a server runs for long
	err  error
}

// Start starts a program. It runs on when ctx ends.
func (l *Launcher) Start(ctx context.Context, launch mcphub.Launch) (client.Process, error) {
	if err := l.tooDeep(launch); err != nil {
		return client.Process{}, err
	}
	name, why, err := l.choose(ctx, launch)
	if err != nil {
		return client.Process{}, err
	}
	path, err := l.program(launch, name)
	if err != nil {
		return client.Process{}, err
	}
	grant, err := l.network(l.exactly(launch.Grant, name), launch, name)
	if err != nil {
		return client.Process{}, err
	}
	held, tools := launch.Grant != nil && !onHost(name), launch.Tools // to what is its own
	switch {
	case held:
		grant, err = unswapped(grant, l.Home)
	case launch.Grant != nil:
		err = l.heldOnHost(launch)
	}
	if err != nil {
		return client.Process{}, err
	}
	box, err := l.sandbox(ctx, name, launch.Image)
	if err != nil {
		return client.Process{}, fmt.Errorf("the sandbox %s, which the MCP server %s is to run in: %w", name, launch.Server, err)
	}
	args, dir := launch.Args, l.place(launch.Dir)
	if launch.Dir == "" && ownPlace(name) {
		if dir, err = l.ownDir(launch.Server, launch.Person, name); err != nil {
			return client.Process{}, err
		}
		args = l.Outside.Absolute(launch.Command, args, l.Dir)
	}
	if launch.Dir == "" && held {
		dir = l.exactDir(grant)
	}
	passed, shown := l.passed(launch.Server, name)
	maps.Copy(passed, launch.Env)
	grant.Dirs = slices.Concat(grant.Dirs, shown)
	if held { // after its directory was chosen, which is none of these
		var inner []files.Dir
		tools, inner = l.apart(tools)
		grant.Dirs = slices.Concat(grant.Dirs, inner)
	}
	env := l.environment(passed, path, name)
	if held {
		env = l.exactEnvironment(passed)
	}
	if name == sandbox.Container {
		env, why = l.inContainer(passed, launch, len(grant.Hosts) > 0)
	}
	fromUs, stdin := io.Pipe()
	stdout, fromIt := io.Pipe()
	tell := func(note string) { // no answer carries it
		if l.Log != nil {
			l.Log.Warn("a note of the sandbox", "server", launch.Server, "note", note)
		}
	}
	life, kill := context.WithCancel(sandbox.WithTools(sandbox.WithEarly(context.WithoutCancel(ctx), tell), tools))
	if launch.Grant != nil {
		life = sandbox.WithHostsKey(life, "hosts in the declaration of "+launch.Server)
	}
	done := make(chan struct{})
	var ended error
	cmd := toolcrib.Cmd{
		Path: path, Args: args, Dir: dir, Env: env,
		Stdin: fromUs, Stdout: fromIt, Stderr: launch.Stderr, Tool: "mcp server " + launch.Server,
		Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: launch.Person, Frontend: "hub"}}, // it serves many calls
	}
	go func() {
		defer close(done)
		defer kill()
		exit, err := l.watched(life, box, cmd, grant)
		for _, note := range exit.Notes {
			tell(note)
		}
		if onHost(name) { // elsewhere another machine, or a part of this one, is what it is started on
			err = execfile.Explain(path, err, l.Outside.Look)
		}
		ended = exited(exit, err, life.Err() != nil)
		if why != "" && life.Err() == nil {
			ended = fmt.Errorf("%w; %s", ended, why)
		}
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

// watched runs the program of a server, and has written down what it reaches.
func (l *Launcher) watched(ctx context.Context, box toolcrib.Sandbox, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if l.Watch == nil {
		return box.Run(ctx, cmd, grant)
	}
	ctx, ended := l.Watch(ctx, cmd, grant)
	exit, err := box.Run(ctx, cmd, grant)
	if failed := ended(); failed != nil && l.Log != nil {
		l.Log.Error("the connections of a program are not in the journal", "program", cmd.Tool, "err", failed)
	}
	return exit, err
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

func (l *Launcher) sandbox(ctx context.Context, name, image string) (toolcrib.Sandbox, error) {
	switch {
	case name == sandbox.Container:
		return l.containers(ctx, image)
	case !onHost(name):
		return l.Chooser.Named(ctx, name)
	}
	l.once.Do(func() { l.own, l.err = host.Open(ctx, host.Config{}) })
	if l.err != nil {
		return nil, l.err
	}
	return l.own, nil
}

func onHost(name string) bool { return name == "" || name == sandbox.Host }

// choose says where a program runs. One for which nothing is set runs on the
// host, unless it takes up files that commands can write: on the host it would
// carry out whatever a command put there. It then runs where commands run, and
// why says so to a person whose server fails there.
func (l *Launcher) choose(ctx context.Context, launch mcphub.Launch) (name, why string, err error) {
	if launch.Grant != nil {
		name, err = l.chooseExact(ctx, launch)
		return name, "", err
	}
	if launch.Sandbox != "" {
		return launch.Sandbox, "", nil
	}
	p := outsideProgram{command: launch.Command, args: launch.Args, env: launch.Env}
	if launch.Dir != "" {
		p.dir = l.place(launch.Dir)
	}
	beside := l.Outside.judge(p).beside
	if beside == "" || l.Chooser == nil {
		return sandbox.Host, "", nil
	}
	why = fmt.Sprintf("it runs in the sandbox linux, since it takes up %s, where commands can write; mcp_servers.%s.sandbox: host runs it outside, with whatever commands have put there", beside, launch.Server)
	if _, err := l.Chooser.Named(ctx, sandbox.Linux); err != nil {
		if l.Bounded {
			return "", "", fmt.Errorf("the MCP server %s is not started: it takes up %s, where commands can write, and the sandbox linux cannot hold it (%w); set mcp_servers.%s.sandbox", launch.Server, beside, err, launch.Server)
		}
		if l.Log != nil { // commands are not held here, so there is nothing that they gain
			l.Log.Warn("an MCP server runs outside of every sandbox and takes up files that tools can write", "server", launch.Server, "from", beside)
		}
		return sandbox.Host, "", nil
	}
	return sandbox.Linux, why, nil
}

// ownPlace: a program for which no directory is set does not run in the project
// there: npx, python -m and many others obey what lies where they start, and
// commands can write in the project. In a container it would be what they obey with
// the secrets of the server.
func ownPlace(name string) bool { return onHost(name) || name == sandbox.Container }

// ownDir is where such a program runs.
func (l *Launcher) ownDir(server, person, box string) (string, error) {
	if box == sandbox.Container {
		return image.Home, nil
	}
	if l.Homes == "" {
		return cmp.Or(l.Home, filepath.VolumeName(l.Dir)+string(filepath.Separator)), nil
	}
	dir := filepath.Join(l.Homes, server, person)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the directory that the MCP server %s runs in: %w", server, err)
	}
	return dir, nil
}

// granted is what a program in a sandbox may touch. On the host there is none
// that would be held.
func (l *Launcher) granted(name string) toolcrib.Grant {
	if onHost(name) {
		return toolcrib.Grant{}
	}
	g := l.Grant
	g.Bounds = toolcrib.BoundFiles
	if l.Rules != nil {
		g = l.Rules().From(g)
	}
	return g
}

// program finds the file to start.
func (l *Launcher) program(launch mcphub.Launch, box string) (string, error) {
	name := launch.Command
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(l.Home, rest)
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") {
		return filepath.Join(l.place(launch.Dir), name), nil
	}
	if box == sandbox.Container {
		return name, nil // the image has it, or not
	}
	if !onHost(box) {
		for _, dir := range l.visible() {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	path, err := l.Outside.Look(name)
	if err != nil {
		if errors.Is(err, hostpath.ErrWritable) {
			return "", fmt.Errorf("the MCP server %s: %w (mcp_servers.%s.command)", launch.Server, err, launch.Server)
		}
		hint := ""
		if strings.ContainsAny(name, " \t") {
			hint = "; the command is one program, and its arguments stand in args"
		}
		return "", remedy.With(fmt.Errorf("the program %q of the MCP server %s was not found in PATH%s", name, launch.Server, hint), remedy.Install(name, l.Outside.Look, os.Geteuid() == 0))
	}
	return filepath.Abs(path)
}

// visible are the directories of PATH that a program in a sandbox sees, and
// those of the system.
func (l *Launcher) visible() []string {
	path, _ := l.Env("PATH")
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || !slices.Contains(shellguard.SystemDirs(), dir) && !slices.ContainsFunc(l.Grant.Dirs, func(d files.Dir) bool { return linked.Within(dir, d.Path) })
	})
	return append(dirs, shellguard.SystemDirs()...)
}

func (l *Launcher) place(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(l.Home, rest)
	}
	if dir == "" || !filepath.IsAbs(dir) {
		return filepath.Join(l.Dir, dir)
	}
	return dir
}
