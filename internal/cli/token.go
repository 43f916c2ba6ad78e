package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func (c *command) tokenCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Show, make and revoke the tokens that clients use over HTTP",
		Long: `Whoever calls 'toolcrib serve' needs a token. Yours is made the first time it is
needed and lies where only your account can read it. 'toolcrib connect CLIENT
--http' writes it into the client's settings.

Others get tokens of their own, by name: 'toolcrib token new NAME' shows one once,
and keeps only its hash, under tokens in your configuration. A server that runs
goes by it at once.`,
		Example: `  toolcrib token show
  toolcrib token show --header | curl -sH @- http://127.0.0.1:7717/healthz
  toolcrib token new               a new one for yourself; the old one stops working
  toolcrib token new ann --profile coding --approves
  toolcrib token list
  toolcrib token revoke ann`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var header bool
	show := &cobra.Command{
		Use: "show", Short: "Print your token", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			token, err := c.ownToken(httpapi.OwnToken)
			if err != nil {
				return err
			}
			if header { // for programs that read it: what stands in a command line, every account can see
				token = "Authorization: Bearer " + token
			}
			_, err = fmt.Fprintln(c.out, token)
			return err
		},
	}
	show.Flags().BoolVar(&header, "header", false, "as the header that a request needs")
	var of settings.Token
	fresh := &cobra.Command{
		Use: "new [NAME]", Short: "Make a token for somebody, or a new one for yourself",
		Long: `Make a token for NAME and show it once: only its hash is kept. Without NAME, make
a new one for yourself. The token that the same person had before stops working.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.newToken(args[0], of)
			}
			if of.Profile != "" || of.Dialect != "" || of.Agent != "" || of.Organisation != "" || of.Approves || of.Watches {
				return usagef("--profile, --dialect, --agent, --organisation, --approves and --watches are for a token of somebody else: name them")
			}
			if _, err := c.ownToken(httpapi.NewOwnToken); err != nil {
				return err
			}
			_, err := fmt.Fprintln(c.out, "There is a new token. Give it to each client that is connected over HTTP: toolcrib connect CLIENT --http")
			return err
		},
	}
	fresh.Flags().StringVar(&of.Profile, "profile", "", "which tools exist for its holder: minimal, coding, full or one of profiles")
	fresh.Flags().StringVar(&of.Agent, "agent", "", "the preset of agents that its holder runs under")
	fresh.Flags().StringVar(&of.Organisation, "organisation", "", "the organisation that its holder belongs to")
	fresh.Flags().StringVar(&of.Dialect, "dialect", "", "whose names and shapes the tools have for its holder: "+strings.Join(dialect.Names(), ", "))
	fresh.Flags().BoolVar(&of.Approves, "approves", false, "its holder is a person, who may approve what they themselves call")
	fresh.Flags().BoolVar(&of.Watches, "watches", false, "its holder watches over this server, and may read /metrics")
	list := &cobra.Command{
		Use: "list", Short: "List the tokens of others: who has which profile, and when it was last used", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listTokens(cmd) },
	}
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Take a token away: it stops working at once",
		Long:              "Take a token away. It stops working at once, and what was begun with it is ended.",
		Args:              usageArgs(cobra.ExactArgs(1)),
		RunE:              func(_ *cobra.Command, args []string) error { return c.revokeToken(args[0]) },
		ValidArgsFunction: c.completeToken,
	}
	cmd.AddCommand(show, fresh, list, revoke)
	return cmd
}

// ownToken gets the person's own token.
func (c *command) ownToken(get func(state string) (string, error)) (string, error) {
	paths, _, err := c.paths()
	if err != nil {
		return "", usage(err)
	}
	token, err := get(paths.State)
	if err != nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	return token, nil
}
