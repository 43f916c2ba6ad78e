package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) policyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Ask and try what is allowed, learn rules from use, write them and take them back",
		Long: `Profiles say which tools exist, modes when a person is asked, and permissions
make exceptions by rule. None of these commands calls a tool, and none but allow,
ask, deny and undo changes a file.`,
		Example: `  toolcrib policy explain run_command command='git push'   what would become of it, and why
  toolcrib policy check                                    are all rules sound?
  toolcrib policy test cases.yaml                          do they decide as you expect?
  toolcrib policy import ~/.claude/settings.json           as rules of ours
  toolcrib policy diff new.yaml                            what would this file change?
  toolcrib policy suggest --since 7d                       rules for what you keep approving
  toolcrib policy allow 'run_command(go test *)'           write one; undo takes it back`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.policyExplainCmd(), &cobra.Command{
		Use: "check", Short: "Read every rule and run its examples", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.policyCheck(cmd.Context()) },
	}, &cobra.Command{
		Use: "test FILE", Short: "Check the policy against a file of cases", Args: usageArgs(cobra.ExactArgs(1)),
		Long: `Decide every case of a file by the rules, and say which come out otherwise than
wanted. A file of cases is YAML:

  cases:
    - tool: run_command
      input: '{"command": "git push"}'
      want: ask
    - {tool: read_file, input: '{"path": ".env"}', token: ci, want: deny}

A case may say who calls: token (by its name), subject, organisation, agent.`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.policyTest(cmd.Context(), args[0]) },
	}, c.policyImportCmd(), c.policyDiffCmd(), c.policySuggestCmd(),
		c.policyChangeCmd(toolcrib.Allow, "Write a rule about what runs unasked"),
		c.policyChangeCmd(toolcrib.Ask, "Write a rule about what a person is asked"),
		c.policyChangeCmd(toolcrib.Deny, "Write a rule about what is never done"), c.policyUndoCmd())
	return cmd
}

func (c *command) policyExplainCmd() *cobra.Command {
	var f callFlags
	var who judgedFor
	cmd := &cobra.Command{
		Use:   "explain NAME [key=value …]",
		Short: "Say what would become of a call: allow, ask or deny, by which rule, and what to change",
		Long: `Say what would become of a call: allow, ask or deny, by which rule, and what to
change. Nothing is called. What a person allowed for longer ('toolcrib remembered')
may answer a question before it is asked, and a budget that is used up refuses
what is allowed here: both are known only where the calls are made.`,
		Example: `  toolcrib policy explain write_file path=notes.md content=hi
  toolcrib policy explain run_command --json '{"command": "rm -rf build"}'
  toolcrib policy explain delete_file path=x --set mode=yolo
  toolcrib policy explain read_file path=x --token ci      for whoever has that token`,
		Args:              usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: c.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasJSON = cmd.Flags().Changed("json")
			if f.hasJSON && len(args) > 1 {
				return usagef("give the arguments either as key=value or as --json, not both")
			}
			return c.policyExplain(cmd.Context(), args[0], args[1:], f, who)
		},
	}
	cmd.Flags().StringVar(&f.json, "json", "", "the arguments as a JSON object; - reads it from standard input")
	c.dialectFlag(cmd, &f.dialect)
	who.flags(cmd)
	return cmd
}

func (c *command) policyExplain(ctx context.Context, name string, pairs []string, f callFlags, who judgedFor) error {
	d, err := dialect.Parse(f.dialect)
	if err != nil {
		return usage(err)
	}
	return c.prepared(ctx, unchanged, func(a *app.App) error {
		caller, err := c.callerFor(a, who, d)
		if err != nil {
			return err
		}
		c.tellUnmatched(ctx, a) // it is the command for finding out why a rule does nothing
		typed := name
		if spec, err := a.ToolNamed(caller, name); err == nil { // else it is told below why there is none
			name, typed = spec.Name, typedNames(a, caller, []toolcrib.Entry{spec})[0]
		}
		call := toolcrib.Call{Tool: name, Caller: caller, Lenient: dialect.Lenient(d)}
		if call.Input, err = c.arguments(a, call, pairs, f); err != nil {
			return err
		}
		e, err := a.Explain(ctx, call)
		if err != nil {
			return err
		}
		if c.asJSON(false) {
			return c.printJSON(e)
		}
		e.Tool = typed
		_, err = fmt.Fprint(c.out, text.Show(explained(e)))
		return err
	})
}

// explained is an explanation as a person reads it.
func explained(e app.Explanation) string {
	var b strings.Builder
	head := map[toolcrib.Decision]string{
		toolcrib.Allow: "allow: it would run unasked", toolcrib.Ask: "ask: a person would be asked", toolcrib.Deny: "deny: it would be refused",
	}[e.Decision]
	if e.Decision == toolcrib.Allow && slices.ContainsFunc(e.By, func(v toolcrib.Verdict) bool { return v.ChangesUnjudged }) {
		head += " on a layer, and what it changes is judged when it has ended"
	}
	fmt.Fprintf(&b, "%s: %s\n", e.Tool, head)
	list := func(title string, verdicts []toolcrib.Verdict) {
		for _, v := range verdicts {
			by := v.Guard
			if v.Rule != "" {
				by += " (" + v.Rule + ")"
			}
			word := v.Decision.String()
			if v.Note {
				word = "note"
			}
			fmt.Fprintf(&b, "  %s %-5s %s: %s\n", title, word, by, strings.ReplaceAll(v.Reason, "\n", "\n      "))
		}
	}
	list("decided:", e.By)
	list("besides:", e.Other)
	for _, change := range e.Change {
		fmt.Fprintf(&b, "  change:  %s\n", change)
	}
	return b.String()
}

func (c *command) policyCheck(ctx context.Context) error {
	return c.prepared(ctx, unchanged, func(a *app.App) error {
		report := a.PolicyReport()
		for _, u := range a.Unmatched(ctx, c.whereIs) {
			report.Unused = append(report.Unused, u.String())
		}
		if c.asJSON(false) {
			if err := c.printJSON(report); err != nil {
				return err
			}
		} else {
			for _, unused := range report.Unused {
				fmt.Fprintf(c.out, "warning  %s\n", text.ShowLine(unused))
			}
			rules := fmt.Sprintf("%d rules", report.Rules)
			if report.Rules == 1 {
				rules = "1 rule"
			}
			fmt.Fprintf(c.out, "ok       mode %s, profile %s, %s\n", report.Mode, strings.Join(report.Profiles, " and "), rules)
		}
		return nil
	})
}

// policyCases is a file of cases.
type policyCases struct {
	Cases []policyCase `yaml:"cases" doc:"Calls and what the policy should say to them."`
}

type policyCase struct {
	Tool         string `yaml:"tool" doc:"The tool."`
	Input        string `yaml:"input" doc:"Its arguments as a JSON object."`
	Agent        string `yaml:"agent" doc:"The preset the caller runs under."`
	Token        string `yaml:"token" doc:"The name of the token the caller has."`
	Subject      string `yaml:"subject" doc:"Who calls."`
	Organisation string `yaml:"organisation" doc:"The organisation of the caller."`
	Want         string `yaml:"want" enum:"allow,ask,deny" doc:"What the policy should say. A tool that does not exist for the caller is denied."`
}

// caseResult is what became of a case.
type caseResult struct {
	Tool   string            `json:"tool"`
	Input  string            `json:"input,omitempty"`
	Want   string            `json:"want"`
	Got    toolcrib.Decision `json:"got"`
	Reason string            `json:"reason"`
	OK     bool              `json:"ok"`
}

func (c *command) policyTest(ctx context.Context, file string) error {
	loaded, err := config.Load(policyCases{}, config.Options{Explicit: file})
	if err != nil {
		return badConfig{err}
	}
	if len(loaded.Value.Cases) == 0 {
		return usagef("%s has no cases", file)
	}
	return c.prepared(ctx, unchanged, func(a *app.App) error {
		var results []caseResult
		bad := 0
		for i, t := range loaded.Value.Cases {
			if t.Tool == "" || t.Want == "" {
				return badConfig{fmt.Errorf("%s: case %d needs a tool and want: allow, ask or deny", file, i+1)}
			}
			r, err := c.tryCase(ctx, a, t)
			if err != nil {
				// Not wrapped: of an error of the crib nothing but its own words would be told.
				return badConfig{fmt.Errorf("%s: case %d, %s: %s", file, i+1, t.Tool, err.Error())}
			}
			if !r.OK {
				bad++
			}
			results = append(results, r)
		}
		if c.asJSON(false) {
			if err := c.printJSON(results); err != nil {
				return err
			}
		} else {
			for _, r := range results {
				if !r.OK {
					fmt.Fprintf(c.out, "FAIL  %s %s: %s, want %s: %s\n", text.ShowLine(r.Tool), text.ShowLine(r.Input), r.Got, r.Want, text.ShowLine(r.Reason))
				}
			}
			fmt.Fprintf(c.out, "%d cases, %d decided otherwise\n", len(results), bad)
		}
		if bad > 0 {
			return failed{fmt.Errorf("%d of %d cases are decided otherwise", bad, len(results))}
		}
		return nil
	})
}

func (c *command) tryCase(ctx context.Context, a *app.App, t policyCase) (caseResult, error) {
	caller, err := c.callerFor(a, judgedFor{t.Token, t.Subject, t.Organisation, t.Agent}, "")
	if err != nil {
		return caseResult{}, err
	}
	r := caseResult{Tool: t.Tool, Input: t.Input, Want: t.Want}
	if spec, err := a.ToolNamed(caller, t.Tool); err == nil {
		t.Tool = spec.Name
	}
	j, err := a.Judge(ctx, toolcrib.Call{Tool: t.Tool, Caller: caller, Input: json.RawMessage(t.Input)})
	switch {
	case err != nil && a.Hidden(caller, t.Tool) == "":
		return r, err // it would be refused whatever the policy says: the case is wrong
	case err != nil:
		r.Got, r.Reason = toolcrib.Deny, a.Hidden(caller, t.Tool)
	default:
		r.Got, r.Reason = j.Decision, j.Verdicts[0].Guard+": "+j.Verdicts[0].Reason
	}
	r.OK = r.Got.String() == t.Want
	return r, nil
}
