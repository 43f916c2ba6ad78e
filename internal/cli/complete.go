package cli

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
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

// completeAgent offers the presets of agents.
func (c *command) completeAgent(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, err := c.loadQuietly()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(loaded.Value.Agents)), cobra.ShellCompDirectiveNoFileComp
}

// completeSet offers the keys of settings, each with the = behind it.
func (c *command) completeSet(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	key, value, valued := strings.Cut(begun, "=")
	if valued {
		var words []string
		for _, word := range config.Values[settings.Config](key) {
			if strings.HasPrefix(word, value) {
				words = append(words, key+"="+word)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, one := range settingsFrom(begun) {
		words = append(words, one+"=")
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// loadQuietly is load without its warnings: a shell shows them in the middle of a line.
func (c *command) loadQuietly() (*config.Loaded[settings.Config], error) {
	was := c.err
	c.err = io.Discard
	loaded, _, err := c.load()
	c.err = was
	return loaded, err
}

// completeNamed offers the names of something that the settings have.
func (c *command) completeNamed(names func(settings.Config) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		loaded, err := c.loadQuietly()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names(loaded.Value), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeAll gives the commands that name something of the settings its names, where they
// have no completion of their own.
func (c *command) completeAll(root *cobra.Command) {
	servers := c.completeNamed(func(cfg settings.Config) []string { return slices.Sorted(maps.Keys(cfg.MCPServers)) })
	models := c.completeNamed(func(cfg settings.Config) []string { return slices.Sorted(maps.Keys(cfg.Models)) })
	apis := c.completeNamed(func(cfg settings.Config) []string { return slices.Sorted(maps.Keys(cfg.OpenAPI)) })
	for paths, offer := range map[string]cobra.CompletionFunc{
		"hub approve,hub login,hub logout,hub remove,hub restart,hub show,hub test,hub classify,hub try": servers,
		"models remove,models try,models set": models,
		"openapi approve,openapi diff,openapi grant,openapi login,openapi logout,openapi remove,openapi show": apis,
		"sandbox explain,policy explain,tools try":                                                            c.completeToolName,
	} {
		for path := range strings.SplitSeq(paths, ",") {
			if cmd, rest, err := root.Find(strings.Fields(path)); err == nil && len(rest) == 0 && cmd.Parent() != nil && cmd.ValidArgsFunction == nil {
				cmd.ValidArgsFunction = offer
			}
		}
	}
	// The flags were defined before, so registering cannot fail.
	_ = root.RegisterFlagCompletionFunc("set", c.completeSet)
	_ = root.RegisterFlagCompletionFunc("agent", c.completeAgent)
}

// completeToolName offers the tools of the native dialect as the first argument.
func (c *command) completeToolName(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.toolWords(cmd, "")
}
