package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) sessionsCmd() *cobra.Command {
	var f sessions.Filter
	var here bool
	list := func(cmd *cobra.Command, _ []string) error { return c.listSessions(f, here) }
	flags := func(cmd *cobra.Command) {
		cmd.Flags().IntVar(&f.Limit, "limit", 20, "at most so many; 0 is all")
		cmd.Flags().BoolVar(&f.Delegated, "delegates", false, "also those of agents that were put to work by others")
		cmd.Flags().BoolVar(&here, "here", false, "only those about this directory")
	}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Show, branch, replay and remove conversations with agents",
		Long: `What is said with agents is kept, without secrets. An ID may be shortened.
'last' stands for the newest conversation.`,
		Example: `  toolcrib sessions                       the newest
  toolcrib sessions show last             what was said
  toolcrib sessions replay last           what was done, from the journal; nothing is called
  toolcrib sessions branch last --turn 2  a new one that goes on after the second turn
  toolcrib run --resume last 'Go on'`,
		Args: usageArgs(cobra.NoArgs), RunE: list,
	}
	flags(cmd)
	listCmd := &cobra.Command{Use: "list", Short: "List conversations, the newest first", Args: usageArgs(cobra.NoArgs), RunE: list}
	flags(listCmd)
	turn := -1
	branch := &cobra.Command{
		Use: "branch ID", Short: "Begin a new conversation with the first turns of another", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.branchSession(args[0], turn) },
	}
	branch.Flags().IntVar(&turn, "turn", -1, "go on after this turn; -1 is the last one")
	cmd.AddCommand(listCmd, &cobra.Command{
		Use: "show ID", Short: "Show what was said", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.showSession(args[0]) },
	}, branch, &cobra.Command{
		Use: "replay ID", Short: "Show again what was done, from the journal; nothing is called", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.replaySession(cmd.Context(), args[0]) },
	}, &cobra.Command{
		Use: "remove ID…", Short: "Remove conversations", Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.removeSessions(args) },
	})
	return cmd
}

// storedSessions opens the stored sessions of the person at this terminal.
func (c *command) storedSessions() (*sessions.Store, sessions.Owner, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, sessions.Owner{}, err
	}
	caller, err := c.caller(agentFrontend, "")
	if err != nil {
		return nil, sessions.Owner{}, err
	}
	return app.OpenSessions(loaded.Value, paths.State), agents.Owner(caller), nil
}

// session loads the one that a person names.
func (c *command) session(name string) (*sessions.Session, error) {
	store, who, err := c.storedSessions()
	if err != nil {
		return nil, err
	}
	id, err := store.Find(who, name, "")
	if err != nil {
		return nil, openingError(err)
	}
	s, err := store.Load(who, id)
	if err != nil {
		return nil, openingError(err)
	}
	if s.Fault != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: the session is damaged, and what comes after is left out: %v\n", s.Fault)
	}
	return s, nil
}

// listedSession is a session as JSON shows it.
type listedSession struct {
	sessions.Info
	Updated time.Time `json:"updated"`
	Size    int64     `json:"bytes"`
}

func (c *command) listSessions(f sessions.Filter, here bool) error {
	if f.Limit < 0 {
		return usagef("--limit is %d: want 0 or more", f.Limit)
	}
	store, who, err := c.storedSessions()
	if err != nil {
		return err
	}
	if here {
		f.Project = c.dir
	}
	list, fault := store.List(who, f)
	if fault != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: %v\n", text.ShowLine(fault.Error()))
	}
	if c.asJSON(false) {
		out := make([]listedSession, 0, len(list))
		for _, i := range list {
			out = append(out, listedSession{i, i.Updated, i.Size})
		}
		return c.printJSON(out)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.out, "There are no conversations.")
		return err
	}
	rows := make([][]string, 0, len(list))
	for _, i := range list {
		rows = append(rows, []string{i.ID, i.Updated.Local().Format(time.DateTime), dash(i.Agent), dash(cmp.Or(i.Model, i.DefaultModel)), i.Title})
	}
	return c.table([]string{"ID", "LAST", "AGENT", "MODEL", "TITLE"}, rows)
}

func (c *command) showSession(name string) error {
	s, err := c.session(name)
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"session": s.Info, "entries": s.Entries})
	}
	for _, e := range s.Entries {
		m := e.Message
		who := map[string]string{"user": "> ", "assistant": "", "tool": "  "}[m.Role]
		if said := strings.TrimSpace(m.Said()); said != "" {
			if m.Role == "tool" {
				said = text.Clip(said, 500)
			}
			if _, err := fmt.Fprintln(c.out, who+strings.ReplaceAll(text.Show(said), "\n", "\n"+who)); err != nil {
				return err
			}
		}
		for _, call := range m.Calls {
			if _, err := fmt.Fprintf(c.out, "→ %s %s\n", text.ShowLine(call.Name), text.ShowLine(string(call.Arguments))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *command) branchSession(name string, turn int) error {
	store, who, err := c.storedSessions()
	if err != nil {
		return err
	}
	id, err := store.Find(who, name, "")
	if err != nil {
		return openingError(err)
	}
	info, err := store.Branch(who, id, turn)
	if err != nil {
		return usage(err)
	}
	if c.asJSON(false) {
		return c.printJSON(info)
	}
	_, err = fmt.Fprintln(c.out, info.ID)
	return err
}

func (c *command) removeSessions(names []string) error {
	store, who, err := c.storedSessions()
	if err != nil {
		return err
	}
	for _, name := range names {
		id, err := store.Find(who, name, "")
		if err == nil {
			err = store.Remove(who, id)
		}
		if err != nil {
			return openingError(err)
		}
		fmt.Fprintf(c.err, "toolcrib: removed %s\n", id)
	}
	return nil
}

// replaySession tells a session again: from what was said, and from the journal.
func (c *command) replaySession(ctx context.Context, name string) error {
	s, err := c.session(name)
	if err != nil {
		return err
	}
	cfg, needs, err := c.journalOf()
	if err != nil {
		return err
	}
	r, err := app.ReadJournal(ctx, cfg, needs)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	record := func(ctx context.Context, id string) (toolcrib.Record, error) {
		rec, err := r.Get(ctx, id)
		if err == nil && rec.Caller.Subject != s.Info.Subject {
			err = sessions.ErrNotFound
		}
		return rec, err
	}
	return agents.Replay(ctx, s, record, c.replayStep)
}

// replayStep prints a step.
func (c *command) replayStep(s agents.Step) error {
	if c.output != "" && c.output != "text" {
		if s.Said != "" {
			return c.printLine(map[string]string{"stage": "input", "input": s.Said})
		}
		line, err := json.Marshal(s.Event)
		if err != nil {
			return err
		}
		return c.printLine(json.RawMessage(line))
	}
	line, e := "", s.Event
	switch {
	case s.Said != "":
		line = "> " + strings.ReplaceAll(text.Show(s.Said), "\n", "\n> ")
	case e.Kind == agent.Content:
		line = text.Show(e.Text)
	case e.Kind == agent.Call:
		line = "→ " + e.Tool + " " + text.Clip(text.ShowLine(string(e.Args)), 200)
	case e.Error != nil:
		line = "  ✗ " + string(e.Error.Code) + ": " + text.ShowLine(e.Error.Message)
	default:
		sign := "✓"
		if !e.Success() {
			sign = "✗"
		}
		line = "  " + sign + " " + text.Clip(text.ShowLine(e.Result.String()), 300)
	}
	if s.Unrecorded && e.Kind == agent.CallResult {
		line += " (as the model was told: the journal does not have it)"
	}
	_, err := fmt.Fprintln(c.out, line)
	return err
}
