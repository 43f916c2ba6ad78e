package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

// Tools runs the programs of tools that files declare, each with exactly what its file says: these directories, these hosts,
// these variables. What is protected, and what rules deny, stays out of reach inside of them.
type Tools struct {
	*Launcher
	Box    toolcrib.Sandbox // where programs of tools run, by what they need
	Start  Start
	Copies Copies
	Search []string // where programs are found by their names
	// Plain are the variables that a program with these directories and hosts gets besides its own.
	Plain func(dirs []files.Dir, hosts []string) []string

	files ToolFiles // of the folder that they are declared in
}

// Run runs the program of one call.
func (t *Tools) Run(ctx context.Context, p script.Program) (toolcrib.Exit, error) {
	if t.depth() > depthMost {
		return toolcrib.Exit{}, errors.New("the program is not started: Toolcrib stands behind Toolcrib too often")
	}
	f := p.File
	cmd := toolcrib.Cmd{Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Call: p.Call, Tool: p.Tool, Effects: f.Effects}
	if slices.Contains([]string{"run_command", "start_command"}, p.Tool) {
		cmd.Tool = script.Group + "/" + p.Tool // sandboxes give programs of these names what commands share
	}
	grant, dir, err := t.declared(f)
	if err != nil {
		return toolcrib.Exit{}, unavailable(err)
	}
	words := slices.Clone(p.Words)
	if p.Self >= 0 {
		shown, path, err := t.Copies.Put(f)
		if err == nil && f.Compiled() {
			path, err = t.built(ctx, f, path)
		}
		if err != nil {
			return toolcrib.Exit{}, unavailable(err)
		}
		words[p.Self] = path
		grant.Dirs = append(grant.Dirs, files.Dir{Path: shown})
	}
	if cmd.Path, err = t.program(f, words[0]); err == nil {
		err = t.ownCode(f, cmd.Path, words[1:])
	}
	if err != nil {
		return toolcrib.Exit{}, unavailable(err)
	}
	cmd.Args, cmd.Dir = words[1:], dir
	cmd.Env = t.variables(f, p.Secrets, cmd.Path, grant)
	return script.Watched(ctx, cmd, grant, func(cmd toolcrib.Cmd) (toolcrib.Exit, error) { return t.start(ctx, f, cmd, grant) })
}

// start runs it in the sandbox that its file names, or in one that holds what it declares.
func (t *Tools) start(ctx context.Context, f *toolfile.File, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	ctx = sandbox.WithHostsKey(ctx, "hosts in "+filepath.Base(f.Path))
	switch f.Sandbox {
	case "":
		return t.Box.Run(ctx, cmd, grant)
	case sandbox.Host:
		box, err := t.sandbox(ctx, sandbox.Host, "")
		if err != nil {
			return toolcrib.Exit{}, err
		}
		return box.Run(ctx, cmd, toolcrib.Grant{Time: grant.Time})
	}
	box, err := t.Chooser.Named(ctx, f.Sandbox)
	if err != nil {
		return toolcrib.Exit{}, fmt.Errorf("the sandbox %s, which the tool is to run in: %w", f.Sandbox, err)
	}
	return t.watched(ctx, box, cmd, grant)
}

// Ready says why the program of a file could not run now, before a person is asked
// about it; nil: it could.
func (t *Tools) Ready(ctx context.Context, f *toolfile.File) error {
	switch f.Sandbox {
	case "":
		box, ok := t.Box.(interface {
			Ready(ctx context.Context, tool string, effects toolcrib.Effects, granted toolcrib.Bounds) error
		})
		if !ok {
			return nil
		}
		return box.Ready(ctx, f.Name, f.Effects, toolcrib.BoundFiles|toolcrib.BoundNetwork|toolcrib.BoundTime)
	case sandbox.Host:
		return nil
	}
	return t.ReadyIn(ctx, f.Sandbox)
}

// ReadyIn says why the sandbox of this name cannot be had; nil: it can.
func (t *Tools) ReadyIn(ctx context.Context, name string) error {
	if t.Chooser == nil {
		return unavailable(errors.New("there is no sandbox here"))
	}
	if _, err := t.Chooser.Named(ctx, name); err != nil {
		return unavailable(fmt.Errorf("the sandbox %s, which it is to run in: %w", name, err))
	}
	return nil
}

// declared is what a file declares, as a grant, and where its program starts.
func (t *Tools) declared(f *toolfile.File) (toolcrib.Grant, string, error) {
	g := toolcrib.Grant{Bounds: toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime, Time: f.Timeout}
	effects, first, here := f.Effects.All(), "", ""
	add := func(key string, list []string, write bool) error {
		for _, text := range list {
			dir, err := t.place(f, text)
			if err != nil {
				return fmt.Errorf("the directory %s, which the tool declares (%s), cannot be had: %w", text, key, err)
			}
			if first = cmp.Or(first, dir); filepath.Clean(text) == "." {
				here = dir
			}
			if i := slices.IndexFunc(g.Dirs, func(d files.Dir) bool { return d.Path == dir }); i >= 0 {
				g.Dirs[i].Write = g.Dirs[i].Write || write
				continue
			}
			g.Dirs = append(g.Dirs, files.Dir{Path: dir, Write: write})
		}
		return nil
	}
	if effects&(toolcrib.Reads|toolcrib.Writes|toolcrib.Destroys) != 0 {
		if err := errors.Join(add("read", f.Read, false), add("write", f.Write, effects&(toolcrib.Writes|toolcrib.Destroys) != 0)); err != nil {
			return g, "", err
		}
	}
	if effects&toolcrib.Network != 0 {
		g.Hosts = f.Hosts
	}
	g, err := t.ruled(g)
	if dir := cmp.Or(here, first); dir != "" || err != nil {
		return g, dir, err
	}
	dir, err := t.empty(f)
	return g, dir, err
}

// ruled takes out of a grant what rules deny to everybody, and what nobody writes.
func (t *Tools) ruled(g toolcrib.Grant) (toolcrib.Grant, error) {
	g, err := unswapped(g, t.Home)
	if err != nil {
		return g, err
	}
	g = t.kept(g)
	denied, err := pathglob.NewSet(g.Denied)
	fixed, ferr := pathglob.NewSet(g.Fixed)
	if err := errors.Join(err, ferr); err != nil {
		return g, err
	}
	for i, d := range g.Dirs {
		if denied.Has(pathglob.Elements(d.Path)) {
			return g, fmt.Errorf("a rule denies %s, which the tool declares", d.Path)
		}
		g.Dirs[i].Write = d.Write && !fixed.Has(pathglob.Elements(d.Path))
	}
	return g, nil
}

// empty is where a program starts that declares no directory: in a sandbox that has a /tmp of its own, on the host in a
// directory for this tool.
func (t *Tools) empty(f *toolfile.File) (string, error) {
	if !onHost(f.Sandbox) || f.Sandbox == "" {
		return "/tmp", nil
	}
	if t.Homes == "" {
		return cmp.Or(t.Home, filepath.VolumeName(t.Dir)+string(filepath.Separator)), nil
	}
	dir := filepath.Join(filepath.Dir(t.Homes), "tools", f.Name)
	return dir, os.MkdirAll(dir, 0o700)
}

// program finds the file to start.
func (t *Tools) program(f *toolfile.File, name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(t.Home, rest)
	}
	if filepath.IsAbs(name) {
		if f.Sandbox == sandbox.Host && t.Outside.Writes(name) {
			return "", fmt.Errorf("%s: %w, and with sandbox: host it would run whatever they put there", name, hostpath.ErrWritable)
		}
		return name, nil
	}
	if f.Sandbox == sandbox.Container || f.Sandbox == sandbox.MicroVM {
		return "", fmt.Errorf("the program %q has to be a whole path for the sandbox %s, where other programs are", name, f.Sandbox)
	}
	for _, dir := range t.Search {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	if f.Sandbox == sandbox.Host {
		if path, err := t.Outside.Look(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("there is no program %q in %s: write its whole path, and name its directory under read if it is not one of the system's", name, strings.Join(t.Search, ", "))
}

// ownCode refuses to run a script outside of every sandbox that lies where commands can write.
func (t *Tools) ownCode(f *toolfile.File, program string, args []string) error {
	at := scriptAt(program, args)
	if f.Sandbox != sandbox.Host || at < 0 {
		return nil
	}
	if path, ok := t.Outside.path(args[at], t.Dir, true); ok && t.Outside.Writes(path) {
		return fmt.Errorf("%s: %w, and with sandbox: host it would run whatever they put there", path, hostpath.ErrWritable)
	}
	return nil
}

// variables are those of a program: a few plain ones, those of its file, and its secrets.
func (t *Tools) variables(f *toolfile.File, secrets []toolfile.Variable, program string, grant toolcrib.Grant) []string {
	var env []string
	if f.Sandbox == sandbox.Host {
		env = t.environment(map[string]string{}, program, sandbox.Host)
	} else if t.Plain != nil {
		env = t.Plain(grant.Dirs, grant.Hosts)
	}
	for _, v := range slices.Concat(f.Env, secrets) {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, v.Name+"=") })
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// unavailable is a refusal: the model can do nothing about it, and the person can.
func unavailable(err error) error {
	if _, ok := toolcrib.AsError(err); ok {
		return err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error()}
}
