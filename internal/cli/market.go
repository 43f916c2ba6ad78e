package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) marketCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "market",
		Short: "Skills, bundles and MCP servers of registries: search, show, install",
		Long: `Search the registries of your settings together, look at what they have, and install
it. Nothing is asked of a registry unless you run one of these commands, or
'toolcrib hub add' with the name of a server.

What registries say about their contents is their word, not ours. Contents are checked
against the checksums that registries give, and everything is shown before it is taken.`,
		Example: `  toolcrib market search pdf
  toolcrib market show io.github.user/weather
  toolcrib market install io.github.user/weather
  toolcrib market registry add team https://skills.example.com --type index
  toolcrib market registry list
  toolcrib market index ./shelf --key ~/market.key --new-key`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.marketSearchCmd(), c.marketShowCmd(), c.marketInstallCmd(), c.marketRegistryCmd(), c.marketIndexCmd())
	return cmd
}

// market opens the registries; nothing is asked yet.
func (c *command) market() (*market.Market, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	return market.Open(loaded.Value.Market, market.Needs{State: paths.State, Config: paths.Config, Home: c.home()})
}

// closeMarket gives back what is open; that it fails changes nothing.
func closeMarket(m *market.Market) { _ = m.Close() }

func (c *command) marketSearchCmd() *cobra.Command {
	var q market.Query
	cmd := &cobra.Command{
		Use: "search [WORD...]", Short: "Search all registries", Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			return c.marketSearch(cmd.Context(), q)
		},
	}
	cmd.Flags().StringVar(&q.Kind, "kind", "", "only this kind: skill, server or bundle")
	cmd.Flags().StringVar(&q.Registry, "registry", "", "only this registry")
	cmd.Flags().IntVar(&q.Most, "limit", 20, "how many results are shown")
	return cmd
}

func (c *command) marketSearch(ctx context.Context, q market.Query) error {
	switch {
	case q.Kind != "" && q.Kind != market.Skill && q.Kind != market.Server && q.Kind != market.Bundle:
		return usagef("--kind: write %s, %s or %s", market.Skill, market.Server, market.Bundle)
	case q.Most < 1:
		return usagef("--limit: write a number above 0")
	}
	m, err := c.market()
	if err != nil {
		return err
	}
	defer closeMarket(m)
	done := c.progress("searching the registries")
	found, err := m.Search(ctx, q)
	done()
	if err != nil {
		return usage(err)
	}
	failedAll := true
	for _, s := range found.Registries {
		failedAll = failedAll && s.Error != ""
		if s.Error != "" {
			fmt.Fprintf(c.err, "toolcrib: warning: the registry %s: %s\n", s.Registry, text.ShowLine(s.Error))
		}
		for _, n := range s.Notes {
			fmt.Fprintf(c.err, "toolcrib: note: the registry %s: %s\n", s.Registry, text.ShowLine(n))
		}
	}
	if failedAll {
		return failed{errors.New("no registry answered; 'toolcrib market registry list' shows those there are")}
	}
	if c.asJSON(false) {
		return c.printJSON(found)
	}
	if len(found.Results) == 0 {
		fmt.Fprintln(c.out, "Nothing was found.")
		return nil
	}
	var rows [][]string
	for _, r := range found.Results {
		mark := ""
		if len(r.Notes) > 0 {
			mark = "! "
		}
		rows = append(rows, []string{r.Name, dash(r.Version), r.Kind, strings.Join(append([]string{r.Registry}, r.Also...), ","), mark + firstSentence(r.Description)})
	}
	if err := c.table([]string{"NAME", "VERSION", "KIND", "REGISTRY", "DESCRIPTION"}, rows); err != nil {
		return err
	}
	if found.More > 0 {
		fmt.Fprintf(c.out, "and %d more: --limit shows them\n", found.More)
	}
	return nil
}

func (c *command) marketShowCmd() *cobra.Command {
	var registry string
	cmd := &cobra.Command{
		Use: "show NAME[@VERSION]", Short: "Show what a registry says about one", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.marketResult(cmd.Context(), args[0], registry)
			if err != nil {
				return err
			}
			if c.asJSON(false) {
				return c.printJSON(r)
			}
			showResult(c.out, r)
			return nil
		},
	}
	cmd.Flags().StringVar(&registry, "registry", "", "only this registry")
	return cmd
}

// marketResult finds the one that a name means.
func (c *command) marketResult(ctx context.Context, given, registry string) (*market.Result, error) {
	m, err := c.market()
	if err != nil {
		return nil, err
	}
	defer closeMarket(m)
	name, version := given, ""
	if at := strings.LastIndex(given, "@"); at > 0 { // one at the beginning is part of the name
		name, version = given[:at], given[at+1:]
	}
	done := c.progress("asking the registries for " + name)
	r, err := m.Show(ctx, name, version, registry)
	done()
	if err != nil {
		return nil, failed{err}
	}
	return r, nil
}

// beside is where a person is shown what will be done: what programs read is the result.
func (c *command) beside() io.Writer {
	if c.asJSON(false) {
		return c.err
	}
	return c.out
}

// showResult shows one for a person to decide on: what would run is shown whole.
func showResult(w io.Writer, r *market.Result) {
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", key+":", text.ShowLine(value))
		}
	}
	line("name", r.Name)
	line("version", r.Version)
	line("kind", r.Kind)
	line("registry", strings.Join(append([]string{r.Registry}, r.Also...), ", "))
	line("author", r.Author)
	line("says", r.Description)
	line("source", r.Source)
	line("checksum", r.Digest)
	if s := r.Server; s != nil {
		if s.Command != "" {
			line("program", quotedAll(append([]string{s.Command}, s.Args...)))
		}
		if s.URL != "" {
			line("address", quoted(s.URL))
		}
		showPairs(w, "variable", s.Env)
		showPairs(w, "header", s.Headers)
	}
	for _, a := range r.Asks {
		word := "may be given"
		if a.Required {
			word = "is needed"
		}
		if a.Secret {
			word += ", a secret"
		}
		if a.Default != "" {
			word += ", else " + quoted(a.Default)
		}
		line("ask", a.Name+" "+word+": "+dash(a.Description))
	}
	for _, n := range r.Notes {
		line("NOTE", n)
	}
}
