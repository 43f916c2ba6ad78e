package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func (c *command) toolsSearchCmd(dialectName *string) *cobra.Command {
	limit := 5
	cmd := &cobra.Command{
		Use: "search WORD...", Short: "Find tools by what they are for",
		Example: `  toolcrib tools search convert miles to kilometres`,
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, caller, err := c.shelf(cmd, *dialectName)
			if err != nil {
				return err
			}
			if limit < 1 || limit > 100 {
				return usagef("--limit is %d: want 1 to 100", limit)
			}
			specs, hits := a.Find(caller, strings.Join(args, " "), limit)
			if c.asJSON(false) {
				out := make([]map[string]any, 0, len(hits))
				for _, h := range hits {
					s := specs[h.Doc]
					out = append(out, map[string]any{"name": s.Name, "box": s.Box, "description": s.Description, "score": h.Score, "why": h.Why})
				}
				return c.printJSON(out)
			}
			if len(hits) == 0 {
				fmt.Fprintln(c.out, "No tool has anything to do with that; 'toolcrib tools' lists what there is.")
				return nil
			}
			var rows [][]string
			names := typedNames(a, caller, specs)
			for _, h := range hits {
				s := specs[h.Doc]
				rows = append(rows, []string{names[h.Doc], s.Box, strings.Join(h.Why, " "), firstSentence(s.Description)})
			}
			return c.table([]string{"NAME", "BOX", "BY", "DESCRIPTION"}, rows)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "how many")
	return cmd
}

func (c *command) toolsCostCmd(dialectName *string) *cobra.Command {
	var by string
	format, formats := "mcp", exposed.CostFormats()
	cmd := &cobra.Command{
		Use: "cost", Short: "Tell how much of a model's context the tools take",
		Long: `Estimate the tokens that the definitions of tools take in a model's context,
by tool, box or profile, and what searching for them takes instead.

What counts is what a model is shown: of --format mcp, the default, the name, the
description and the input schema, as MCP clients pass them on; of the others the
definitions that 'toolcrib tools definitions' writes. Tokens are estimated without
a vocabulary: for real tools within 10 per cent of what o200k_base counts. What a
service makes of definitions before its model sees them is not known.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, caller, err := c.shelf(cmd, *dialectName)
			if err != nil {
				return err
			}
			if !slices.Contains(formats, format) {
				return usagef("--format is %q: want one of %s", format, strings.Join(formats, ", "))
			}
			return c.showCost(cmd.Context(), a, caller, by, format)
		},
	}
	cmd.Flags().StringVar(&by, "by", "box", "tool, box or profile")
	cmd.Flags().StringVar(&format, "format", format, "in whose form: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"tool", "box", "profile"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (c *command) showCost(ctx context.Context, a *app.App, caller toolcrib.Caller, by, format string) error {
	costs, err := exposed.CostOf(format, a.Shown(caller))
	if err != nil {
		return err
	}
	sums, count := map[string]int{}, map[string]int{}
	add := func(name string, tokens int) { sums[name] += tokens; count[name]++ }
	total := 0
	for _, cost := range costs {
		total += cost.Tokens
		switch by {
		case "tool":
			add(cost.Tool, cost.Tokens)
		case "box":
			add(cost.Box, cost.Tokens)
		}
	}
	if by == "profile" {
		if err := c.profileCosts(ctx, caller, format, add); err != nil {
			return err
		}
	} else if by != "tool" && by != "box" {
		return usagef("--by is %q: want tool, box or profile", by)
	}
	search, err := exposed.CostOf(format, a.ShortList(caller))
	if err != nil {
		return err
	}
	short := 0
	for _, cost := range search {
		short += cost.Tokens
	}
	names := slices.SortedFunc(maps.Keys(sums), func(x, y string) int { return cmp.Or(sums[y]-sums[x], strings.Compare(x, y)) })
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"by": by, "tokens": sums, "total": total, "search": short})
	}
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{name, fmt.Sprint(count[name]), fmt.Sprint(sums[name])})
	}
	if err := c.table([]string{strings.ToUpper(by), "TOOLS", "TOKENS"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "\n%d tools take about %d tokens; searching for them (expose: search) takes about %d.\n", len(costs), total, short)
	return nil
}

// profileCosts adds up what each profile shows.
func (c *command) profileCosts(ctx context.Context, caller toolcrib.Caller, format string, add func(string, int)) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	names := []string{"minimal", "coding", "full"}
	names = append(names, slices.Sorted(maps.Keys(loaded.Value.Profiles))...)
	for _, name := range names {
		b, err := c.openFor(ctx, app.ToList, func(cfg *settings.Config, needs *app.Needs) {
			cfg.Profile, needs.Layers.User.Profile = name, name
		})
		if err != nil {
			return err
		}
		costs, err := exposed.CostOf(format, b.Shown(caller))
		if err != nil {
			return err
		}
		for _, cost := range costs {
			add(name, cost.Tokens)
		}
	}
	return nil
}
