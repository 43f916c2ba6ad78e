package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

type setupFlags struct{ yes, dry, undo, strict bool }

func (c *command) setupCmd() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Bring the AI clients of this machine behind Toolcrib, step by step",
		Long: `Find the AI clients of this machine and bring them behind Toolcrib: take over
their MCP servers, with the secrets in the vault; see what the servers' tools may
do; put Toolcrib into each client and take out the originals that have answered
through it, so that nothing goes round it; have the clients ask before commands and edits of their own; take over
their rules; and offer a service at log-in.

Each step says what it found and what it would do, and asks. A step that you skip
or that fails does not lose the others. A second run does only what is left.
--undo takes all of it back: every file gets its bytes again, and one that you
changed since keeps your change.

--yes asks nothing and does what is safe: rules that allow something, variables
with a password, the service, and the files of a project stay for you to decide.`,
		Example: `  toolcrib setup
  toolcrib setup --dry-run     only say what would be done
  toolcrib setup --yes         ask nothing
  toolcrib setup --undo        take it back`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.undo && (f.dry || f.strict) { // it asks nothing, so that --yes does no harm
				return usagef("--undo takes back everything that setup did: leave out --dry-run and --strict")
			}
			if f.undo {
				return c.setupUndo(cmd.Context())
			}
			return c.setUp(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing, and do what is safe")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "take back what setup did")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "also take out servers that Toolcrib cannot take over or that did not start, so that no client has them")
	return cmd
}

func (c *command) setUp(ctx context.Context, f setupFlags) error {
	if err := c.noAgent("setup"); err != nil {
		return err
	}
	in, ok := c.in.(*os.File)
	if !f.yes && !f.dry && (!ok || !isTerminal(in)) {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "nobody is there to be asked: --dry-run says what would be done, --yes does it"}
	}
	s, err := c.newSetup(ctx)
	if err != nil {
		return err
	}
	s.Dry, s.Strict = f.dry, f.strict
	show := &setupScreen{c: c, quiet: c.asJSON(false)}
	s.Tell = show.tell
	if !f.yes && !f.dry {
		s.Ask = func(question string, otherwise bool) (bool, error) { return c.askSetup(ctx, in, question, otherwise) }
	}
	show.begin(f, s.Overview())
	report, err := s.Run(ctx)
	if errors.Is(err, setup.ErrBusy) {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	}
	if report == nil {
		return err
	}
	if c.asJSON(false) {
		if printed := c.printJSON(report); printed != nil {
			return printed
		}
		return setupFailed(report, err)
	}
	show.end(report, f.dry)
	return setupFailed(report, err)
}

// setupFailed gives the exit status: what failed was told where it happened.
func setupFailed(r *setup.Report, err error) error {
	if err == nil || errors.Is(err, setup.ErrStop) || errors.Is(err, context.Canceled) {
		return err
	}
	failures := 0
	for _, s := range r.Steps {
		if s.Error != "" {
			failures++
		}
	}
	return failed{fmt.Errorf("%s of %d failed; run 'toolcrib setup' again when that is fixed", counted(failures, "step"), len(r.Steps))}
}

// askSetup asks with an answer for Enter. q ends the setup where it is.
func (c *command) askSetup(ctx context.Context, in *os.File, question string, otherwise bool) (bool, error) {
	choice := "[y/N]"
	if otherwise {
		choice = "[Y/n]"
	}
	fmt.Fprintf(c.out, "   %s %s ", question, choice)
	unread(in) // what was typed before the question is no answer to it
	line, err := waited(ctx, func() ([]byte, error) {
		line, err := bufio.NewReader(io.LimitReader(in, 1<<10)).ReadBytes('\n')
		if len(line) > 0 {
			err = nil
		}
		return line, err
	})
	if err != nil {
		fmt.Fprintln(c.out)
		return false, setup.ErrStop
	}
	switch strings.ToLower(strings.TrimSpace(string(line))) {
	case "":
		return otherwise, nil
	case "y", "yes":
		return true, nil
	case "q", "quit":
		return false, setup.ErrStop
	}
	return false, nil
}

func (c *command) setupUndo(ctx context.Context) error {
	s, err := c.newSetup(ctx)
	if err != nil {
		return err
	}
	u, err := s.Undo(ctx)
	if errors.Is(err, setup.ErrNothing) {
		return usagef("%v", err)
	}
	if errors.Is(err, setup.ErrBusy) {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	}
	if u == nil {
		return err
	}
	if c.asJSON(false) {
		if printed := c.printJSON(u); printed != nil {
			return printed
		}
		return undoFailed(err)
	}
	for _, part := range []struct {
		title string
		list  []string
	}{
		{"As they were, byte for byte:", u.Whole},
		{"Removed, since setup had made them:", u.Removed},
		{"Changed since; only what setup did was taken out:", u.Edited},
		{"Kept:", u.Kept},
	} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintln(c.out, part.title)
		for _, line := range part.list {
			fmt.Fprintf(c.out, "  %s\n", text.ShowLine(line))
		}
	}
	if u.Servers+u.Secrets > 0 {
		fmt.Fprintf(c.out, "%s and %s are gone from Toolcrib.\n", counted(u.Servers, "server"), counted(u.Secrets, "secret"))
	}
	fmt.Fprintln(c.out, "Restart your clients.")
	return undoFailed(err)
}

func undoFailed(err error) error {
	if err == nil {
		return nil
	}
	return failed{fmt.Errorf("not all of it could be taken back; the rest can be tried again: %w", err)}
}
