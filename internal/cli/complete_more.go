package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeSecret offers the names of secrets, which are as hidden as their values: only
// where the key lies in a variable or a file. A person is not asked for a passphrase in the
// middle of a line, nor is a keyring opened or a program started.
func (c *command) completeSecret(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	loaded, err := c.loadQuietly()
	paths, _, wrong := c.paths()
	if err != nil || wrong != nil || len(args) > 0 {
		return nil, noFiles
	}
	key := loaded.Value.Vault.Key
	_, set := c.lookupEnv(key.Variable())
	switch quiet := set || vault.HasFiles(vault.KeyDir(paths.State)); {
	case key.From == "file", key.From == "env", (key.From == "" || key.From == "auto") && quiet:
	default:
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(contextOf(cmd), time.Second)
	defer cancel()
	v, err := c.openVault(func(context.Context, bool) (string, error) { return "", errors.New("nobody is asked here") })
	if err != nil {
		return nil, noFiles
	}
	list, err := v.List(ctx)
	if err != nil {
		return nil, noFiles
	}
	var words []string
	for _, s := range list {
		words = append(words, s.Name)
	}
	slices.Sort(words)
	return slices.Compact(words), noFiles
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// completeValue offers the values of a setting whose name was typed.
func completeValue(key, begun string) (words []string) {
	for _, word := range config.Values[settings.Config](key) {
		if strings.HasPrefix(word, begun) {
			words = append(words, word)
		}
	}
	return words
}

// completeRegistry offers the registries.
func (c *command) completeRegistry(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	loaded, err := c.loadQuietly()
	if err != nil || len(args) > 0 {
		return nil, noFiles
	}
	return slices.Sorted(maps.Keys(loaded.Value.Market.Registries)), noFiles
}

// completeTrusted offers the programs that are trusted in the sandbox.
func (c *command) completeTrusted(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	list, err := c.programList()
	if err != nil || len(args) > 0 {
		return nil, noFiles
	}
	known, err := list.List()
	if err != nil {
		return nil, noFiles
	}
	var words []string
	for _, one := range known {
		if text.ShowLine(one.Path) == one.Path {
			words = append(words, one.Path)
		}
	}
	return words, noFiles
}

// completeToolOnly offers tools, for commands that know no dialects.
func (c *command) completeToolOnly(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.toolWords(cmd, dialect.Native)
}

// completeServerOnly offers servers, and behind one nothing: its tools would have to be
// asked for.
func (c *command) completeServerOnly(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.completeServer(cmd, args, begun)
}

// fixedFlags are flags that take one of a few words, wherever they stand.
func fixedFlags() map[string][]string {
	times := []string{"today", "yesterday", "1h", "24h", "7d", "30d", "all"}
	return map[string][]string{"since": times, "until": times, "outcome": account.Outcomes(), "client": setup.Connectable()}
}

// completeFlags gives a command's flags what can be offered for them, and its arguments
// nothing where it takes none or a name that is yet to be made.
func (c *command) completeFlags(cmd *cobra.Command) {
	for name, words := range fixedFlags() {
		if flag := cmd.LocalFlags().Lookup(name); flag != nil && flag.Value.Type() == "string" {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, noFiles)) // unless it has one already
		}
	}
	if flag := cmd.LocalFlags().Lookup("server"); flag != nil && flag.Value.Type() == "string" {
		_ = cmd.RegisterFlagCompletionFunc("server", c.completeServer)
	}
	if cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0 || cmd.HasSubCommands() {
		return
	}
	path, form := strings.TrimPrefix(cmd.CommandPath(), "toolcrib "), formOf(cmd)
	switch {
	case path == "market registry remove":
		cmd.ValidArgsFunction = c.completeRegistry
	case path == "sandbox trust revoke":
		cmd.ValidArgsFunction = c.completeTrusted
	case path == "tools forget":
		cmd.ValidArgsFunction = c.completeToolOnly
	case form == "", form == "NAME", form == "[NAME]", strings.HasPrefix(form, "NAME ["):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}
