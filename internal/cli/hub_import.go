package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/guard/secrets"
	"github.com/toolcrib/toolcrib/internal/mcpconf"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) hubImportCmd() *cobra.Command {
	var from string
	var yes, undo, dry bool
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Take over the MCP servers of other clients",
		Long: `Read the MCP servers of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf,
Codex, Gemini, Zed, opencode, Cline, Roo, Kilo, Goose, Crush and AgenticX, or of
the files that are named, show what would be taken over, and write it to your
configuration. Secrets that stand in these files go to the vault and are
referred to. The files themselves stay as they are; --undo takes the last
import back.`,
		Example: `  toolcrib hub import                      from all clients on this machine
  toolcrib hub import --dry-run            only show
  toolcrib hub import ~/.cursor/mcp.json   from one file
  toolcrib hub import --undo`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				return c.undoImport(cmd.Context())
			}
			return c.importServers(cmd.Context(), args, from, yes, dry)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "whose files: "+strings.Join(mcpconf.Clients(), ", "))
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before writing")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&undo, "undo", false, "take the last import back")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(mcpconf.Clients(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// taken is one server of an import.
type taken struct {
	file    string
	server  mcpconf.Server
	secrets []mcpconf.Found
	name    string // under which it is written
}

func (c *command) codec() mcpconf.Codec {
	return mcpconf.Codec{YAML: config.Decode, Home: c.home(), Project: c.dir, Exists: func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}}
}

// find reads the files of an import. One that cannot be read is told and left.
func (c *command) find(files []string, from string) ([]taken, error) {
	if from != "" && !slices.Contains(mcpconf.Clients(), from) {
		return nil, usagef("--from is %q: want one of %s", from, strings.Join(mcpconf.Clients(), ", "))
	}
	type source struct{ client, path string }
	var list []source
	for _, path := range files {
		list = append(list, source{from, path})
	}
	if len(files) == 0 {
		for _, p := range mcpconf.Places(runtime.GOOS, c.home(), c.getenv, "") {
			if from == "" || p.Client == from {
				list = append(list, source{p.Client, p.Path})
			}
		}
	}
	scanner, err := secrets.New()
	if err != nil {
		return nil, err
	}
	looks := func(text string) bool { return len(scanner.Find(text, nil)) > 0 }
	var out []taken
	for _, s := range list {
		text, err := os.ReadFile(s.path)
		if errors.Is(err, os.ErrNotExist) && len(files) == 0 {
			continue
		}
		if err != nil {
			return nil, usage(err)
		}
		client := s.client
		if client == "" {
			var ok bool
			if client, ok = mcpconf.Detect(s.path, text); !ok {
				return nil, usagef("whose file %s is cannot be told: say it with --from", s.path)
			}
		}
		servers, problems := c.codec().Read(client, text)
		for _, p := range problems {
			if !p.Skipped {
				fmt.Fprintf(c.err, "toolcrib: warning: left out: %s: %s\n", printable(s.path), printable(p.String()))
			}
		}
		for _, server := range servers {
			if server.Project != "" && server.Project != c.dir {
				continue // it is for another project only
			}
			clean, found := mcpconf.Secrets(server, looks)
			out = append(out, taken{file: s.path, server: clean, secrets: found})
		}
	}
	return out, nil
}

// name gives every server a name that is free. The same server in two files is
// taken once.
func (c *command) name(list []taken, there map[string]app.MCPServer) []taken {
	var out []taken
	used := map[string]string{}
	for name, s := range there {
		used[name] = serverText(app.ServerEntry(mcpconf.Server{Command: s.Command, Args: s.Args, URL: s.URL}))
	}
	for _, t := range list {
		base := strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '-'
		}, t.server.Name)
		base = base[:min(len(base), 40)]
		what := serverText(app.ServerEntry(mcpconf.Server{Command: t.server.Command, Args: t.server.Args, URL: t.server.URL}))
		t.name = base
		for n := 2; ; n++ {
			was, taken := used[t.name]
			if !taken {
				used[t.name] = what
				out = append(out, t)
				break
			}
			if was == what {
				break // it is there
			}
			t.name = fmt.Sprintf("%s-%d", base, n)
		}
	}
	return out
}

func serverText(value map[string]any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func (c *command) importServers(ctx context.Context, files []string, from string, yes, dry bool) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	found, err := c.find(files, from)
	if err != nil {
		return err
	}
	list := c.name(found, loaded.Value.MCPServers)
	if len(list) == 0 {
		fmt.Fprintf(c.out, "There is nothing to take over: %d servers were found, and all of them are here already.\n", len(found))
		return nil
	}
	keys := 0
	for _, t := range list {
		c.preview(t)
		keys += len(t.secrets)
	}
	if dry {
		return nil
	}
	question := fmt.Sprintf("Write %d servers to the configuration and %d secrets to the vault?", len(list), keys)
	if !yes {
		ok, err := c.confirm(question)
		if err != nil {
			return err
		}
		if !ok {
			return errors.New("nothing was changed")
		}
	}
	done := imported{At: time.Now()}
	if keys > 0 {
		v, err := app.OpenVault(loaded.Value.Vault, paths.State, c.keySource())
		if err != nil {
			return err
		}
		for _, t := range list {
			for _, s := range t.secrets {
				// One that is there is somebody's: it must not be overwritten.
				if old, err := v.Get(ctx, vault.Ref{Name: s.Name}); err == nil && old != s.Value {
					return fmt.Errorf("the vault has another secret %s: rename or remove it, and import again (nothing was changed)", s.Name)
				} else if err == nil {
					continue
				}
				if err := v.Set(ctx, vault.Ref{Name: s.Name}, s.Value); err != nil {
					return fmt.Errorf("keeping the secret %s: %w", s.Name, err)
				}
				done.Secrets = append(done.Secrets, s.Name)
			}
		}
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		for _, t := range list {
			var err error
			if text, err = config.SetEntry(text, "mcp_servers", t.name, app.ServerEntry(t.server)); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	if err != nil {
		return err
	}
	for _, t := range list {
		done.Servers = append(done.Servers, t.name)
	}
	if err := done.save(paths.State); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Wrote %d servers to %s. 'toolcrib hub test NAME' tries one; 'toolcrib hub import --undo' takes all of this back.\n", len(list), file)
	return nil
}

// preview shows one server as it would be taken over: the command whole, since
// it is what will run.
func (c *command) preview(t taken) {
	s := t.server
	fmt.Fprintf(c.out, "%s (from %s, %s)\n", t.name, mcpconf.Title(s.Source), printable(t.file))
	if s.URL != "" {
		fmt.Fprintf(c.out, "  address: %s\n", printable(s.URL))
	} else {
		fmt.Fprintf(c.out, "  program: %s\n", printable(strings.Join(append([]string{s.Command}, s.Args...), " ")))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(c.out, "  variable: %s=%s\n", printable(name), printable(s.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		fmt.Fprintf(c.out, "  header: %s: %s\n", printable(name), printable(s.Headers[name]))
	}
	for _, f := range t.secrets {
		fmt.Fprintf(c.out, "  secret: what stands in %s goes to the vault as %s\n", printable(f.Where), f.Name)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(c.out, "  note: %s\n", printable(n))
	}
	if s.Disabled {
		fmt.Fprintln(c.out, "  note: it is switched off there, and will be here")
	}
}
