package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

func (c *command) mcpCmd() *cobra.Command {
	var dialectName string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an MCP client on standard input and output",
		Long: `Serve the tools to one MCP client over stdio. Clients start this themselves:
put the command "toolcrib" with the argument "mcp" into the client's list of
servers.`,
		Example: `  {"mcpServers": {"toolcrib": {"command": "toolcrib", "args": ["mcp"]}}}`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := dialect.Parse(dialectName)
			if err != nil {
				return usage(err)
			}
			return c.serveStdio(cmd.Context(), d)
		},
	}
	c.dialectFlag(cmd, &dialectName)
	return cmd
}

func (c *command) serveStdio(ctx context.Context, d string) error {
	caller, err := c.caller("mcp", d)
	if err != nil {
		return err
	}
	caller.Session = callid.New(time.Now())
	a, err := c.open(ctx, desk.Await)
	if err != nil {
		return err
	}
	defer a.FollowPolicy(c.policyNow)()
	cfg := a.MCP(version())
	cfg.Lenient, cfg.Desk = dialect.Lenient(d), a.Desk
	s := server.New(cfg, caller)
	err = s.ServeStdio(ctx, c.in, nopCloser{c.out})
	s.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil // the client hung up, or we were asked to stop
	}
	if cerr := a.Close(context.WithoutCancel(ctx)); cerr != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: closing: %v\n", cerr)
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
