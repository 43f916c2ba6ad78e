package reach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// RunExact runs a program in the sandbox with exactly this grant, less what rules deny to everybody. The sandbox
// has to hold it to its directories, its hosts and its time, or it is not started.
func (t *Tools) RunExact(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if t.depth() > depthMost {
		return toolcrib.Exit{}, errors.New("the program is not started: Toolcrib stands behind Toolcrib too often")
	}
	grant.Bounds |= toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	grant, err := t.ruled(grant)
	if err != nil {
		return toolcrib.Exit{}, unavailable(err)
	}
	return t.Box.Run(ctx, cmd, grant)
}

// ReadyExact says why RunExact could run nothing of a tool now.
func (t *Tools) ReadyExact(ctx context.Context, tool string) error {
	box, ok := t.Box.(interface {
		Ready(ctx context.Context, tool string, effects toolcrib.Effects, granted toolcrib.Bounds) error
	})
	if !ok {
		return nil
	}
	return box.Ready(ctx, tool, toolcrib.Pure, toolcrib.BoundFiles|toolcrib.BoundNetwork|toolcrib.BoundTime)
}

// RunIn is RunExact in the sandbox of this name, or in none.
func (t *Tools) RunIn(ctx context.Context, name string, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if t.depth() > depthMost {
		return toolcrib.Exit{}, errors.New("the program is not started: Toolcrib stands behind Toolcrib too often")
	}
	if t.Chooser == nil {
		return toolcrib.Exit{}, unavailable(errors.New("there is no sandbox here"))
	}
	grant.Bounds |= toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	grant, err := t.ruled(grant)
	if err != nil {
		return toolcrib.Exit{}, unavailable(err)
	}
	box, err := t.Chooser.Named(ctx, name)
	if err != nil {
		return toolcrib.Exit{}, unavailable(fmt.Errorf("the sandbox %s: %w", name, err))
	}
	if missing := grant.Bounds &^ box.Enforces(); missing != 0 {
		return toolcrib.Exit{}, unavailable(fmt.Errorf("the sandbox %s cannot hold a program to what it may touch", name))
	}
	return t.watched(ctx, box, cmd, grant)
}

// Look finds a program by its name, as command lines do.
func (t *Tools) Look(name string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("%q has to be the name of a program or a whole path", name)
	}
	for _, dir := range t.Search {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in %s", name, strings.Join(t.Search, ", "))
}
