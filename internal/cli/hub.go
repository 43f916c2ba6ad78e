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
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) hubCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.hubList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "MCP servers: list, add, test, approve, import",
		Long: `The MCP servers behind this crib. Each is a toolbox: its tools are listed from
what it said last, without starting it, and it is started when one of them is
called. A tool whose definition changes is kept back until you approve it.`,
		Example: `  toolcrib hub add files -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 .
  toolcrib hub add docs --url https://example.com/mcp
  toolcrib hub import                    take over the servers of the clients on this machine
  toolcrib hub test files                start it and look
  toolcrib hub show files                what it offers, and what is kept back
  toolcrib hub approve files             take its definitions as they are now
  toolcrib hub approve --all             … of all servers, with one question
  toolcrib hub classify files            say what its tools may do`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	one := func(use, short string, run func(ctx context.Context, name string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeServerOnly,
			RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args[0]) },
		}
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the servers", Args: usageArgs(cobra.NoArgs), RunE: list},
		one("show NAME", "Show what a server offers and what is kept back", c.hubShow),
		c.hubTestCmd(),
		one("restart NAME", "Restart a running server", c.hubRestart),
		c.hubLoginCmd(),
		one("logout NAME", "Forget the login to a server", c.hubLogout),
		c.hubApproveCmd(), c.hubClassifyCmd(), c.hubAddCmd(),
		one("remove NAME", "Take a server out of the configuration", c.hubRemove),
		c.hubImportCmd(), c.hubExportCmd(),
	)
	return cmd
}

func (c *command) completeServer(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, err := c.loadQuietly()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(loaded.Value.MCPServers)), cobra.ShellCompDirectiveNoFileComp
}

// hub opens the servers to look at them; none is started.
func (c *command) hub(ctx context.Context) (*app.App, error) {
	return c.openFor(ctx, app.ToList, nil)
}

// noServer says why there is no such server; nil: there is one.
func (c *command) noServer(a *app.App, name string) error {
	if _, ok := a.Hub.Box(name); ok {
		return nil
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	if s, ok := loaded.Value.MCPServers[name]; ok && s.Disabled {
		return usagef("the MCP server %q is switched off (mcp_servers.%s.disabled)", name, name)
	}
	for _, f := range a.Faults {
		if f.Box == name {
			return badConfig{f}
		}
	}
	return usagef("there is no MCP server %q; 'toolcrib hub list' shows those there are", name)
}

func (c *command) hubList(ctx context.Context) error {
	a, err := c.hub(ctx)
	if err != nil {
		return err
	}
	rows := a.Hub.Rows()
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	off, err := c.hubOff(a)
	if err != nil {
		return err
	}
	for _, f := range a.Faults {
		if _, there := a.Hub.Box(f.Box); !there && app.Unlisted(f) {
			off = append(off, []string{text.ShowLine(f.Box), "-", "-", text.ShowLine(f.Err.Error()), "-"})
		}
	}
	if len(rows)+len(off) == 0 {
		fmt.Fprintln(c.out, "There are no MCP servers yet: 'toolcrib hub import' takes over those of your clients, 'toolcrib hub add' adds one.")
	}
	var table [][]string
	for _, r := range rows {
		state := "listed"
		switch {
		case !r.Listed && r.Err != "":
			state = "failed: " + text.ShowLine(r.Err)
		case !r.Listed:
			state = "never listed: toolcrib hub test " + r.Name
		case r.Held > 0:
			state = fmt.Sprintf("%d kept back: toolcrib hub show %s", r.Held, r.Name)
		}
		table = append(table, []string{r.Name, fmt.Sprint(r.Tools), dash(r.Version), state, r.Where})
	}
	if table = append(table, off...); len(table) > 0 {
		if err := c.table([]string{"NAME", "TOOLS", "PROTOCOL", "STATE", "SERVER"}, table); err != nil {
			return err
		}
	}
	for _, w := range a.Hub.Warnings() {
		fmt.Fprintf(c.err, "toolcrib: warning: %s/%s: %s\n", text.ShowLine(w.Server), text.ShowLine(w.Tool), text.ShowLine(w.Text))
	}
	return nil
}

// alone opens the crib with one server only, to start it. Change may alter its
// settings for this once.
func (c *command) alone(ctx context.Context, name string, change ...func(*settings.MCPServer)) (*app.App, error) {
	return c.aloneWith(ctx, name, func(*app.Needs) {}, change...)
}

// aloneWith is alone, with other needs.
func (c *command) aloneWith(ctx context.Context, name string, need func(*app.Needs), change ...func(*settings.MCPServer)) (*app.App, error) {
	look, err := c.hub(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.noServer(look, name); err != nil {
		return nil, err
	}
	a, err := c.openFor(ctx, app.ToCall, func(cfg *settings.Config, needs *app.Needs) {
		cfg.Hub.Wait, needs.Page = 0, c.showPage
		need(needs)
		if s, ok := cfg.MCPServers[name]; ok {
			for _, f := range change {
				f(&s)
			}
			cfg.MCPServers = map[string]settings.MCPServer{name: s}
		} else {
			cfg.MCPServers = nil // a plugin
		}
	})
	if err != nil {
		return nil, err
	}
	if _, ok := a.Hub.Box(name); !ok {
		return nil, errors.Join(usagef("there is no MCP server %q", name), a.Close(ctx))
	}
	return a, nil
}

func (c *command) hubRestart(ctx context.Context, name string) error {
	a, err := c.hubState(ctx, name)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	b, _ := a.Hub.Box(name)
	if err := b.AskRestart(); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Every process that runs %s restarts it.\n", name)
	return nil
}

// hubState opens the servers with what is kept of them to be changed.
func (c *command) hubState(ctx context.Context, name string) (*app.App, error) {
	a, err := c.openFor(ctx, app.ToApprove, nil)
	if err != nil {
		return nil, err
	}
	if err := c.noServer(a, name); err != nil {
		c.closeApp(ctx, a)
		return nil, err
	}
	return a, nil
}

// hubOff are the servers of the configuration that are switched off or cannot
// be used, as rows of the list.
func (c *command) hubOff(a *app.App) ([][]string, error) {
	loaded, _, err := c.load()
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(loaded.Value.MCPServers)) {
		if _, ok := a.Hub.Box(name); ok {
			continue
		}
		s := loaded.Value.MCPServers[name]
		state := "left out: it makes no sense"
		for _, f := range a.Faults {
			if f.Box == name {
				state = "left out: " + f.Err.Error()
			}
		}
		if s.Disabled {
			state = "switched off (mcp_servers." + name + ".disabled)"
		}
		rows = append(rows, []string{name, "-", "-", state, strings.TrimSpace(s.URL + strings.Join(append([]string{s.Command}, s.Args...), " "))})
	}
	plugins, _, err := pluginRows(a)
	if err != nil {
		return rows, err
	}
	for _, p := range plugins {
		if p.State == "left out" {
			rows = append(rows, []string{text.ShowLine(p.Name), "-", "-", "left out: " + text.ShowLine(p.Fault), text.ShowLine(p.File)})
		}
	}
	return rows, nil
}
