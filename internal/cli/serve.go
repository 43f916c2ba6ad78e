package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func (c *command) serveCmd() *cobra.Command {
	var listen string
	var tools, description int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP over HTTP on this machine",
		Long: `Serve the tools over streamable HTTP: MCP at /mcp, single tools for programs
without MCP at /v1/tools/NAME (described at /openapi.json), agents in the form of
OpenAI's chat completions at /v1 where a model is set up, health at /healthz. The
address must be on loopback, unless serve.remote and serve.tls are set. Ends on
interrupt, after the calls under way.

Every account of a machine reaches that address, so a client needs a token:
yours, which 'toolcrib connect CLIENT --http' writes into its settings and
'toolcrib token show' shows, or one that 'toolcrib token new NAME' made. With
serve.oidc, people log in at an issuer instead.`,
		Example: `  toolcrib serve
  toolcrib serve --listen 127.0.0.1:9000
  toolcrib connect claude-code --http
  curl -s http://127.0.0.1:7717/healthz`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.noAgent("serve"); err != nil {
				return err
			}
			if listen != "" {
				c.set = append(c.set, "serve.listen="+listen)
			}
			if err := c.setMost(tools, description); err != nil {
				return err
			}
			return c.serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on (default from serve.listen)")
	mostFlags(cmd, &tools, &description)
	return cmd
}

// noAgent refuses --agent where every client comes with a token of its own, which says
// the preset: a flag that does nothing would be taken for one that holds.
func (c *command) noAgent(what string) error {
	if c.agent == "" {
		return nil
	}
	return usagef("%s takes no --agent, since over HTTP the token of a client says its preset: 'toolcrib token new NAME --agent %s' makes one for it", what, c.agent)
}

func (c *command) serve(ctx context.Context) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	ln, err := app.Listen(ctx, loaded.Value.Serve, c.logger(loaded.Value.Log))
	if err != nil {
		return usage(err)
	}
	c.serving = true
	a, err := c.open(ctx, desk.Leave)
	if err != nil {
		_ = ln.Close() // nothing was served on it
		return err
	}
	defer a.FollowPolicy(c.policyNow)()
	need := ". Clients need your token: 'toolcrib connect CLIENT --http' gives it to one"
	if loaded.Value.Serve.Open {
		need = ""
		fmt.Fprintln(c.err, "toolcrib: warning: serve.open is set: every account and program of this machine may call, and do what your rules allow unasked. What has to be approved waits for you.")
	}
	if issuer := loaded.Value.Serve.OIDC.Issuer; issuer != "" && need != "" {
		need += ", and people log in at " + issuer
	}
	at := baseURL(loaded.Value.Serve, ln.Addr().String())
	chat := ""
	if len(loaded.Value.Models) > 0 {
		chat = ", chat completions at " + at + "/v1"
	}
	fmt.Fprintf(c.err, "toolcrib: MCP at %s/mcp%s, health at %[1]s/healthz; interrupt to stop%[3]s\n", at, chat, need)
	err = a.Serve(ctx, ln, version())
	c.closeApp(ctx, a)
	return err
}

// baseURL is where clients reach a server that listens at an address.
func baseURL(cfg settings.Serve, address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil { // else serve says what is wrong
		ip, _ := netip.ParseAddr(host) // a name is none
		switch {
		case cfg.TLS.Cert != "" && len(cfg.Hosts) > 0: // the certificate is for a name
			address = net.JoinHostPort(strings.Trim(cfg.Hosts[0], "[]"), port)
		case host == "" || ip.IsUnspecified(): // no machine is called so
			address = net.JoinHostPort("localhost", port)
		}
	}
	if cfg.TLS.Cert == "" {
		return "http://" + address
	}
	return "https://" + address
}
