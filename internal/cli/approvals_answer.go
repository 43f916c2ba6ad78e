package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

type allowFlags struct {
	once, session, project, always bool
	span, edit, message            string
	only                           []string
	by                             map[desk.By]*bool
	rule, yes                      bool
	many                           many
}

func (c *command) allowCmd() *cobra.Command {
	var f allowFlags
	cmd := &cobra.Command{
		Use:   "allow ID… | --all | --server NAME | --tool NAME",
		Short: "Allow what a question asks for, or several at once", SuggestFor: []string{"approve", "accept", "permit", "yes"},
		Long: `Allow what a question asks for: once, or for longer. What is remembered is the
tool as it is defined now with exactly these arguments, or what --by-… names:
the rules that the question offers, changes to files in that directory, the tool
with any arguments, or the tools of its server. 'toolcrib remembered' lists it. With
--rule a rule is written into your configuration instead, and 'toolcrib policy
undo' takes it back.

With --all, --server, --tool or --all-alike several questions are shown together
and allowed once with one answer: those that were shown, and none that has come
since. What is asked every time, and what cannot be shown whole, is left out.

Of what a command has changed on its layer, --only takes a part: the files that it
names, and the directories with all that is in them. The rest is dropped.`,
		ValidArgsFunction: c.completeQuestion,
		RunE: func(cmd *cobra.Command, args []string) error {
			reply, err := f.reply(cmd.Flags().Changed("edit"))
			if err != nil {
				return err
			}
			if f.message != "" && reply.Choice != desk.AllowOnce {
				return usagef("-m is the answer to a tool's own question, which is not remembered")
			}
			if f.many.several() && reply.Choice != desk.AllowOnce {
				return usagef("several questions are allowed once: what is remembered or changed is looked at one by one")
			}
			if f.rule {
				if f.many.several() {
					return usagef("rules are made of questions that are named: give their IDs")
				}
				return c.allowByRule(cmd.Context(), args, reply.By)
			}
			return c.answer(cmd.Context(), args, reply, f.many, f.yes)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.once, "once", false, "this time only (what is done if nothing is said)")
	flags.BoolVar(&f.session, "session", false, "as long as this session lasts")
	flags.BoolVar(&f.project, "project", false, "in this project")
	flags.BoolVar(&f.always, "always", false, "everywhere")
	flags.StringVar(&f.span, "for", "", "remember it so long, such as 2h or 7d")
	f.by = map[desk.By]*bool{
		desk.ByRule:      flags.Bool("by-rule", false, "remember the rules that the question offers instead of the exact arguments"),
		desk.ByDirectory: flags.Bool("by-directory", false, "… changes to files in the directory of this one"),
		desk.ByTool:      flags.Bool("by-tool", false, "… this tool with any arguments"),
		desk.ByServer:    flags.Bool("by-server", false, "… every tool of its server that can do no more than this one"),
	}
	flags.BoolVar(&f.rule, "rule", false, "allow it, and write a rule into your configuration, so that the like is not asked again")
	flags.StringVar(&f.edit, "edit", "", "allow it once with these arguments instead, a JSON object")
	flags.StringArrayVar(&f.only, "only", nil, "of what a command has changed, take only this path; it may be given several times")
	flags.StringVarP(&f.message, "message", "m", "", "the answer to a tool's own question")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with several at once: do not ask again after they are shown")
	f.many.gives = true
	f.many.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("once", "session", "project", "always", "edit", "rule")
	for _, other := range []string{"session", "project", "always", "edit", "rule", "message"} {
		cmd.MarkFlagsMutuallyExclusive("only", other)
	}
	cmd.MarkFlagsMutuallyExclusive("by-rule", "by-directory", "by-tool", "by-server")
	return cmd
}

// reply makes the answer of the flags.
func (f allowFlags) reply(edit bool) (desk.Reply, error) {
	r := desk.Reply{Choice: desk.AllowOnce, Message: f.message, Paths: f.only}
	for by, set := range f.by {
		if *set {
			r.By = by
		}
	}
	switch {
	case edit:
		if err := isObject([]byte(f.edit)); err != nil {
			return r, usagef("--edit: %v", err)
		}
		r.Choice, r.Input = desk.Edit, json.RawMessage(f.edit)
	case f.session:
		r.Choice = desk.AllowSession
	case f.project:
		r.Choice = desk.AllowProject
	case f.always:
		r.Choice = desk.AllowAlways
	}
	lasts := f.session || f.project || f.always
	if f.span != "" {
		span, err := readSpan(f.span)
		if err != nil {
			return r, usagef("--for: %v", err)
		}
		r.For = span
	}
	if f.rule && f.span != "" {
		return r, usagef("a rule holds until you take it back ('toolcrib policy undo'): --for goes with --session, --project or --always")
	}
	if !lasts && !f.rule && (r.By != "" || f.span != "") {
		return r, usagef("--for and --by-… say what is remembered: say also where, with --session, --project, --always or --rule")
	}
	return r, nil
}

func (c *command) denyCmd() *cobra.Command {
	var message string
	var yes bool
	var m many
	cmd := &cobra.Command{
		Use: "deny ID… | --all | --server NAME | --tool NAME", Short: "Deny what a question asks for, or several at once",
		SuggestFor: []string{"reject", "refuse", "decline", "no"},
		Long: `Deny what a question asks for. With --all, --server, --tool or --all-alike several
questions are shown together and denied with one answer: those that were shown,
and none that has come since.`,
		ValidArgsFunction: c.completeQuestion,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.answer(cmd.Context(), args, desk.Reply{Choice: desk.Deny, Message: message}, m, yes)
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "what the model is told")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with several at once: do not ask again after they are shown")
	m.flags(cmd)
	return cmd
}

// answer gives one answer to the named questions. Each is for itself: that one
// was answered before does not undo the others.
func (c *command) answer(ctx context.Context, names []string, r desk.Reply, m many, yes bool) error {
	return c.withDesk(ctx, func(d *desk.Desk) error {
		list, err := m.questions(ctx, d, names)
		if err != nil {
			return err
		}
		allows := r.Choice != desk.Deny
		if m.several() && allows && r.Message == "" {
			if list = c.allowable(list); len(list) == 0 {
				return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "none of the questions can be allowed together with others"}
			}
		}
		for i := range list {
			switch own := list[i].Text != ""; {
			case own && r.Choice == desk.AllowOnce && r.Message == "":
				return usagef("%s is a tool's own question: give the answer with -m", list[i].ID)
			case !own && r.Choice == desk.AllowOnce && r.Message != "":
				return usagef("-m is the answer to a tool's own question, and %s is none", list[i].ID)
			}
		}
		if r.Paths != nil && len(list) > 1 {
			return usagef("a part is taken of one question at a time")
		}
		if r.Choice == desk.Edit && len(list) > 1 {
			return usagef("arguments are edited one question at a time")
		}
		// Others may have come since the person looked: they see what they answer.
		if m.several() {
			c.showMany(list)
			question := "Allow %s, each once?"
			if !allows {
				question = "Deny %s?"
			}
			if !yes {
				if ok, err := c.confirm(fmt.Sprintf(question, counted(len(list), "question"))); err != nil || !ok {
					return err
				}
			}
		}
		return c.settle(ctx, d, list, r)
	})
}

func (c *command) settle(ctx context.Context, d *desk.Desk, list []desk.Question, r desk.Reply) error {
	var settled []desk.Question
	var errs []error
	for _, q := range list {
		reply := r
		if reply.Choice != desk.Deny {
			reply.Calls = q.Waiting
		}
		now, err := d.Answer(ctx, q.ID, reply, subject())
		if err != nil {
			errs = append(errs, answerError(err))
			continue
		}
		settled = append(settled, now)
		if !c.asJSON(false) {
			fmt.Fprintf(c.out, "%s  %s\n", now.ID, answeredText(&now)) // a failed write is noticed at the end
			if now.State == desk.Allowed && now.Waiting == 0 && now.Reply.Grant == "" {
				fmt.Fprintln(c.err, "toolcrib: nobody waits for it now: it counts when the call is repeated")
			}
		}
	}
	if c.asJSON(false) && settled != nil {
		errs = append(errs, c.printJSON(settled))
	}
	return errors.Join(errs...)
}

// answerError gives an answer that does not count the code that says why.
func answerError(err error) error {
	code := toolcrib.CodeInternal
	switch {
	case errors.Is(err, desk.ErrAnswered), errors.Is(err, desk.ErrExpired), errors.Is(err, desk.ErrReplaced):
		code = toolcrib.CodeConflict
	case errors.Is(err, desk.ErrBadReply):
		code = toolcrib.CodeInvalid
	case errors.Is(err, desk.ErrNotFound):
		code = toolcrib.CodeNotFound
	}
	return &toolcrib.Error{Code: code, Message: err.Error(), Err: err}
}
