package cli

import (
	"bytes"
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
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) policySuggestCmd() *cobra.Command {
	since, least, asJSON := "7d", 2, false
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Propose rules from what you were asked and approved",
		Long: `Read in the journal and at the desk what a person was asked about, and propose
rules that would have spared the calls that were approved. Every rule is tried
on the guards first, as if the calls were made here: together the rules allow no
call that was declined. Nothing is changed; each rule is shown as the command
that writes it. With --agent, the calls of that preset count, and the rules are
for it.`,
		Example: `  toolcrib policy suggest
  toolcrib policy suggest --since 30d --least 1`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			span, err := readSpan(since)
			if err != nil {
				return usagef("--since: %v", err)
			}
			if least < 1 {
				return usagef("--least is %d: want 1 or more", least)
			}
			return c.policySuggest(cmd.Context(), span, least, asJSON || c.asJSON(false))
		},
	}
	cmd.Flags().StringVar(&since, "since", since, "how far to look back, such as 24h or 30d")
	cmd.Flags().IntVar(&least, "least", least, "how many calls a rule has to spare")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, as -o json does")
	return cmd
}

// suggested is what is proposed, with what was left out on the way.
type suggested struct {
	app.Suggestions
	OfOthers int    `json:"of_others"`       // calls of other people or presets, which are not looked at
	Agent    string `json:"agent,omitempty"` // for whom the rules are; empty: for everybody
}

func (c *command) policySuggest(ctx context.Context, span time.Duration, least int, asJSON bool) error {
	if _, err := c.caller("cli", ""); err != nil { // the preset exists
		return err
	}
	past, others, err := c.pastAsked(ctx, time.Now().Add(-span))
	if errors.Is(err, store.ErrNoJournal) && !asJSON {
		_, err := fmt.Fprintln(c.out, "There is no journal yet: no call was made, so there is nothing to learn from.")
		return err
	}
	if err != nil && !errors.Is(err, store.ErrNoJournal) {
		return err
	}
	out := suggested{OfOthers: others, Agent: c.agent}
	err = c.prepared(ctx, unchanged, func(a *app.App) error {
		out.Suggestions, err = a.Suggest(ctx, c.bounded(c.loaded, c.broken), c.agent, past, least)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(out)
	}
	return c.write([]byte(text.Show(suggestedText(out, span, least, c.dir))), nil)
}

// suggestedText is a report as a person reads it.
func suggestedText(s suggested, span time.Duration, least int, dir string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	if s.Asked == 0 {
		say("Nobody was asked about anything in the last %s", desk.Span(span))
		if s.OfOthers > 0 {
			say(", except for %s", ofOthers(s.OfOthers))
		}
		say(".\n")
		return b.String()
	}
	say("In the last %s a person was asked about %s: %d approved, %d declined, %d not answered.\n", desk.Span(span), counted(s.Asked, "call"), s.Approved, s.Declined, s.Unanswered)
	if len(s.Rules) > 0 {
		say("These rules would have spared %d of those that were approved. To have one, copy its line:\n", s.Spared)
	} else {
		say("No rule is proposed.\n")
	}
	command := "toolcrib policy allow "
	if s.Agent != "" {
		command += "--agent " + text.ShellQuote(s.Agent) + " "
	}
	for _, r := range s.Rules {
		say("\n  %s%s\n", command, text.ShellQuote(r.Rule))
		spares := fmt.Sprintf("spares %d", r.Spared)
		switch {
		case r.Spared == 0:
			spares = fmt.Sprintf("spares %d together with other rules of this list", r.Together)
		case r.Together > 0:
			spares += fmt.Sprintf(", and %d more together with other rules of this list", r.Together)
		}
		say("      %s\n", spares)
		for _, e := range r.Examples {
			say("        %s\n", text.ShowLine(e))
		}
	}
	const most = 10
	if len(s.Others) > 0 {
		say("\nApproved, and no rule is proposed:\n")
	}
	for _, o := range s.Others[:min(len(s.Others), most)] {
		say("  %3d  %s\n       %s\n", o.Calls, text.ShowLine(o.What), text.ShowLine(o.Why))
	}
	if more := len(s.Others) - most; more > 0 {
		say("  and %d more kinds; -o json has them all\n", more)
	}
	var left []string
	for _, l := range []struct {
		n   int
		why string
	}{
		{s.Hidden, "whose arguments the journal does not have in full (secrets and long texts are not kept)"},
		{s.Seldom, fmt.Sprintf("approved less than %d times", least)},
		{s.Allowed, "that run unasked by now"},
		{s.Gone, "that would be refused here and now, such as those of another project"},
	} {
		if l.n > 0 {
			left = append(left, counted(l.n, "call")+" "+l.why)
		}
	}
	if s.OfOthers > 0 {
		left = append(left, ofOthers(s.OfOthers))
	}
	if len(left) > 0 {
		say("\nLeft out: %s.\n", strings.Join(left, "; "))
	}
	say("\nAll of it was judged as if it were called in %s.\n", dir)
	return b.String()
}

func ofOthers(n int) string {
	return counted(n, "call") + " of other people or agents (--agent NAME looks at those of one)"
}

// maxPast bounds how many calls are looked at.
const maxPast = 5000

// pastAsked are the calls of this person, under this preset, that somebody was asked
// about, with the answer: from the journal, and from the desk what was answered after
// the call had ended.
func (c *command) pastAsked(ctx context.Context, since time.Time) (past []app.PastCall, others int, err error) {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return nil, 0, err
	}
	r, err := app.ReadJournal(ctx, cfg, needs)
	if err != nil {
		if errors.Is(err, store.ErrNoJournal) {
			return nil, 0, err
		}
		return nil, 0, noJournal(err)
	}
	records, err := r.List(ctx, store.Filter{Since: since, Limit: maxPast})
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, 0, err
	}
	var questions []desk.Question
	err = c.withDesk(ctx, func(d *desk.Desk) error {
		questions, err = d.Questions(ctx, desk.Filter{})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	past, others = askedOf(records, questions, since, toolcrib.Caller{Subject: subject(), Agent: c.agent})
	return past, others, nil
}

// askedOf puts records and questions together.
func askedOf(records []toolcrib.Record, questions []desk.Question, since time.Time, who toolcrib.Caller) (past []app.PastCall, others int) {
	mine := func(caller toolcrib.Caller) bool { return caller.Subject == who.Subject && caller.Agent == who.Agent }
	at := map[string]int{}
	for i := range records {
		rec := &records[i]
		if rec.Replay != "" || !wasAsked(rec) {
			continue
		}
		if !mine(rec.Caller) {
			others++
			continue
		}
		call := app.PastCall{
			Call:   toolcrib.Call{ID: rec.ID, Tool: rec.Tool, Caller: rec.Caller, Input: rec.Input},
			Answer: app.PastUnanswered, Hidden: notWhole(rec.Input),
		}
		switch {
		case saidNo(rec) || rec.Edited != nil: // who changes the arguments does not want them as they were
			call.Answer = app.PastDeclined
		case rec.ApprovedBy != "":
			call.Answer = app.PastApproved
		}
		at[rec.ID] = len(past)
		past = append(past, call)
	}
	for i := range questions {
		q := &questions[i]
		if q.Text != "" || q.Reply == nil || q.Asked.Before(since) || !mine(q.Caller) {
			continue
		}
		answer := app.PastApproved
		switch {
		case q.State == desk.Denied, q.Reply.Choice == desk.Edit:
			answer = app.PastDeclined
		case q.State == desk.Allowed && q.Reply.Left > 0: // nobody came for it yet
		case q.State == desk.Allowed: // the call that used the answer has a record of its own, or is the one that asked
			if n, there := at[q.Call]; there && past[n].Answer == app.PastUnanswered {
				past[n].Answer = ""
			}
			continue
		default:
			continue
		}
		if n, there := at[q.Call]; there {
			if past[n].Answer != app.PastDeclined {
				past[n].Answer = answer
			}
			continue
		}
		past = append(past, app.PastCall{
			Call:   toolcrib.Call{ID: q.Call, Tool: q.Tool, Caller: q.Caller, Input: q.Input},
			Answer: answer, Hidden: q.Redacted || len(q.Input) == 0 || notWhole(q.Input),
		})
	}
	return slices.DeleteFunc(past, func(p app.PastCall) bool { return p.Answer == "" }), others
}

// wasAsked reports whether a person was, or should have been, asked about a call. What
// a remembered answer allowed was not.
func wasAsked(rec *toolcrib.Record) bool {
	if strings.HasPrefix(rec.ApprovedBy, "grant ") {
		return false
	}
	asked := false
	for _, v := range rec.Verdicts {
		if !v.Note && v.Decision == toolcrib.Deny && v.Guard != personGuard {
			return false
		}
		asked = asked || !v.Note && v.Decision == toolcrib.Ask
	}
	return asked
}

// personGuard is the name under which the journal has what a person denied.
const personGuard = "person"

func saidNo(rec *toolcrib.Record) bool {
	for _, v := range rec.Verdicts {
		if v.Guard == personGuard && v.Decision == toolcrib.Deny {
			return true
		}
	}
	return false
}

// notWhole reports whether the journal has not all of an input.
func notWhole(input []byte) bool {
	return bytes.Contains(input, []byte("[redacted]")) || bytes.HasPrefix(input, []byte(`{"unrecorded"`))
}
