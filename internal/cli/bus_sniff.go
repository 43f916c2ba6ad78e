package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxShown is how much of a message a line shows.
const maxShown = 400

func (c *command) busSniffCmd() *cobra.Command {
	var prefixes []string
	var count int
	var full bool
	cmd := &cobra.Command{
		Use:   "sniff",
		Short: "Watch what goes over the bus",
		Long: `Print every message of the bus, or those whose type begins with a text, until
interrupted. Everybody on a bus can send anything: what steers a terminal is
written out, and long messages are cut unless --full. With -o json each line is
one message, whole.`,
		Example: `  toolcrib bus sniff
  toolcrib bus sniff --type ovos.tools. --type ovos.persona.tools.
  toolcrib bus sniff --count 1 -o json | jq .data`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if count < 0 {
				return usagef("--count is %d: want 0 or more", count)
			}
			return c.busSniff(cmd.Context(), prefixes, count, full)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&prefixes, "type", nil, "only messages whose type begins with this; may be repeated")
	flags.IntVar(&count, "count", 0, "end after so many; 0: on interrupt")
	flags.BoolVar(&full, "full", false, "do not cut long messages")
	c.busFlag(cmd)
	return cmd
}

// sniffed is a message as programs read it.
type sniffed struct {
	Time    time.Time                  `json:"time"`
	Type    string                     `json:"type"`
	Data    json.RawMessage            `json:"data"`
	Context map[string]json.RawMessage `json:"context"`
}

func (c *command) busSniff(ctx context.Context, prefixes []string, count int, full bool) (err error) {
	access, err := c.busAccess(ctx)
	if err != nil {
		return err
	}
	if err := checkBusURL(access.URL); err != nil {
		return err
	}
	access.Changed = func(connected bool, _ error) {
		if !connected && ctx.Err() == nil {
			fmt.Fprintln(c.err, "toolcrib: warning: the bus is gone; what goes over it is not seen until it is back")
		}
	}
	client, err := bus.Open(access)
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	sub := client.Subscribe(bus.Filter{Prefixes: prefixes}) // before it is there: nothing is missed
	ready, cancel := context.WithTimeout(ctx, busWait)
	err = client.Ready(ready)
	cancel()
	if err != nil {
		return noBus(access.URL, err)
	}
	fmt.Fprintf(c.err, "toolcrib: watching the bus at %s; interrupt to stop\n", shownURL(access.URL))
	lost := 0
	for n := 0; count == 0 || n < count; n++ {
		m, err := sub.Next(ctx)
		if err != nil && ctx.Err() != nil {
			return nil // the person has seen enough
		}
		if err != nil {
			return busError(err)
		}
		if err := c.showMessage(m, full); err != nil {
			return err
		}
		if now := sub.Lost(); now > lost {
			fmt.Fprintf(c.err, "toolcrib: warning: %d messages came too fast to be shown\n", now-lost)
			lost = now
		}
	}
	return nil
}

func (c *command) showMessage(m bus.Message, full bool) error {
	at := time.Now()
	if c.asJSON(false) {
		return c.printJSON(sniffed{at, m.Type, m.Data, m.Context})
	}
	data := text.ShowLine(string(m.Data))
	if r := []rune(data); !full && len(r) > maxShown {
		data = fmt.Sprintf("%s… (%d bytes)", string(r[:maxShown]), len(m.Data))
	}
	from := m.Text("source")
	if to := m.Text("destination"); to != "" {
		from += "→" + to
	}
	if from != "" {
		from = " [" + text.ShowLine(from) + "]"
	}
	_, err := fmt.Fprintf(c.out, "%s %s%s %s\n", at.Format("15:04:05.000"), text.ShowLine(m.Type), from, data)
	return err
}
