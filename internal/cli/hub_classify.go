package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
)

type classifyFlags struct {
	yes bool
	set []string
}

func (c *command) hubClassifyCmd() *cobra.Command {
	var f classifyFlags
	cmd := &cobra.Command{
		Use: "classify NAME [TOOL...]", Short: "Propose what a server's tools may do, and have it confirmed",
		Long: `Propose effects for the tools of a server, from what it says about them, from
their names and from their arguments. Nothing counts before you confirm it: until
then a tool counts as one that does everything. What you confirm holds for the
definition that you were shown. When the server changes a tool, it is undeclared
again.

Tools that say one thing and are called another, and those that only the server
calls read-only, are never confirmed by --yes. Say what they do with --set, or at
the terminal.`,
		Example: `  toolcrib hub classify github
  toolcrib hub classify github --yes
  toolcrib hub classify github --set create_issue=writes,network --set delete_repo=undeclared`,
		Args: usageArgs(cobra.MinimumNArgs(1)), ValidArgsFunction: c.completeServerOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.hubClassify(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "confirm what is proposed without doubt, without being asked")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "confirm this, TOOL=EFFECTS; undeclared takes back what was confirmed")
	return cmd
}

func (c *command) hubClassify(ctx context.Context, name string, tools []string, f classifyFlags) error {
	a, err := c.hubState(ctx, name)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	b, _ := a.Hub.Box(name)
	list := b.Classify()
	for _, tool := range tools {
		if !slices.ContainsFunc(list, func(t app.ClassifiedTool) bool { return t.Tool == tool }) {
			return usagef("%s has no tool %s that is approved; 'toolcrib hub show %s' lists them", name, text.ShowLine(tool), name)
		}
	}
	if len(tools) > 0 {
		list = slices.DeleteFunc(list, func(t app.ClassifiedTool) bool { return !slices.Contains(tools, t.Tool) })
	}
	if len(f.set) > 0 {
		chosen, err := setEffects(list, f.set)
		if err != nil {
			return err
		}
		return c.confirmEffects(b.ConfirmEffects(chosen))
	}
	terminal := false
	if in, ok := c.in.(*os.File); ok {
		terminal = term.IsTerminal(int(in.Fd()))
	}
	if c.asJSON(false) && !f.yes {
		return c.printJSON(list)
	}
	if !c.asJSON(false) {
		if err := c.showClassified(list); err != nil {
			return err
		}
	}
	open := proposals(list)
	switch {
	case f.yes && len(open) > 0:
		return c.confirmEffects(b.ConfirmEffects(open))
	case f.yes:
		return c.confirmEffects(nil, nil)
	case !terminal:
		return nil // it was only looked at
	}
	chosen, err := c.chooseEffects(list, open)
	if err != nil || len(chosen) == 0 {
		return err
	}
	return c.confirmEffects(b.ConfirmEffects(chosen))
}

// proposals are those that can be confirmed together: they are new, say something,
// and nothing speaks against them.
func proposals(list []app.ClassifiedTool) (out []app.ClassifiedTool) {
	for _, t := range list {
		if t.From == "" && t.Proposed != 0 && t.Doubt == "" {
			out = append(out, t)
		}
	}
	return out
}

// setEffects reads TOOL=EFFECTS.
func setEffects(list []app.ClassifiedTool, set []string) (out []app.ClassifiedTool, err error) {
	for _, word := range set {
		tool, effects, _ := strings.Cut(word, "=")
		at := slices.IndexFunc(list, func(t app.ClassifiedTool) bool { return t.Tool == tool })
		if at < 0 {
			return nil, usagef("--set: there is no approved tool %s", text.ShowLine(tool))
		}
		t := list[at]
		if t.From == app.FromSettings {
			return nil, usagef("--set: what %s may do is in the settings (mcp_servers.…effects), which count first: change it there", text.ShowLine(tool))
		}
		if t.Proposed, err = readEffects(effects); err != nil {
			return nil, usagef("--set: %s: %v", text.ShowLine(tool), err)
		}
		out = append(out, t)
	}
	return out, nil
}

func readEffects(words string) (e toolcrib.Effects, err error) {
	if words == "" {
		return 0, fmt.Errorf("write what it may do, such as reads,network, or undeclared")
	}
	return e, e.UnmarshalText([]byte(strings.ReplaceAll(words, " ", ",")))
}

// showClassified shows what is proposed and why.
func (c *command) showClassified(list []app.ClassifiedTool) error {
	var rows [][]string
	for _, t := range list {
		now := t.Now.String()
		if t.From != "" {
			now += " (" + t.From + ")"
		}
		why := strings.Join(t.Why, "; ")
		switch {
		case t.Doubt != "":
			why = "DOUBT: " + t.Doubt
		case t.Proposed == 0:
			why = "neither its name nor the server tells"
		}
		rows = append(rows, []string{t.Tool, now, t.Proposed.String(), why})
	}
	return c.table([]string{"TOOL", "NOW", "PROPOSED", "WHY"}, rows)
}

// chooseEffects asks once about all, or about one after the other.
func (c *command) chooseEffects(list, open []app.ClassifiedTool) ([]app.ClassifiedTool, error) {
	lines := bufio.NewReader(io.LimitReader(c.in, 1<<20))
	ask := func(question string) (string, error) {
		fmt.Fprint(c.err, question)
		line, err := lines.ReadString('\n')
		if err != nil && line == "" {
			return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "nothing was changed"}
		}
		return strings.ToLower(strings.TrimSpace(line)), nil
	}
	doubted := 0
	for _, t := range list {
		if t.Doubt != "" && t.From == "" {
			doubted++
		}
	}
	if doubted > 0 {
		fmt.Fprintf(c.err, "\n%s left out of that: look at what is in doubt one by one (e).\n", counted(doubted, "tool"))
	}
	answer, err := ask(fmt.Sprintf("\nConfirm what is proposed for %s? [a] all of them, [e] one by one, [n] nothing: ", counted(len(open), "tool")))
	switch {
	case err != nil:
		return nil, err
	case answer == "a" && len(open) > 0:
		return open, nil
	case answer != "e":
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "nothing was changed"}
	}
	fmt.Fprintln(c.err, "Enter confirms what is proposed; or write what it may do (pure, reads, writes, destroys, runs, network, asks, secrets), - to leave the tool as it is, q to end here.")
	var chosen []app.ClassifiedTool
	for _, t := range list {
		if t.From == app.FromSettings {
			continue
		}
		for {
			if t.Doubt != "" {
				fmt.Fprintf(c.err, "  DOUBT: %s\n", text.ShowLine(t.Doubt))
			}
			word, err := ask(fmt.Sprintf("%s [%s]: ", text.ShowLine(t.Tool), t.Proposed))
			if err != nil || word == "q" {
				return chosen, err
			}
			if word == "-" || word == "" && t.Proposed == 0 {
				break
			}
			if word != "" {
				e, err := readEffects(word)
				if err != nil {
					fmt.Fprintf(c.err, "  %v\n", err)
					continue
				}
				t.Proposed = e
			}
			chosen = append(chosen, t)
			break
		}
	}
	return chosen, nil
}

// confirmEffects tells what was written.
func (c *command) confirmEffects(done []string, err error) error {
	if c.asJSON(false) {
		if done == nil {
			done = []string{}
		}
		if printed := c.printJSON(map[string]any{"confirmed": done}); err == nil {
			err = printed
		}
		return err
	}
	if len(done) == 0 && err == nil {
		fmt.Fprintln(c.out, "There is nothing to confirm.")
		return nil
	}
	if len(done) > 0 {
		fmt.Fprintf(c.out, "Confirmed for %s: %s\n", counted(len(done), "tool"), text.ShowLine(strings.Join(done, ", ")))
	}
	return err
}
