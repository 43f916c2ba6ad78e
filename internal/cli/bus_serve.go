package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) busServeCmd() *cobra.Command {
	var own, mycroft bool
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Host the tools on the bus",
		Long: `Host the tools on the bus at bus.url, which need not be there yet, or on one of
our own. Voice assistants find and call them like their own. Every call is
judged and recorded like any other. The caller is bus.subject, under the preset
bus.agent, because a bus does not know its clients. Ends on interrupt, after the
calls under way.

With --mycroft, settings of the voice assistant (mycroft.conf) are taken for
what our own configuration leaves unset: where the bus is, which directory tools
get and whether they may write there, whether commands are run and which. What
is taken is told.`,
		Example: `  toolcrib bus serve                            join the bus of this machine
  toolcrib bus serve --url wss://house:8181/core
  toolcrib bus serve --own                      bring a bus along, at bus.listen
  toolcrib bus serve --listen 127.0.0.1:9181    the same, elsewhere
  toolcrib bus serve --mycroft                  with what mycroft.conf says`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			joins := cmd.Flags().Changed("url")
			switch {
			case joins && (own || listen != ""):
				return usagef("--url joins a bus, --own and --listen bring one along: give one of them")
			case joins:
				c.set = append(c.set, "bus.serve=false")
			case own || listen != "":
				c.set = append(c.set, "bus.serve=true")
			}
			if listen != "" {
				c.set = append(c.set, "bus.listen="+listen)
			}
			if mycroft {
				c.set = append(c.set, "bus.mycroft="+settings.MycroftAuto)
			}
			return c.busServe(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&own, "own", false, "bring a bus along instead of joining one")
	flags.StringVar(&listen, "listen", "", "bring a bus along, at this address (default from bus.listen)")
	flags.BoolVar(&mycroft, "mycroft", false, "take settings of the voice assistant for what ours leave unset")
	c.busFlag(cmd)
	return cmd
}

func (c *command) busServe(ctx context.Context) error {
	private, err := c.takeMycroft()
	if err != nil {
		return err
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	caller, err := c.caller("", "")
	if err != nil {
		return err
	}
	bus := loaded.Value.Bus
	if c.agent != "" {
		bus.Agent = c.agent
	}
	if !bus.Serve {
		if err := checkBusURL(bus.URL); err != nil {
			return err
		}
	}
	// Left: a call that waits holds up others, and whoever wants it can repeat it.
	c.serving = true
	a, err := c.open(ctx, desk.Leave, private...)
	if err != nil {
		return err
	}
	stop := a.FollowPolicy(c.policyNow)
	err = a.ServeBus(ctx, loaded.Value, bus, caller.Organisation, func(url string) {
		where := "hosting on the bus at"
		if bus.Serve {
			where = "serving and hosting on a bus at"
		}
		fmt.Fprintf(c.err, "toolcrib: %s %s; interrupt to stop\n", where, shownURL(url))
	})
	stop()
	c.closeApp(ctx, a)
	if err != nil {
		return c.openError(err, app.ToCall)
	}
	return nil
}

// takeMycroft takes settings of the voice assistant for what ours leave unset,
// as flags would set them: a project file can tighten them like any others. It
// tells each, and gives the files, which tools must not change.
func (c *command) takeMycroft() (files []string, err error) {
	loaded, _, err := c.load()
	if err != nil || len(loaded.Value.Bus.Mycroft) == 0 {
		return nil, err
	}
	taken, files, err := app.TakeMycroft(loaded.Value.Bus, c.getenv, c.home(), func(key string) bool { return loaded.Origins[key].Source == config.SourceDefault })
	if err != nil {
		return nil, badConfig{err}
	}
	if len(files) == 0 {
		fmt.Fprintln(c.err, "toolcrib: warning: bus.mycroft: there is no mycroft.conf on this machine")
		return nil, nil
	}
	from := strings.Join(files, " and ")
	for _, t := range taken {
		if t.Left != "" {
			fmt.Fprintf(c.err, "toolcrib: warning: not taken from %s: %s: %s\n", text.ShowLine(from), t.From, text.ShowLine(t.Left))
			continue
		}
		fmt.Fprintf(c.err, "toolcrib: taken from %s: %s=%s (%s)\n", text.ShowLine(from), t.Key, text.ShowLine(t.Value), t.From)
		c.set = append(c.set, t.Key+"="+t.Value)
		c.loaded = nil // it is read again, with what was taken
	}
	return files, nil
}
