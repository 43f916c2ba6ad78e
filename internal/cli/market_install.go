package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

func (c *command) marketInstallCmd() *cobra.Command {
	var registry string
	var flags bundleFlags
	var take namedServer
	cmd := &cobra.Command{
		Use: "install NAME[@VERSION]", Short: "Install a skill, a bundle or a server of a registry",
		Long: `Find something in the registries and install it. A server is added as 'toolcrib hub add'
does; all else goes to 'toolcrib bundle install', which shows what it brings and asks.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.marketResult(cmd.Context(), args[0], registry)
			if err != nil {
				return err
			}
			if r.Kind != market.Server || r.Source != "" {
				if flags.Name = take.as; flags.Name == "" && r.Kind == market.Skill {
					flags.Name = r.Name // a bare skill is called as its folder or archive
				}
				return c.marketInstall(cmd.Context(), r, flags)
			}
			if flags.Project {
				return usagef("a server of a registry is added to your own settings; --project is for bundles and skills")
			}
			take.values, take.yes, take.place = flags.values, flags.yes, map[string]any{}
			if flags.Sandbox != "" {
				take.place["sandbox"] = flags.Sandbox
			}
			return c.hubAddNamed(cmd.Context(), r, take)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&registry, "registry", "", "only this registry")
	cmd.Flags().StringVar(&take.as, "as", "", "call it so, instead of by its own name")
	cmd.Flags().StringArrayVar(&take.env, "env", nil, "of a server: a variable for its program, NAME=VALUE; what looks like a secret goes to the vault")
	cmd.Flags().StringArrayVar(&take.headers, "header", nil, "of a server: a header that is sent to it, NAME=VALUE; what looks like a secret goes to the vault")
	return cmd
}

// marketInstall hands a result to the installer of bundles: its source, or what was fetched
// of it, which stays where it is so that the installer can come back to it.
func (c *command) marketInstall(ctx context.Context, r *market.Result, flags bundleFlags) error {
	source := r.Source
	if source == "" {
		m, err := c.market()
		if err != nil {
			return err
		}
		defer closeMarket(m)
		done := c.progress("fetching " + r.Name)
		content, err := m.Fetch(ctx, *r)
		done()
		if err != nil {
			return failed{fmt.Errorf("%s: %w", r.Name, err)}
		}
		for _, n := range content.Notes {
			fmt.Fprintf(c.err, "toolcrib: note: %s: %s\n", r.Name, n)
		}
		if source, err = c.keepFetched(r, content); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.beside(), "%s from the registry %s\n", r.Name, r.Registry)
	for _, n := range r.Notes {
		fmt.Fprintf(c.beside(), "NOTE: %s\n", n)
	}
	return c.bundleInstall(ctx, source, flags)
}

func fetchedDir(state string) string { return filepath.Join(market.Dir(state), "fetched") }

// fromRegistry reports whether a source is what was fetched from a registry once: there is
// never a newer version at that place.
func (c *command) fromRegistry(source string) bool {
	_, paths, err := c.load()
	return err == nil && pathglob.Holds(fetchedDir(paths.State), source)
}

// keepFetched writes contents where no tool can change them, by what they are.
func (c *command) keepFetched(r *market.Result, content *market.Content) (string, error) {
	_, paths, err := c.load()
	if err != nil {
		return "", err
	}
	_, sum, _ := strings.Cut(content.Digest, ":")
	dir := filepath.Join(fetchedDir(paths.State), sum[:min(len(sum), 32)])
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	at, err := content.Write(dir)
	if err != nil {
		return "", failed{fmt.Errorf("%s: %w", r.Name, err)}
	}
	return at, nil
}

// showPairs shows variables or headers, a line each.
func showPairs(w io.Writer, what string, pairs map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Fprintf(w, "%-12s %s=%s\n", what+":", quoted(name), quoted(pairs[name]))
	}
}
