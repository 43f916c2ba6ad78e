package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func (c *command) hubAddCmd() *cobra.Command {
	var url, cwd string
	var env, headers []string
	cmd := &cobra.Command{
		Use:   "add NAME [--url URL] [-- COMMAND [ARG...]]",
		Short: "Add a server to your configuration, and try it",
		Example: `  toolcrib hub add memory -- npx -y @modelcontextprotocol/server-memory@2026.8.31
  toolcrib hub add docs --url https://example.com/mcp --header 'Authorization=Bearer ${secret:docs}'`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			value := map[string]any{}
			switch {
			case url == "" && len(args) < 2:
				return usagef("write the program and its arguments after --, or an address with --url")
			case url != "" && len(args) > 1:
				return usagef("a server is a program or an address, not both")
			case url != "":
				value["url"] = url
			default:
				value["command"] = args[1]
				if len(args) > 2 {
					value["args"] = args[2:]
				}
			}
			if cwd != "" {
				value["cwd"] = cwd
			}
			for key, list := range map[string][]string{"env": env, "headers": headers} {
				pairs := map[string]string{}
				for _, text := range list {
					name, v, ok := strings.Cut(text, "=")
					if !ok || name == "" {
						return usagef("--%s %s: write NAME=VALUE", strings.TrimSuffix(key, "s"), text)
					}
					pairs[name] = v
				}
				if len(pairs) > 0 {
					value[key] = pairs
				}
			}
			return c.hubAdd(cmd.Context(), args[0], value)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "the address of a server that runs elsewhere")
	cmd.Flags().StringVar(&cwd, "cwd", "", "the directory its program runs in")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a variable for its program, NAME=VALUE; ${secret:NAME} keeps a secret out of the file")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "a header that is sent to it, NAME=VALUE")
	return cmd
}

func (c *command) hubAdd(ctx context.Context, name string, value map[string]any) error {
	if err := app.CheckServerName(name); err != nil {
		return usage(err)
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	if _, there := loaded.Value.MCPServers[name]; there {
		return usagef("there is a server %q already; 'toolcrib hub remove %s' takes it out", name, name)
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) { return settings.AddServer(text, name, value) })
	if err != nil {
		return err
	}
	c.loaded = nil // it is another now
	fmt.Fprintf(c.out, "Added to %s.\n", file)
	return c.hubTest(ctx, name)
}

func (c *command) hubRemove(ctx context.Context, name string) error {
	removed := false
	file, err := c.editConfig(func(text []byte) (out []byte, err error) {
		out, removed, err = config.RemoveEntry(text, "mcp_servers", name)
		return out, err
	})
	if err != nil {
		return err
	}
	if !removed {
		return usagef("%s has no server %q", file, name)
	}
	if err := c.forget(ctx, []string{name}); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Removed from %s. What was approved of it is forgotten.\n", file)
	return nil
}

// editConfig changes the user's file of settings. The file before stays beside
// it as a backup.
func (c *command) editConfig(change func([]byte) ([]byte, error)) (file string, err error) {
	paths, _, err := c.paths()
	if err != nil {
		return "", usage(err)
	}
	file = c.settings(paths)
	return file, rewrite.File(file, change)
}
