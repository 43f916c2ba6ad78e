package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

func (c *command) hubImportCmd() *cobra.Command {
	var from string
	var yes, undo, dry bool
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Take over the MCP servers of other clients",
		Long: `Read the MCP servers of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf,
Codex, Gemini, Zed, opencode, Cline, Roo, Kilo, Goose, Crush, AgenticX, Kiro,
Copilot CLI, Junie, Amp, Continue, Amazon Q and LM Studio, or of the files that
are named, show what would be taken over, and write it to your configuration. A
server never gets more than its file gave it: what is switched off there stays
off, approvals are not taken over, and what is dropped is named. Secrets that
stand in these files go to the vault and are referred to. The files themselves
stay as they are; --undo takes the last import back.

The files of the project, such as .mcp.json, are offered apart: whoever can
write to the repository has chosen those programs. --yes leaves them out.`,
		Example: `  toolcrib hub import                      from all clients on this machine
  toolcrib hub import --dry-run            only show
  toolcrib hub import ~/.cursor/mcp.json   from one file
  toolcrib hub import .mcp.json            from the file of this project
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
	if yes {
		list = c.leaveProject(list)
	}
	if len(list) == 0 {
		fmt.Fprintf(c.out, "There is nothing to take over: %d servers were found.\n", len(found))
		return nil
	}
	if err := c.tryEdit(paths, list); err != nil {
		return err
	}
	if list, err = c.choose(list, yes || dry, c.confirm); err != nil || dry {
		return err
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
	fmt.Fprintf(c.out, "Wrote %s to %s. 'toolcrib hub test NAME' tries one; 'toolcrib hub import --undo' takes all of this back.\n", counted(len(list), "server"), file)
	return nil
}
