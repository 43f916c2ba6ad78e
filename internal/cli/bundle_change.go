package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) bundleRollbackCmd() *cobra.Command {
	var project, yes bool
	cmd := &cobra.Command{
		Use: "rollback NAME", Short: "Go back to the state of a bundle before its last update", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.bundles()
			if err != nil {
				return err
			}
			was, consent, err := b.Previous(args[0], project)
			if err != nil {
				return bundleError(err)
			}
			showPackage(c.out, &was.Package, was.Source, was.Tree)
			showConsent(c.out, consent)
			if !yes {
				if ok, err := c.confirm("Go back to this state of " + args[0] + "?"); err != nil || !ok {
					return err
				}
			}
			if _, err := b.Rollback(cmd.Context(), args[0], project); err != nil {
				return bundleError(err)
			}
			fmt.Fprintf(c.out, "%s is what it was before.\n", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "a bundle of the project you are in")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask: what is shown was looked at")
	return cmd
}

func (c *command) bundleRemoveCmd() *cobra.Command {
	var project, keep bool
	cmd := &cobra.Command{
		Use: "remove NAME", Aliases: []string{"uninstall"}, Short: "Remove a bundle, and what it kept for itself", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.bundles()
			if err != nil {
				return err
			}
			servers, err := b.ServersOf(args[0], project)
			if err != nil {
				return bundleError(err)
			}
			stay, err := b.Remove(cmd.Context(), args[0], project, keep)
			if err != nil {
				return bundleError(err)
			}
			if err := c.forgetServers(cmd.Context(), servers); err != nil {
				return fmt.Errorf("%s is removed; what was approved of its servers could not be forgotten: %w", args[0], err)
			}
			fmt.Fprintf(c.out, "Removed %s.\n", args[0])
			for _, name := range stay {
				fmt.Fprintf(c.out, "%s stays: you have changed it.\n", text.ShowLine(name))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "a bundle of the project you are in")
	cmd.Flags().BoolVar(&keep, "keep-data", false, "leave what its servers kept for themselves")
	return cmd
}

// forgetServers drops what is kept of the servers of a bundle that is gone: whatever is called so next has not been looked at.
// One of the settings keeps its own.
func (c *command) forgetServers(ctx context.Context, names []string) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(app.HubDir(paths.State)); err != nil {
		return nil //nolint:nilerr // nothing was ever kept
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, own := loaded.Value.MCPServers[name]; return own })
	if len(names) == 0 {
		return nil
	}
	return c.forget(ctx, names)
}

func (c *command) bundleSyncCmd() *cobra.Command {
	var flags bundleFlags
	var own bool
	cmd := &cobra.Command{
		Use: "sync", Short: "Install what the project's lock file names, exactly as it is there", Args: usageArgs(cobra.NoArgs),
		Long: `Install the bundles of .toolcrib/bundles.lock, the lock file of the project, with the
commits and digests that it names. Each is shown, and you are asked. --own goes by your
own lock file (toolcrib.lock beside your settings), such as one from another machine.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.read(); err != nil {
				return err
			}
			flags.Project = !own
			return c.bundleSync(cmd.Context(), flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&own, "own", false, "go by your own lock file")
	cmd.Flags().Lookup("project").Hidden = true
	return cmd
}

func (c *command) bundleSync(ctx context.Context, flags bundleFlags) error {
	b, err := c.bundles()
	if err != nil {
		return err
	}
	missing, err := b.Unsynced(flags.Project)
	if err != nil {
		return bundleError(err)
	}
	if len(missing) == 0 {
		fmt.Fprintln(c.out, "All that the lock file names is installed.")
		return nil
	}
	values := flags.Values
	var failures []error
	for _, m := range missing {
		flags.Values = values
		found, err := b.FetchLocked(ctx, m, flags.Want)
		if err == nil {
			err = c.bundleTake(ctx, b, found, flags)
		}
		if toolcrib.CodeOf(err) == toolcrib.CodeUnavailable { // nobody is there: nor for the others
			return err
		}
		if err != nil {
			// In words: of errors that are joined only the one with a code would be told.
			failures = append(failures, errors.New(m.Name+": "+err.Error()))
		}
	}
	if len(failures) > 0 {
		return failed{errors.Join(failures...)}
	}
	return nil
}

func (c *command) bundlePackCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "pack DIR", Short: "Check a bundle and make an archive of it, the same each time", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.bundles()
			if err != nil {
				return err
			}
			packed, err := b.Pack(cmd.Context(), c.within(args[0]), func(name string) string {
				if out == "" {
					out = name
				}
				return c.within(out)
			})
			if err != nil {
				return bundleError(err)
			}
			if c.asJSON(false) {
				return c.printJSON(packed)
			}
			showNotes(c.out, packed.Notes)
			fmt.Fprintf(c.out, "Wrote %s with %s.\nsha256 %s\n", text.ShowLine(packed.File), counted(packed.Files, "file"), packed.SHA256)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "to", "", "the file to write; else NAME-VERSION.zip, or .mcpb, here")
	return cmd
}

func (c *command) bundleNewCmd() *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Begin a bundle of your own, an Agent Plugin, in a folder NAME", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.bundleNew(args[0]) },
	}
}

func (c *command) bundleNew(name string) error {
	if bundle.CheckName(name) != nil || strings.ToLower(name) != name || strings.Contains(name, "_") {
		return usagef("%q cannot be the name of a bundle: write small letters and digits, with single - or . between them", name)
	}
	files, err := bundles.New(c.within(name), name)
	if err != nil {
		return failed{err}
	}
	slices.Sort(files)
	for _, f := range files {
		fmt.Fprintf(c.out, "Wrote %s.\n", text.ShowLine(f))
	}
	fmt.Fprintf(c.out, "'toolcrib bundle show ./%s' says what it has, and 'toolcrib bundle install ./%[1]s' installs it.\n", name)
	return nil
}
