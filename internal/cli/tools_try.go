package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

func (c *command) toolsTryCmd() *cobra.Command {
	f := callFlags{try: true}
	cmd := &cobra.Command{
		Use:   "try NAME [key=value …]",
		Short: "Call a tool of your own and see how it ran",
		Long: `Call a tool and show how its program was run: the list of its arguments, where it
ran and what it could touch, how long it took, its exit status, what it printed on
standard output and on standard error, and the result that a model would get.

It is a call like any other: your rules judge it, you are asked if need be, and the
journal has it. So NAME is a tool that counts: a file of your folder of tools, or a
trusted one of the project. 'toolcrib tools check FILE' looks at any other file.

The exit status is that of 'toolcrib call'.`,
		Example: `  toolcrib tools try word_count text='to be or not to be'
  toolcrib tools try word_count --json '{"text": "a b", "unit": "bytes"}'`,
		Args:              usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: c.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasJSON = cmd.Flags().Changed("json")
			f.dialect, _ = cmd.Flags().GetString("dialect") // of 'tools'
			if err := c.noFile(args[0]); err != nil {
				return err
			}
			return c.call(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.Flags().StringVar(&f.json, "json", "", "the arguments as a JSON object; - reads it from standard input")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this long")
	return cmd
}

// noFile says what to do with a file: a call of one that is no tool would be a way round
// trust.
func (c *command) noFile(name string) error {
	if _, err := os.Stat(c.within(name)); !strings.ContainsAny(name, `/\.`) || os.IsNotExist(err) {
		return nil // the crib says what it thinks of the name
	}
	dir, err := c.toolDir()
	if err != nil {
		return err
	}
	return usagef("%s is a file: 'toolcrib tools check' looks at one. To try it, copy it into %s, or trust it where it lies in a project ('toolcrib trust'), and give the name of the tool", name, text.ShowLine(dir))
}

// tried is one call with all that can be seen of it.
type tried struct {
	Call    string           `json:"call"`
	Tool    string           `json:"tool"`
	Box     string           `json:"box"`
	Input   json.RawMessage  `json:"input"`
	Outcome string           `json:"outcome"`
	Took    string           `json:"took"`
	Runs    []triedRun       `json:"runs,omitempty"`
	Process *triedProcess    `json:"process,omitempty"`
	Result  *toolcrib.Result `json:"result,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// triedProcess is what stays between calls and answers them.
type triedProcess struct {
	Of    string      `json:"of"` // the file of functions, or the program
	Reach []reportRow `json:"reach,omitempty"`
	Log   string      `json:"log,omitempty"` // the end of what it printed
}

type triedRun struct {
	Argv      []string `json:"argv"`
	Dir       string   `json:"dir"`
	Sandbox   string   `json:"sandbox,omitempty"`
	Read      []string `json:"read"`
	Write     []string `json:"write"`
	Hosts     []string `json:"hosts"`
	Variables []string `json:"variables"`
	Took      string   `json:"took"`
	Exit      int      `json:"exit"`
	Signal    string   `json:"signal,omitempty"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
	Error     string   `json:"error,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// tryTool makes the call and shows how it went. What is shown besides the result is
// what the person's own program did, without the secrets that are known.
func (c *command) tryTool(ctx context.Context, a *app.App, call toolcrib.Call, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	spec, _ := a.Crib.Tool(call.Caller, call.Tool)
	t := tried{Call: call.ID, Tool: call.Tool, Box: spec.Box, Input: call.Input}
	a.Crib.OnEnd = append(a.Crib.OnEnd, func(_ context.Context, r *toolcrib.Record) {
		if r.ID == call.ID {
			t.Outcome, t.Took = string(r.Outcome), r.Duration.Round(time.Millisecond).String()
		}
	})
	plain := func(s string) string {
		if a.Crib.RedactText == nil {
			return s
		}
		return a.Crib.RedactText(s)
	}
	result, err := a.Crib.Call(app.WatchPrograms(ctx, func(r app.ProgramRun) { t.Runs = append(t.Runs, triedOf(r, plain)) }), call)
	t.Result, t.Process = result, processOf(a, spec.Box, plain)
	if err != nil {
		t.Error = err.Error()
		if e, ok := toolcrib.AsError(err); ok {
			t.Error = string(e.Code) + ": " + e.Message
		}
	}
	if c.asJSON(false) {
		if err := c.printJSON(t); err != nil {
			return err
		}
	} else if err := c.printTried(t); err != nil {
		return err
	}
	switch {
	case err != nil:
		status, _ := exitOf(toolcrib.CodeOf(err))
		return silent{status: status}
	case result.Failed:
		return silent{status: exitFailed}
	}
	return nil
}

// processOf is the process behind a box of the hub. Nil: it is none of these. It is ended
// first, since only then all of what it printed is there.
func processOf(a *app.App, box string, plain func(string) string) *triedProcess {
	if _, ok := a.Hub.Box(box); !ok {
		return nil
	}
	_ = a.Hub.Close() // it is closed once more with all the rest
	for _, r := range a.Hub.Rows() {
		if r.Name != box {
			continue
		}
		p := &triedProcess{Of: r.Where, Log: plain(text.Tail(r.Stderr, triedLog))}
		if content, err := plainfile.Read(r.Where, maxCheckedFile); err == nil {
			if file, faults := toolfile.Parse(r.Where, content); file.Kind != toolfile.None && !toolfile.Broken(faults) {
				reach(file, func(what, is string) {
					if is != "" {
						p.Reach = append(p.Reach, reportRow{what, is})
					}
				})
			}
		}
		return p
	}
	return nil
}

// triedLog is how much of a log is shown.
const triedLog = 4 << 10

func triedOf(r app.ProgramRun, plain func(string) string) triedRun {
	t := triedRun{
		Dir: r.Dir, Sandbox: r.Exit.Sandbox, Variables: r.Variables, Took: r.Exit.Duration.Round(time.Millisecond).String(), Hosts: r.Grant.Hosts,
		Exit: r.Exit.Code, Signal: r.Exit.Signal, TimedOut: r.Exit.TimedOut, Stdout: plain(r.Stdout), Stderr: plain(r.Stderr), Notes: r.Exit.Notes,
	}
	for _, w := range r.Words {
		t.Argv = append(t.Argv, plain(w))
	}
	for _, d := range r.Grant.Dirs {
		if d.Write {
			t.Write = append(t.Write, d.Path)
		} else {
			t.Read = append(t.Read, d.Path)
		}
	}
	if r.Err != nil {
		t.Error = plain(r.Err.Error())
	}
	return t
}

// printTried shows it to a person.
func (c *command) printTried(t tried) error {
	row := func(what, is string) { fmt.Fprintf(c.out, "%-10s %s\n", what, text.ShowLine(is)) }
	row("call", t.Tool+" "+string(t.Input))
	for _, r := range t.Runs {
		row("ran", argvText(r.Argv))
		row("where", "in "+r.Dir+", "+map[bool]string{true: "not in a sandbox that told its name", false: "in the sandbox " + r.Sandbox}[r.Sandbox == ""])
		if r.Sandbox == "host" { // it is granted nothing, and held to nothing
			row("may touch", "everything that you can")
		} else {
			row("may read", cmp.Or(strings.Join(ownFile(r), ", "), "no directory of yours"))
			row("may write", cmp.Or(strings.Join(r.Write, ", "), "nothing"))
			row("may reach", cmp.Or(strings.Join(r.Hosts, ", "), "no other machine"))
		}
		row("exit", exitText(r))
		c.printStream("stdout", r.Stdout)
		c.printStream("stderr", r.Stderr)
		for _, n := range r.Notes {
			row("note", n)
		}
	}
	switch {
	case t.Process != nil:
		row("ran", "in the process of the toolbox "+t.Box+", which stays for the next calls: "+t.Process.Of)
		for _, r := range t.Process.Reach {
			row(r.What, r.Is)
		}
		c.printStream("log", t.Process.Log)
	case len(t.Runs) == 0 && t.Result != nil:
		row("ran", "no program: the box "+t.Box+" is part of Toolcrib")
	}
	switch {
	case t.Error != "":
		row("refused", t.Error)
	case t.Result != nil:
		c.printStream(map[bool]string{true: "failed", false: "result"}[t.Result.Failed], t.Result.String())
	}
	if hint := tryHint(t); hint != "" {
		row("hint", hint)
	}
	row("journal", fmt.Sprintf("%s after %s: toolcrib journal show %s", cmp.Or(t.Outcome, "not ended"), t.Took, t.Call))
	return nil
}

// ownFile are the directories that a program can read, with a word for the one that its
// own script lies in.
func ownFile(r triedRun) []string {
	var list []string
	for _, dir := range r.Read {
		if slices.ContainsFunc(r.Argv, func(word string) bool { return filepath.Dir(word) == dir }) {
			dir = "its own file"
		}
		list = append(list, dir)
	}
	return list
}

func exitText(r triedRun) string {
	switch {
	case r.Error != "":
		return "not run: " + r.Error
	case r.TimedOut:
		return "ended after " + r.Took + ", because its time was over"
	case r.Signal != "":
		return "ended by " + r.Signal + " after " + r.Took
	}
	return fmt.Sprintf("%d after %s", r.Exit, r.Took)
}

// printStream shows a text of several lines beside its name.
func (c *command) printStream(what, s string) {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		fmt.Fprintf(c.out, "%-10s (nothing)\n", what)
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		fmt.Fprintf(c.out, "%-10s %s\n", what, text.ShowLine(line))
		what = ""
	}
}
