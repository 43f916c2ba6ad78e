package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
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
	cmd.Flags().StringVar(&from, "from", "", "whose files: "+strings.Join(clientfiles.Clients(), ", "))
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before writing")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&undo, "undo", false, "take the last import back")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(clientfiles.Clients(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// taken is one server of an import.
type taken struct {
	file    string
	server  clientfiles.Server // of one that has a name: without its secrets
	secrets []clientfiles.Found
	name    string // under which it is written
}

func (c *command) codec() clientfiles.Codec {
	return clientfiles.Codec{YAML: config.Decode, Home: c.home(), Project: c.dir, Exists: func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}}
}

// find reads the files of an import. A file that was not asked for by name and
// cannot be read is told and left.
func (c *command) find(files []string, from string) ([]taken, error) {
	if from != "" && !slices.Contains(clientfiles.Clients(), from) {
		return nil, usagef("--from is %q: want one of %s", from, strings.Join(clientfiles.Clients(), ", "))
	}
	var out []taken
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, usage(err)
		}
		client, ok := from, true
		if client == "" {
			client, ok = clientfiles.Detect(path, content)
		}
		if !ok {
			return nil, usagef("whose file %s is cannot be told: say it with --from", path)
		}
		out = append(out, c.read(client, path, content)...)
	}
	if len(files) > 0 {
		return out, nil
	}
	for _, p := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, "") {
		if from != "" && p.Client != from {
			continue
		}
		content, err := os.ReadFile(p.Path)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				fmt.Fprintf(c.err, "toolcrib: warning: left out: %s\n", text.ShowLine(err.Error()))
			}
			continue
		}
		out = append(out, c.read(p.Client, p.Path, content)...)
	}
	return out, nil
}

// read gives the servers of one file that are for here.
func (c *command) read(client, path string, content []byte) []taken {
	servers, problems := c.codec().Read(client, content)
	for _, p := range problems {
		if !p.Skipped {
			fmt.Fprintf(c.err, "toolcrib: warning: left out: %s: %s\n", text.ShowLine(path), text.ShowLine(p.String()))
		}
	}
	var out []taken
	for _, s := range servers {
		if ourselves(s) {
			continue // it would stand behind itself
		}
		if s.Project == "" || s.Project == c.dir { // else it is for another project only
			out = append(out, taken{file: path, server: s})
		}
	}
	return out
}

// ourselves reports whether a server is this program, as connect wrote it.
func ourselves(s clientfiles.Server) bool {
	base := strings.TrimSuffix(filepath.Base(s.Command), ".exe")
	exe, err := os.Executable()
	return s.Name == connectName && s.URL != "" || s.Command != "" && len(s.Args) > 0 && s.Args[0] == "mcp" && (base == "toolcrib" || err == nil && s.Command == exe)
}

// name gives every server a name that is free, and takes its secrets out under
// that name. The same server in two files is taken once.
func (c *command) name(list []taken, there map[string]settings.MCPServer) ([]taken, error) {
	looks, err := app.LooksSecret()
	if err != nil {
		return nil, err
	}
	what := func(command string, args []string, url string) string {
		return serverText(settings.ServerEntry(clientfiles.Server{Command: command, Args: args, URL: url}))
	}
	var out []taken
	used := map[string]string{}
	for name, s := range there {
		used[name] = what(s.Command, s.Args, s.URL)
	}
	for _, t := range list {
		base, original := nameFor(t.server.Name), t.server
		t.name = base
		for n := 2; ; n++ {
			original.Name = t.name
			t.server, t.secrets = clientfiles.Secrets(original, looks)
			is := what(t.server.Command, t.server.Args, t.server.URL)
			was, taken := used[t.name]
			if !taken {
				used[t.name] = is
				out = append(out, t)
				break
			}
			if was == is {
				break // it is there
			}
			t.name = fmt.Sprintf("%s-%d", base, n)
		}
	}
	return out, nil
}

// nameFor makes a name that a server may have here of one that it has elsewhere.
func nameFor(name string) string {
	base := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(base, "__") {
		base = strings.ReplaceAll(base, "__", "_")
	}
	base = base[:min(len(base), 40)]
	if app.CheckServerName(base) != nil { // a toolbox of ours has it
		base += "-mcp"
	}
	return base
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
	list, err := c.name(found, loaded.Value.MCPServers)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(c.out, "There is nothing to take over: %d servers were found, and all of them are here already.\n", len(found))
		return nil
	}
	keys := 0
	for _, t := range list {
		c.preview(t)
		keys += len(t.secrets)
	}
	if err := c.tryEdit(paths, list); err != nil {
		return err
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
	v, err := c.openVault(nil)
	if err != nil {
		return err
	}
	list, values, err := c.checkSecrets(ctx, v, list)
	if err != nil {
		return err // nothing was changed
	}
	if len(list) == 0 {
		return failed{errors.New("no server is left to take over; nothing was changed")}
	}
	file, err := c.takeOver(ctx, paths, v, list, values)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Wrote %d servers to %s. 'toolcrib hub test NAME' tries one; 'toolcrib hub import --undo' takes all of this back.\n", len(list), file)
	return nil
}
