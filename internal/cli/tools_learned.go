package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) toolsLearnedCmd() *cobra.Command {
	return &cobra.Command{
		Use: "learned", Short: "Show which searches led to which tools",
		Long: `Show what the search has learned: the words of a search, and the tool that the
same session then called with success. It is kept for each profile and ranks for
its callers only. 'search.learn: false' in the configuration switches it off.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			loaded, paths, err := c.load()
			if err != nil {
				return err
			}
			pairs, err := app.Learned(loaded.Value, c.needs(loaded, paths)).Pairs()
			if err != nil {
				return err
			}
			if c.asJSON(false) {
				if pairs == nil {
					return c.printJSON([]any{})
				}
				return c.printJSON(pairs)
			}
			if len(pairs) == 0 {
				fmt.Fprintln(c.out, "Nothing was learned yet.")
				return nil
			}
			var rows [][]string
			for _, p := range pairs {
				rows = append(rows, []string{p.Profile, p.Tool, fmt.Sprint(p.Times), p.Last.Local().Format("2006-01-02"), text.ShowLine(p.Query)})
			}
			return c.table([]string{"PROFILE", "TOOL", "TIMES", "LAST", "SEARCH"}, rows)
		},
	}
}

func (c *command) toolsForgetCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "forget [NAME]", Short: "Forget what the search has learned about a tool, or about all",
		Example: `  toolcrib tools forget math/unit_convert
  toolcrib tools forget --all`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("give the name of a tool ('toolcrib tools learned' lists them), or --all")
			}
			loaded, paths, err := c.load()
			if err != nil {
				return err
			}
			book := app.Learned(loaded.Value, c.needs(loaded, paths))
			if all {
				if err := book.Wipe(); err != nil {
					return err
				}
				fmt.Fprintln(c.out, "Forgot everything that searches led to.")
				return nil
			}
			gone, err := book.ForgetTool(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if gone == 0 {
				return usagef("no search is known to have led to %s; 'toolcrib tools learned' shows what is", args[0])
			}
			fmt.Fprintf(c.out, "Forgot what led to %s (%d).\n", text.ShowLine(args[0]), gone)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "forget all of it")
	return cmd
}
