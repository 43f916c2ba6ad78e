package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

func (c *command) mcpCmd() *cobra.Command {
	var dialectName string
	var tools, description int
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an MCP client on standard input and output",
		Long: `Serve the tools to one MCP client over stdio. Clients start this themselves:
put the command "toolcrib" with the argument "mcp" into the client's list of
servers.`,
		Example: `  toolcrib mcp
  {"mcpServers": {"toolcrib": {"command": "toolcrib", "args": ["mcp"]}}}`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := dialect.Parse(dialectName)
			if err != nil {
				return usage(err)
			}
			if err := c.setMost(tools, description); err != nil {
				return err
			}
			return c.serveStdio(cmd.Context(), d)
		},
	}
	c.dialectFlag(cmd, &dialectName)
	mostFlags(cmd, &tools, &description)
	return cmd
}

func (c *command) serveStdio(ctx context.Context, d string) error {
	caller, err := c.caller("mcp", d)
	if err != nil {
		return err
	}
	caller.Session = callid.New(time.Now())
	c.serving = true
	a, err := c.open(ctx, desk.Leave)
	if err != nil {
		return err
	}
	defer a.FollowPolicy(c.policyNow)()
	err = a.ServeStdio(ctx, c.in, nopCloser{c.out}, caller, version())
	c.closeApp(ctx, a)
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
