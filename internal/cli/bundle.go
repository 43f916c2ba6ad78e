package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/bundles"
)

// bundleFlags is what installing and updating have in common.
type bundleFlags struct {
	bundles.Want
	values         []string
	yes, dangerous bool
	// typed: the person gave the source, and not a registry.
	typed bool
}

func (f *bundleFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.Project, "project", false, "for the project you are in: its .toolcrib/bundles.lock names it, for others too")
	cmd.Flags().BoolVar(&f.Pin, "pin", false, "look up the version of now for servers that name none, and keep it")
	cmd.Flags().StringArrayVar(&f.values, "value", nil, "what it asks for, NAME=VALUE; NAME=vault for a secret that it can do without")
	cmd.Flags().StringVar(&f.Sandbox, "sandbox", "", "where its servers run: host, linux, container or microvm")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask: what is shown was looked at")
	cmd.Flags().BoolVar(&f.dangerous, "accept-dangerous", false, "take it although dangerous things were found in it")
}

func (f *bundleFlags) read() error {
	values, err := pairsOf("value", f.values)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"", "host", "linux", "container", "microvm"}, f.Sandbox) {
		return usagef("--sandbox is %q: want host, linux, container or microvm", f.Sandbox)
	}
	f.Values = values
	return nil
}

func (c *command) bundleCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return c.bundleList() }
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Bundles of skills, MCP servers, agents and memory templates: install, update, verify, remove",
		Long: `A bundle is a package of skills, MCP servers, agents and memory templates, made for
Toolcrib or for another program: an Agent Plugin, a plugin of Claude Code, Codex or
Cursor, an extension of the Gemini CLI, a bundle of AgenticX, an MCP bundle (.mcpb), a
server.json, or a folder of skills. It comes from a directory, an archive, a git
repository, npm or a web server.

Nothing of it counts before you have seen what it adds and said yes. At an update you
are shown what changed. A bundle whose files are changed afterwards does not count.`,
		Example: `  toolcrib bundle install ./my-bundle
  toolcrib bundle install git+https://github.com/acme/kit.git#ref=v1.2.0
  toolcrib bundle install npm:@acme/kit@1.2.0
  toolcrib bundle install 'https://acme.example/kit.zip#sha256=…'
  toolcrib bundle update kit
  toolcrib bundle remove kit`,
		Args: usageArgs(cobra.NoArgs), RunE: list,
	}
	var flags bundleFlags
	install := &cobra.Command{
		Use: "install SOURCE", Short: "Show what a bundle adds, ask, and install it", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.typed = true
			return c.bundleInstall(cmd.Context(), args[0], flags)
		},
	}
	flags.add(install)
	install.Flags().StringVar(&flags.Name, "name", "", "call it so, instead of by its own name")
	var again bundleFlags
	update := &cobra.Command{
		Use: "update NAME [SOURCE]", Short: "Fetch a bundle again, show what changed, and ask", Args: usageArgs(cobra.RangeArgs(1, 2)), ValidArgsFunction: c.completeBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.bundleUpdate(cmd.Context(), args[0], strings.Join(args[1:], ""), again)
		},
	}
	again.add(update)
	cmd.AddCommand(
		install, update,
		&cobra.Command{Use: "list", Short: "List the bundles that are installed", Args: usageArgs(cobra.NoArgs), RunE: list},
		&cobra.Command{
			Use: "show NAME|SOURCE", Short: "Show what a bundle has, installed or not", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeBundle,
			RunE: func(cmd *cobra.Command, args []string) error { return c.bundleShow(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "verify [NAME]", Short: "Check that the files of bundles are as they were installed", Args: usageArgs(cobra.MaximumNArgs(1)), ValidArgsFunction: c.completeBundle,
			RunE: func(_ *cobra.Command, args []string) error { return c.bundleVerify(strings.Join(args, "")) },
		},
		c.bundleRollbackCmd(), c.bundleRemoveCmd(), c.bundleSyncCmd(), c.bundlePackCmd(), c.bundleNewCmd(),
	)
	return cmd
}

// The variables that name other registries than the public ones. They are no settings.
const npmVariable, pypiVariable = "TOOLCRIB_NPM_REGISTRY", "TOOLCRIB_PYPI"

func bundleVariables() []string { return []string{npmVariable, pypiVariable} }

// bundles opens the packages of the person. Only commands fetch any. Typed are the
// sources that the person gave on the command line.
func (c *command) bundles(typed ...string) (*bundles.Bundles, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	b := app.Bundles(loaded.Value, c.needs(loaded, paths))
	b.Program = c.programs.Look
	b.NPM, b.PyPI = c.getenv(npmVariable), c.getenv(pypiVariable)
	named := slices.Concat(loaded.Value.Grant.Hosts, typed, []string{b.NPM, b.PyPI})
	for _, r := range loaded.Value.Market.Registries {
		named = append(named, r.URL)
	}
	b.HTTP, b.Reach = bundles.Hosts(named), bundles.Reach(named)
	return b, nil
}

// bundledAgent reports whether the agent that was named comes with a bundle.
func (c *command) bundledAgent() bool {
	b, err := c.bundles()
	if err != nil {
		return false
	}
	_, there := b.Load().Agents[c.agent]
	return there
}

func (c *command) completeBundle(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	b, err := c.bundles()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	own, project, err := b.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Concat(slices.Sorted(maps.Keys(own)), slices.Sorted(maps.Keys(project))), cobra.ShellCompDirectiveNoFileComp
}

func (c *command) bundleInstall(ctx context.Context, source string, flags bundleFlags) error {
	if err := flags.read(); err != nil {
		return err
	}
	var typed []string
	if flags.typed {
		typed = bundles.Addresses(source)
	}
	b, err := c.bundles(typed...)
	if err != nil {
		return err
	}
	done := c.progress("fetching " + source)
	found, err := b.Fetch(ctx, source, flags.Want)
	done()
	if err != nil {
		return bundleError(err)
	}
	return c.bundleTake(ctx, b, found, flags)
}

func (c *command) bundleUpdate(ctx context.Context, name, source string, flags bundleFlags) error {
	if err := flags.read(); err != nil {
		return err
	}
	b, err := c.bundles(bundles.Addresses(source)...)
	if err != nil {
		return err
	}
	done := c.progress("fetching " + name)
	found, err := b.Update(ctx, name, source, flags.Want)
	done()
	if err != nil {
		return bundleError(err)
	}
	return c.bundleTake(ctx, b, found, flags)
}

// bundleTake shows what was fetched, asks, and lets it count.
func (c *command) bundleTake(ctx context.Context, b *bundles.Bundles, found *bundles.Candidate, flags bundleFlags) (err error) {
	defer func() { err = errors.Join(err, found.Close()) }()
	if found.Same() {
		if broken, err := b.Verify(found.Package.Name); err == nil && !slices.ContainsFunc(broken, func(k bundles.Checked) bool { return !k.Good }) {
			fmt.Fprintf(c.out, "%s is already installed with exactly this content.\n", found.Package.Name)
			if c.fromRegistry(found.Source.String()) {
				fmt.Fprintln(c.out, "It came from a registry: 'toolcrib market install NAME' asks there for a newer version.")
			}
			return nil
		}
	}
	shown := c.out
	if c.asJSON(false) {
		shown = c.err // what programs read is the result
	}
	showCandidate(shown, found)
	if dangerous(found) && !flags.dangerous {
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "nothing was installed: the scan found something dangerous, see above. If you have looked at it and want the bundle all the same, add --accept-dangerous"}
	}
	if !flags.yes {
		question := "Install " + found.Package.Name + "?"
		if found.Before != nil {
			question = "Update " + found.Package.Name + "?"
		}
		if ok, err := c.confirm(question); err != nil || !ok {
			return err
		}
	}
	result, err := b.Install(ctx, found)
	if err != nil {
		return bundleError(err)
	}
	if c.asJSON(false) {
		return c.printJSON(result)
	}
	fmt.Fprintf(c.out, "Installed %s: %s, %s, %s, %s.\n", result.Name, counted(len(result.Skills), "skill"), counted(len(result.Servers), "server"), counted(len(result.Avatars), "agent"), counted(len(result.Memory), "memory template"))
	if flags.Project && found.Abroad() {
		fmt.Fprintf(c.err, "toolcrib: warning: it comes from a place of this machine outside of the project, and others cannot install it from the lock file\n")
	}
	for _, a := range found.Package.Asks {
		if a.Secret && (a.Required || found.Values[a.Name] != "") {
			fmt.Fprintf(c.out, "It needs the secret %s: run 'toolcrib secret set %s'.\n", a.Name, found.Secret(a.Name))
		}
	}
	return nil
}

// bundleError gives an error of packages the code that fits.
func bundleError(err error) error {
	if errors.Is(err, bundles.ErrNone) {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: err.Error(), Err: err}
	}
	return failed{err}
}
