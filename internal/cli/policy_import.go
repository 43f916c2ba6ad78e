package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) policyImportCmd() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Write another program's permissions as rules of ours",
		Long: `Read the permissions of Claude Code (settings.json), Codex (.rules), Gemini
(policy .toml) or opencode (opencode.json) and print them as permissions for
config.yaml. Nothing is changed. What cannot be carried over is listed, and no
rule allows more than it did.`,
		Example: `  toolcrib policy import ~/.claude/settings.json
  toolcrib policy import --from codex my.rules`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.policyImport(args[0], from) },
	}
	cmd.Flags().StringVar(&from, "from", "", "whose file it is: claude, codex, gemini or opencode (default: by its name)")
	return cmd
}

func (c *command) policyImport(file, from string) error {
	read := settings.RulesOf(from, filepath.Base(file))
	if read == nil {
		return usagef("whose file is %s? Say --from claude, codex, gemini or opencode", filepath.Base(file))
	}
	f, err := os.Open(filepath.Join(map[bool]string{false: c.dir}[filepath.IsAbs(file)], file))
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: err.Error(), Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(f, 2<<20)) // the importers take less
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	got, err := read(data)
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: file + ": " + err.Error(), Err: err}
	}
	if c.asJSON(false) {
		return c.printJSON(got)
	}
	return c.write(settings.RulesText(got))
}

func (c *command) policyDiffCmd() *cobra.Command {
	limit := 200
	cmd := &cobra.Command{
		Use:   "diff FILE",
		Short: "Say what would change if FILE were your config.yaml",
		Long: `Compare the settings that hold now with those that would hold if FILE stood in
place of your config.yaml, and say which of the newest calls in the journal
would be decided otherwise.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.policyDiff(cmd.Context(), args[0], limit) },
	}
	cmd.Flags().IntVar(&limit, "calls", limit, "how many of the newest calls to hold against both")
	return cmd
}

// changedCall is a past call that would be decided otherwise.
type changedCall struct {
	ID   string            `json:"id"`
	Tool string            `json:"tool"`
	Old  toolcrib.Decision `json:"old"`
	New  toolcrib.Decision `json:"new"`
}

func (c *command) policyDiff(ctx context.Context, file string, limit int) error {
	now, _, err := c.load()
	if err != nil {
		return err
	}
	other := *c
	other.config, other.loaded = file, nil
	then, _, err := other.load()
	if err != nil {
		return err
	}
	rows, err := settingsDiff(now, then)
	if err != nil {
		return err
	}
	calls, err := c.pastCalls(ctx, limit)
	if err != nil {
		return err
	}
	var changed []changedCall
	err = c.prepared(ctx, unchanged, func(a *app.App) error {
		return other.prepared(ctx, unchanged, func(b *app.App) error {
			for _, call := range calls {
				if was, is := decided(ctx, a, call), decided(ctx, b, call); was != is {
					changed = append(changed, changedCall{call.ID, call.Tool, was, is})
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"settings": rows, "calls": changed, "looked_at": len(calls)})
	}
	for _, row := range rows {
		fmt.Fprintln(c.out, text.Show(row))
	}
	for _, ch := range changed {
		fmt.Fprintf(c.out, "%s %s: %s now, %s then\n", ch.ID, text.ShowLine(ch.Tool), ch.Old, ch.New)
	}
	_, err = fmt.Fprintf(c.out, "%d settings and %d of %d past calls would differ\n", len(rows), len(changed), len(calls))
	return err
}

// decided is what a policy says; what does not exist for the caller is denied.
func decided(ctx context.Context, a *app.App, call toolcrib.Call) toolcrib.Decision {
	j, err := a.Judge(ctx, call)
	if err != nil {
		return toolcrib.Deny
	}
	return j.Decision
}

// pastCalls are the newest calls whose input the journal has whole.
func (c *command) pastCalls(ctx context.Context, limit int) ([]toolcrib.Call, error) {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return nil, err
	}
	r, err := app.ReadJournal(ctx, cfg, needs)
	if errors.Is(err, store.ErrNoJournal) {
		return nil, nil
	}
	if err != nil {
		return nil, noJournal(err)
	}
	records, err := r.List(ctx, store.Filter{Limit: max(limit, 1)})
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	var calls []toolcrib.Call
	for _, rec := range records {
		if rec.Box == "sandbox" {
			continue // what a program reached: no call
		}
		if !bytes.Contains(rec.Input, []byte(`"[redacted]"`)) && !bytes.HasPrefix(rec.Input, []byte(`{"unrecorded"`)) {
			calls = append(calls, toolcrib.Call{ID: rec.ID, Tool: rec.Tool, Caller: rec.Caller, Input: rec.Input})
		}
	}
	return calls, nil
}
