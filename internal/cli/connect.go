package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
)

func (c *command) connectCmd() *cobra.Command {
	var how connecting
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Put Toolcrib into the configuration of an MCP client",
		Long: `Write Toolcrib into the file where a client keeps its MCP servers. Everything
else in the file stays as it is, the file before is kept beside it, and --undo
takes Toolcrib out again.

With --hooks the client asks Toolcrib before each of its own commands and edits
(see 'toolcrib hook --help'). That does not give it the tools of Toolcrib: connect
it without --hooks too.

Clients: ` + strings.Join(setup.Connectable(), ", "),
		Example: `  toolcrib connect claude-code
  toolcrib connect cursor --project        for this project only
  toolcrib connect codex --dry-run         only show the file
  toolcrib connect claude-code --http      over HTTP, with your token
  toolcrib connect cursor --http --url https://tools.example.com/mcp --token-env TOOLCRIB_TOKEN
  toolcrib connect claude-code --undo
  toolcrib connect claude-code --hooks     judge its own tools as well`,
		Args:      usageArgs(cobra.ExactArgs(1)),
		ValidArgs: setup.Connectable(),
		RunE: func(_ *cobra.Command, args []string) error {
			if (how.url != "" || how.env != "") && !how.http {
				return usagef("--url and --token-env say how the server is reached over HTTP: add --http")
			}
			if how.hooks && how.http {
				return usagef("--hooks is about the client's own tools, and --http about those of Toolcrib: do one after the other")
			}
			if how.hooks {
				return c.connectHooks(args[0], how)
			}
			return c.connect(args[0], how)
		},
	}
	cmd.Flags().BoolVar(&how.undo, "undo", false, "take it out again")
	cmd.Flags().BoolVar(&how.dry, "dry-run", false, "show the file as it would be, and write nothing")
	cmd.Flags().BoolVar(&how.project, "project", false, "in the file of this project instead of yours")
	cmd.Flags().BoolVar(&how.hooks, "hooks", false, "have the client ask Toolcrib before its own tools; with --undo: no more")
	cmd.Flags().BoolVar(&how.http, "http", false, "over HTTP, to a server that 'toolcrib serve' runs, with your token, instead of a program that the client starts")
	cmd.Flags().StringVar(&how.url, "url", "", "with --http: the address of the server, if it is another machine's or behind a proxy, such as https://tools.example.com/mcp")
	cmd.Flags().StringVar(&how.env, "token-env", "", "with --http: name this environment variable in the file, and let the client take the token from it")
	return cmd
}

type connecting struct {
	undo, dry, project, http, hooks bool
	url, env                        string // where the server is, and what holds the token; empty: as the settings say, and the file
}

func (c *command) connect(client string, how connecting) error {
	if !slices.Contains(setup.Connectable(), client) {
		return usagef("Toolcrib does not know the client %q%s: want one of %s", client, nearClients(client), strings.Join(setup.Connectable(), ", "))
	}
	file, err := c.clientFile(client, how.project)
	if err != nil {
		return err
	}
	if err := c.mayConnect(file, how); err != nil {
		return err
	}
	entry, err := c.connectEntry(how)
	if err != nil {
		return err
	}
	var before, after []byte
	change := func(text []byte) ([]byte, error) {
		before = text
		if how.undo {
			after, err = c.codec().Remove(client, text, setup.Name)
		} else {
			after, err = c.codec().Add(client, text, setup.Name, entry)
		}
		return after, err
	}
	if how.dry {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if _, err := change(text); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "%s would be:\n", file)
		if entry.Headers != nil && how.env == "" {
			fmt.Fprintf(c.err, "(with your token in place of %s, and only your account could read it)\n", dryToken)
		}
		return c.write(after, nil)
	}
	if how.undo {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(c.out, "There is no %s, so there is nothing to take out.\n", file)
			return nil
		}
	}
	write := rewrite.File
	switch {
	case how.project:
		write = func(file string, change func([]byte) ([]byte, error)) error {
			return rewrite.InProject(c.dir, file, change)
		}
	case entry.Headers != nil && !how.undo && how.env == "":
		write = rewrite.Private
	}
	if err := write(file, change); err != nil {
		return err
	}
	switch {
	case string(before) == string(after) && how.undo:
		fmt.Fprintf(c.out, "Toolcrib is not in the settings of %s (%s), so there is nothing to take out.\n", clientfiles.Title(client), file)
	case string(before) == string(after):
		fmt.Fprintf(c.out, "%s is already set up (%s).\n", clientfiles.Title(client), file)
	case how.undo:
		fmt.Fprintf(c.out, "Taken out of %s (%s). Restart it to see the change.\n", clientfiles.Title(client), file)
	default:
		fmt.Fprintf(c.out, "%s has Toolcrib now (%s). Restart it to see the tools; --undo takes it out.\n", clientfiles.Title(client), file)
		if hint := ownQuestions(client); hint != "" {
			fmt.Fprintln(c.out, hint)
		}
		if how.env != "" {
			fmt.Fprintf(c.out, "It takes the token from the variable %s: set that where the client is started. 'toolcrib token show' shows yours.\n", how.env)
		}
	}
	return nil
}

// mayConnect refuses what a link would make of a file: a project's links are
// another's, and a person's own may lead into a repository, which others read.
func (c *command) mayConnect(file string, how connecting) error {
	if how.project {
		_, err := rewrite.Inside(c.dir, file)
		return err
	}
	if !how.http || how.undo || how.env != "" {
		return nil
	}
	at, err := filepath.EvalSymlinks(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if home, err := filepath.EvalSymlinks(c.home()); err == nil {
		if rel, ok := pathglob.Rel(c.home(), file); ok && pathglob.Here().Same(at, filepath.Join(home, rel)) {
			return nil
		}
	}
	for dir := filepath.Dir(at); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return usagef("--http: %s leads to %s, in the repository %s: your token would stand in a file that others may read. Leave out --http, and the client starts Toolcrib by itself", file, at, dir)
		}
	}
	return nil
}

// dryToken stands for the token where it is only shown what would be written.
const dryToken = "YOUR-TOKEN"

// connectEntry is Toolcrib as a server: this very program, by its full path,
// since clients are often started without the PATH of a terminal.
func (c *command) connectEntry(how connecting) (clientfiles.Entry, error) {
	if how.http {
		return c.connectHTTP(how)
	}
	exe, err := os.Executable()
	if err != nil {
		return clientfiles.Entry{}, fmt.Errorf("finding this program: %w", err)
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return clientfiles.Entry{}, fmt.Errorf("finding this program: %w", err)
	}
	entry := clientfiles.Entry{Command: exe, Args: []string{"mcp"}}
	if c.agent != "" {
		entry.Args = append(entry.Args, "--agent", c.agent)
	}
	if c.config != "" {
		file, err := filepath.Abs(c.config)
		if err != nil {
			return clientfiles.Entry{}, fmt.Errorf("finding the configuration: %w", err)
		}
		entry.Args = append(entry.Args, "--config", file)
	}
	if home := c.getenv("TOOLCRIB_HOME"); home != "" { // the client will not have it
		if home, err = filepath.Abs(home); err != nil {
			return clientfiles.Entry{}, fmt.Errorf("finding TOOLCRIB_HOME: %w", err)
		}
		entry.Env = map[string]string{"TOOLCRIB_HOME": home}
	}
	return entry, nil
}

// connectHTTP is Toolcrib as a server at an address. The client gets the
// person's own token: who has it calls as they do.
func (c *command) connectHTTP(how connecting) (clientfiles.Entry, error) {
	if err := c.noAgent("connect --http"); err != nil {
		return clientfiles.Entry{}, err
	}
	loaded, _, err := c.load()
	if err != nil {
		return clientfiles.Entry{}, err
	}
	entry := clientfiles.Entry{URL: serverURL(loaded.Value.Serve)}
	if how.url != "" {
		u, err := url.Parse(how.url)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !httpapi.IsLoopback(u.Host)) {
			return entry, usagef("--url: %q is not an address such as https://tools.example.com/mcp (http only for this machine: the token would be sent in the clear)", how.url)
		}
		entry.URL = how.url
	}
	token := dryToken
	switch {
	case how.undo, how.project && loaded.Value.Serve.Open && how.env == "":
		return entry, nil
	case how.env != "":
		if !clientfiles.IsVariable(how.env) {
			return entry, usagef("--token-env: %q is not the name of a variable, such as TOOLCRIB_TOKEN", how.env)
		}
		token = "${" + how.env + "}"
	case how.project:
		return entry, usagef("--project --http: your token would stand in a file of the project, which others read. Add --token-env NAME, and the file only names a variable; leave out --http, and the client starts Toolcrib by itself; or leave out --project, and it stands in your own settings")
	case how.url != "" && how.url != serverURL(loaded.Value.Serve):
		return entry, usagef("--url: your own token is for the server of this machine. Add --token-env NAME with the token that you were given for %s", how.url)
	case !how.dry:
		if token, err = c.ownToken(httpapi.OwnToken); err != nil {
			return entry, err
		}
	}
	entry.Headers = map[string]string{"Authorization": "Bearer " + token}
	return entry, nil
}

// serverURL is where clients reach the server of the settings.
func serverURL(cfg settings.Serve) string {
	if cfg.OIDC.Resource != "" {
		return cfg.OIDC.Resource
	}
	return baseURL(cfg, cfg.Listen) + "/mcp"
}
