package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) trustCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Take a project's toolcrib.yaml and its tools as your own, after seeing them",
		Long: `A toolcrib.yaml that lies in a project may only tighten your settings. trust
shows what it would change if it counted like your own file, asks, and then lets
it count: this file with this content. When the file changes, it tightens only,
until you have looked again.

The files in .toolcrib/tools of a project are tools once you trust them. trust shows
what each of them declares and its whole text, and asks. When one changes, it is no
tool until you have looked again; the others stay.`,
		Example: `  toolcrib trust               the project you are in
  toolcrib trust list
  toolcrib trust revoke`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.trust(cmd.Context(), args, yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask: what is shown was looked at")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List what is trusted", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return c.listTrust() },
	}, &cobra.Command{
		Use: "revoke [DIR]", Short: "Stop trusting a project's file and its tools", Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.revokeTrust(args) },
	})
	return cmd
}

// trustList is kept with the state of the program, out of reach of every tool.
func trustList(paths config.Paths) config.Trust {
	return config.Trust{
		Path:  config.TrustFile(paths.State),
		Seals: func(write bool) (*seal.Box, error) { return seal.OfState(paths.State, write) },
	}
}

// project is what a command about trust is about: the files that a project brings along.
type project struct {
	file  string // its toolcrib.yaml; empty: it has none
	tools string // its folder of tools; empty: it has none
}

// projectOf finds the files of the project that a command is about.
func (c *command) projectOf(args []string) (project, error) {
	dir := c.dir
	if len(args) > 0 {
		dir = c.within(args[0])
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return project{}, usagef("%s is no directory, and no command of trust", args[0])
		}
	}
	// Of whichever account: what is trusted is what the person was shown.
	found, err := config.FindProject(dir, c.home(), func(string) bool { return true })
	if err != nil {
		return project{}, err
	}
	p := project{found.Path, config.FindProjectTools(dir, c.home())}
	if p == (project{}) {
		return p, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "there is no toolcrib.yaml and no " + config.ProjectToolDir("") + " in " + dir + " or above it"}
	}
	return p, nil
}

// trust goes over the settings and then over the tools of a project. Each is a question
// of its own: who does not want the one may want the other.
func (c *command) trust(ctx context.Context, args []string, yes bool) error {
	project, err := c.projectOf(args)
	if err != nil {
		return err
	}
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	list := trustList(paths)
	if project.file != "" {
		err = c.trustSettings(list, project.file, yes)
	}
	code := toolcrib.CodeOf(err)
	if project.tools == "" || err != nil && code != toolcrib.CodeDenied && code != toolcrib.CodeUnavailable {
		return err
	}
	if of := c.trustTools(ctx, list, project.tools, yes); of != nil {
		return of
	}
	if code == toolcrib.CodeDenied {
		return &toolcrib.Error{Code: code, Message: "the settings of the project only tighten, as before"}
	}
	return err
}

// trustSettings shows what the settings of a project would change, asks, and lets them
// count.
func (c *command) trustSettings(list config.Trust, file string, yes bool) error {
	content, err := config.ReadProject(file)
	if err != nil {
		return badConfig{err}
	}
	if list.Holds(file, content) {
		fmt.Fprintf(c.out, "%s is trusted as it is.\n", text.ShowLine(file))
		return nil
	}
	rows, err := c.trustDiff(file, content)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(c.out, "Trusting %s would change nothing.\n", text.ShowLine(file))
	} else {
		fmt.Fprintf(c.out, "Trusting %s would change:\n\n%s\n", text.ShowLine(file), strings.Join(printables(rows), "\n"))
	}
	// Settings leave out what may be a secret. What stands in the file is none of
	// the person's, and may be what runs.
	c.showText(content)
	if !yes {
		if ok, err := c.confirm("Let it count as your own settings?"); err != nil || !ok {
			return err
		}
	}
	if err := list.Add(file, content, time.Now()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, "Trusted, until the file changes.")
	return err
}

// confirm asks a person at the terminal. Nobody there is a refusal.
func (c *command) confirm(question string) (bool, error) {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "nobody is there to be asked; look at what is shown and say --yes"}
	}
	c.hush()
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	unread(f) // a y that was pasted behind the command is no answer to what nobody has seen
	line, err := bufio.NewReader(io.LimitReader(c.in, 1<<10)).ReadString('\n')
	if err != nil && line == "" {
		return false, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "nothing was changed"}
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "nothing was changed"}
}

func (c *command) listTrust() error {
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	list, err := trustList(paths).List()
	if err != nil {
		return err
	}
	type row struct {
		File  string    `json:"file"`
		At    time.Time `json:"at"`
		State string    `json:"state"`
	}
	rows := []row{}
	for _, t := range list {
		state := "trusted"
		switch content, err := config.ReadProject(t.File); {
		case err != nil:
			state = "gone"
		case t.Tool && !trustList(paths).HoldsTool(t.File, content):
			state = "changed since: it is no tool until you trust it again"
		case !t.Tool && !trustList(paths).Holds(t.File, content):
			state = "changed since: it only tightens"
		}
		rows = append(rows, row{t.File, t.At, state})
	}
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{text.ShowLine(r.File), r.At.Local().Format("2006-01-02 15:04"), r.State})
	}
	return c.table([]string{"FILE", "SINCE", "STATE"}, table)
}

func (c *command) revokeTrust(args []string) error {
	project, err := c.projectOf(args)
	if err != nil {
		return err
	}
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	list, revoked := trustList(paths), false
	if project.file != "" {
		was, err := list.Remove(project.file)
		if err != nil {
			return err
		}
		if was {
			revoked = true
			fmt.Fprintf(c.out, "%s only tightens again.\n", text.ShowLine(project.file))
		}
	}
	if project.tools != "" {
		was, err := list.RemoveTools(project.tools)
		if err != nil {
			return err
		}
		for _, file := range was {
			revoked = true
			fmt.Fprintf(c.out, "%s is no tool any more.\n", text.ShowLine(file))
		}
	}
	if !revoked {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: cmp.Or(project.file, project.tools) + " is not trusted"}
	}
	return nil
}
