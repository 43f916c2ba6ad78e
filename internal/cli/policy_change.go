package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) policyChangeCmd(d toolcrib.Decision, short string) *cobra.Command {
	return &cobra.Command{
		Use: d.String() + " RULE…", Short: short,
		Long: short + `: it is added to permissions.` + d.String() + ` of
your own configuration, whose comments and order stay as they are. What it
changes is told, and 'toolcrib policy undo' takes it back. With --agent it is
added to the permissions of that preset. Of several rules, none is written if
one of them has a mistake, and one undo takes all of them back.`,
		Example: map[toolcrib.Decision]string{
			toolcrib.Allow: `  toolcrib policy allow write_file edit_file
  toolcrib policy allow 'run_command(go test *)'
  toolcrib policy allow 'write_file(./src/**)'
  toolcrib policy allow mcp__github__get_issue`,
			toolcrib.Ask:  `  toolcrib policy ask 'run_command(git push *)'`,
			toolcrib.Deny: `  toolcrib policy deny 'read_file(~/private/**)'`,
		}[d],
		Args: usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return c.toolWords(cmd, dialect.Native)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.policyChange(cmd.Context(), d, args) },
	}
}

// changedRule is what such a command did, for programs.
type changedRule struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	Agent    string `json:"agent,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Changed  bool   `json:"changed"` // false: it stood there already
	// Example is a call that the rule is about; Before and After is what becomes of it.
	Example string   `json:"example,omitempty"`
	Before  string   `json:"before,omitempty"`
	After   string   `json:"after,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

func (c *command) policyChange(ctx context.Context, d toolcrib.Decision, rules []string) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	file, err := filepath.Abs(c.settings(paths))
	if err != nil {
		return err
	}
	where := []string{"permissions", d.String()}
	if c.agent != "" {
		if _, own := loaded.User.Agents[c.agent]; !own {
			return usagef("--agent %s: %s has no such agent", c.agent, file)
		}
		where = append([]string{"agents", c.agent}, where...)
	}
	changes := make([]changedRule, len(rules))
	for i, rule := range rules {
		changes[i] = changedRule{Decision: d.String(), Rule: strings.TrimSpace(rule), Agent: c.agent, File: file}
		if err := c.tryRule(ctx, d, &changes[i]); err != nil {
			return err
		}
	}
	at, written := time.Now().UTC(), 0
	for i := range changes {
		if err := c.writeRule(paths.State, where, at, &changes[i]); err != nil {
			return err
		}
		if changes[i].Changed {
			written++
		}
		if err := c.tellChange(&changes[i]); err != nil {
			return err
		}
	}
	return c.tellWritten(written)
}

// tellWritten says once what holds for all rules that a command wrote.
func (c *command) tellWritten(rules int) error {
	if rules == 0 || c.asJSON(false) {
		return nil
	}
	back := "it"
	if rules > 1 {
		back = "them"
	}
	_, err := fmt.Fprintf(c.out, "A running server goes by %[1]s within about a second. To take %[1]s back: toolcrib policy undo\n", back)
	return err
}

// writeRule adds one rule that was tried to the file of settings. At is equal for all
// that one undo takes back.
func (c *command) writeRule(state string, where []string, at time.Time, done *changedRule) error {
	file, rule := done.File, done.Rule
	change := policyChanged{At: at, File: file, Path: where, Rule: rule}
	err := c.changePolicy(state, func(list []policyChanged) ([]policyChanged, error) {
		old, err := os.ReadFile(file)
		missing := errors.Is(err, os.ErrNotExist)
		if err != nil && !missing {
			return nil, err
		}
		if at, there, err := config.HasItem(old, where, rule); err != nil || there {
			done.Line = at.Line
			return nil, located(file, err)
		}
		now, at, err := config.AddItem(old, where, rule)
		if err != nil {
			return nil, located(file, err)
		}
		done.Line, done.Changed = at.Line, true
		change.Missing, change.Before, change.After, change.Line = missing, old, digest(now), at.Text
		return append(list, change), nil
	}, change.do)
	return err
}

// located names the file that an error is about.
func located(file string, err error) error {
	if err == nil {
		return nil
	}
	return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: file + ": " + err.Error(), Err: err}
}

// tryRule reads a rule as the guards do, and has them say what it changes.
func (c *command) tryRule(ctx context.Context, d toolcrib.Decision, done *changedRule) error {
	return c.prepared(ctx, unchanged, func(a *app.App) error {
		caller, err := c.caller("cli", "")
		if err != nil {
			return err
		}
		call, shown, ok := a.ExampleOf(caller, done.Rule)
		var before app.Explanation
		if ok {
			before, err = a.Explain(ctx, call)
			ok = err == nil
		}
		back, err := a.Trying(c.bounded(c.loaded, c.broken), c.agent, d, done.Rule)
		if err != nil {
			return usage(errors.New(ruleMistake(err)))
		}
		defer back()
		why, unknown := a.RuleProblem(ctx, done.Rule)
		if why != "" && !unknown {
			return usagef("%s %s (nothing was changed)", done.Rule, why)
		}
		if why != "" {
			done.Notes = append(done.Notes, "the rule "+why)
		}
		if name, _, _ := strings.Cut(done.Rule, "("); !ok && strings.HasSuffix(name, "run_command") && !c.loaded.Value.Toolboxes.Shell.AllowShell {
			done.Notes = append(done.Notes, "running commands is switched off, so that no call is made that it could be about. Write: toolcrib config set toolboxes.shell.allow_shell true")
		}
		if !ok {
			return nil
		}
		if name, spec, _ := strings.Cut(done.Rule, "("); d == toolcrib.Allow && strings.Trim(spec, "*:) ") == "" && strings.Contains(name, "command") {
			done.Notes = append(done.Notes, "it allows every command but those of the floor: say which are meant, as in run_command(go test *)")
		}
		after, err := a.Explain(ctx, call)
		if err != nil {
			return nil // what becomes of an example is told where it can be
		}
		done.Example, done.Before, done.After = shown, before.Decision.String(), after.Decision.String()
		if after.Decision == d && before.Decision != d {
			return nil
		}
		if len(after.By) > 0 {
			done.Notes = append(done.Notes, c.byWhom(after.By[0]))
		}
		return nil
	})
}

// ruleMistake is what is wrong with a rule, without where such rules stand.
func ruleMistake(err error) string {
	message := err.Error()
	if _, rest, ok := strings.Cut(message, "reading the rule "); ok {
		message = "reading the rule " + rest
	}
	return message + " (nothing was changed)"
}

// byWhom says which rule or setting decides, and where it stands.
func (c *command) byWhom(v toolcrib.Verdict) string {
	line, _, _ := strings.Cut(v.Reason, "\n")
	by := v.Guard
	if v.Rule != "" {
		by += " (" + v.Rule + ")"
	}
	said := by + ": " + line
	_, rule, _ := strings.Cut(v.Rule, ": ") // user: deny run_command
	if _, rule, ok := strings.Cut(rule, " "); ok {
		if at := c.whereIs("", rule); at != "" {
			said += ", in " + at
		}
	}
	return said
}

func (c *command) tellChange(done *changedRule) error {
	if c.asJSON(false) {
		return c.printJSON(done)
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	key := "permissions." + done.Decision
	if done.Agent != "" {
		key = "agents." + done.Agent + "." + key
	}
	if done.Changed {
		say("Written to %s:%d\n  %s: %s\n", done.File, done.Line, key, done.Rule)
	} else {
		say("It stands there already, in %s:%d. Nothing was changed.\n", done.File, done.Line)
	}
	if done.Example != "" {
		say("%s\n", whatChanges(done))
	}
	for _, note := range done.Notes {
		say("  %s\n", note)
	}
	return c.write([]byte(text.Show(b.String())), nil)
}

// whatChanges says what becomes of the example.
func whatChanges(done *changedRule) string {
	is := map[string]string{"allow": "runs unasked", "ask": "is asked about", "deny": "is refused"}
	was := map[string]string{"allow": "ran unasked", "ask": "was asked about", "deny": "was refused"}
	such := "A call such as " + done.Example
	switch {
	case done.Before == done.After && done.After == done.Decision && done.Changed:
		return such + " " + is[done.After] + " already, without this rule:"
	case done.Before == done.After && done.After == done.Decision:
		return such + " " + is[done.After] + ":"
	case done.After != done.Decision:
		return "The rule has no effect on a call such as " + done.Example + ", which " + is[done.After] + " all the same:"
	}
	return such + " " + was[done.Before] + ", and " + is[done.After] + " from now on."
}
