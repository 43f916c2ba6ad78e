package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Unavailable is the refusal of a backend that is missing or cannot do what
// was asked. The message is for a person and says what to do about it.
func Unavailable(message string, cause error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: message, Err: cause}
}

func invalid(message string) error {
	return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: message}
}

// BoundNames lists the bounds in words.
func BoundNames(b toolcrib.Bounds) []string {
	var names []string
	for i, name := range []string{"files", "network", "memory", "processes", "time"} {
		if b&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := b &^ (1<<5 - 1); rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(rest)))
	}
	return names
}

// orNothing joins names for a sentence.
func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// Admit is the check that every backend makes before it runs anything: the
// command is well-formed, the caller is still there, and the grant asks for no
// bound that the backend does not enforce.
func Admit(ctx context.Context, backend string, enforces toolcrib.Bounds, cmd toolcrib.Cmd, grant toolcrib.Grant) error {
	if missing := grant.Bounds &^ enforces; missing != 0 {
		return Unavailable(fmt.Sprintf("the %s sandbox enforces %s here, but this call was granted under %s as well: choose a stronger backend (toolcrib sandbox probe)",
			backend, orNothing(BoundNames(enforces)), orNothing(BoundNames(missing))), nil)
	}
	if cmd.OnLayer && backend != Linux {
		return Unavailable(fmt.Sprintf("commands are to run on layers here (sandbox.layers), and the %s sandbox has none: use the linux sandbox, or set sandbox.layers to false", backend), nil)
	}
	if err := admitCommand(cmd); err != nil {
		return err
	}
	for _, d := range grant.Dirs {
		if !filepath.IsAbs(d.Path) || filepath.Clean(d.Path) != d.Path || strings.ContainsRune(d.Path, 0) {
			return invalid(fmt.Sprintf("the granted directory %q is not an absolute, clean path", d.Path))
		}
	}
	if err := ctx.Err(); err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "the time was over before the program was started", Err: err}
	}
	return nil
}

func admitCommand(cmd toolcrib.Cmd) error {
	if !filepath.IsAbs(cmd.Path) {
		return invalid(fmt.Sprintf("the program %q must be given by its absolute path: a search path could be led elsewhere", cmd.Path))
	}
	if cmd.Dir != "" && !filepath.IsAbs(cmd.Dir) {
		return invalid(fmt.Sprintf("the working directory %q must be an absolute path", cmd.Dir))
	}
	for _, s := range slices.Concat([]string{cmd.Path, cmd.Dir}, cmd.Args, cmd.Env) {
		if strings.ContainsRune(s, 0) {
			return invalid("a NUL character cannot be handed to a program")
		}
	}
	for _, v := range cmd.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return invalid(fmt.Sprintf("the environment entry %q is not of the form NAME=value", name))
		}
	}
	return nil
}

// WorkDir is where a program starts: where the command says, else in the first
// granted directory, else at the root. The caller's own directory would be a
// place that nobody granted.
func WorkDir(cmd toolcrib.Cmd, grant toolcrib.Grant) string {
	switch {
	case cmd.Dir != "":
		return filepath.Clean(cmd.Dir)
	case len(grant.Dirs) > 0:
		return grant.Dirs[0].Path
	}
	return filepath.VolumeName(cmd.Path) + string(filepath.Separator)
}

// WholeNetwork tells whether a grant gives the network: all of it or nothing.
// A backend that cannot tell hosts apart must refuse a list of some hosts,
// because both answers would be wrong: more than was granted, or a program
// that fails for no reason it could see.
func WholeNetwork(backend string, hosts []string) (bool, error) {
	switch {
	case len(hosts) == 0:
		return false, nil
	case slices.Contains(hosts, "*"):
		return true, nil
	}
	return false, Unavailable(fmt.Sprintf("the %s sandbox gives a program the whole network or none, not only %s: "+
		"the linux sandbox tells hosts apart (sandbox.backend: linux), or grant no host, or * for all", backend, strings.Join(hosts, ", ")), nil)
}

// Until bounds a context by the time of a grant.
func Until(ctx context.Context, grant toolcrib.Grant) (context.Context, context.CancelFunc) {
	if grant.Time > 0 {
		return context.WithTimeout(ctx, grant.Time)
	}
	return context.WithCancel(ctx)
}
