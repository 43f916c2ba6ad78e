package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

// tokenBlock is where the tokens of others stand in the configuration.
const tokenBlock = "tokens"

// nameLetters are those that names of tokens have: they are shown in the journal
// and written by hand in rules.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@"

// newToken makes a token for somebody. It is shown once; what is kept is its hash.
func (c *command) newToken(name string, of settings.Token) error {
	if name == "" || len(name) > 64 || strings.Trim(name, nameLetters) != "" {
		return usagef("%q is no name for a token: use up to 64 letters, digits and - _ . @", name)
	}
	if _, err := dialect.Parse(of.Dialect); err != nil {
		return usage(err)
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	layers := c.layers(loaded)
	for _, from := range []settings.Config{layers.User, layers.Admin} {
		if _, there := from.Tokens[name]; there {
			return usagef("there is a token %q already; 'toolcrib token revoke %s' takes it away", name, name)
		}
	}
	token := httpapi.NewToken()
	sum := sha256.Sum256([]byte(token))
	of.SHA256, of.Made = hex.EncodeToString(sum[:]), time.Now().UTC().Format(time.RFC3339)
	// Held against the rest before it is written: a name that means nothing would
	// break the settings of a running server.
	with := *layers
	with.User.Tokens = maps.Clone(layers.User.Tokens)
	if with.User.Tokens == nil {
		with.User.Tokens = map[string]settings.Token{}
	}
	with.User.Tokens[name] = of
	if _, err := with.Visibility(nil); err != nil {
		return usage(err)
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		return config.SetEntry(text, tokenBlock, name, tokenEntry(of))
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "toolcrib: the token of %s is shown only now; its hash is in %s. A server that runs takes it at once.\n", name, text.ShowLine(file))
	_, err = fmt.Fprintln(c.out, token)
	return err
}

// tokenEntry is a token as the file of settings has it.
func tokenEntry(of settings.Token) map[string]any {
	value := map[string]any{"sha256": of.SHA256, "made": of.Made}
	for key, said := range map[string]string{"profile": of.Profile, "agent": of.Agent, "organisation": of.Organisation, "dialect": of.Dialect} {
		if said != "" {
			value[key] = said
		}
	}
	for key, may := range map[string]bool{"approves": of.Approves, "watches": of.Watches} {
		if may {
			value[key] = true
		}
	}
	return value
}

// revokeToken takes a token away.
func (c *command) revokeToken(name string) error {
	removed := false
	file, err := c.editConfig(func(text []byte) (out []byte, err error) {
		out, removed, err = config.RemoveEntry(text, tokenBlock, name)
		return out, err
	})
	if err != nil {
		return err
	}
	if !removed {
		loaded, _, err := c.load()
		if err != nil {
			return err
		}
		if _, there := loaded.System.Tokens[name]; there {
			return usagef("the token %q is the machine's: it stands in the file of the system, not in %s", name, text.ShowLine(file))
		}
		if _, there := loaded.User.Tokens[name]; there {
			return usagef("the token %q does not stand in %s: it comes from another file, which 'toolcrib config show --origin' names", name, text.ShowLine(file))
		}
		return usagef("there is no token %q; 'toolcrib token list' lists them", name)
	}
	_, err = fmt.Fprintf(c.out, "The token of %s does not work any more, also not in a server that runs.\n", name)
	return err
}

// listedToken is a token for people who look at it.
type listedToken struct {
	Name         string     `json:"name"`
	Profile      string     `json:"profile,omitempty"`
	Agent        string     `json:"agent,omitempty"`
	Organisation string     `json:"organisation,omitempty"`
	Approves     bool       `json:"approves,omitempty"`
	Watches      bool       `json:"watches,omitempty"`
	Made         string     `json:"made,omitempty"`
	Used         *time.Time `json:"last_used,omitempty"`
}

func (c *command) listTokens(cmd *cobra.Command) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	all := map[string]settings.Token{}
	for _, from := range []settings.Config{loaded.User, loaded.System} { // one that both have is the machine's
		maps.Copy(all, from.Tokens)
	}
	used, err := c.lastUsed(cmd.Context(), loaded.Value, c.needs(loaded, paths), slices.Sorted(maps.Keys(all)))
	if err != nil {
		return err
	}
	list := []listedToken{}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		one := listedToken{name, t.Profile, t.Agent, t.Organisation, t.Approves, t.Watches, t.Made, nil}
		last := "never, or before the journal begins"
		if at, ok := used[name]; ok {
			one.Used, last = &at, at.Local().Format(time.DateTime)
		}
		made := t.Made
		if at, err := time.Parse(time.RFC3339, t.Made); err == nil {
			made = at.Local().Format(time.DateTime)
		}
		list = append(list, one)
		rows = append(rows, []string{name, dash(t.Profile), dash(t.Agent), dash(t.Organisation), dash(made), last})
	}
	if c.asJSON(false) {
		return c.printJSON(list)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(c.out, "There are no tokens but your own ('toolcrib token show'). 'toolcrib token new NAME' makes one.")
		return err
	}
	return c.table([]string{"NAME", "PROFILE", "AGENT", "ORGANISATION", "MADE", "LAST CALL"}, rows)
}

// lastUsed finds the last call that was made with each token.
func (c *command) lastUsed(ctx context.Context, cfg settings.Config, needs app.Needs, names []string) (map[string]time.Time, error) {
	used := map[string]time.Time{}
	if len(names) == 0 {
		return used, nil
	}
	r, err := app.ReadJournal(ctx, cfg, needs)
	if errors.Is(err, store.ErrNoJournal) {
		return used, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		records, lerr := r.List(ctx, store.Filter{Subject: "token:" + name, Limit: 1})
		if err = cmp.Or(err, lerr); len(records) > 0 {
			used[name] = records[0].Start
		}
	}
	return used, errors.Join(err, r.Close())
}

// completeToken offers the names of tokens.
func (c *command) completeToken(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, _, err := c.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(loaded.Value.Tokens)), cobra.ShellCompDirectiveNoFileComp
}
