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
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/sessions"
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
	defer r.Close() //nolint:errcheck // it was only read
	records, err := r.List(ctx, store.Filter{Limit: 50})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, rec := range records {
		if strings.HasPrefix(rec.ID, begun) {
			words = append(words, rec.ID+"\t"+text.ShowLine(account.Name(rec))+" "+text.ClipWidth(account.What(rec), 40))
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

// completeLayer offers the layers that wait for an answer.
func (c *command) completeLayer(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list, err := c.waitingLayers()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for i := range list {
		words = append(words, list[i].ID+"\t"+text.ShowLine(ranOn(&list[i])))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
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

// completeAll gives flags that many commands have, and commands without a completion of
// their own, what can be offered to the shell.
func (c *command) completeAll(root *cobra.Command) {
	// The flags are there, so registering cannot fail.
	_ = root.RegisterFlagCompletionFunc("set", c.completeSet)
	_ = root.RegisterFlagCompletionFunc("agent", c.completeAgent)
	tools := func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return c.toolWords(cmd, dialect.Native)
	}
	_ = root.RegisterFlagCompletionFunc("deny", tools)
	_ = root.RegisterFlagCompletionFunc("ask", tools)
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for name, offer := range map[string]cobra.CompletionFunc{"tool": tools, "agent": c.completeAgent, "model": c.completeModel} {
			if flag := cmd.LocalFlags().Lookup(name); flag != nil && flag.Value.Type() == "string" && cmd != root && !(name == "model" && cmd.Parent().Name() == "models") {
				_ = cmd.RegisterFlagCompletionFunc(name, offer) // unless it has one already
			}
		}
		if cmd.HasParent() && cmd.Parent().Name() == "sessions" && cmd.ValidArgsFunction == nil && strings.Contains(cmd.Use, " ID") {
			cmd.ValidArgsFunction = c.completeSession
		}
		c.completeFlags(cmd)
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
}

// completeSession offers the newest conversations.
func (c *command) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	if _, err := c.loadQuietly(); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	store, who, err := c.storedSessions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, _ := store.List(who, sessions.Filter{Limit: 50})
	var words []string
	for _, one := range list {
		words = append(words, one.ID+"\t"+text.ShowLine(text.ClipWidth(one.Title, 40)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
