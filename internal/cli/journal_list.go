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
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/text"
)

// journalList is what a list of calls is to be.
type journalList struct {
	journalFilter
	by     string
	after  string
	follow bool
}

func (l *journalList) flags(cmd *cobra.Command) {
	l.journalFilter.flags(cmd)
	cmd.Annotations = map[string]string{moreOutputs: "csv jsonl"}
	flags := cmd.Flags()
	flags.StringVar(&l.by, "by", "", "count calls by this: "+strings.Join(account.Groups(), ", "))
	flags.BoolVarP(&l.follow, "follow", "f", false, "go on with calls as they end")
	flags.StringVar(&l.after, "after", "", "only calls that ended after the one with this ID; oldest first")
	// The flags were just defined, so registering cannot fail.
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(account.Groups(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("since", cobra.FixedCompletions([]string{"today", "yesterday", "1h", "24h", "7d", "all"}, cobra.ShellCompDirectiveNoFileComp))
}

// screen is what the screen can show; for a program nothing is cut.
func (c *command) screen() account.Look {
	l := account.Look{Now: time.Now(), Plain: !c.utf8()}
	if terminal(c.out) {
		l.Wide = c.columns()
	}
	return l
}

func (c *command) listJournal(cmd *cobra.Command, l journalList) error {
	filter, err := l.store()
	if err != nil {
		return err
	}
	if l.by != "" && !slices.Contains(account.Groups(), l.by) {
		return usagef("--by is %q: want one of %s", l.by, strings.Join(account.Groups(), ", "))
	}
	if l.by != "" && (l.follow || l.after != "" || c.output == "jsonl") {
		return usagef("--by counts calls: it does not go together with --follow, --after or -o jsonl")
	}
	if l.follow && c.output == "json" {
		return usagef("-o json is one list, which does not end with --follow: use -o jsonl")
	}
	if l.follow || l.after != "" {
		if !cmd.Flags().Changed("limit") {
			l.limit = 0
		}
		return c.followJournal(cmd, l, filter)
	}
	return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error {
		if l.by != "" {
			if !cmd.Flags().Changed("limit") {
				filter.Limit = 0
			}
			return c.countJournal(ctx, r, l.by, filter)
		}
		records, err := r.List(ctx, filter)
		if err != nil {
			return err
		}
		return c.printRecords(ctx, r, records, true, nil)
	})
}

// printRecords writes records in the form that was asked for.
func (c *command) printRecords(ctx context.Context, r *store.Reader, records []toolcrib.Record, head bool, kept *[]int) error {
	switch c.output {
	case "csv":
		return account.WriteCSV(c.out, records, head)
	case "jsonl":
		return account.WriteLines(c.out, records)
	case "json":
		if records == nil {
			records = []toolcrib.Record{}
		}
		return c.printJSON(records)
	}
	if len(records) == 0 && terminal(c.out) {
		_, err := fmt.Fprintln(c.out, "There are no such calls.")
		return err
	}
	look := c.screenOf(ctx, r)
	look.Kept = kept
	_, err := fmt.Fprint(c.out, look.Table(records, head))
	return err
}

// screenOf is screen, with IDs as short as this journal lets them be.
func (c *command) screenOf(ctx context.Context, r *store.Reader) account.Look {
	look := c.screen()
	if look.Wide > 0 {
		look.ID = func(id string) string { return r.Short(ctx, id, 8) }
	}
	return look
}

// countJournal counts calls by something.
func (c *command) countJournal(ctx context.Context, r *store.Reader, by string, filter store.Filter) error {
	names := map[string]int{}
	done := c.progress("counting calls")
	err := r.Each(ctx, filter, func(rec toolcrib.Record) error {
		name, _ := account.Group(by, rec, time.Local)
		names[name]++
		return nil
	})
	done()
	if err != nil {
		return err
	}
	counts := account.Sorted(names)
	if by == "day" || by == "hour" {
		slices.SortFunc(counts, func(a, b account.Count) int { return strings.Compare(a.Name, b.Name) })
	}
	switch c.output {
	case "json":
		return c.printJSON(counts)
	case "csv":
		return account.WriteCounts(c.out, by, counts)
	}
	if len(counts) == 0 {
		_, err = fmt.Fprintln(c.out, "no calls")
		return err
	}
	_, err = fmt.Fprint(c.out, c.screen().Bars("Calls by "+by, counts, 0))
	return err
}

// recordNamed finds a call by its ID, by the beginning of one, or by its number.
func recordNamed(ctx context.Context, r *store.Reader, id string) (toolcrib.Record, error) {
	rec, err := r.Get(ctx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return rec, err
	}
	ids, err := r.IDs(ctx, id)
	if err != nil {
		return rec, err
	}
	if len(ids) == 1 {
		return r.Get(ctx, ids[0])
	}
	if seq, perr := strconv.ParseUint(id, 10, 64); perr == nil {
		if rec, err := r.At(ctx, seq); !errors.Is(err, store.ErrNotFound) {
			return rec, err
		}
	}
	if len(ids) == 0 {
		return rec, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("no call %q is in the journal; 'toolcrib journal' lists the newest", id), Err: store.ErrNotFound}
	}
	return rec, ambiguous(ctx, r, id, ids)
}

// ambiguous lists the calls that a beginning of an ID stands for.
func ambiguous(ctx context.Context, r *store.Reader, id string, ids []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%q is the beginning of several calls:", id)
	for i, one := range ids {
		if i == 20 {
			b.WriteString("\n  and more")
			break
		}
		fmt.Fprintf(&b, "\n  %s", text.ShowLine(one))
		if rec, err := r.Get(ctx, one); err == nil {
			fmt.Fprintf(&b, "  %s  %s", text.ShowLine(account.Name(rec)), text.ClipWidth(account.What(rec), 40))
		}
	}
	return usagef("%s", b.String())
}

func (c *command) showRecord(ctx context.Context, r *store.Reader, id string) error {
	rec, err := recordNamed(ctx, r, id)
	if err != nil {
		return err
	}
	chain := chainOf(ctx, r, rec.Parent)
	steps := c.stepsOf(ctx, r, rec)
	if c.asJSON(false) {
		return c.printJSON(shownRecord{rec, chain, steps, c.changesOf(rec)})
	}
	look, hint := c.screen(), c.undoHint(ctx, r, rec)
	changes := c.changesOf(rec)
	if changes != nil { // it says itself whether it can be taken back
		_, err = fmt.Fprint(c.out, look.Page(rec, chain, steps, "")+changes.page(hint))
		return err
	}
	_, err = fmt.Fprint(c.out, look.Page(rec, chain, steps, hint))
	return err
}

// shownRecord is a record, the calls that it was made for, and what happened during it.
type shownRecord struct {
	toolcrib.Record
	Chain []account.Link `json:"chain,omitempty"`
	Steps []account.Step `json:"steps,omitempty"`
	// Changes is what a command changed on its layer.
	Changes *layerChanges `json:"changes,omitempty"`
}

// chainOf gives the calls above a call, the nearest first. One that the journal does not
// have any more ends it.
func chainOf(ctx context.Context, r *store.Reader, parent string) []account.Link {
	var out []account.Link
	for range 64 {
		if parent == "" {
			break
		}
		rec, err := r.Get(ctx, parent)
		out = append(out, account.Link{ID: parent, Tool: account.Name(rec), Agent: rec.Caller.Agent})
		if err != nil {
			break
		}
		parent = rec.Parent
	}
	return out
}
