package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/definition"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/finder"
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
			specs := a.Shown(caller)
			docs := make([]find.Doc, len(specs))
			for i, s := range specs {
				docs[i] = finder.Doc(s)
			}
			hits := find.New(docs).Search(strings.Join(args, " "), limit)
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
			for _, h := range hits {
				s := specs[h.Doc]
				rows = append(rows, []string{s.Name, s.Box, strings.Join(h.Why, " "), firstSentence(s.Description)})
			}
			return c.table([]string{"NAME", "BOX", "BY", "DESCRIPTION"}, rows)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "how many")
	return cmd
}

func (c *command) toolsCostCmd(dialectName *string) *cobra.Command {
	var by string
	cmd := &cobra.Command{
		Use: "cost", Short: "Tell how much of a model's context the tools take",
		Long: `Estimate the tokens that the definitions of tools take in a model's context,
by tool, box or profile, and what searching for them takes instead.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, caller, err := c.shelf(cmd, *dialectName)
			if err != nil {
				return err
			}
			return c.showCost(cmd.Context(), a, caller, by)
		},
	}
	cmd.Flags().StringVar(&by, "by", "box", "tool, box or profile")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"tool", "box", "profile"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (c *command) showCost(ctx context.Context, a *app.App, caller toolcrib.Caller, by string) error {
	costs, err := app.CostOf(a.Shown(caller))
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
		if err := c.profileCosts(ctx, caller, add); err != nil {
			return err
		}
	} else if by != "tool" && by != "box" {
		return usagef("--by is %q: want tool, box or profile", by)
	}
	search, err := app.CostOf(searchSpecs(a, caller))
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

// searchSpecs is the short list that stands for all tools.
func searchSpecs(a *app.App, caller toolcrib.Caller) []toolcrib.Spec {
	specs := []toolcrib.Spec{finder.CallTool()}
	for spec := range a.Crib.Tools(caller) {
		if spec.Box == finder.Name {
			specs = append(specs, spec)
		}
	}
	return specs
}

// profileCosts adds up what each profile shows.
func (c *command) profileCosts(ctx context.Context, caller toolcrib.Caller, add func(string, int)) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	names := []string{"minimal", "coding", "full"}
	names = append(names, slices.Sorted(maps.Keys(loaded.Value.Profiles))...)
	for _, name := range names {
		cfg := loaded.Value
		needs := c.needs(loaded, paths)
		layers := *needs.Layers
		cfg.Profile, layers.User.Profile = name, name
		needs.Layers = &layers
		b, err := app.Catalog(ctx, cfg, needs)
		if err != nil {
			return err
		}
		costs, err := app.CostOf(b.Shown(caller))
		if err != nil {
			return err
		}
		for _, cost := range costs {
			add(name, cost.Tokens)
		}
	}
	return nil
}

func (c *command) toolsDefinitionsCmd() *cobra.Command {
	format, strict := "openai", false
	var formats []string
	for _, f := range definition.Formats() {
		formats = append(formats, string(f))
	}
	formats = append(formats, "ovos")
	cmd := &cobra.Command{
		Use: "definitions", Short: "Write the tools' definitions as a model's API takes them",
		Example: `  toolcrib tools definitions --format anthropic > tools.json`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(formats, format) {
				return usagef("--format is %q: want one of %s", format, strings.Join(formats, ", "))
			}
			dialectName := dialect.Native
			if format == "ovos" {
				dialectName = dialect.OVOS
			}
			a, caller, err := c.shelf(cmd, dialectName)
			if err != nil {
				return err
			}
			specs := a.Shown(caller)
			var set definition.Set
			if format == "ovos" {
				set = definition.With(specs, func(s toolcrib.Spec) (json.RawMessage, error) { return json.Marshal(dialect.Contract(dialect.OVOS, s)) })
			} else if set, err = (definition.Options{Strict: strict}).Of(definition.Format(format), specs); err != nil {
				return usage(err)
			}
			for _, l := range slices.Concat(set.Left, set.Loose) {
				fmt.Fprintf(c.err, "toolcrib: warning: %s: %s\n", text.ShowLine(l.Tool), text.ShowLine(l.Why))
			}
			if set.Tools == nil {
				set.Tools = []json.RawMessage{}
			}
			return c.printJSON(set.Tools)
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "whose form: "+strings.Join(formats, ", "))
	cmd.Flags().BoolVar(&strict, "strict", false, "have OpenAI hold the model to the schema")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
