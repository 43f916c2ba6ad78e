package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/store"
)

// followEvery is how often a journal that is followed is looked at.
const followEvery = 400 * time.Millisecond

// followBatch is how many calls are read at once.
const followBatch = 500

// follower tells of calls in the order in which they ended.
type follower struct {
	c      *command
	list   journalList
	filter store.Filter
	last   uint64 // the entry that was looked at last
	told   int
	begun  bool              // it is known where to begin
	wide   []int             // of the columns so far
	all    []toolcrib.Record // what is one JSON list in the end
}

// followJournal tells of calls as they end, until it is interrupted; without --follow,
// of those that have.
func (c *command) followJournal(cmd *cobra.Command, l journalList, filter store.Filter) error {
	cfg, needs, err := c.journalOf()
	if err != nil {
		return err
	}
	f := &follower{c: c, list: l, filter: filter}
	ctx := cmd.Context()
	for {
		// The journal is opened anew each time: it may have been put aside meanwhile, and
		// another one stand in its place.
		r, err := app.ReadJournal(ctx, cfg, needs)
		switch {
		case err == nil:
			err = errors.Join(f.step(ctx, r), r.Close())
		case errors.Is(err, store.ErrNoJournal) && l.follow && l.after == "":
			err, f.begun = nil, true // the first call makes it
		default:
			err = noJournal(err)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the person has seen enough
		}
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if !l.follow || errors.Is(err, errEnough) {
			return f.end()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
	}
}

var errEnough = errors.New("as many as were asked for")

// step tells what is new.
func (f *follower) step(ctx context.Context, r *store.Reader) error {
	if !f.begun {
		if err := f.begin(ctx, r); err != nil {
			return err
		}
		f.begun = true
	}
	newest, err := r.Newest(ctx)
	if err != nil {
		return err
	}
	if newest < f.last {
		fmt.Fprintln(f.c.err, "toolcrib: warning: this is another journal than before; its calls are told from its beginning")
		f.last = 0
	}
	for {
		list, last, more, err := r.After(ctx, f.last, f.filter, followBatch)
		if err != nil {
			return err
		}
		records := make([]toolcrib.Record, 0, len(list))
		for _, one := range list {
			records = append(records, one.Record)
		}
		enough := f.list.limit > 0 && f.told+len(records) >= f.list.limit
		if enough {
			records = records[:f.list.limit-f.told]
		}
		if err := f.tell(ctx, r, records); err != nil {
			return err
		}
		if f.last = last; enough {
			return errEnough
		}
		if !more {
			return nil
		}
	}
}

// begin finds where to begin: after the call that was named, at the time that was, or with
// the newest few.
func (f *follower) begin(ctx context.Context, r *store.Reader) (err error) {
	if f.list.after != "" {
		rec, err := recordNamed(ctx, r, f.list.after)
		if err != nil {
			return err
		}
		if f.last, err = r.EndOf(ctx, rec.Seq); err == nil && f.last == 0 {
			f.last = rec.Seq // it still runs
		}
		return err
	}
	if !f.filter.Since.IsZero() || f.list.since == "all" {
		return nil
	}
	first := f.filter
	first.Limit = 10
	// What ends between the two looks is told by the next step.
	if f.last, err = r.Newest(ctx); err != nil {
		return err
	}
	records, err := r.List(ctx, first)
	if err != nil {
		return err
	}
	var over []toolcrib.Record // oldest first, as the rest will come; one that runs is told when it ends
	for _, rec := range slices.Backward(records) {
		end, err := r.EndOf(ctx, rec.Seq)
		if err != nil {
			return err
		}
		if end > 0 && end <= f.last {
			over = append(over, rec)
		}
	}
	return f.tell(ctx, r, over)
}

func (f *follower) tell(ctx context.Context, r *store.Reader, records []toolcrib.Record) error {
	if len(records) == 0 {
		return nil
	}
	head := f.told == 0
	f.told += len(records)
	if f.c.output == "json" { // never with --follow
		f.all = append(f.all, records...)
		return nil
	}
	return f.c.printRecords(ctx, r, records, head, &f.wide)
}

func (f *follower) end() error {
	if f.c.output != "json" {
		return nil
	}
	return f.c.printJSON(append([]toolcrib.Record{}, f.all...))
}
