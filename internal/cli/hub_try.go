package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) hubTestCmd() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "test NAME | --all", Short: "Start a server, or all of them one by one, list what it offers, and end it",
		Args: usageArgs(cobra.MaximumNArgs(1)), ValidArgsFunction: c.completeServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all == (len(args) == 1):
				return usagef("give the name of an MCP server ('toolcrib hub' lists them), or --all")
			case all:
				return c.hubTestAll(cmd.Context())
			}
			return c.hubTest(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "test every server that is not switched off")
	return cmd
}

func (c *command) hubTest(ctx context.Context, name string) error {
	s, took, err := c.tested(ctx, name)
	if err != nil {
		return failedStart(err)
	}
	if c.asJSON(false) {
		return c.printJSON(s.ServerStatus)
	}
	fmt.Fprintf(c.out, "%s works: protocol %s, %s, in %v\n", name, s.Version, counted(s.Tools, "tool"), took)
	for _, note := range s.notes() {
		fmt.Fprintf(c.out, "%s: toolcrib hub show %s\n", note, name)
	}
	return nil
}

// failedStart tells a person why a server did not start: the cause once, what its program
// wrote below it, and what may help.
func failedStart(err error) error {
	f, ok := errors.AsType[*app.StartError](err)
	if !ok {
		return err
	}
	message := fmt.Sprintf("the MCP server %s did not start: %s", f.Server, f.Why)
	if len(f.Wrote) > 0 {
		message += "\nIt wrote:\n  " + strings.Join(f.Wrote, "\n  ")
	}
	if f.Help != "" {
		message += "\nIt may need variables that are " + f.Help
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: message, Err: err}
}

// asked opens the servers to look at them, after interpreters that nobody asked yet
// have said which toolboxes they have.
func (c *command) asked(ctx context.Context) (*app.App, error) {
	a, err := c.hub(ctx)
	if err != nil || !slices.ContainsFunc(a.Faults, func(f toolcrib.LoadError) bool {
		_, there := a.Hub.Box(f.Box)
		return !there && app.Unlisted(f)
	}) {
		return a, err
	}
	if err := a.Close(ctx); err != nil {
		return nil, err
	}
	if a, err = c.openFor(ctx, app.ToCall, nil); err == nil {
		err = a.Close(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.hub(ctx)
}

// hubTestAll goes on after a server that fails, and fails in the end.
func (c *command) hubTestAll(ctx context.Context) error {
	a, err := c.asked(ctx)
	if err != nil {
		return err
	}
	type row struct {
		testedServer
		Took  string `json:"took"`
		Error string `json:"error,omitempty"`
	}
	rows, table, bad := []row{}, [][]string{}, 0
	for _, f := range a.Faults { // what is set up in a way that makes no sense is no server yet
		if _, ok := a.Hub.Box(f.Box); !ok && f.Tool == "" {
			bad++
			rows = append(rows, row{testedServer: testedServer{ServerStatus: app.ServerStatus{Name: f.Box}}, Error: f.Err.Error()})
			table = append(table, []string{text.ShowLine(f.Box), "0", "-", "-", "fails: " + text.ShowLine(f.Err.Error())})
		}
	}
	for _, b := range a.Hub.Boxes() {
		s, took, err := c.tested(ctx, b.Name())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := row{testedServer: s, Took: took.String()}
		state := cmp.Or(strings.Join(s.notes(), "; "), "works")
		if err != nil {
			bad++
			if e, ok := toolcrib.AsError(err); ok {
				err = errors.New(e.Message)
			}
			r.Name, r.Error = b.Name(), err.Error()
			state = "fails: " + text.ShowLine(r.Error)
		}
		rows, table = append(rows, r), append(table, []string{b.Name(), fmt.Sprint(s.Tools), dash(s.Version), r.Took, state})
	}
	if c.asJSON(false) {
		err = c.printJSON(rows)
	} else {
		err = c.table([]string{"NAME", "TOOLS", "PROTOCOL", "TOOK", "STATE"}, table)
	}
	if err == nil && bad > 0 {
		err = &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: fmt.Sprintf("%d of %d servers fail", bad, len(rows))}
	}
	return err
}

// testedServer is what a test has found out.
type testedServer struct {
	app.ServerStatus
	LeftOut      int  `json:"left_out,omitempty"`
	Unchecked    int  `json:"unchecked,omitempty"`
	Instructions bool `json:"instructions_held,omitempty"` // one of those that are held, and no tool
}

// notes is what a person should look at.
func (s *testedServer) notes() (out []string) {
	note := func(n int, one, several string) {
		switch {
		case n == 1:
			out = append(out, one)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, several))
		}
	}
	tools := s.Held
	if s.Instructions {
		tools--
	}
	note(tools, "1 tool is kept back", "tools are kept back")
	if s.Instructions {
		out = append(out, "its instructions are kept back")
	}
	note(s.LeftOut, "1 tool is left out", "tools are left out")
	note(s.Unchecked, "1 part of its schemas is left to the server to check", "parts of its schemas are left to the server to check")
	return out
}

// tested starts a server, asks it what it offers, and ends it.
func (c *command) tested(ctx context.Context, name string) (s testedServer, took time.Duration, err error) {
	a, err := c.alone(ctx, name)
	if err != nil {
		return s, 0, err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	b, _ := a.Hub.Box(name)
	began := time.Now()
	done := c.progress("asking " + name + " for its tools")
	err = b.Refresh(ctx)
	done()
	_, instructions := b.Instructions()
	s = testedServer{b.Status(), len(b.LeftOut()), len(b.Unchecked()), instructions}
	if err != nil {
		err = &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	return s, time.Since(began).Round(time.Millisecond), err
}
