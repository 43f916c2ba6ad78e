package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/account"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/ovos"
)

func (c *command) busCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bus",
		Short: "Serve the tools on the message bus of a voice assistant, and look at what is there",
		Long: `OpenVoiceOS has its tools on a message bus: a websocket on which everybody
hears everything. Host the tools of Toolcrib there, list and call those of any
host, and watch what goes by. The bus is the one that bus.url in the
configuration names.`,
		Example: `  toolcrib bus serve                       join the bus of this machine
  toolcrib bus serve --own                 bring one along
  toolcrib bus list                        toolboxes and tools on it
  toolcrib bus call ovos-math-tools evaluate_expression expression='2**10'
  toolcrib bus sniff --type ovos.tools.    watch
  toolcrib bus adopt                       take the place of the plugin for tools`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.busServeCmd(), c.busListCmd(), c.busCallCmd(), c.busSniffCmd(), c.busAdoptCmd())
	return cmd
}

// busFlag adds --url, which is short for a setting.
func (c *command) busFlag(cmd *cobra.Command) {
	cmd.Flags().Func("url", "the bus, such as ws://127.0.0.1:8181/core (default from bus.url)", func(text string) error {
		c.set = append(c.set, "bus.url="+text)
		return nil
	})
}

// busWait is how long a bus has to let us in.
const busWait = 5 * time.Second

// busAccess is how this person joins the bus.
func (c *command) busAccess(ctx context.Context) (bus.ClientConfig, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return bus.ClientConfig{}, err
	}
	access, err := app.BusClient(ctx, loaded.Value, loaded.Value.Bus, c.needs(loaded, paths))
	if bad, ok := errors.AsType[settings.BadConfig](err); ok {
		return access, badConfig{bad.Unwrap()}
	}
	if err != nil {
		return access, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	access.Source, access.Log = "toolcrib-cli", c.logger(loaded.Value.Log)
	return access, nil
}

// dialBus connects to the bus, as a client like any other.
func (c *command) dialBus(ctx context.Context) (*ovos.Client, error) {
	access, err := c.busAccess(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkBusURL(access.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, busWait)
	defer cancel()
	client, err := ovos.Dial(ctx, ovos.ClientConfig{URL: access.URL, Token: access.Token, TLS: access.TLS, MaxMessage: access.MaxFrame, Source: access.Source, Log: access.Log})
	if err != nil {
		return nil, noBus(access.URL, err)
	}
	return client, nil
}

// checkBusURL finds what cannot be a bus before it is waited for.
func checkBusURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return usagef("bus.url: %s is not like ws://host:port%s", shownURL(text), bus.DefaultPath)
	}
	return nil
}

// shownURL is a URL without what may be secret in it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "it"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

func noBus(at string, err error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: fmt.Sprintf("no bus at %s lets us in: %v", shownURL(at), err), Err: err}
}

// busError words what became of a request on the bus.
func busError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: err.Error(), Err: err}
	case errors.Is(err, bus.ErrNotConnected), errors.Is(err, bus.ErrUncertain):
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	return err
}

func (c *command) busListCmd() *cobra.Command {
	var window time.Duration
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the toolboxes and tools on the bus",
		Long: `List what the hosts on the bus announce within a window of time. Nobody says
when the last one has answered, so it always takes that long.`,
		Example: `  toolcrib bus list
  toolcrib bus list --window 5s -o json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.busList(cmd.Context(), window) },
	}
	cmd.Flags().DurationVar(&window, "window", 2*time.Second, "how long hosts have to announce themselves")
	c.busFlag(cmd)
	return cmd
}

func (c *command) busList(ctx context.Context, window time.Duration) (err error) {
	if window <= 0 {
		return usagef("--window is %v: want more than nothing", window)
	}
	client, err := c.dialBus(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	done := c.progress("waiting for the hosts on the bus")
	boxes, err := client.Toolboxes(ctx, window)
	done()
	if err != nil {
		return busError(err)
	}
	if c.asJSON(false) {
		if boxes == nil {
			boxes = []ovos.Toolbox{}
		}
		return c.printJSON(boxes)
	}
	var rows [][]string
	for _, box := range boxes {
		if len(box.Tools) == 0 {
			rows = append(rows, []string{box.ID, "-", "announces no tools"})
		}
		for _, tool := range box.Tools {
			rows = append(rows, []string{box.ID, tool.Name, firstSentence(tool.Description)})
		}
	}
	return c.table([]string{"TOOLBOX", "TOOL", "DESCRIPTION"}, rows)
}

type busCallFlags struct {
	json            string
	hasJSON         bool
	timeout, window time.Duration
}

func (c *command) busCallCmd() *cobra.Command {
	var f busCallFlags
	cmd := &cobra.Command{
		Use:   "call TOOLBOX TOOL [key=value …]",
		Short: "Call a tool on the bus and print its result",
		Long: `Call a tool of any host, as a client of the bus that knows nothing of Toolcrib
would. The call is judged and recorded by the host, not here.

Arguments are given as key=value, where a value is taken as text or as JSON
according to what the toolbox announces, or all at once as a JSON object. Exit
status: 0 done, 1 the host answered with an error, 2 usage, 4 no such toolbox
on the bus, 6 no answer in time, 7 no bus.`,
		Example: `  toolcrib bus call ovos-clock-tools get_current_datetime
  toolcrib bus call ovos-math-tools unit_convert value=26.2 from_unit=mi to_unit=km
  toolcrib bus call ovos-math-tools statistics_summary --json '{"numbers": [1, 2, 3.5]}'`,
		Args: usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasJSON = cmd.Flags().Changed("json")
			return c.busCall(cmd.Context(), args[0], args[1], args[2:], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.json, "json", "", "the arguments as a JSON object; - reads it from standard input")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long the tool has to answer")
	flags.DurationVar(&f.window, "window", 3*time.Second, "how long the toolbox has to announce itself")
	c.busFlag(cmd)
	return cmd
}

func (c *command) busCall(ctx context.Context, toolbox, tool string, pairs []string, f busCallFlags) (err error) {
	switch {
	case f.timeout <= 0 || f.window <= 0:
		return usagef("--timeout and --window want more than nothing")
	case f.hasJSON && len(pairs) > 0:
		return usagef("give the arguments either as key=value or as --json, not both")
	}
	given, err := c.busInput(f)
	if err != nil {
		return err
	}
	client, err := c.dialBus(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	looking, found := context.WithTimeout(ctx, f.window)
	box, err := client.Toolbox(looking, toolbox)
	found()
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: tool, Message: fmt.Sprintf("no toolbox %q answers on this bus within %v; 'toolcrib bus list' lists what there is", toolbox, f.window), Err: err}
	case err != nil:
		return busError(err)
	}
	if !f.hasJSON {
		if given, err = pairsInput(contractOf(box, tool), pairs); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	result, err := client.Call(ctx, toolbox, tool, given)
	if refused, ok := errors.AsType[*ovos.CallError](err); ok {
		return failed{errors.New(text.ShowLine(refused.Error()))} // in the words of a stranger
	}
	if err != nil {
		return busError(err)
	}
	if raw, err := json.Marshal(result); err == nil && !c.asJSON(true) {
		_, err := fmt.Fprint(c.out, text.Show(account.Plain(raw)))
		return err
	}
	return c.printJSON(result)
}

// busInput is the input that --json gives; nil: there is none.
func (c *command) busInput(f busCallFlags) (json.RawMessage, error) {
	if !f.hasJSON {
		return nil, nil
	}
	text := []byte(f.json)
	if f.json == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(c.in, bus.DefaultMaxFrame)); err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, usagef("--json: give a JSON object")
	}
	return text, nil
}

// contractOf is what a toolbox announces as the arguments of a tool; nil:
// nothing, and every value is guessed.
func contractOf(box ovos.Toolbox, tool string) json.RawMessage {
	for _, t := range box.Tools {
		if t.Name == tool {
			return t.Arguments
		}
	}
	return nil
}
