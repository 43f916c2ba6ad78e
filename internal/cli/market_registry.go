package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) marketRegistryCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return c.registryList() }
	cmd := &cobra.Command{
		Use: "registry", Short: "The registries that are searched: list, add, remove",
		Args: usageArgs(cobra.NoArgs), RunE: list,
	}
	var s settings.Registry
	add := &cobra.Command{
		Use: "add NAME [ADDRESS]", Short: "Add a registry to your configuration, or switch one on that comes with Toolcrib",
		Long: `Add a registry to your configuration. A registry of the type index is asked at once: the
key that it is signed with is shown, and counts from then on. Compare it with what its
owner says, or give it with --key.`,
		Example: `  toolcrib market registry add clawhub                       switch it on
  toolcrib market registry add anthropic https://github.com/anthropics/skills
  toolcrib market registry add team https://skills.example.com --type index
  toolcrib market registry add agx http://127.0.0.1:8321 --type agenticx`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				s.URL = args[1]
			}
			return c.registryAdd(cmd.Context(), args[0], s)
		},
	}
	add.Flags().StringVar(&s.Type, "type", "", "what it speaks: "+strings.Join(market.Types(), ", "))
	add.Flags().StringVar(&s.Key, "key", "", "the key that an index is signed with, as ed25519:BASE64")
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the registries; none is asked", Args: usageArgs(cobra.NoArgs), RunE: list},
		add,
		&cobra.Command{Use: "remove NAME", Short: "Take a registry out, and forget its key", Args: usageArgs(cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error { return c.registryRemove(args[0]) }},
	)
	return cmd
}

type registryRow struct {
	Name string `json:"name"`
	Type string `json:"type"`
	URL  string `json:"url"`
	On   bool   `json:"on"`
	Key  string `json:"key,omitempty"`
	From string `json:"key_from,omitempty"` // settings, or first use
	Bad  string `json:"error,omitempty"`
}

func (c *command) registryList() error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	m, err := c.market()
	if err != nil {
		return err
	}
	defer closeMarket(m)
	rows := []registryRow{}
	for _, name := range slices.Sorted(maps.Keys(loaded.Value.Market.Registries)) {
		s := loaded.Value.Market.Registries[name]
		r := registryRow{Name: name, Type: s.Type, URL: s.URL, On: !s.Disabled, Key: s.Key}
		if err := market.Check(name, s); err != nil {
			r.Bad = err.Error()
		} else if s.Key != "" {
			r.From = "settings"
		} else if r.Key, err = m.Pinned(s); err != nil {
			r.Bad = err.Error()
		} else if r.Key != "" {
			r.From = "first use"
		}
		rows = append(rows, r)
	}
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	var table [][]string
	for _, r := range rows {
		state := "on"
		switch {
		case r.Bad != "":
			state = "wrong: " + r.Bad
		case !r.On:
			state = "off"
		case r.Key != "":
			state = "on, signed with " + r.Key + " (" + r.From + ")"
		}
		table = append(table, []string{r.Name, dash(r.Type), r.URL, state})
	}
	return c.table([]string{"NAME", "TYPE", "ADDRESS", "STATE"}, table)
}

// guessType says what an address speaks, where that can be told without asking.
func (c *command) guessType(url string) string {
	switch {
	case strings.HasPrefix(url, "https://github.com/"):
		return "claude"
	case !strings.Contains(url, "://"):
		if _, err := os.Stat(filepath.Join(url, "index.json.sig")); err == nil {
			return "index"
		}
		return "claude"
	case strings.HasPrefix(url, "https://registry.modelcontextprotocol.io"):
		return "mcp"
	case strings.HasPrefix(url, "https://clawhub.ai"):
		return "clawhub"
	}
	return ""
}

func (c *command) registryAdd(ctx context.Context, name string, s settings.Registry) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	have, there := loaded.Value.Market.Registries[name]
	switch {
	case there && !have.Disabled:
		return usagef("there is a registry %q already; 'toolcrib market registry remove %s' takes it out", name, name)
	case there && s.URL == "": // it only has to be switched on
		s.Type, s.URL = have.Type, have.URL
	case s.URL == "":
		return usagef("write the address of the registry behind its name")
	}
	if !strings.Contains(s.URL, "://") && !strings.HasPrefix(s.URL, "~") {
		s.URL = c.within(s.URL)
		if info, err := os.Stat(s.URL); err != nil || !info.IsDir() {
			return usagef("there is no directory %s; an address begins with https://", s.URL)
		}
	}
	if s.Type == "" {
		if s.Type = c.guessType(s.URL); s.Type == "" {
			return usagef("say what it speaks with --type: %s", strings.Join(market.Types(), ", "))
		}
	}
	if err := market.Check(name, s); err != nil {
		return usage(err)
	}
	file, err := c.editRegistries(func(all map[string]any) bool {
		entry := map[string]any{"type": s.Type, "url": s.URL, "disabled": false}
		if s.Key != "" {
			entry["key"] = s.Key
		}
		all[name] = entry
		return true
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Added to %s.\n", file)
	if s.Type != "index" {
		return nil
	}
	return c.firstUse(ctx, name, s)
}

// firstUse has the key of an index pinned, and shows it.
func (c *command) firstUse(ctx context.Context, name string, s settings.Registry) error {
	m, err := c.market()
	if err != nil {
		return err
	}
	defer closeMarket(m)
	found, err := m.Search(ctx, market.Query{Registry: name})
	if err != nil {
		return err
	}
	if why := found.Registries[0].Error; why != "" {
		fmt.Fprintf(c.err, "toolcrib: warning: the registry %s: %s\n", name, text.ShowLine(why))
		return nil
	}
	key, err := m.Pinned(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "It has %s, and is signed with\n  %s\nThis key counts from now on: compare it with what its owner says.\n", counted(found.Registries[0].Results, "item"), key)
	return nil
}

func (c *command) registryRemove(name string) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	s, there := loaded.Value.Market.Registries[name]
	if !there {
		return usagef("there is no registry %q; 'toolcrib market registry list' shows those there are", name)
	}
	m, err := c.market()
	if err != nil {
		return err
	}
	defer closeMarket(m)
	_, builtIn := settings.DefaultMarket().Registries[name]
	file, err := c.editRegistries(func(all map[string]any) bool {
		_, was := all[name]
		if delete(all, name); builtIn { // it comes with the program: it is switched off
			all[name] = map[string]any{"disabled": true}
			return true
		}
		return was
	})
	if err != nil {
		return err
	}
	if market.Check(name, s) == nil { // one that could never be used has no key
		if err := m.Forget(s); err != nil {
			return err
		}
	}
	if builtIn {
		fmt.Fprintf(c.out, "Switched off in %s.\n", file)
		return nil
	}
	fmt.Fprintf(c.out, "Removed from %s.", file)
	if s.Type == "index" {
		fmt.Fprint(c.out, " Its key is forgotten.")
	}
	fmt.Fprintln(c.out)
	return nil
}

// editRegistries changes market.registries in the person's file of settings.
func (c *command) editRegistries(change func(map[string]any) bool) (string, error) {
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		old, _, err := config.Entry(text, "market", "registries")
		if err != nil {
			return nil, err
		}
		all := map[string]any{}
		if was, ok := old.(map[string]any); ok {
			maps.Copy(all, was)
		}
		if !change(all) {
			return nil, usagef("it does not stand in this file of settings; 'toolcrib config show --origin' says where")
		}
		if len(all) == 0 {
			out, _, err := config.RemoveEntry(text, "market", "registries")
			return out, err
		}
		return config.SetEntry(text, "market", "registries", all)
	})
	c.loaded = nil // it is another now
	return file, err
}
