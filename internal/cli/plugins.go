package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) pluginsCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.pluginsList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "Plugins: list them, or check a program",
		Long: `A plugin is a program in the folder plugins beside the configuration file that
speaks MCP on its standard streams, in any language. docs/plugins.md has the
protocol on one page.`,
		Example: `  toolcrib plugins                                       what is in the folder
  toolcrib plugins check ./weather                       does this program speak the protocol?
  toolcrib plugins check --call forecast --arg city=Oslo ./weather
  toolcrib plugins check --json python3 weather.py`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	cmd.AddCommand(&cobra.Command{Use: "list", Short: "List the plugins", Args: usageArgs(cobra.NoArgs), RunE: list}, c.pluginsCheckCmd())
	return cmd
}

// pluginRow is a plugin in the list.
type pluginRow struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	State string `json:"state"` // listed, new, held, failed, left out or switched off
	Tools int    `json:"tools"`
	Fault string `json:"fault,omitempty"`
}

func (c *command) pluginsList(ctx context.Context) error {
	a, err := c.hub(ctx)
	if err != nil {
		return err
	}
	rows, dir, err := pluginRows(a)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	if len(rows) == 0 {
		fmt.Fprintf(c.out, "There are no plugins yet: a program that is put into %s is one.\n", text.ShowLine(dir))
		return nil
	}
	var table [][]string
	for _, r := range rows {
		state := map[string]string{"new": "never started: toolcrib hub test " + r.Name, "held": "tools are kept back: toolcrib hub show " + r.Name}[r.State]
		state = cmp.Or(state, r.State)
		if r.Fault != "" {
			state += ": " + r.Fault
		}
		table = append(table, []string{r.Name, fmt.Sprint(r.Tools), text.ShowLine(filepath.Base(r.File)), text.ShowLine(state)})
	}
	return c.table([]string{"NAME", "TOOLS", "FILE", "STATE"}, table)
}

// pluginRows says of each file in the folder how it is doing.
func pluginRows(a *app.App) ([]pluginRow, string, error) {
	list, dir, err := a.Plugins()
	rows := []pluginRow{}
	for _, p := range list {
		r := pluginRow{Name: p.Name, File: p.Path, State: "left out"}
		box, ok := a.Hub.Box(p.Name)
		switch {
		case p.Err != nil:
			r.Fault = p.Err.Error()
		case !ok || box.Server().Command != p.Path: // its name is no good, or somebody else's
			for _, f := range a.Faults {
				if f.Box == p.Name {
					r.Fault = f.Err.Error()
				}
			}
			if r.Fault == "" {
				r.State = "switched off"
			}
		default:
			s := box.Status()
			r.Tools = s.Tools
			switch {
			case s.Listed && s.Held > 0:
				r.State = "held"
			case s.Listed:
				r.State = "listed"
			case s.Err != "":
				r.State, r.Fault = "failed", s.Err
			default:
				r.State = "new"
			}
		}
		rows = append(rows, r)
	}
	return rows, dir, err
}

type pluginCheckFlags struct {
	call     string
	args     []string
	json     bool
	patience time.Duration
}

func (c *command) pluginsCheckCmd() *cobra.Command {
	var f pluginCheckFlags
	cmd := &cobra.Command{
		Use:   "check PROGRAM [ARGS…]",
		Short: "Check whether a program speaks what a plugin must speak",
		Long: `Start a program as a plugin is started, talk to it, and say point by point what
holds: ✓ it does, ✗ it does not, ! worth knowing, - not tried. PROGRAM is a path, a
program in PATH, or the name of a plugin in the folder.

No tool is called, because calls have effects, unless --call names one. Nothing is
asked and nothing recorded: this is a test of your own program.

Exit status: 0 everything holds, 1 something does not.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.pluginsCheck(cmd.Context(), args, f) },
	}
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	cmd.Flags().StringVar(&f.call, "call", "", "a tool to call, for the checks that need a call")
	cmd.Flags().StringArrayVar(&f.args, "arg", nil, "an argument of that call, as key=value; may be repeated")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the report as JSON")
	cmd.Flags().DurationVar(&f.patience, "patience", 0, "how long an answer may take (default 10s, and 1m for a call)")
	return cmd
}

func (c *command) pluginsCheck(ctx context.Context, args []string, f pluginCheckFlags) error {
	switch {
	case f.call == "" && len(f.args) > 0:
		return usagef("--arg is an argument of the tool that --call names")
	case f.patience < 0:
		return usagef("--patience is %v: want more than nothing", f.patience)
	}
	if _, err := pairsInput(nil, f.args); err != nil {
		return err
	}
	a, err := c.openFor(ctx, app.ToCheck, nil)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	report := a.CheckPlugin(ctx, c.pluginProgram(a, args[0]), args[1:], app.PluginTrial{
		Call: f.call, Patience: f.patience,
		Arguments: func(schema json.RawMessage) (json.RawMessage, error) { return pairsInput(schema, f.args) },
	})
	if f.json || c.asJSON(false) {
		err = c.printJSON(report)
	} else {
		c.showReport(report)
	}
	if err == nil && report.Bad() > 0 {
		err = silent{status: exitFailed}
	}
	return err
}

// pluginProgram is what is started: a path as it is meant here, or a plugin by its name.
func (c *command) pluginProgram(a *app.App, program string) string {
	if strings.ContainsAny(program, `/\`) {
		if !filepath.IsAbs(program) && !strings.HasPrefix(program, "~/") {
			program = filepath.Join(c.dir, program)
		}
		return program
	}
	if list, _, err := a.Plugins(); err == nil {
		for _, p := range list {
			if p.Name == program || filepath.Base(p.Path) == program {
				return p.Path
			}
		}
	}
	return program
}

func (c *command) showReport(r app.PluginReport) {
	signs := map[string]string{"passed": "✓", "failed": "✗", "note": "!", "skipped": "-"}
	for _, check := range r.Checks {
		line := signs[string(check.State)] + " " + check.Name
		if check.Why != "" {
			line += ": " + check.Why
		}
		fmt.Fprintln(c.out, text.ShowLine(line))
	}
	if len(r.Tools) > 0 {
		fmt.Fprintf(c.out, "\nTools: %s\n", text.ShowLine(strings.Join(r.Tools, ", ")))
	}
	if r.Stderr != "" && r.Bad() > 0 {
		fmt.Fprintf(c.err, "It wrote to its standard error:\n%s\n", text.Show(r.Stderr))
	}
}
