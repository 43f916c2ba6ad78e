package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) openapiLoginCmd() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use: "login NAME [SCHEME]", Short: "Log in to an API with your browser; the token is kept in the vault",
		Args: usageArgs(cobra.RangeArgs(1, 2)), ValidArgsFunction: c.completeAPI,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("port") && (port < 1 || port > 65535) {
				return usagef("--port is %d: want a port, from 1 to 65535", port)
			}
			return c.withAPI(cmd.Context(), args[0], func(ctx context.Context, api *openapis.API) error {
				return c.openapiLogin(ctx, api, schemeOf(args), port)
			})
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "the port that the login page sends its answer to; 0: a free one")
	return cmd
}

func (c *command) openapiLogoutCmd() *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME [SCHEME]", Short: "Forget the login to an API",
		Args: usageArgs(cobra.RangeArgs(1, 2)), ValidArgsFunction: c.completeAPI,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withAPI(cmd.Context(), args[0], func(ctx context.Context, api *openapis.API) error {
				if err := api.LogOut(ctx, schemeOf(args)); err != nil {
					return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
				}
				fmt.Fprintf(c.out, "The login to %s is forgotten.\n", args[0])
				return nil
			})
		},
	}
}

func schemeOf(args []string) string { return strings.Join(args[1:], "") }

// withAPI opens one document with the vault, where its logins are.
func (c *command) withAPI(ctx context.Context, name string, do func(context.Context, *openapis.API) error) (err error) {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	s, ok := loaded.Value.OpenAPI[name]
	if !ok || s.Disabled {
		return usagef("there is no OpenAPI document %q; 'toolcrib openapi list' shows those there are", name)
	}
	a, err := c.openFor(ctx, app.ToCall, func(cfg *settings.Config, needs *app.Needs) {
		cfg.MCPServers, cfg.OpenAPI = nil, map[string]settings.OpenAPI{name: s}
		cfg.Hub.Wait, needs.Page = 0, c.showPage
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	api, ok := a.APIs.Get(name)
	if !ok {
		for _, f := range a.Faults {
			if f.Box == name {
				return failed{f.Err}
			}
		}
		return usagef("the OpenAPI document %q cannot be used", name)
	}
	return do(ctx, api)
}

func (c *command) openapiLogin(ctx context.Context, api *openapis.API, scheme string, port int) error {
	s, err := api.LogIn(ctx, scheme, port)
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"logged_in": s.LoggedIn, "issuer": s.Issuer, "scopes": s.Scopes, "expires": s.Expires, "renewed": s.Renewable})
	}
	fmt.Fprintf(c.out, "Logged in to %s at %s", api.Name(), text.ShowLine(s.Issuer))
	if len(s.Scopes) > 0 {
		fmt.Fprintf(c.out, ", for %s", text.ShowLine(strings.Join(s.Scopes, " ")))
	}
	switch {
	case s.Renewable:
		fmt.Fprintln(c.out, ". The login is renewed by itself.")
	case !s.Expires.IsZero():
		fmt.Fprintf(c.out, ". It holds until %s.\n", s.Expires.Local().Format(time.DateTime))
	default:
		fmt.Fprintln(c.out, ".")
	}
	return nil
}
