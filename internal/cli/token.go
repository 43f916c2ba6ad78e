package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

func (c *command) tokenCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Show or replace the token that your own clients use over HTTP",
		Long: `'toolcrib serve' lets in who has a token. Yours is made the first time it is
needed and lies where only your account can read it. 'toolcrib connect CLIENT
--http' writes it into the client's settings. Others get tokens of their own:
see tokens in the configuration.`,
		Example: `  toolcrib token show
  toolcrib token show --header | curl -sH @- http://127.0.0.1:7717/healthz
  toolcrib token new               the one before opens nothing any more`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var header bool
	show := &cobra.Command{
		Use: "show", Short: "Print the token", Args: usageArgs(cobra.NoArgs),
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
	fresh := &cobra.Command{
		Use: "new", Short: "Make another token; the one before opens nothing any more", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if _, err := c.ownToken(httpapi.NewOwnToken); err != nil {
				return err
			}
			_, err := fmt.Fprintln(c.out, "There is a new token. Give it to each client that is connected over HTTP: toolcrib connect CLIENT --http")
			return err
		},
	}
	cmd.AddCommand(show, fresh)
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
