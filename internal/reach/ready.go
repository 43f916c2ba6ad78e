package reach

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/execfile"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Ready says why the program of a server could not be started now, and starts
// nothing: a person is then not asked whether it may be. Nil: it could, as far as
// one can see from here.
func (l *Launcher) Ready(ctx context.Context, launch mcphub.Launch) error {
	if err := l.tooDeep(launch); err != nil {
		return err
	}
	name, _, err := l.choose(ctx, launch)
	if err != nil {
		return err
	}
	path, err := l.program(launch, name)
	if err != nil {
		return err
	}
	if _, err := l.network(l.exactly(launch.Grant, name), launch, name); err != nil {
		return err
	}
	if launch.Grant != nil && onHost(name) {
		if err := l.heldOnHost(launch); err != nil {
			return err
		}
	}
	if _, err := l.sandbox(ctx, name, launch.Image); err != nil {
		return fmt.Errorf("the sandbox %s, which the MCP server %s is to run in: %w", name, launch.Server, err)
	}
	if name == sandbox.Container || name == sandbox.MicroVM {
		return nil // the image has its programs
	}
	why := ""
	if _, err := exec.LookPath(path); err != nil {
		why = cmp.Or(execfile.Fault(path, l.Outside.Look), err.Error())
	} else if head, err := execfile.Head(path); err == nil {
		why = execfile.Script(head, l.found(launch, name))
	}
	if why != "" {
		return fmt.Errorf("the program %s of the MCP server %s cannot be started: %s", path, launch.Server, why)
	}
	return nil
}

// found finds a program as one that was started so would, such as the node that the
// first line of a script asks for: its own PATH counts, and in a sandbox whatever lies
// in ours. Where that cannot be told the program is taken to be there.
func (l *Launcher) found(launch mcphub.Launch, box string) func(name string) (string, error) {
	own := launch.Env["PATH"]
	if ours, ok := l.Env("PATH"); own == "" && ok && (!onHost(box) || slices.Contains(l.Pass.Names(l.Env), "PATH")) {
		own = ours
	}
	return func(name string) (string, error) {
		if strings.Contains(own, "${") {
			return name, nil
		}
		for _, dir := range filepath.SplitList(own) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
		return l.Outside.Look(name)
	}
}

// SearchReady makes the check of a search: the engine's address is granted, and its
// key, if it needs one, is there.
func SearchReady(crib *toolcrib.Crib, has func(ctx context.Context, call toolcrib.Call, secret string) error) func(ctx context.Context, call toolcrib.Call, address, secret string) error {
	return func(ctx context.Context, call toolcrib.Call, address, secret string) error {
		gate := httpclient.NewGate(crib.Grant.Hosts, crib.HTTP)
		defer gate.Close()
		if err := gate.Check(address); err != nil || secret == "" {
			return err
		}
		return has(ctx, call, secret)
	}
}

// tooDeep refuses the one of many Toolcribs behind one another that is one too many.
func (l *Launcher) tooDeep(launch mcphub.Launch) error {
	if l.depth() > depthMost {
		return fmt.Errorf("the MCP server %s is not started: Toolcrib stands behind Toolcrib too often, so one of them is probably its own server", launch.Server)
	}
	return nil
}
