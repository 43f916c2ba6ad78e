package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	unified "github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/undo"
)

func (c *command) journalUndoCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "undo ID",
		Short: "Take back what a call did to files",
		Long: `Puts a file back as it was before a call of write_file, edit_file or delete_file, if
nobody has changed it since. Taking a change back is a call of its own: the rules
judge it, you may be asked, and it stands in the journal, so that it can be taken
back too. It works for 30 days, for files of at most 1 MiB (see journal.undo).

What a command changed on a layer (sandbox.layers) is taken back as a whole, for
seven days: if one of the paths is no longer as the command left it, or may not be
written, nothing is. It is judged and asked about like the changes of a command, once
and with the difference. It does not wait for an answer, and cannot be taken back in
turn.`,
		Example: `  toolcrib journal undo 019a84c2
  toolcrib journal undo 019a84c2 --dry-run     only show what would be done`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: c.completeCallID,
		RunE: func(cmd *cobra.Command, args []string) error {
			var rec toolcrib.Record
			err := c.withJournal(cmd, func(ctx context.Context, r *store.Reader) (err error) {
				rec, err = recordNamed(ctx, r, args[0])
				return err
			})
			if err != nil {
				return err
			}
			return c.undoCall(cmd.Context(), rec, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	return cmd
}

// changes is where changes of files are kept.
func (c *command) changes() (*undo.Store, undo.Trash, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, undo.Trash{}, err
	}
	return &undo.Store{State: paths.State, Bytes: loaded.Value.Journal.Undo}, undo.Trash{Dir: filepath.Join(paths.State, "trash")}, nil
}

// undoHint says how a call can be taken back; empty: it cannot.
func (c *command) undoHint(ctx context.Context, r *store.Reader, rec toolcrib.Record) string {
	kept, _, err := c.changes()
	if err != nil || !rec.Answered() {
		return ""
	}
	if _, err := kept.Find(rec.Caller.Subject, rec.ID); err != nil && layerOf(rec) == "" {
		return ""
	}
	return "Take it back with: toolcrib journal undo " + r.Short(ctx, rec.ID, 8)
}

func (c *command) undoCall(ctx context.Context, rec toolcrib.Record, dry bool) error {
	if id := layerOf(rec); id != "" {
		return c.undoLayer(ctx, rec, id, dry)
	}
	kept, trash, err := c.changes()
	if err != nil {
		return err
	}
	change, err := kept.Find(rec.Caller.Subject, rec.ID)
	if errors.Is(err, undo.ErrNothing) {
		return cannot("call %s cannot be taken back: %s", rec.ID, whyNot(rec))
	}
	if err != nil {
		return err
	}
	shown := ""
	if change.Slot != "" {
		if _, err := trash.Get(change.Slot); errors.Is(err, fs.ErrNotExist) {
			return cannot("%s is not in the trash any more: it was put back or removed for good", change.Path)
		}
	} else if shown, err = c.unchanged(rec, change); err != nil {
		return err
	}
	box := &undo.Box{Change: change, Trash: trash, Keep: kept.Keep}
	box.Shown = fmt.Sprintf("would take back call %s (%s, %s) on %s\n%s", rec.ID, rec.Tool, rec.Start.Local().Format("2006-01-02 15:04:05"), change.Path, shown)
	if dry {
		_, err := fmt.Fprint(c.out, text.Show(box.Shown))
		return err
	}
	return c.restoreFile(ctx, box)
}

// restoreFile makes the call that puts one file back.
func (c *command) restoreFile(ctx context.Context, box *undo.Box) error {
	result, err := c.restore(ctx, box, undo.Tool, box.Input(), &box.Change)
	if err != nil {
		return err
	}
	var said struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(result.Value, &said); err != nil {
		return err
	}
	return c.sayRestored(result.Value, text.ShowLine(box.Change.Path)+": "+said.Message)
}

func cannot(format string, args ...any) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: text.Show(fmt.Sprintf(format, args...))}
}

// whyNot guesses why nothing is kept of a call.
func whyNot(rec toolcrib.Record) string {
	switch rec.Native {
	case "write_file", "edit_file", "delete_file", undo.Tool:
	default:
		return "only changes by write_file, edit_file and delete_file are kept, and those of commands that ran on a layer and changed something (sandbox.layers)"
	}
	if rec.Outcome != toolcrib.Done {
		return "it changed nothing"
	}
	return "what the file held before is not kept (the file was larger than 1 MiB, the call is older than 30 days, or journal.undo is 0), or the call changed nothing"
}

// diffOf is the difference that a call is recorded to have made.
func diffOf(rec toolcrib.Record) string {
	var said struct {
		Value struct {
			Diff string `json:"diff"`
		} `json:"value"`
	}
	if json.Unmarshal(rec.Result, &said) != nil || said.Value.Diff == "" {
		return ""
	}
	return "what it changed:\n" + said.Value.Diff
}

// unchanged gives the difference that taking a change back makes: of what is there to what
// is kept, and not what somebody else wrote down. It refuses a file that is not as the call
// left it, and shows the person what it was and what it is.
func (c *command) unchanged(rec toolcrib.Record, change undo.Change) (string, error) {
	now, err := plainfile.Read(change.Path, 16<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist) && change.New:
		return "", cannot("there is nothing to take back: %s, which the call made, is gone", change.Path)
	case errors.Is(err, fs.ErrNotExist):
		return "", cannot("%s was removed since, so it stays so; 'toolcrib trash list' shows what tools removed", change.Path)
	case err != nil:
		return "", fmt.Errorf("reading the file as it is now: %w", err)
	}
	is := files.StampOf(now)
	if is.Same(change.After) {
		return "this is what it changes back:\n" + unified.Unified(change.Path, now, change.Before), nil
	}
	if !change.New && is.Same(files.StampOf(change.Before)) {
		return "", cannot("there is nothing to take back: %s holds what it held before the call", change.Path)
	}
	if said := diffOf(rec); said != "" {
		fmt.Fprintf(c.err, "The call: %s\n", text.Show(said))
	}
	fmt.Fprintf(c.err, "From before the call to now:\n%s\n", text.Show(unified.Unified(change.Path, change.Before, now)))
	return "", &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.Show(change.Path + " was changed since, so it stays as it is; both differences are shown above")}
}

// restore makes the call that puts files back: judged, asked and recorded as any other.
// Of one that puts back a single file, the rules about the tools for files have a word
// before; what is handed over as changes is held against them when it is settled.
func (c *command) restore(ctx context.Context, box toolcrib.Toolbox, tool string, input any, single *undo.Change) (*toolcrib.Result, error) {
	caller, err := c.caller("cli", "")
	if err != nil {
		return nil, err
	}
	a, err := c.openFor(ctx, app.ToCall, func(_ *settings.Config, needs *app.Needs) {
		needs.Unattended, needs.Boxes = desk.Leave, append(needs.Boxes, box)
	})
	if err != nil {
		return nil, err
	}
	defer c.closeApp(ctx, a)
	c.tellFaults(a)
	if single != nil {
		if err := c.mayRestore(ctx, a, caller, single); err != nil {
			return nil, err
		}
	}
	call := toolcrib.Call{Tool: tool, Caller: caller}
	stop, err := c.attendCall(ctx, a.Desk, &call)
	if err != nil {
		return nil, err
	}
	defer stop()
	if call.Input, err = json.Marshal(input); err != nil {
		return nil, err
	}
	result, err := a.Crib.Call(ctx, call)
	switch {
	case err != nil && single != nil:
		return nil, elsewhere(err, single.Path)
	case err != nil:
		return nil, err
	case result.Failed:
		return nil, failed{errors.New(result.String())}
	}
	return result, nil
}

// sayRestored says what was put back.
func (c *command) sayRestored(value any, message string) error {
	if c.asJSON(false) {
		return c.printJSON(value)
	}
	_, err := fmt.Fprintln(c.out, text.Show(message))
	return err
}

// mayRestore holds a rule about the tool that would do the same against what is put back:
// whoever may not write a file there does not put one back there either.
func (c *command) mayRestore(ctx context.Context, a *app.App, caller toolcrib.Caller, change *undo.Change) error {
	like, fields := "write_file", map[string]string{"path": change.Path, "content": ""}
	if change.New {
		like, fields = "delete_file", map[string]string{"path": change.Path}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	e, err := a.Explain(ctx, toolcrib.Call{Tool: like, Input: raw, Caller: caller})
	if err != nil { // the tool is not there for this caller
		return elsewhere(err, change.Path)
	}
	if e.Decision == toolcrib.Deny {
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: fmt.Sprintf("%s on %s is denied, so it is not put back; 'toolcrib policy explain %s path=%s' says why", like, change.Path, like, text.ShellWord(change.Path))}
	}
	return nil
}

// elsewhere says what helps if a file lies outside of what is granted here.
func elsewhere(err error, path string) error {
	e, ok := toolcrib.AsError(err)
	if !ok || e.Code != toolcrib.CodeDenied || !strings.Contains(e.Message, "grant") { // a person may have said no
		return err
	}
	shown := *e
	shown.Message += "; if this is not granted here, run it in " + text.ShowLine(filepath.Dir(path))
	return &shown
}
