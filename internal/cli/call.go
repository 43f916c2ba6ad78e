package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/settling"
	"github.com/toolcrib/toolcrib/internal/text"
)

type callFlags struct {
	json    string
	hasJSON bool
	dialect string
	as      string
	id      string
	lenient bool
	timeout time.Duration
	try     bool // show how it ran
}

func (c *command) callCmd() *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call NAME [key=value …]",
		Short: "Call a tool and print its result",
		Long: `Call a tool. Arguments are given as key=value, where a value is taken as text
or as JSON according to the tool's contract, or all at once as a JSON object.

With --as, NAME and the arguments are a model's answer to the definitions that
'toolcrib tools definitions' writes in that form: its name for the tool, null for
what it left out, JSON text where the form has it. Without NAME, --json is the
whole call as the API gave it.

The result's JSON is printed on standard output and nothing else is; -o text
prints it for a person. Exit status: 0 done, 1 the tool failed, or the command
that run_command ran did, 2 usage, 3 invalid, 4 not_found, 5 denied,
6 timeout, 7 unavailable, 8 conflict, 9 internal, 130 cancelled.`,
		Example: `  toolcrib call evaluate_expression expression='sqrt(2)'
  toolcrib call unit_convert value=26.2 from_unit=mi to_unit=km
  toolcrib call statistics_summary --json '{"numbers": [1, 2, 3.5]}'
  echo '{"equation": "x**2 - 4"}' | toolcrib call solve_equation --json -
  toolcrib call --as openai-strict get_current_datetime --json '{"timezone": null}'
  toolcrib call get_current_datetime --id once-only    # repeat it: answered from the journal`,
		Args:              usageArgs(cobra.ArbitraryArgs),
		ValidArgsFunction: c.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasJSON = cmd.Flags().Changed("json")
			if err := checkAs(f, args); err != nil {
				return err
			}
			if len(args) == 0 {
				return c.call(cmd.Context(), "", nil, f)
			}
			return c.call(cmd.Context(), args[0], args[1:], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.json, "json", "", "the arguments as a JSON object; - reads it from standard input")
	flags.StringVar(&f.as, "as", "", "take a model's answer in this form: "+strings.Join(exposed.CallFormats(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(exposed.CallFormats(), cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.id, "id", "", "call ID: a repeated call with it is answered from the journal")
	flags.BoolVar(&f.lenient, "lenient", false, `take "3" for 3 and ignore unknown arguments`)
	flags.DurationVar(&f.timeout, "timeout", 0, "give up after this long")
	c.dialectFlag(cmd, &f.dialect)
	return cmd
}

// checkAs holds against each other what names a tool and what is a model's answer.
func checkAs(f callFlags, args []string) error {
	switch {
	case f.as == "" && len(args) == 0:
		return usagef("give the name of a tool; 'toolcrib tools' lists them. Write: toolcrib call TOOL [key=value …]")
	case f.as == "":
		return nil
	case !slices.Contains(exposed.CallFormats(), f.as):
		return usagef("--as is %q: want one of %s", f.as, strings.Join(exposed.CallFormats(), ", "))
	case len(args) > 1:
		return usagef("with --as, give the arguments as --json")
	case len(args) == 0 && !f.hasJSON:
		return usagef("with --as, name the tool, or give the whole call as --json")
	}
	return nil
}

func (c *command) call(ctx context.Context, name string, pairs []string, f callFlags) error {
	d, err := dialect.Parse(f.dialect)
	if err != nil {
		return usage(err)
	}
	if f.timeout < 0 {
		return usagef("--timeout is %v: want more than nothing", f.timeout)
	}
	if f.hasJSON && f.json == "" {
		return usagef("--json is empty: give a JSON object, or - to read it from standard input")
	}
	if f.hasJSON && len(pairs) > 0 {
		return usagef("give the arguments either as key=value or as --json, not both")
	}
	caller, err := c.caller("cli", d)
	if err != nil {
		return err
	}
	a, err := c.open(ctx, desk.Leave)
	if err != nil {
		return err
	}
	if spec, err := a.ToolNamed(caller, name); err == nil && f.as == "" { // else the crib says what it thinks of the name
		name = spec.Name
	}
	call := toolcrib.Call{ID: f.id, Tool: name, Lenient: f.lenient || dialect.Lenient(d), Caller: caller}
	stop, err := c.attendCall(ctx, a.Desk, &call)
	if err != nil {
		return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	if call.Input, err = c.arguments(a, call, pairs, f); err == nil && f.as != "" {
		var meant toolcrib.Call
		meant, err = a.CallAs(caller, f.as, name, call.Input)
		call.Tool, call.Input = meant.Tool, meant.Input
	}
	if err == nil && f.try {
		err = c.tryTool(ctx, a, call, f.timeout)
	} else if err == nil {
		err = c.useTool(ctx, a, call, f.timeout)
	}
	stop()
	c.closeApp(ctx, a)
	return err
}

func (c *command) useTool(ctx context.Context, a *app.App, call toolcrib.Call, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	done := c.progress(call.Tool + " is at work")
	result, err := a.Crib.Call(ctx, call)
	done()
	if err != nil {
		e, ok := toolcrib.AsError(err)
		if !ok {
			return err
		}
		spec, _ := a.Crib.Tool(call.Caller, call.Tool)
		shown := *e
		shown.Message = dialect.ErrorText(call.Caller.Dialect, e, spec.Box) + howToSwitchOn(e.Message)
		return &shown
	}
	if err := c.printResult(result); err != nil {
		return err
	}
	c.printNotices(result)
	if result.Failed {
		return failed{errors.New(result.String())}
	}
	spec, _ := a.Crib.Tool(call.Caller, call.Tool)
	if spec.Box == "shell" && spec.Native == "run_command" {
		if status := commandStatus(result.Value); status != exitDone {
			return silent{status: status} // the result says how: that the command failed is not that the tool did
		}
		if code, why := unapplied(result); code != "" && !strings.Contains(why, "the mode is plan") { // there that is meant to be
			status, _ := exitOf(code)
			return silent{status: status} // whoever goes on with its changes has none
		}
	}
	if spec.Box == "shell" && spec.Native == "start_command" {
		fmt.Fprintln(c.err, "toolcrib: warning: a job ends with the program that started it, which is this one; it goes on only under 'toolcrib mcp' or 'toolcrib serve'")
	}
	return nil
}

// howToSwitchOn gives the command for what a message says about a setting that is off.
func howToSwitchOn(message string) string {
	_, rest, _ := strings.Cut(message, " switched off; ")
	key, _, ok := strings.Cut(rest, ": true in the configuration")
	if !ok {
		return ""
	}
	return ". Write: toolcrib config set " + key + " true"
}

// commandStatus is the exit status for a command that did not end with 0, by whatever
// name a dialect says it, or that was cancelled.
func commandStatus(value json.RawMessage) int {
	var ended struct {
		Exit      int  `json:"exit_code"`
		Return    int  `json:"returncode"`
		Cancelled bool `json:"cancelled"`
	}
	switch err := json.Unmarshal(value, &ended); {
	case err != nil:
		return exitDone
	case ended.Cancelled:
		status, _ := exitOf(toolcrib.CodeCancelled)
		return status
	case ended.Exit != 0 || ended.Return != 0:
		return exitFailed
	}
	return exitDone
}

// printResult writes the value as it is; a result without one is written as
// its contents, in JSON like everything else.
func (c *command) printResult(r *toolcrib.Result) error {
	if !c.asJSON(true) {
		shown := r.String()
		if r.Value != nil {
			shown = strings.TrimSuffix(account.Plain(r.Value), "\n")
		}
		if terminal(c.out) {
			shown = text.Show(shown)
		}
		_, err := fmt.Fprintln(c.out, shown)
		return err
	}
	switch {
	case r.Value != nil:
		return c.printJSON(r.Value)
	case r.Failed:
		return nil // its text is the error message
	}
	return c.printJSON(map[string]any{"content": r.Content})
}

// printNotices writes what Toolcrib adds to a value, such as changes that were not
// applied: the value alone does not say so.
func (c *command) printNotices(r *toolcrib.Result) {
	if r.Value == nil || r.Failed {
		return
	}
	for _, content := range r.Content {
		if content.Notice {
			fmt.Fprintln(c.err, "toolcrib: "+text.Show(content.Text))
		}
	}
}

// unapplied says why nothing of what was changed on a layer was applied, with the code of
// the refusal; none: it was.
func unapplied(r *toolcrib.Result) (code toolcrib.Code, why string) {
	for _, c := range r.Content {
		why, ok := strings.CutPrefix(c.Text, settling.NotApplied)
		if !c.Notice || !ok {
			continue
		}
		first, rest, _ := strings.Cut(why, ": ")
		if _, known := exitOf(toolcrib.Code(first)); known {
			return toolcrib.Code(first), rest
		}
		return toolcrib.CodeDenied, why
	}
	return "", ""
}

// arguments makes the input of what the command line says.
func (c *command) arguments(a *app.App, call toolcrib.Call, pairs []string, f callFlags) (json.RawMessage, error) {
	switch {
	case f.hasJSON && f.json == "-":
		limit := int64(a.Crib.Limits.Input)
		text, err := io.ReadAll(io.LimitReader(c.in, limit+1))
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		if len(text) == 0 {
			return nil, usagef("there is nothing on standard input: give a JSON object")
		}
		return text, nil // one byte too many makes the crib refuse it as too long
	case f.hasJSON:
		return json.RawMessage(f.json), nil
	}
	spec, _ := a.Crib.Tool(call.Caller, call.Tool)
	return pairsInput(spec.Input, c.expandedPairs(pairs))
}

// expandedPairs does for path=~/x what bash does with it and other shells do not. A text
// such as content='~/x' is given as it was typed.
func (c *command) expandedPairs(pairs []string) []string {
	out := slices.Clone(pairs)
	for i, p := range out {
		if key, value, ok := strings.Cut(p, "="); ok && strings.HasPrefix(value, "~/") && namesPath(key) {
			out[i] = key + "=" + c.expanded(value)
		}
	}
	return out
}

// namesPath reports whether an argument is a path by its name, as path, working_dir and
// filePath are.
func namesPath(key string) bool {
	last := strings.ToLower(key[strings.LastIndexAny(key, "_-.")+1:])
	return slices.ContainsFunc([]string{"path", "file", "filename", "dir", "directory", "folder", "cwd", "root", "workspace"}, func(end string) bool { return strings.HasSuffix(last, end) }) ||
		slices.Contains([]string{"from", "to", "source", "destination", "target"}, last)
}

// takesText reports whether a property is a text, or a text that may be null.
func takesText(kinds string) bool {
	switch kinds {
	case "string", "null or string", "string or null":
		return true
	}
	return false
}

// pairsInput makes an object of key=value pairs. A value is text where the
// contract wants text; elsewhere it is JSON if it reads as JSON.
func pairsInput(schema json.RawMessage, pairs []string) (json.RawMessage, error) {
	var s shape
	if schema != nil {
		// A schema this cannot read leaves every value to be guessed.
		_ = json.Unmarshal(schema, &s)
	}
	input := map[string]json.RawMessage{}
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usagef("argument %q: write key=value, or use --json", p)
		}
		if _, twice := input[key]; twice {
			return nil, usagef("argument %s is given twice", key)
		}
		if !takesText(s.Properties[key].kinds()) && json.Valid([]byte(value)) {
			input[key] = json.RawMessage(value)
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, usagef("argument %s: %v", key, err)
		}
		input[key] = text
	}
	return json.Marshal(input)
}
