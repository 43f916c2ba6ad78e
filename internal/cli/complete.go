package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

// completeCallID offers the IDs of the newest calls to the shell.
func (c *command) completeCallID(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cfg, needs, err := c.journalOf()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	r, err := app.ReadJournal(ctx, cfg, needs)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer r.Close()
	records, err := r.List(ctx, store.Filter{Limit: 50})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, rec := range records {
		if strings.HasPrefix(rec.ID, begun) {
			words = append(words, rec.ID+"\t"+text.ShowLine(rec.Tool)+" "+text.ClipWidth(account.What(rec), 40))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeTrash offers what is in the trash.
func (c *command) completeTrash(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	_, trash, err := c.changes()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, _, err := trash.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, one := range list {
		if strings.HasPrefix(one.ID, strings.ToUpper(begun)) {
			words = append(words, one.ID+"\t"+text.ShowLine(one.Path))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// expanded puts the person's home in the place of a leading ~.
func (c *command) expanded(path string) string {
	if path == "~" {
		return c.home()
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && c.home() != "" {
		return filepath.Join(c.home(), rest)
	}
	return path
}
