package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// The exit statuses of a run that are not a code's.
const (
	exitIterations = 10  // it had to answer before it was done
	exitCut        = 11  // the model refused, or its answer was cut off
	exitAborted    = 130 // as shells have it
)

// agentFrontend is what calls of agents that run in this program come by (caller.via).
const agentFrontend = "agent"

type runFlags struct {
	model, resume, session string
	iterations             int
	timeout                time.Duration
	noAsk, noStore, quiet  bool
}

func (c *command) runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [TASK]",
		Short: "Have an agent do something, and print its answer",
		Long: `Give a task to an agent: a model that works with the tools, under the same rules
as every other caller. What it does is told on standard error, its answer is
printed on standard output and nothing else is.

The task may also come on standard input. With TASK, what comes there is added.
--agent names a preset of the settings, with its model, instructions and rules.

Where a person has to approve something they are asked here, if this is a
terminal. Else the question waits for 'toolcrib approvals', for a while; with
--no-ask what would be asked is refused at once.

The conversation is kept: --resume goes on with it, and 'toolcrib sessions'
lists all. --output events prints what happens as JSON lines, in OWL's chunks.

Exit status: 0 answered, 2 usage, 5 denied (a budget, say), 6 timeout,
7 the model or Toolcrib is unavailable, 10 it had to answer before it was done
(--max-iterations), 11 the model refused or its answer was cut off, 130 aborted.`,
		Example: `  toolcrib run 'What does this project do?'
  git diff | toolcrib run 'Write a commit message for this change'
  toolcrib run --agent reviewer --no-ask --output json 'Look for mistakes' < main.go
  toolcrib run --resume last 'And now the tests'`,
		Args:              usageArgs(cobra.ArbitraryArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.runTask(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", "", "the model, by its name in the settings, in place of the agent's")
	flags.StringVar(&f.resume, "resume", "", "go on with this session: its ID, a part of it, or last")
	flags.StringVar(&f.session, "session", "", "the session of this name: gone on with if there is one, else begun")
	flags.IntVar(&f.iterations, "max-iterations", 0, "how often the model is asked at most; never more than the agent's preset says")
	flags.DurationVar(&f.timeout, "timeout", 0, "give up after this long")
	flags.BoolVar(&f.noAsk, "no-ask", false, "refuse at once what a person would have to approve")
	flags.BoolVar(&f.noStore, "no-store", false, "keep nothing of the conversation")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not tell what it does")
	return cmd
}

func (f *runFlags) check() error {
	switch {
	case f.resume != "" && f.session != "":
		return usagef("give either --resume or --session")
	case f.session != "" && !sessions.ValidID(f.session):
		return usagef("--session %q: a name has small letters, digits, - and . only", f.session)
	case f.iterations < 0 || f.timeout < 0:
		return usagef("--max-iterations and --timeout are more than nothing")
	case f.noStore && f.session != "":
		return usagef("--no-store keeps no session, so that --session means nothing")
	}
	return nil
}

func (c *command) runTask(ctx context.Context, args []string, f runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	task, err := c.task(args)
	if err != nil {
		return err
	}
	caller, err := c.caller(agentFrontend, "")
	if err != nil {
		return err
	}
	a, err := c.openAgents(ctx, f.noAsk)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	s, err := a.Agents.Open(ctx, agents.Options{Caller: caller, Model: f.model, Resume: f.resume, Name: f.session, MaxIterations: f.iterations, Forget: f.noStore})
	if err != nil {
		return openingError(err)
	}
	stop, err := c.attendSession(ctx, a.Desk, s.Caller().Session)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	err = c.turn(ctx, s, task, f)
	stop()
	if closed := s.Close(); closed != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: the session could not be closed: %v\n", closed)
	}
	return err
}

// openingError: what is not there, or cannot be had now.
func openingError(err error) error {
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: err.Error(), Err: err}
	case errors.Is(err, sessions.ErrInUse):
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	}
	if _, ok := toolcrib.AsError(err); ok {
		return err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
}

// openAgents opens the crib for an agent. Where nobody sits at this terminal, questions
// wait for an answer from elsewhere.
func (c *command) openAgents(ctx context.Context, noAsk bool) (*app.App, error) {
	a, err := c.openFor(ctx, app.ToCall, func(cfg *settings.Config, needs *app.Needs) {
		needs.Unattended = desk.Await
		if noAsk {
			cfg.Desk.Unattended = "refuse"
		}
	})
	if err != nil {
		return nil, err
	}
	c.tellFaults(a)
	c.tellUnmatched(ctx, a)
	return a, nil
}

// attendSession has this terminal asked what comes up in a session, and in those of
// agents that were put to work in it.
func (c *command) attendSession(ctx context.Context, d *desk.Desk, session string) (stop func(), err error) {
	began := time.Now().Add(-time.Second) // what an earlier run left open is for 'toolcrib approvals'
	return c.attend(ctx, d, func(q desk.Question) bool {
		return lineage.Root(q.Caller.Session) == session && q.Current(began)
	})
}

// maxTask bounds what is read from standard input.
const maxTask = 4 << 20

// task is what the agent is told: the arguments, and what stands on standard input.
func (c *command) task(args []string) (string, error) {
	said := strings.TrimSpace(strings.Join(args, " "))
	given := ""
	if f, ok := c.in.(*os.File); !ok || !terminal(f) {
		text, err := io.ReadAll(io.LimitReader(c.in, maxTask+1))
		if err != nil {
			return "", fmt.Errorf("reading standard input: %w", err)
		}
		if len(text) > maxTask {
			return "", usagef("there are more than %d bytes on standard input: put them into a file, and name it in the task", maxTask)
		}
		given = strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	switch {
	case said == "" && given == "":
		return "", usagef("give a task, as an argument or on standard input, such as: toolcrib run 'What is in this folder?'")
	case said == "" || given == "":
		return cmp.Or(said, given), nil
	}
	return said + "\n\nOn standard input stands:\n\n" + given, nil
}

// turn has the agent do the task and prints its answer.
func (c *command) turn(ctx context.Context, s *agents.Session, task string, f runFlags) error {
	show := &runShow{c: c, quiet: f.quiet || c.output == "events", asks: f.noAsk}
	emit := show.tell
	if c.output == "events" {
		emit = func(e agent.Event) { show.err = errors.Join(show.err, c.printLine(e)) }
		if err := c.printLine(map[string]string{"stage": "session", "session": s.ID()}); err != nil {
			return err
		}
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	out, err := s.Turn(ctx, model.Text(model.User, task), emit)
	show.end()
	if why := s.Unkept(); why != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: the conversation is not kept: %v\n", text.ShowLine(why.Error()))
	} else if !show.quiet && !f.noStore {
		fmt.Fprintf(c.err, "toolcrib: session %s\n", s.ID())
	}
	return errors.Join(show.err, c.printOutcome(s, out, err))
}

// outcome is what a run prints as JSON.
type outcome struct {
	*agent.Outcome
	Session string `json:"session"`
	Agent   string `json:"agent,omitempty"`
	Error   string `json:"error,omitempty"`
}

// printOutcome prints the answer and gives what the exit status comes of.
func (c *command) printOutcome(s *agents.Session, out *agent.Outcome, err error) error {
	if out == nil {
		out = &agent.Outcome{Stopped: agent.StoppedError}
	}
	err = runError(out, err)
	switch {
	case c.output == "events":
	case c.asJSON(false):
		told := outcome{Outcome: out, Session: s.ID(), Agent: s.Caller().Agent}
		if err != nil {
			told.Error = err.Error()
		}
		if perr := c.printJSON(told); perr != nil {
			return perr
		}
	case out.Text != "":
		shown := out.Text
		if terminal(c.out) {
			shown = text.Show(shown)
		}
		if _, perr := fmt.Fprintln(c.out, shown); perr != nil {
			return perr
		}
	}
	return err
}

// runError is how a run ended, as an error with its exit status; nil: it was answered.
func runError(out *agent.Outcome, err error) error {
	switch out.Stopped {
	case agent.StoppedAborted:
		return silentWith{errors.New("aborted; --resume last goes on with it"), exitAborted}
	case agent.StoppedTimeout:
		return &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "its time was over; --resume last goes on with it", Err: err}
	}
	if err != nil {
		return openingError(err)
	}
	switch out.Stopped {
	case agent.StoppedIterations:
		return silentWith{errors.New("it had to answer before it was done (max_iterations); --resume last goes on with it"), exitIterations}
	case agent.StoppedLength:
		return silentWith{errors.New("the answer was cut off at the model's limit of tokens"), exitCut}
	case agent.StoppedRefused:
		return silentWith{errors.New("the model's service would not answer"), exitCut}
	}
	return nil
}

// silentWith is an error with a status of its own.
type silentWith struct {
	error
	status int
}

func (s silentWith) Unwrap() error { return s.error }
