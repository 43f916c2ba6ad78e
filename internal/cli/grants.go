package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) grantsCmd() *cobra.Command {
	var all, every bool
	list := func(cmd *cobra.Command, _ []string) error { return c.listGrants(cmd.Context(), all) }
	cmd := &cobra.Command{
		Use:     "remembered",
		Aliases: []string{"grants"}, // its name until a grant was one thing only: what a call may touch
		Short:   "See which answers are remembered, and end them",
		Long: `When you allow something for longer than once, your answer is remembered: for
a session, a project, or always. Each is for one caller and one definition of
one tool, with exactly the arguments that were shown, with the rules that were
offered or with any arguments; or for changes to files in a directory, or the
tools of a server, if that was said. One for a command holds while the scripts
that the command runs are not changed; they are listed with it.`,
		Example: `  toolcrib remembered                  what holds
  toolcrib remembered revoke g-3k      end one
  toolcrib remembered revoke --all     end them all`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	listing := &cobra.Command{Use: "list", Short: "List the answers that hold", Args: usageArgs(cobra.NoArgs), RunE: list}
	for _, l := range []*cobra.Command{cmd, listing} {
		l.Flags().BoolVar(&all, "all", false, "those that have ended too")
	}
	revoke := &cobra.Command{
		Use: "revoke ID…", Short: "End remembered answers", ValidArgsFunction: c.completeGrant,
		Args: func(_ *cobra.Command, args []string) error {
			if every == (len(args) > 0) {
				return usagef("give the ID of a remembered answer ('toolcrib remembered' lists them), or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.revoke(cmd.Context(), args) },
	}
	revoke.Flags().BoolVar(&every, "all", false, "every answer that holds")
	cmd.AddCommand(listing, revoke)
	return cmd
}

// holding gives the remembered answers that hold, or all.
func holding(ctx context.Context, d *desk.Desk, all bool) ([]desk.Grant, error) {
	list, err := d.Grants(ctx, desk.GrantFilter{})
	now := time.Now()
	return slices.DeleteFunc(list, func(g desk.Grant) bool { return !all && !g.Holds(now) }), err
}

func (c *command) listGrants(ctx context.Context, all bool) error {
	return c.withDesk(ctx, func(d *desk.Desk) error {
		list, err := holding(ctx, d, all)
		if err != nil {
			return err
		}
		if c.asJSON(false) {
			if list == nil {
				list = []desk.Grant{}
			}
			return c.printJSON(list)
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.out, "No answer is remembered.")
			return err
		}
		rows := make([][]string, 0, len(list))
		for i := range list {
			rows = append(rows, grantRow(&list[i]))
		}
		return c.table([]string{"ID", "SCOPE", "FOR", "WHAT", "BY", "UNTIL"}, rows)
	})
}

func grantRow(g *desk.Grant) []string {
	scope := string(g.Scope)
	switch g.Scope {
	case desk.Project:
		scope += " " + g.Project
	case desk.Session:
		scope += " " + g.Session
	case desk.Always:
	}
	who := g.Subject
	if g.Agent != "" {
		who = g.Agent + " of " + g.Subject
	}
	what := g.About()
	if r := []rune(what); len(r) > 80 {
		what = string(r[:79]) + "…"
	}
	if len(g.Files) > 0 {
		what += ", while unchanged: " + desk.Names(g.Files)
	}
	until := "it is revoked"
	switch {
	case !g.Revoked.IsZero():
		until = "revoked by " + g.RevokedBy + " " + g.Revoked.Local().Format(time.DateTime)
	case !g.Expires.IsZero():
		until = g.Expires.Local().Format(time.DateTime)
	}
	return []string{g.ID, scope, who, what, g.By, until}
}

func (c *command) revoke(ctx context.Context, names []string) error {
	return c.withDesk(ctx, func(d *desk.Desk) error {
		list, err := d.Grants(ctx, desk.GrantFilter{})
		if err != nil {
			return err
		}
		var ids []string
		if len(names) == 0 {
			now := time.Now()
			for _, g := range list {
				if g.Holds(now) {
					ids = append(ids, g.ID)
				}
			}
		}
		for _, name := range names {
			var found []string
			for _, g := range list {
				if g.ID == name || begins(g.ID, "g-", name) {
					found = append(found, g.ID)
				}
			}
			if err := oneOf("remembered answer", "toolcrib remembered", name, found); err != nil {
				return err
			}
			ids = append(ids, found[0])
		}
		ended := []desk.Grant{}
		for _, id := range ids {
			g, err := d.Revoke(ctx, id, subject())
			if err != nil {
				return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
			}
			ended = append(ended, g)
			if !c.asJSON(false) {
				fmt.Fprintf(c.out, "%s  revoked\n", g.ID)
			}
		}
		if c.asJSON(false) {
			return c.printJSON(ended)
		}
		return nil
	})
}

// completeGrant offers the remembered answers to the shell.
func (c *command) completeGrant(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	err := c.withDesk(cmd.Context(), func(d *desk.Desk) error {
		list, err := holding(cmd.Context(), d, false)
		for i := range list {
			words = append(words, list[i].ID+"\t"+text.ShowLine(grantRow(&list[i])[3]))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
