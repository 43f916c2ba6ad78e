package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcpconf"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// imported is what an import did, to be taken back.
type imported struct {
	At      time.Time `json:"at"`
	Servers []string  `json:"servers"`
	Secrets []string  `json:"secrets"`
}

func importFile(state string) string { return filepath.Join(app.HubDir(state), "last-import.json") }

func (i imported) save(state string) error {
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(app.HubDir(state), 0o700); err != nil {
		return err
	}
	return app.ReplaceFile(importFile(state), text, 0o600)
}

func (c *command) undoImport(ctx context.Context) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(importFile(paths.State))
	if errors.Is(err, os.ErrNotExist) {
		return usagef("there is no import to take back")
	}
	if err != nil {
		return err
	}
	var done imported
	if err := json.Unmarshal(text, &done); err != nil {
		return fmt.Errorf("reading what was imported: %w", err)
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		for _, name := range done.Servers {
			var err error
			if text, _, err = config.RemoveEntry(text, "mcp_servers", name); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	if err != nil {
		return err
	}
	if len(done.Secrets) > 0 {
		v, err := app.OpenVault(loaded.Value.Vault, paths.State, c.keySource())
		if err != nil {
			return err
		}
		for _, name := range done.Secrets {
			if err := v.Remove(ctx, vault.Ref{Name: name}); err != nil && !errors.Is(err, vault.ErrNotFound) {
				return err
			}
		}
	}
	if err := os.Remove(importFile(paths.State)); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Taken back: %d servers from %s and %d secrets.\n", len(done.Servers), file, len(done.Secrets))
	return nil
}

func (c *command) hubExportCmd() *cobra.Command {
	to := mcpconf.ClaudeCode
	cmd := &cobra.Command{
		Use: "export", Short: "Write the servers as a file of another client",
		Example: `  toolcrib hub export --to cursor > mcp.json`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			loaded, _, err := c.load()
			if err != nil {
				return err
			}
			if !slices.Contains(mcpconf.Clients(), to) {
				return usagef("--to is %q: want one of %s", to, strings.Join(mcpconf.Clients(), ", "))
			}
			var list []mcpconf.Server
			for _, name := range slices.Sorted(maps.Keys(loaded.Value.MCPServers)) {
				s := loaded.Value.MCPServers[name]
				server := mcpconf.Server{
					Name: name, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers,
					Timeout: s.Timeout, EnabledTools: s.EnabledTools, DisabledTools: s.DisabledTools, Disabled: s.Disabled,
				}
				if s.Transport != "auto" {
					server.Transport = s.Transport
				}
				list = append(list, server)
			}
			text, lost, err := mcpconf.Export(to, list)
			if err != nil {
				return err
			}
			for _, l := range lost {
				fmt.Fprintf(c.err, "toolcrib: warning: %s\n", printable(l))
			}
			return c.write(text, nil)
		},
	}
	cmd.Flags().StringVar(&to, "to", to, "whose form: "+strings.Join(mcpconf.Clients(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(mcpconf.Clients(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
