package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/store"
)

// mostCounted bounds how many calls are counted: some seconds' worth.
const mostCounted = 200_000

func (c *command) statsCmd() *cobra.Command {
	var f journalFilter
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show in small charts what was done, by whom and how it went",
		Long: `Counts the calls of the last seven days in the journal: over time, by outcome, tool,
agent and client, what people were asked, what took longest, and the tokens and
money of models. At most 200,000 calls are counted, the newest.`,
		Example: `  toolcrib stats                        the last seven days
  toolcrib stats --since today          by the hour
  toolcrib stats --agent coder --since all
  toolcrib stats -o json                for programs`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.since == "" {
				f.since = "7d"
			}
			return c.withJournal(cmd, func(ctx context.Context, r *store.Reader) error { return c.stats(ctx, r, f) })
		},
	}
	f.who(cmd)
	return cmd
}

func (c *command) stats(ctx context.Context, r *store.Reader, f journalFilter) error {
	filter, err := f.store()
	if err != nil {
		return err
	}
	look := c.screenOf(ctx, r)
	sum := &account.Tally{Since: filter.Since, Until: filter.Until}
	done := c.progress("counting calls")
	err = r.Each(ctx, filter, func(rec toolcrib.Record) error {
		if sum.Calls == mostCounted {
			sum.Partial = true
			return errEnough
		}
		sum.Add(rec)
		return nil
	})
	done()
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	sum.Sum(look.Now)
	if c.asJSON(false) {
		return c.printJSON(sum)
	}
	_, err = fmt.Fprint(c.out, look.Charts(sum))
	return err
}
