package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) hubApproveCmd() *cobra.Command {
	var yes, all bool
	cmd := &cobra.Command{
		Use: "approve NAME [TOOL...] | --all", Short: "Approve what is kept back of a server",
		Long: `Show what is kept back of a server, or of all of them, ask once, and take exactly
that. What the server says differently after you were shown it is kept back again.`,
		Args: usageArgs(cobra.ArbitraryArgs), ValidArgsFunction: c.completeServerOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all == (len(args) > 0):
				return usagef("give the name of an MCP server ('toolcrib hub' lists them), or --all")
			case all:
				return c.hubApprove(cmd.Context(), "", nil, yes)
			}
			return c.hubApprove(cmd.Context(), args[0], args[1:], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "take what is shown without being asked")
	cmd.Flags().BoolVar(&all, "all", false, "what is kept back of all servers")
	return cmd
}

// waiting is what a person has to look at of one server.
type waiting struct {
	box  app.ServerBox
	held []app.HeldTool
	gone []string
}

// hubApprove approves what is kept back of a server, or with no name of all.
func (c *command) hubApprove(ctx context.Context, name string, tools []string, yes bool) error {
	a, err := c.openFor(ctx, app.ToApprove, nil)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	if name != "" {
		if err := c.noServer(a, name); err != nil {
			return err
		}
	}
	var list []waiting
	total := 0
	for _, b := range a.Hub.Boxes() {
		if name != "" && b.Name() != name {
			continue
		}
		for _, tool := range tools {
			if len(b.Held(tool)) == 0 {
				return usagef("nothing of %s/%s is kept back", name, text.ShowLine(tool))
			}
		}
		w := waiting{box: b, held: b.Held(tools...)}
		if len(w.held) == 0 {
			continue
		}
		if len(tools) == 0 {
			w.gone = b.Gone()
		}
		total += len(w.held)
		list = append(list, w)
	}
	if total == 0 {
		fmt.Fprintln(c.out, "Nothing is kept back; everything is approved as it is.")
		return nil
	}
	for _, w := range list {
		for _, h := range w.held {
			c.showHeld(w.box.Name()+"/"+h.Tool, h.Why, h.Was, h.Is)
		}
	}
	if err := c.sumUp(a, list); err != nil {
		return err
	}
	if !yes {
		ok, err := c.confirm(fmt.Sprintf("Take %s as shown?", counted(total, "definition")))
		if err != nil || !ok {
			return err
		}
	}
	return c.approveAll(list)
}

// approveAll writes it down, a server after the other: that one fails does not
// undo the others.
func (c *command) approveAll(list []waiting) error {
	var errs []error
	for _, w := range list {
		names, err := w.box.ApproveHeld(w.held)
		if len(names) > 0 {
			fmt.Fprintf(c.out, "Approved: %s\n", text.ShowLine(strings.Join(names, ", ")))
		}
		if err == nil && len(w.gone) > 0 {
			err = w.box.ForgetGone(w.gone)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sumUp shows everything that waits on a line each, below the details: it is what
// stands above the question.
func (c *command) sumUp(a *app.App, list []waiting) error {
	for _, w := range list {
		name := w.box.Name()
		warned := map[string]string{}
		for _, one := range a.Hub.Warnings(name) {
			if warned[one.Tool] == "" {
				warned[one.Tool] = "WARNING: " + one.Text
			}
		}
		isNew, rows := 0, [][]string{}
		for _, h := range w.held {
			what := "new"
			if h.Was == nil {
				isNew++
			} else {
				what = "changed: " + strings.Join(changedMembers(h.Was, h.Is), ", ")
			}
			rows = append(rows, []string{h.Tool, what, warned[h.Tool]})
		}
		for _, tool := range w.gone {
			rows = append(rows, []string{tool, "gone", ""})
		}
		fmt.Fprintf(c.out, "\n%s: %d new, %d changed, %d gone\n", text.ShowLine(name), isNew, len(w.held)-isNew, len(w.gone))
		if err := c.table([]string{"TOOL", "WHAT", ""}, rows); err != nil {
			return err
		}
	}
	return nil
}

// changedMembers names the parts of a definition that are others now.
func changedMembers(was, is json.RawMessage) []string {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(was, &before) != nil || json.Unmarshal(is, &after) != nil {
		return []string{"all of it"}
	}
	var out []string
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(before[key], after[key]) {
			out = append(out, key)
		}
	}
	if len(out) == 0 {
		return []string{"a value that is not shown"}
	}
	return out
}
