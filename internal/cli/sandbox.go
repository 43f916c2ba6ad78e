package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) sandboxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Show where programs run that tools start, and try it",
		Long: `Programs that tools start run in a sandbox. Without a subcommand this tries
every backend and says what each can keep a program from here.`,
		Example: `  toolcrib sandbox                         what works on this machine
  toolcrib sandbox explain run_command     where a tool's programs would run, and why
  toolcrib sandbox run -- ls -la /         look around in there
  toolcrib sandbox doctor                  do this project's tool chains work in there?`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.probeSandbox(cmd.Context()) },
	}
	probe := &cobra.Command{
		Use: "probe", Short: "Try every backend and say what it can do here", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.probeSandbox(cmd.Context()) },
	}
	explain := &cobra.Command{
		Use: "explain TOOL", Short: "Say where the programs of a tool would run, and why", Args: usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: c.completeToolOnly,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.explainSandbox(cmd.Context(), args[0]) },
	}
	cmd.AddCommand(probe, explain, c.sandboxRunCmd(), c.sandboxDoctorCmd(), c.sandboxCleanCmd(), c.sandboxTrustCmd())
	return cmd
}

func (c *command) sandboxRunCmd() *cobra.Command {
	var backend string
	cmd := &cobra.Command{
		Use:   "run [--backend NAME] -- PROGRAM [ARGUMENT …]",
		Short: "Run a program as the programs of tools are run",
		Long: `Run a program in the sandbox, with the directories and hosts that the
configuration grants, and with standard input, output and error passed through.
This is for a person who wants to look around: it is no call of a tool, nobody
judges it and the journal does not have it. The exit status is the program's.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.runInSandbox(cmd.Context(), backend, args) },
	}
	cmd.Flags().StringVar(&backend, "backend", "", "use this backend, however little it holds a program to")
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	return cmd
}

// prepared opens the sandbox without a journal, uses it and closes it.
func (c *command) prepared(ctx context.Context, change func(*settings.Config), use func(*app.App) error) error {
	a, err := c.openFor(ctx, app.ToCheck, func(cfg *settings.Config, _ *app.Needs) { change(cfg) })
	if err != nil {
		return err
	}
	c.tellFaults(a)
	err = use(a)
	c.closeApp(ctx, a)
	return err
}

func unchanged(*settings.Config) {}

func (c *command) probeSandbox(ctx context.Context) error {
	return c.prepared(ctx, unchanged, func(a *app.App) error {
		reports := a.Sandbox.Probe(ctx)
		if c.asJSON(false) {
			return c.printJSON(reports)
		}
		var rows [][]string
		for _, r := range reports {
			row := []string{r.Name, "no", r.Reason}
			if r.Available {
				row = []string{r.Name, "yes", "holds programs to: " + orNothing(r.Enforces)}
			}
			rows = append(rows, row)
			for _, f := range r.Findings {
				rows = append(rows, []string{"", map[bool]string{true: "ok", false: "no"}[f.OK], f.Name + ": " + f.Text})
			}
		}
		return c.table([]string{"BACKEND", "WORKS", "DETAIL"}, rows)
	})
}

func (c *command) explainSandbox(ctx context.Context, name string) error {
	return c.prepared(ctx, func(cfg *settings.Config) { cfg.Toolboxes.Shell.AllowShell = true }, func(a *app.App) error {
		spec, err := a.ToolNamed(toolcrib.Caller{}, name)
		if err != nil {
			return err
		}
		e := a.Sandbox.Explain(ctx, spec.Native, spec.Effects)
		if c.asJSON(false) {
			return c.printJSON(e)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s risk, since %s.\n", e.Tool, e.Risk, e.Why)
		fmt.Fprintf(&b, "asked for: %s\n", e.Asked)
		if len(e.Needs) > 0 {
			fmt.Fprintf(&b, "must hold: %s\n", strings.Join(e.Needs, ", "))
		}
		for _, k := range e.Considered {
			fmt.Fprintf(&b, "%-10s %s\n", k.Name, k.Reason)
		}
		switch {
		case e.Refusal != "":
			fmt.Fprintf(&b, "refused: %s\n", e.Refusal)
		case !e.Runs():
			fmt.Fprintf(&b, "It runs no programs.\n")
		default:
			fmt.Fprintf(&b, "runs in: %s, which holds it to: %s\n", e.Backend, orNothing(e.Enforces))
		}
		_, err = fmt.Fprint(c.out, text.Show(b.String()))
		return err
	})
}

func orNothing(bounds []string) string {
	if len(bounds) == 0 {
		return "nothing"
	}
	return strings.Join(bounds, ", ")
}

// byHand stands for the person in the place of a tool.
const byHand = "run_command"

func (c *command) runInSandbox(ctx context.Context, backend string, args []string) error {
	program := args[0]
	if !strings.ContainsRune(program, filepath.Separator) {
		found, err := hostpath.Finder{PATH: c.getenv("PATH")}.Look(program) // it runs in the sandbox, wherever it lies
		if err != nil {
			return usage(err)
		}
		program = found
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	change := func(cfg *settings.Config) {
		if backend != "" {
			cfg.Sandbox.Tools = map[string]settings.SandboxTool{byHand: {ForceBackend: backend}}
		}
	}
	return c.prepared(ctx, change, func(a *app.App) error {
		exit, err := a.Sandbox.Run(ctx, toolcrib.Cmd{
			Tool: byHand, Path: program, Args: args[1:], Dir: a.Crib.Files.Base, Stdin: c.in, Stdout: c.out, Stderr: c.err,
			Env: []string{"PATH=" + c.getenv("PATH"), "TERM=" + c.getenv("TERM"), "LANG=C.UTF-8", "HOME=/tmp"},
		}, a.ProgramGrant())
		for _, note := range exit.Notes {
			fmt.Fprintln(c.err, "toolcrib: "+note)
		}
		switch {
		case err != nil:
			return err
		case exit.TimedOut && errors.Is(ctx.Err(), context.Canceled):
			return &toolcrib.Error{Code: toolcrib.CodeCancelled, Message: "you ended the program", Err: ctx.Err()}
		case exit.TimedOut:
			return &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "the program was ended"}
		case exit.Code != 0:
			return silent{status: exit.Code}
		}
		return nil
	})
}
