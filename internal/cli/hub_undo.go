package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// imported is what an import did, to be taken back. It is written before
// anything is done.
type imported struct {
	At      time.Time        `json:"at"`
	Servers []importedServer `json:"servers"`
	Secrets []string         `json:"secrets"`
	// Before is the file of settings as it was, and After the digest of what
	// the import made of it: if it is still that, undoing gives back every byte.
	Before []byte `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// importedServer is a server as it was written.
type importedServer struct {
	Name  string          `json:"name"`
	Entry json.RawMessage `json:"entry"`
}

// as reports whether a server still is as it was written.
func (i importedServer) as(entry any) bool {
	var was any
	if json.Unmarshal(i.Entry, &was) != nil {
		return false
	}
	return reflect.DeepEqual(was, entry)
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
	return rewrite.Replace(importFile(state), text, 0o600)
}

// undoImport takes the last import back: what a person has changed since stays,
// and so do the secrets that are still referred to.
func (c *command) undoImport(ctx context.Context) error {
	_, paths, err := c.load()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(importFile(paths.State))
	if errors.Is(err, os.ErrNotExist) {
		return usagef("there is no import to take back")
	}
	if err != nil {
		return err
	}
	var done imported
	if err := json.Unmarshal(content, &done); err != nil {
		return fmt.Errorf("reading what was imported: %w", err)
	}
	v, err := c.openVault(nil)
	if err != nil {
		return err
	}
	var now []byte
	var gone, kept []string
	count := 0
	file, err := c.editConfig(func(content []byte) ([]byte, error) {
		if len(done.Before) > 0 && digest(content) == done.After {
			for _, s := range done.Servers {
				gone = append(gone, s.Name)
			}
			now, count = done.Before, len(gone)
			return now, nil
		}
		for _, s := range done.Servers {
			entry, there, err := config.Entry(content, "mcp_servers", s.Name)
			if err != nil {
				return nil, err
			}
			if there && !s.as(entry) {
				kept = append(kept, s.Name)
				continue
			}
			gone = append(gone, s.Name)
			if !there {
				continue
			}
			if content, _, err = config.RemoveEntry(content, "mcp_servers", s.Name); err != nil {
				return nil, err
			}
			count++
		}
		now = content
		return content, nil
	})
	if err != nil {
		return err
	}
	drop := slices.DeleteFunc(slices.Clone(done.Secrets), func(name string) bool {
		return strings.Contains(string(now), "${secret:"+name+"}")
	})
	if err := setup.DropSecrets(ctx, v, drop); err != nil {
		return c.vaultError(v, fmt.Errorf("the servers are taken back, their secrets are not; try again: %w", err))
	}
	if err := c.forget(ctx, gone); err != nil {
		return err
	}
	if err := os.Remove(importFile(paths.State)); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Taken back: %s from %s and %s.\n", counted(count, "server"), file, counted(len(drop), "secret"))
	if len(kept) > 0 {
		fmt.Fprintf(c.out, "Left as they are, since they were changed after the import: %s\n", text.ShowLine(strings.Join(kept, ", ")))
	}
	return nil
}

// forget drops what is kept of servers: what they said, and what was approved.
func (c *command) forget(ctx context.Context, names []string) error {
	a, err := c.openFor(ctx, app.ToApprove, nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, a.Hub.Forget(name))
	}
	return errors.Join(append(errs, a.Close(ctx))...)
}

func (c *command) hubExportCmd() *cobra.Command {
	to := clientfiles.ClaudeCode
	cmd := &cobra.Command{
		Use: "export", Short: "Write the servers as a file of another client",
		Example: `  toolcrib hub export --to cursor > mcp.json`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			loaded, _, err := c.load()
			if err != nil {
				return err
			}
			if !slices.Contains(clientfiles.Clients(), to) {
				return usagef("--to is %q: want one of %s", to, strings.Join(clientfiles.Clients(), ", "))
			}
			var list []clientfiles.Server
			for _, name := range slices.Sorted(maps.Keys(loaded.Value.MCPServers)) {
				s := loaded.Value.MCPServers[name]
				server := clientfiles.Server{
					Name: name, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers,
					Timeout: s.Timeout, EnabledTools: s.EnabledTools, DisabledTools: s.DisabledTools, Disabled: s.Disabled,
				}
				if s.Transport != "auto" {
					server.Transport = s.Transport
				}
				list = append(list, server)
			}
			content, lost, err := clientfiles.Export(to, list)
			if err != nil {
				return err
			}
			for _, s := range list {
				if kept := loaded.Value.MCPServers[s.Name].OAuth; kept.ClientID != "" || kept.Issuer != "" || len(kept.Scopes) > 0 || kept.Flow == "off" {
					lost = append(lost, s.Name+": how one logs in to it (oauth) is not in the file; the client asks the server")
				}
				if kept := loaded.Value.MCPServers[s.Name]; kept.Sandbox != "" && kept.Sandbox != "host" || len(kept.Effects)+len(kept.Agents) > 0 {
					lost = append(lost, s.Name+": where it runs, what it may do and for whom it is are settings of Toolcrib's own, and not in the file")
				}
			}
			for _, l := range lost {
				fmt.Fprintf(c.err, "toolcrib: warning: %s\n", text.ShowLine(l))
			}
			return c.write(content, nil)
		},
	}
	cmd.Flags().StringVar(&to, "to", to, "whose form: "+strings.Join(clientfiles.Clients(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(clientfiles.Clients(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
