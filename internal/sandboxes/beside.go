package sandboxes

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// sees are the tools whose programs are given something besides.
func sees() []string { return []string{"run_command", "start_command"} }

// extend adds to a grant what its command sees besides. Guards only narrow a grant (docs/adr/0004-grants-only-narrow.md), so that
// it is not theirs to give: it is what the session chose to use of what the person has put there. What rules deny to the call is not added, and what they have it only
// read is not written; what is protected inside is covered by the sandbox, as everywhere.
func (t *Telling) extend(ctx context.Context, cmd *toolcrib.Cmd, grant *toolcrib.Grant) (context.Context, func() error) {
	nothing := func() error { return nil }
	if t.Beside == nil || !slices.Contains(sees(), cmd.Tool) || cmd.Call.ID == "" {
		return ctx, nothing
	}
	read, write, env := t.Beside(cmd.Call.Caller)
	denied, err := pathglob.NewSet(grant.Denied)
	fixed, ferr := pathglob.NewSet(grant.Fixed)
	if err != nil || ferr != nil {
		return ctx, nothing // nobody knows what they mean
	}
	dirs := slices.Clone(grant.Dirs)
	add := func(d files.Dir) bool {
		if denied.Has(pathglob.Elements(d.Path)) {
			return false
		}
		d.Write = d.Write && !fixed.Has(pathglob.Elements(d.Path))
		if !slices.ContainsFunc(dirs, func(o files.Dir) bool { return linked.Within(d.Path, o.Path) && (o.Write || !d.Write) }) {
			dirs = append(dirs, d)
		}
		return d.Write
	}
	for _, path := range read {
		add(files.Dir{Path: path})
	}
	// A line that only reads, as far as it was understood, writes here neither.
	writes := cmd.Effects.All()&(toolcrib.Writes|toolcrib.Destroys) != 0
	stops := []func() error{}
	for _, path := range write {
		if add(files.Dir{Path: path, Write: writes}) && t.Scratch != nil {
			var stop func() error
			ctx, stop = t.Scratch.hold(ctx, path)
			stops = append(stops, stop)
		}
	}
	grant.Dirs, cmd.Env = dirs, append(slices.Clone(cmd.Env), env...)
	return ctx, func() (err error) {
		for _, stop := range slices.Backward(stops) {
			if full := stop(); full != nil {
				err = full
			}
		}
		return err
	}
}
