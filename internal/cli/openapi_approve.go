package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) openapiApproveCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "approve NAME [TOOL...]", Short: "Approve what is kept back of a document",
		Args: usageArgs(cobra.MinimumNArgs(1)), ValidArgsFunction: c.completeAPI,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.openapiApprove(cmd.Context(), args[0], args[1:], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "take what is shown without being asked")
	return cmd
}

func (c *command) openapiDiff(ctx context.Context, name string) error {
	a, err := c.apis(ctx, name, func(n *openapis.Needs) { n.Fetch = true })
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	api, _ := a.Get(name)
	if _, err := api.Refresh(ctx); err != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: %s; what follows is of the one that is kept\n", text.ShowLine(err.Error()))
	}
	held, gone := api.Held(), api.Gone()
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"held": held, "gone": gone})
	}
	c.showWaiting(name, held, gone)
	if len(held) > 0 {
		fmt.Fprintf(c.out, "\n'toolcrib openapi approve %s' takes them as they are shown, '… approve %s TOOL' one of them.\n", name, name)
	} else if len(gone) == 0 {
		fmt.Fprintln(c.out, "Nothing has changed since it was approved.")
	}
	return nil
}

func (c *command) showWaiting(name string, held []pinned.Held, gone []string) {
	isNew := 0
	for _, h := range held {
		if h.Was == nil {
			isNew++
		}
		c.showHeld(name+"/"+h.Tool, h.Why, h.Was, h.Is)
	}
	for _, tool := range gone {
		fmt.Fprintf(c.out, "\nGone: %s/%s: the document does not have it any more\n", name, text.ShowLine(tool))
	}
	if len(held)+len(gone) > 0 {
		fmt.Fprintf(c.out, "\n%s: %d new, %d changed, %d gone\n", name, isNew, len(held)-isNew, len(gone))
	}
}

func (c *command) openapiApprove(ctx context.Context, name string, tools []string, yes bool) error {
	a, err := c.apis(ctx, name, func(n *openapis.Needs) { n.Fetch = true })
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	api, _ := a.Get(name)
	held := api.Held()
	if len(tools) > 0 {
		for _, tool := range tools {
			if !slices.ContainsFunc(held, func(h pinned.Held) bool { return h.Tool == tool }) {
				return usagef("nothing of %s/%s is kept back", name, text.ShowLine(tool))
			}
		}
		held = slices.DeleteFunc(held, func(h pinned.Held) bool { return !slices.Contains(tools, h.Tool) })
	}
	if len(held) == 0 {
		fmt.Fprintln(c.out, "Nothing is kept back; everything is approved as it is.")
		return nil
	}
	c.showWaiting(name, held, nil)
	if !yes {
		if ok, err := c.confirm(fmt.Sprintf("Take %s as shown?", counted(len(held), "operation"))); err != nil || !ok {
			return err
		}
	}
	done, err := api.Approve(held)
	if len(done) > 0 {
		fmt.Fprintf(c.out, "Approved: %s\n", text.ShowLine(strings.Join(done, ", ")))
	}
	return err
}
