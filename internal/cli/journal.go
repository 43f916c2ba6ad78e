package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) journalCmd() *cobra.Command {
	var l journalList
	list := func(cmd *cobra.Command, _ []string) error { return c.listJournal(cmd, l) }
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Show, check and export what was done",
		Long: `Every call is written down before and after it runs, refused ones too, in a
chain of hashes whose head is signed. An ID may be shortened to a beginning that
no other ID has. Only 'journal undo' changes anything.`,
		Example: `  toolcrib journal                                      the newest calls
  toolcrib journal --since today --outcome denied       what was refused today
  toolcrib journal --follow                             calls as they end
  toolcrib journal --by tool --since 7d                 how many of each
  toolcrib journal show 019a84c2                        everything about one
  toolcrib journal undo 019a84c2                        take a change of a file back
  toolcrib journal verify                               has anyone changed it?
  toolcrib journal -o jsonl --follow --after 019a84c2   for a log collector`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	l.flags(cmd)
	listCmd := &cobra.Command{Use: "list", Short: "List calls, newest first", Args: usageArgs(cobra.NoArgs), RunE: list,
		Long: `List calls, newest first. With --follow or --after they come in the order in which
they ended.

-o csv and -o jsonl are for other programs; docs/journal.md lists their columns.`,
		Example: `  toolcrib journal list --tool run_command --since yesterday --until today
  toolcrib journal list --since 7d --limit 0 -o csv > week.csv`}
	l.flags(listCmd)
	var exported journalFilter
	export := &cobra.Command{
		Use: "export", Short: "Write entries as JSON lines, oldest first", Args: usageArgs(cobra.NoArgs),
		Long: `Write the entries as they stand in the chain, with their hashes, so that they can
be checked elsewhere. For a log collector use 'toolcrib journal -o jsonl'.`,
		Example: `  toolcrib journal export > journal.jsonl`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error {
				f, err := exported.store()
				if err != nil {
					return err
				}
				return r.Export(ctx, c.out, f)
			})
		},
	}
	exported.flags(export)
	exported.limit = 0
	var counted journalFilter
	stats := &cobra.Command{
		Use: "stats", Short: "Count calls by outcome and by tool", Args: usageArgs(cobra.NoArgs),
		Example: `  toolcrib journal stats --since 7d`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.journalStats(ctx, r, counted) })
		},
	}
	counted.who(stats)
	cmd.AddCommand(listCmd, &cobra.Command{
		Use: "show ID", Short: "Show everything about one call, by its ID or number", Args: usageArgs(cobra.ExactArgs(1)),
		Example: `  toolcrib journal show 019a84c2
  toolcrib journal show 019a84c2 -o json`,
		ValidArgsFunction: c.completeCallID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.showRecord(ctx, r, args[0]) })
		},
	}, &cobra.Command{
		Use: "verify", Short: "Check every entry, the chain and its signed head", Args: usageArgs(cobra.NoArgs),
		Example: `  toolcrib journal verify`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.verifyJournal(cmd.Context()) },
	}, export, stats, c.journalUndoCmd())
	return cmd
}

// journalFilter is a store.Filter as flags say it.
type journalFilter struct {
	limit                           int
	tool, subject, session, outcome string
	agent, organisation, client     string
	since, until                    string
}

// who adds the flags that choose by tool, caller and time.
func (f *journalFilter) who(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "only calls of this tool")
	flags.StringVar(&f.subject, "subject", "", "only calls by this subject")
	flags.StringVar(&f.agent, "agent", "", "only calls under this agent preset")
	flags.StringVar(&f.client, "client", "", "only calls by this program, as claude-code")
	flags.StringVar(&f.session, "session", "", "only calls of this session")
	flags.StringVar(&f.organisation, "organisation", "", "only calls of this organisation")
	flags.StringVar(&f.since, "since", "", "only calls since then: today, yesterday, 2h, 7d, 2026-11-01 or all")
	flags.StringVar(&f.until, "until", "", "only calls before then, written likewise")
}

func (f *journalFilter) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.who(cmd)
	flags.IntVar(&f.limit, "limit", 20, "at most so many; 0 is all")
	flags.StringVar(&f.outcome, "outcome", "", "only calls that ended so: "+strings.Join(account.Outcomes(), ", "))
	if cmd.Name() == "export" {
		flags.Lookup("limit").DefValue = "0"
	}
}

func (f *journalFilter) store() (store.Filter, error) {
	out := store.Filter{
		Limit: f.limit, Tool: f.tool, Subject: f.subject, Session: f.session, Outcome: toolcrib.Outcome(f.outcome),
		Agent: f.agent, Organisation: f.organisation, Client: f.client,
	}
	if words := account.Outcomes(); f.outcome != "" && !slices.Contains(words, f.outcome) {
		return out, usagef("--outcome is %q: want one of %s", f.outcome, strings.Join(words, ", "))
	}
	if f.limit < 0 {
		return out, usagef("--limit is %d: want 0 or more", f.limit)
	}
	for _, t := range [...]struct {
		flag, said string
		to         *time.Time
	}{{"since", f.since, &out.Since}, {"until", f.until, &out.Until}} {
		if t.said == "" || t.said == "all" {
			continue
		}
		at, err := account.When(t.said, time.Now())
		if err != nil {
			return out, usagef("--%s: %v", t.flag, err)
		}
		*t.to = at
	}
	return out, nil
}

// journalOf says where this user's journal lies.
func (c *command) journalOf() (settings.Config, app.Needs, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return settings.Config{}, app.Needs{}, err
	}
	return loaded.Value, app.Needs{State: paths.State, Log: c.logger(loaded.Value.Log)}, nil
}

// retentionFrom says where the settings stand that remove records.
func retentionFrom(loaded *config.Loaded[settings.Config]) (age, size string) {
	return loaded.Origins["journal.max_age"].String(), loaded.Origins["journal.max_size"].String()
}

func (c *command) withJournal(cmd *cobra.Command, use func(context.Context, *store.Reader) error) error {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return err
	}
	r, err := app.ReadJournal(cmd.Context(), cfg, needs)
	if err != nil {
		return noJournal(err)
	}
	return errors.Join(use(cmd.Context(), r), r.Close())
}

func noJournal(err error) error {
	if errors.Is(err, store.ErrNoJournal) {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "there is no journal yet: no call was made", Err: err}
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
}

func (c *command) verifyJournal(ctx context.Context) error {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return err
	}
	done := c.progress("checking every entry of the journal")
	report, err := app.VerifyJournal(ctx, cfg, needs)
	done()
	if err != nil {
		return noJournal(err)
	}
	if c.asJSON(false) {
		if err := c.printJSON(report); err != nil {
			return err
		}
	} else {
		c.printReport(&report)
	}
	if !report.OK() {
		n, s := len(report.Findings)+report.More, "s"
		if n == 1 {
			s = ""
		}
		return failed{fmt.Errorf("the journal is not as it was written: %d finding%s", n, s)}
	}
	return nil
}

func (c *command) printReport(r *store.Report) {
	for _, f := range r.Findings {
		fmt.Fprintln(c.out, text.ShowLine(f.String()))
	}
	if r.More > 0 {
		fmt.Fprintf(c.out, "and %d more\n", r.More)
	}
	word := "ok"
	if !r.OK() {
		word = "BROKEN"
	}
	fmt.Fprintf(c.out, "%s: %d entries of %d calls, %d still open, head %d %s\n", word, r.Entries, r.Calls, r.Open, r.Head, r.Hash)
	if r.SealsUnchecked != "" {
		fmt.Fprintf(c.out, "seals were not checked: %s\n", text.ShowLine(r.SealsUnchecked))
	}
	if removed := r.Removed(); removed != "" {
		fmt.Fprintln(c.out, text.ShowLine(removed))
	}
	if r.Kept != "" {
		fmt.Fprintf(c.out, "old entries are not removed: %s\n", text.ShowLine(r.Kept))
	}
	if r.After > 0 {
		fmt.Fprintf(c.out, "%d entries came after the last signed checkpoint\n", r.After)
	}
}

func (c *command) journalStats(ctx context.Context, r *store.Reader, f journalFilter) error {
	filter, err := f.store()
	if err != nil {
		return err
	}
	s, err := r.Stats(ctx, filter)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(s)
	}
	rows := make([][]string, 0, len(s.Tools))
	for _, t := range s.Tools {
		rows = append(rows, []string{
			t.Tool, strconv.Itoa(t.Calls), fmt.Sprintf("%.0f %%", 100*t.Rate),
			t.Mean.Round(time.Microsecond).String(), t.P50.Round(time.Microsecond).String(), t.P95.Round(time.Microsecond).String(),
		})
	}
	if err := c.table([]string{"TOOL", "CALLS", "DONE", "MEAN", "P50", "P95"}, rows); err != nil {
		return err
	}
	rate := 0.
	if over := s.Calls - s.Open; over > 0 {
		rate = 100 * float64(s.Outcomes[toolcrib.Done]) / float64(over)
	}
	_, err = fmt.Fprintf(c.out, "%d calls, %d open, %.0f %% done\n", s.Calls, s.Open, rate)
	return err
}
