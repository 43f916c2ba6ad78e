package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show, change and check the configuration",
		Long: `The configuration is layered: defaults, then /etc/toolcrib/config.yaml, then
the user's config.yaml, then TOOLCRIB_… variables, then flags. A toolcrib.yaml
found in or above the working directory may only tighten what those say.`,
		Example: `  toolcrib config show --changed           what is not a default, and where it was set
  toolcrib config init                     begin a file of settings, with comments
  toolcrib config set mode auto-edit       change one setting
  toolcrib config edit                     change the file in your editor
  toolcrib config check                    every mistake, with file and line
  toolcrib config schema > schema.json     for an editor`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return c.showConfig(false) },
	}
	var changed bool
	show := &cobra.Command{
		Use: "show", Short: "Show every key and where its value came from", Args: usageArgs(cobra.NoArgs),
		Example: `  toolcrib config show
  toolcrib config show --changed           only what is not a default`,
		RunE: func(*cobra.Command, []string) error { return c.showConfig(changed) },
	}
	show.Flags().BoolVar(&changed, "changed", false, "only what is not a default")
	cmd.AddCommand(show, c.configInitCmd(), c.configSetCmd(), c.configEditCmd(), &cobra.Command{
		Use: "check", Short: "Check every configuration file", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.prepared(cmd.Context(), unchanged, func(a *app.App) error {
				return c.checkNames(cmd.Context(), a)
			})
		},
	}, &cobra.Command{
		Use: "reference", Short: "Print the reference of all keys as Markdown", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return c.write(config.Reference(settings.Defaults())) },
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the configuration file", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return c.write(config.Schema(settings.Defaults())) },
	})
	return cmd
}

// checkNames fails if something in the settings has no effect, and tells what
// cannot be known yet.
func (c *command) checkNames(ctx context.Context, a *app.App) error {
	if c.broken != nil {
		return badConfig{c.broken.err}
	}
	bad := a.Mistakes()
	for _, u := range a.Unmatched(ctx, c.whereIs) {
		if u.Unknown {
			fmt.Fprintf(c.out, "unknown yet: %s\n", text.ShowLine(u.String()))
			continue
		}
		bad++
		fmt.Fprintf(c.err, "toolcrib: %s\n", text.ShowLine(u.String()))
	}
	switch bad {
	case 0:
		_, err := fmt.Fprintln(c.out, "ok")
		return err
	case 1:
		return failed{errors.New("1 setting has no effect")}
	}
	return failed{fmt.Errorf("%d settings have no effect", bad)}
}

func (c *command) showConfig(changed bool) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		if changed {
			return usagef("--changed is for people: -o json has every key with its origin")
		}
		shown, err := config.ShowJSON(loaded)
		if err != nil {
			return err
		}
		return c.printJSON(json.RawMessage(shown))
	}
	if changed {
		shown, err := config.ShowChanged(loaded)
		if err == nil && len(shown) == 0 {
			shown = []byte("# nothing is set: everything is as it comes\n")
		}
		return c.write(shown, err)
	}
	if err := c.write(config.Show(loaded)); err != nil {
		return err
	}
	words := c.needs(loaded, paths).Registries(loaded.Value).Means
	for _, word := range slices.Sorted(maps.Keys(words)) {
		hosts := strings.ReplaceAll(strings.Join(words[word], ", "), "private:", "")
		if hosts == "" {
			hosts = "no host"
		}
		if _, err := fmt.Fprintf(c.out, "# grant.hosts: %s stands for %s\n", word, text.ShowLine(hosts)); err != nil {
			return err
		}
	}
	return nil
}

// write puts a generated text on standard output.
func (c *command) write(text []byte, err error) error {
	if err != nil {
		return err
	}
	_, err = c.out.Write(text)
	return err
}
