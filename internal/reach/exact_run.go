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
