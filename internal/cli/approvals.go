package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) approvalsCmd() *cobra.Command {
	var f approvalsFlags
	list := func(cmd *cobra.Command, _ []string) error { return c.listApprovals(cmd.Context(), f) }
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "See what waits for a person's approval, and answer it",
		Long: `Calls that a person has to approve wait here, whatever program made them and
also after it has ended. The first answer counts, wherever it is given. A
question is named by its ID, or by as much of it as is unique.`,
		Example: `  toolcrib approvals                         what waits
  toolcrib approvals --watch                 each question as it comes, answered with one key
  toolcrib approvals show q-7f               one question in full
  toolcrib approvals allow q-7f              allow it once
  toolcrib approvals allow q-7f --project    … and whenever it comes again in this project
  toolcrib approvals allow q-7f --session --by-directory   … and further changes in that directory
  toolcrib approvals allow q-7f --rule       … and never ask about the like again
  toolcrib approvals allow --server github   all that waits of one server, shown and asked once
  toolcrib approvals deny q-7f -m 'use the staging server'`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	listing := &cobra.Command{Use: "list", Short: "List the questions that wait", Args: usageArgs(cobra.NoArgs), RunE: list}
	for _, l := range []*cobra.Command{cmd, listing} {
		l.Flags().BoolVar(&f.all, "all", false, "those that are settled too")
		l.Flags().BoolVar(&f.watch, "watch", false, "go on, until interrupted: at a terminal one key answers, elsewhere it is told what changes")
	}
	cmd.AddCommand(listing, &cobra.Command{
		Use: "show ID", Short: "Show one question in full", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeQuestion,
		RunE: func(cmd *cobra.Command, args []string) error { return c.showApproval(cmd.Context(), args[0]) },
	}, c.allowCmd(), c.denyCmd())
	return cmd
}

type approvalsFlags struct{ all, watch bool }

// withDesk opens the desk and nothing else.
func (c *command) withDesk(ctx context.Context, use func(*desk.Desk) error) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	d, done, err := app.OpenDesk(ctx, loaded.Value, paths.State, c.logger(loaded.Value.Log))
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	err = use(d)
	return errors.Join(err, done())
}

func (c *command) listApprovals(ctx context.Context, f approvalsFlags) error {
	return c.withDesk(ctx, func(d *desk.Desk) error {
		if f.watch {
			if ok, err := c.watchAnswering(ctx, d); ok || err != nil {
				return err
			}
			return c.watchApprovals(ctx, d)
		}
		filter := desk.Filter{State: desk.Open}
		if f.all {
			filter = desk.Filter{}
		}
		list, err := d.Questions(ctx, filter)
		if err != nil {
			return err
		}
		now := time.Now()
		if !f.all { // nobody may have cleaned up
			list = slices.DeleteFunc(list, func(q desk.Question) bool { return !now.Before(q.Expires) })
		}
		slices.SortStableFunc(list, func(a, b desk.Question) int { return a.Asked.Compare(b.Asked) })
		if c.asJSON(false) {
			if list == nil {
				list = []desk.Question{}
			}
			return c.printJSON(list)
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.out, "Nothing waits for an approval.")
			return err
		}
		rows := make([][]string, 0, len(list))
		for i := range list {
			rows = append(rows, questionRow(&list[i], now))
		}
		return c.table([]string{"ID", "ASKED", "STATE", "FOR", "WHAT"}, rows)
	})
}

func questionRow(q *desk.Question, now time.Time) []string {
	state := string(q.State)
	if q.State == desk.Open && q.Waiting > 0 {
		state = "waits"
	}
	who := q.Caller.Subject
	if q.Caller.Agent != "" {
		who = q.Caller.Agent
	}
	if q.Caller.Client != "" {
		who += " in " + q.Caller.Client
	}
	return []string{q.ID, age(now.Sub(q.Asked)), state, who, summary(q)}
}

// age says how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// summary is a question on one line.
func summary(q *desk.Question) string {
	text := q.Name() + " " + string(q.Input)
	if q.Text != "" {
		text = q.Name() + ": " + q.Text
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 90 {
		text = string(r[:89]) + "…"
	}
	return text
}

// watchApprovals tells what is asked and answered until it is interrupted.
func (c *command) watchApprovals(ctx context.Context, d *desk.Desk) error {
	events, stop, err := d.Watch(ctx, desk.Screen{Name: "watch"})
	if err != nil {
		return err
	}
	defer stop()
	seen := map[string]desk.State{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-events:
			q := &ev.Question
			if seen[q.ID] == q.State {
				continue // only the number of those who wait has changed
			}
			seen[q.ID] = q.State
			if err := c.tellQuestion(q); err != nil {
				return err
			}
		}
	}
}

func (c *command) tellQuestion(q *desk.Question) error {
	if c.asJSON(false) {
		return c.printJSON(q)
	}
	row := fmt.Sprintf("%s  %s  %s", q.ID, q.State, summary(q))
	if q.State == desk.Open {
		row += "  (toolcrib approvals show " + q.ID + ")"
	} else if q.Reply != nil {
		row = fmt.Sprintf("%s  %s by %s: %s", q.ID, q.State, q.Reply.By, q.Reply.Choice)
	}
	_, err := fmt.Fprintln(c.out, text.ShowLine(row))
	return err
}

func (c *command) showApproval(ctx context.Context, name string) error {
	return c.withDesk(ctx, func(d *desk.Desk) error {
		q, err := findQuestion(ctx, d, name, false)
		if err != nil {
			return err
		}
		if c.asJSON(false) {
			return c.printJSON(q)
		}
		l := c.look(c.out)
		var page strings.Builder
		page.WriteString(l.question(&q))
		switch {
		case q.State == desk.Open:
			page.WriteString(l.strong("Answer it with:") + "\n")
			for _, line := range howToAnswer(d, &q) {
				page.WriteString(l.line("", line))
			}
		case q.Reply != nil:
			page.WriteString(l.note(fmt.Sprintf("%s by %s at %s: %s", q.State, text.ShowExact(q.Reply.By), q.Reply.At.Local().Format(time.DateTime), q.Reply.Choice)))
		default:
			page.WriteString(l.note(settledText(&q)))
		}
		_, err = fmt.Fprint(c.out, page.String())
		return err
	})
}

// howToAnswer lists the commands that answer a question.
func howToAnswer(d *desk.Desk, q *desk.Question) []string {
	var out []string
	if q.Text != "" {
		return []string{"toolcrib approvals allow " + q.ID + " -m 'the answer'", "toolcrib approvals deny " + q.ID}
	}
	var lasting []string
	for _, o := range d.Offers(q) {
		command := "toolcrib approvals allow " + q.ID
		switch o.Choice {
		case desk.AllowOnce:
		case desk.Deny:
			command = "toolcrib approvals deny " + q.ID
		case desk.Edit:
			command += " --edit '{…}'"
		default:
			command += " --" + string(o.Choice)
			lasting = append(lasting, "--"+string(o.Choice))
		}
		out = append(out, command+"   # "+o.Text)
	}
	for _, by := range q.Ways() {
		out = append(out, "with "+strings.Join(lasting, " or ")+", --by-"+string(by)+" remembers "+q.Remembers(by))
	}
	if rules := rulesOf(q, desk.ByArguments); len(rules) > 0 {
		out = append(out, "toolcrib approvals allow "+q.ID+" --rule   # allow it, and write "+strings.Join(rules, " and ")+" into your configuration")
	}
	return out
}

// findQuestion finds a question by its ID or by the beginning of it. Of several
// that begin so, those that wait count first.
func findQuestion(ctx context.Context, d *desk.Desk, name string, open bool) (desk.Question, error) {
	q, err := d.Question(ctx, name)
	if err == nil || !errors.Is(err, desk.ErrNotFound) {
		return q, err
	}
	list, err := d.Questions(ctx, desk.Filter{})
	if err != nil {
		return desk.Question{}, err
	}
	found := slices.DeleteFunc(list, func(q desk.Question) bool { return !begins(q.ID, "q-", name) })
	if waits := slices.DeleteFunc(slices.Clone(found), func(q desk.Question) bool { return q.State != desk.Open }); len(waits) > 0 || open && len(found) > 1 {
		found = waits
	}
	ids := make([]string, 0, len(found))
	for _, q := range found {
		ids = append(ids, q.ID)
	}
	if err := oneOf("question", "toolcrib approvals", name, ids); err != nil {
		return desk.Question{}, err
	}
	return found[0], nil
}

// begins reports whether an ID begins with what was typed.
func begins(id, prefix, typed string) bool {
	return typed != "" && (strings.HasPrefix(id, typed) || strings.HasPrefix(id, prefix+typed))
}

// oneOf makes sure that a name means one thing.
func oneOf(kind, where, name string, ids []string) error {
	switch len(ids) {
	case 0:
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("there is no %s %s; '%s' lists what there is", kind, text.ShowLine(name), where)}
	case 1:
		return nil
	}
	return usagef("%s could be %s: type more of it", text.ShowLine(name), strings.Join(ids, " or "))
}

// completeQuestion offers the questions that wait to the shell.
func (c *command) completeQuestion(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	err := c.withDesk(cmd.Context(), func(d *desk.Desk) error {
		list, err := d.Questions(cmd.Context(), desk.Filter{State: desk.Open})
		for i := range list {
			words = append(words, list[i].ID+"\t"+text.ShowLine(summary(&list[i])))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
