package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) hubAddCmd() *cobra.Command {
	var url, cwd, container, network string
	var env, headers []string
	var registry string
	var take namedServer
	cmd := &cobra.Command{
		Use:   "add NAME [--url URL] [--container[=IMAGE]] [-- COMMAND [ARG...]]",
		Short: "Add a server to your configuration, and try it",
		Long: `Add a server to your configuration, and try it. With a name such as io.github.user/weather
and nothing else, the server is looked up in the registries of 'toolcrib market', and
added after you have seen the exact command.`,
		Example: `  toolcrib hub add memory -- npx -y @modelcontextprotocol/server-memory@2026.8.31
  toolcrib hub add memory --container --network all -- npx -y @modelcontextprotocol/server-memory@2026.8.31
  toolcrib hub add io.github.user/weather --value API_KEY=…
  toolcrib hub add docs --url https://example.com/mcp --header 'Authorization=Bearer ${secret:docs}'`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			server := clientfiles.Server{Name: args[0], URL: url, Cwd: cwd}
			known := url == "" && len(args) == 1 && market.IsServerName(args[0])
			switch {
			case known:
			case url == "" && len(args) < 2:
				return usagef("write the program and its arguments after --, or an address with --url")
			case url != "" && len(args) > 1:
				return usagef("a server is a program or an address, not both")
			case url == "":
				server.Command, server.Args = args[1], args[2:]
			}
			place := map[string]any{}
			if cmd.Flags().Changed("container") {
				if at := cmd.ArgsLenAtDash(); at > 1 { // --container IMAGE would be a command
					return usagef("write the image as --container=IMAGE, and the program after --")
				}
				if place["sandbox"] = "container"; container != imageByCommand {
					place["image"] = container
				}
			}
			if network != "" {
				place["network"] = network
			}
			if known {
				r, err := c.marketResult(cmd.Context(), args[0], registry)
				if err != nil {
					return err
				}
				take.env, take.headers, take.place = env, headers, place
				return c.hubAddNamed(cmd.Context(), r, take)
			}
			var err error
			if server.Env, err = pairsOf("env", env); err != nil {
				return err
			}
			if server.Headers, err = pairsOf("header", headers); err != nil {
				return err
			}
			return c.hubAdd(cmd.Context(), server, place)
		},
	}
	take.flags(cmd)
	cmd.Flags().StringVar(&registry, "registry", "", "look a server up in this registry only")
	cmd.Flags().StringVar(&url, "url", "", "the address of a server that runs elsewhere")
	cmd.Flags().StringVar(&cwd, "cwd", "", "the directory its program runs in")
	cmd.Flags().StringVar(&container, "container", "", "run its program in a container of this image; without one, the image is chosen by the command")
	cmd.Flags().Lookup("container").NoOptDefVal = imageByCommand
	cmd.Flags().StringVar(&network, "network", "", "what it reaches from a container: off, all, or granted (what grant.hosts says, the default)")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a variable for its program, NAME=VALUE; what looks like a secret goes to the vault")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "a header that is sent to it, NAME=VALUE; what looks like a secret goes to the vault")
	return cmd
}

// imageByCommand is what --container means without an image.
const imageByCommand = "auto"

// pairsOf reads NAME=VALUE.
func pairsOf(flag string, list []string) (map[string]string, error) {
	pairs := map[string]string{}
	for _, text := range list {
		name, v, ok := strings.Cut(text, "=")
		if !ok || name == "" { // what stands there may be a secret: it is not said again
			return nil, usagef("--%s: write NAME=VALUE", flag)
		}
		pairs[name] = v
	}
	return pairs, nil
}

// added is the entry of a server as the file of settings has it.
func added(s clientfiles.Server) map[string]any {
	value := map[string]any{}
	for key, text := range map[string]string{"command": s.Command, "url": s.URL, "cwd": s.Cwd} {
		if text != "" {
			value[key] = text
		}
	}
	if len(s.Args) > 0 {
		value["args"] = s.Args
	}
	for key, pairs := range map[string]map[string]string{"env": s.Env, "headers": s.Headers} {
		if len(pairs) > 0 {
			value[key] = pairs
		}
	}
	return value
}

// checkPlace refuses what would be left out when it is read.
func checkPlace(s clientfiles.Server, place map[string]any, cfg settings.Sandbox) error {
	is := func(key string) string { word, _ := place[key].(string); return word }
	if network := is("network"); network != "" && !slices.Contains([]string{"granted", "off", "all"}, network) {
		return usagef("--network: %q is neither off nor all nor granted", network)
	}
	if err := app.CheckServer(settings.MCPServer{Command: s.Command, URL: s.URL, Sandbox: is("sandbox"), Image: is("image"), Network: is("network")}, cfg); err != nil {
		return usage(err)
	}
	return nil
}

func (c *command) hubAdd(ctx context.Context, server clientfiles.Server, place map[string]any) error {
	name := server.Name
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
	if err := checkPlace(server, place, loaded.Value.Sandbox); err != nil {
		return err
	}
	looks, err := app.LooksSecret()
	if err != nil {
		return err
	}
	server, secrets := clientfiles.Secrets(server, looks)
	taken, err := c.keepSecrets(ctx, secrets)
	if err != nil {
		return err
	}
	entry := added(server)
	maps.Copy(entry, place)
	file, err := c.editConfig(func(text []byte) ([]byte, error) { return settings.AddServer(text, name, entry) })
	if err != nil {
		return errors.Join(err, taken())
	}
	c.loaded = nil // it is another now
	fmt.Fprintf(c.out, "Added to %s.\n", file)
	for _, s := range secrets {
		fmt.Fprintf(c.out, "%s is in the vault, as %s, and not in that file.\n", text.ShowLine(s.Where), s.Name)
	}
	return c.hubTest(ctx, name)
}

// keepSecrets puts what a person typed into the vault; the function it gives takes it
// out again. A secret of the same name and another value stays as it is.
func (c *command) keepSecrets(ctx context.Context, list []clientfiles.Found) (undo func() error, err error) {
	if len(list) == 0 {
		return func() error { return nil }, nil
	}
	v, err := c.openVault(nil)
	if err != nil {
		return nil, err
	}
	var made []string
	undo = func() error { return setup.DropSecrets(context.WithoutCancel(ctx), v, made) }
	for _, s := range list {
		old, err := v.Get(ctx, vault.Ref{Name: s.Name})
		switch {
		case err == nil && old == s.Value:
			continue
		case err == nil:
			return nil, errors.Join(failed{fmt.Errorf("the vault has another secret %s: rename or remove it first (nothing was changed)", s.Name)}, undo())
		case !errors.Is(err, vault.ErrNotFound):
			return nil, errors.Join(c.vaultError(v, err), undo())
		}
		if err := v.Set(ctx, vault.Ref{Name: s.Name}, s.Value); err != nil {
			return nil, errors.Join(c.vaultError(v, fmt.Errorf("keeping the secret %s: %w", s.Name, err)), undo())
		}
		made = append(made, s.Name)
	}
	return undo, nil
}

// notInSettings says why a server cannot be removed that stands in no entry of its own:
// one that is listed comes from elsewhere, and goes there.
func (c *command) notInSettings(ctx context.Context, file, name string) error {
	a, err := c.hub(ctx)
	if err != nil {
		return err
	}
	if b, ok := a.Hub.Box(name); ok {
		return usagef("%s is no entry of mcp_servers in %s, but %s: remove that, or leave its tools out with tools.disable: [%s/*]", name, file, text.ShowLine(b.Server().Where()), name)
	}
	return usagef("%s has no server %q", file, name)
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
		return c.notInSettings(ctx, file, name)
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
