package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scriptfile"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

func (c *command) scriptsCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.scriptsList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "scripts",
		Short: "Scripts that were kept as tools: list, show, try, remove",
		Long: `A script of code mode that worked can be kept as a tool of its own (script_save):
a person is shown it whole and says yes. It may call the tools that it was saved
with and no others. A file that was changed since is no tool any more.`,
		Example: `  toolcrib scripts                      what there is, and what is left out and why
  toolcrib scripts show close_stale     its text, its arguments, the tools that it may call
  toolcrib scripts try close_stale repo=acme/web
  toolcrib scripts remove close_stale`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	f := callFlags{}
	try := &cobra.Command{
		Use: "try NAME [key=value …]", Short: "Call a script that was kept, with its example if no arguments are given", Args: usageArgs(cobra.MinimumNArgs(1)), ValidArgsFunction: c.completeScript,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasJSON = cmd.Flags().Changed("json")
			return c.scriptsTry(cmd.Context(), args[0], args[1:], f)
		},
	}
	try.Flags().StringVar(&f.json, "json", "", "the arguments as a JSON object; - reads it from standard input")
	try.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this long")
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the scripts, and what is left out and why", Args: usageArgs(cobra.NoArgs), RunE: list},
		&cobra.Command{
			Use: "show NAME", Short: "Show a script whole, and the tools that it may call", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeScript,
			RunE: func(cmd *cobra.Command, args []string) error { return c.scriptsShow(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "remove NAME", Short: "Remove a script: its tool is gone at once", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeScript,
			RunE: func(cmd *cobra.Command, args []string) error { return c.scriptsRemove(cmd.Context(), args[0]) },
		},
		try,
	)
	return cmd
}

func (c *command) scriptStore() (*scriptfile.Store, error) {
	_, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	return scriptfile.Open(paths.State), nil
}

func (c *command) completeScript(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	store, err := c.scriptStore()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	scripts, _, err := store.List(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, s := range scripts {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// shownScript is a script for programs that read it.
type shownScript struct {
	saved.Script
	Effects     toolcrib.Effects `json:"effects"`
	Fingerprint string           `json:"fingerprint"`
	Path        string           `json:"path"`
}

func (c *command) scriptsList(ctx context.Context) error {
	store, err := c.scriptStore()
	if err != nil {
		return err
	}
	scripts, faults, err := store.List(ctx)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		list, left := make([]shownScript, len(scripts)), map[string]string{}
		for i, s := range scripts {
			list[i] = shownScript{s, s.Effects(), s.Sum(), store.Path(s.Name)}
		}
		for _, f := range faults {
			left[f.Name] = f.Err.Error()
		}
		return c.printJSON(map[string]any{"scripts": list, "left_out": left})
	}
	rows := make([][]string, len(scripts))
	for i, s := range scripts {
		rows[i] = []string{s.Name, s.Effects().String(), s.Saved.Local().Format("2006-01-02"), firstSentence(s.Description)}
	}
	if len(rows) > 0 {
		if err := c.table([]string{"NAME", "EFFECTS", "SAVED", "DESCRIPTION"}, rows); err != nil {
			return err
		}
	} else if len(faults) == 0 {
		fmt.Fprintln(c.out, "No script was kept. A model keeps one with script_save, if you say yes.")
	}
	for _, f := range faults {
		fmt.Fprintf(c.err, "toolcrib: left out: %s\n", text.ShowLine(f.Err.Error()))
	}
	return nil
}

// script finds a script that counts.
func (c *command) script(ctx context.Context, name string) (*scriptfile.Store, saved.Script, error) {
	store, err := c.scriptStore()
	if err != nil {
		return nil, saved.Script{}, err
	}
	scripts, faults, err := store.List(ctx)
	if err != nil {
		return nil, saved.Script{}, err
	}
	if i := slices.IndexFunc(scripts, func(s saved.Script) bool { return s.Name == name }); i >= 0 {
		return store, scripts[i], nil
	}
	for _, f := range faults {
		if f.Name == name {
			return nil, saved.Script{}, f.Err
		}
	}
	return nil, saved.Script{}, noScript(scripts, name)
}

func noScript(scripts []saved.Script, name string) error {
	var names []string
	for _, s := range scripts {
		names = append(names, s.Name)
	}
	hint := "; 'toolcrib scripts' lists them"
	if near := text.Nearest(name, names); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: name, Message: "no script of this name was kept" + hint}
}

func (c *command) scriptsShow(ctx context.Context, name string) error {
	store, s, err := c.script(ctx, name)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(shownScript{s, s.Effects(), s.Sum(), store.Path(s.Name)})
	}
	fmt.Fprintf(c.out, "%s: %s\n", s.Name, text.ShowLine(s.Description))
	fmt.Fprintf(c.out, "Saved %s, approved by %s; fingerprint %s\n", s.Saved.Local().Format("2006-01-02 15:04"), text.ShowLine(orUnknown(s.By)), s.Sum()[:16])
	fmt.Fprintf(c.out, "In %s\n", text.ShowLine(store.Path(s.Name)))
	fmt.Fprintf(c.out, "It can: %s\n", s.Effects())
	for _, t := range s.Calls {
		fmt.Fprintf(c.out, "  may call %s, of %s: %s\n", t.Name, text.ShowLine(t.Box), t.Effects)
	}
	if len(s.Arguments) > 0 {
		fmt.Fprintf(c.out, "Arguments: %s\n", text.ShowJSON(string(s.Arguments)))
	}
	if len(s.Example) > 0 {
		fmt.Fprintf(c.out, "Example: %s\n", text.ShowJSON(string(s.Example)))
	}
	fmt.Fprintf(c.out, "\n%s\n", text.Show(strings.TrimRight(s.Code, "\n")))
	return nil
}

func orUnknown(who string) string {
	if who == "" {
		return "somebody"
	}
	return who
}

func (c *command) scriptsRemove(ctx context.Context, name string) error {
	store, err := c.scriptStore()
	if err != nil {
		return err
	}
	err = store.Remove(ctx, name)
	if errors.Is(err, saved.ErrNone) {
		scripts, _, _ := store.List(ctx) // only for a hint
		return noScript(scripts, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Removed %s.\n", name)
	return nil
}

func (c *command) scriptsTry(ctx context.Context, name string, args []string, f callFlags) error {
	_, s, err := c.script(ctx, name)
	if err != nil {
		return err
	}
	if !f.hasJSON && len(args) == 0 && len(s.Example) > 0 {
		f.json, f.hasJSON = string(s.Example), true
	}
	return c.call(ctx, name, args, f)
}
