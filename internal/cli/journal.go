package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) journalCmd() *cobra.Command {
	var filter journalFilter
	list := func(cmd *cobra.Command, _ []string) error {
		return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.listJournal(ctx, r, filter) })
	}
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Show, check and export what was done",
		Long: `Every call is written down before and after it runs, refused ones too, in a
chain of hashes whose head is signed. None of these commands writes anything.`,
		Example: `  toolcrib journal                                      the newest calls
  toolcrib journal list --tool unit_convert --since 24h
  toolcrib journal show 019a84c2-5a30-7c07-9a52-0d8a3c1f6b11
  toolcrib journal verify                               has anyone changed it?
  toolcrib journal export > journal.jsonl               all entries, with their hashes
  toolcrib journal stats --since 168h                   the last week by tool`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	filter.flags(cmd)
	listCmd := &cobra.Command{Use: "list", Short: "List calls, newest first", Args: usageArgs(cobra.NoArgs), RunE: list}
	filter.flags(listCmd)
	var exported journalFilter
	export := &cobra.Command{
		Use: "export", Short: "Write entries as JSON lines, oldest first", Args: usageArgs(cobra.NoArgs),
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.journalStats(ctx, r, counted) })
		},
	}
	counted.who(stats)
	cmd.AddCommand(listCmd, &cobra.Command{
		Use: "show ID", Short: "Show one call in full, by its call ID or number", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.showRecord(ctx, r, args[0]) })
		},
	}, &cobra.Command{
		Use: "verify", Short: "Check every entry, the chain and its signed head", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.verifyJournal(cmd.Context()) },
	}, export, stats)
	return cmd
}

// journalFilter is a store.Filter as flags say it.
type journalFilter struct {
	limit                           int
	tool, subject, session, outcome string
	agent, organisation             string
	since                           time.Duration
}

// who adds the flags that choose by tool, caller and time.
func (f *journalFilter) who(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "only calls of this tool")
	flags.StringVar(&f.subject, "subject", "", "only calls by this subject")
	flags.StringVar(&f.agent, "agent", "", "only calls under this agent preset")
	flags.StringVar(&f.session, "session", "", "only calls of this session")
	flags.StringVar(&f.organisation, "organisation", "", "only calls of this organisation")
	flags.DurationVar(&f.since, "since", 0, "only calls of the last such time, as 24h")
}

func (f *journalFilter) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.who(cmd)
	flags.IntVar(&f.limit, "limit", 20, "at most so many; 0 is all")
	flags.StringVar(&f.outcome, "outcome", "", "only calls that ended so: done, failed, interrupted, or a code")
	if cmd.Name() == "export" {
		flags.Lookup("limit").DefValue = "0"
	}
}

func (f *journalFilter) store() (store.Filter, error) {
	out := store.Filter{
		Limit: f.limit, Tool: f.tool, Subject: f.subject, Session: f.session, Outcome: toolcrib.Outcome(f.outcome),
		Agent: f.agent, Organisation: f.organisation,
	}
	if f.limit < 0 {
		return out, usagef("--limit is %d: want 0 or more", f.limit)
	}
	if f.since > 0 {
		out.Since = time.Now().Add(-f.since)
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

func (c *command) listJournal(ctx context.Context, r *store.Reader, f journalFilter) error {
	filter, err := f.store()
	if err != nil {
		return err
	}
	records, err := r.List(ctx, filter)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		if records == nil {
			records = []toolcrib.Record{}
		}
		return c.printJSON(records)
	}
	rows := make([][]string, 0, len(records))
	for _, rec := range records {
		rows = append(rows, []string{
			rec.Start.Local().Format("2006-01-02 15:04:05"), rec.Tool, outcomeText(rec), rec.Duration.Round(time.Microsecond).String(),
			calledBy(rec.Caller), rec.ID,
		})
	}
	return c.table([]string{"START", "TOOL", "OUTCOME", "TOOK", "BY", "ID"}, rows)
}

// calledBy names who called, and by which program, as that names itself.
func calledBy(who toolcrib.Caller) string {
	by := who.Subject
	if who.Agent != "" {
		by += " as " + who.Agent
	}
	by += " via " + who.Frontend
	if who.Client != "" {
		by += ", " + who.Client
	}
	return by
}

func outcomeText(r toolcrib.Record) string {
	if r.Outcome == "" {
		return "running"
	}
	if r.Replay != "" { // answered, or refused, from the record of that call
		return string(r.Outcome) + ", again " + r.Replay
	}
	return string(r.Outcome)
}

func (c *command) showRecord(ctx context.Context, r *store.Reader, id string) error {
	rec, err := r.Get(ctx, id)
	if seq, perr := strconv.ParseUint(id, 10, 64); errors.Is(err, store.ErrNotFound) && perr == nil {
		rec, err = r.At(ctx, seq)
	}
	if errors.Is(err, store.ErrNotFound) {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("no call %q is in the journal", id), Err: err}
	}
	if err != nil {
		return err
	}
	return c.printJSON(shownRecord{rec, chainOf(ctx, r, rec.Parent)})
}

// shownRecord is a record, and the calls that it was made for.
type shownRecord struct {
	toolcrib.Record
	Chain []link `json:"chain,omitempty"`
}

type link struct {
	ID    string `json:"id"`
	Tool  string `json:"tool,omitempty"`
	Agent string `json:"agent,omitempty"`
}

// chainOf gives the calls above a call, the nearest first. One that the journal does not
// have any more ends it.
func chainOf(ctx context.Context, r *store.Reader, parent string) []link {
	var out []link
	for range 64 {
		if parent == "" {
			break
		}
		rec, err := r.Get(ctx, parent)
		out = append(out, link{ID: parent, Tool: rec.Tool, Agent: rec.Caller.Agent})
		if err != nil {
			break
		}
		parent = rec.Parent
	}
	return out
}

func (c *command) verifyJournal(ctx context.Context) error {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return err
	}
	report, err := app.VerifyJournal(ctx, cfg, needs)
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
