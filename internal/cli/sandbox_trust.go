package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

func (c *command) sandboxTrustCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust [PROGRAM|DIRECTORY …]",
		Short: "Let rules hold for programs inside a project, as they are now",
		Long: `Agents can write a project, so a rule about gradlew or eslint does not hold for
./gradlew or node_modules/.bin/eslint, whatever that file has become. trust binds
it to the content that the file has now: rules hold for it until it changes, and
then it is asked about again. Without an argument it is about gradlew, mvnw and
what lies in .venv/bin, venv/bin and node_modules/.bin.

A trusted program never counts as one that only reads. Virtual environments need
no trust: their interpreter, and scripts that only call a package, are recognised.`,
		Example: `  toolcrib sandbox trust ./gradlew
  toolcrib sandbox trust list
  toolcrib sandbox trust revoke ./gradlew`,
		RunE: func(_ *cobra.Command, args []string) error { return c.trustPrograms(args, yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask: the programs were looked at")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the programs that are trusted", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return c.listPrograms() },
	}, &cobra.Command{
		Use: "revoke PROGRAM|DIRECTORY", Short: "Take the trust in programs back", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return c.revokePrograms(args[0]) },
	})
	return cmd
}

// programList is the list of what the person has trusted.
func (c *command) programList() (toolchains.Programs, error) {
	paths, _, err := c.paths()
	if err != nil {
		return toolchains.Programs{}, usage(err)
	}
	return app.TrustedPrograms(paths.State), nil
}

func (c *command) here(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.dir, path)
}

func (c *command) trustPrograms(args []string, yes bool) error {
	list, err := c.programList()
	if err != nil {
		return err
	}
	var programs []string
	for _, arg := range args {
		found := toolchains.ProgramsIn(c.here(arg))
		if found == nil {
			found = []string{c.here(arg)}
		}
		programs = append(programs, found...)
	}
	if len(args) == 0 {
		programs = toolchains.ProjectPrograms(c.dir)
	}
	var fresh []string
	for _, p := range programs {
		if list.Check(p) != nil {
			fresh = append(fresh, p)
		}
	}
	switch {
	case len(programs) == 0:
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no programs were found here: name a file or a directory"}
	case len(fresh) == 0:
		fmt.Fprintln(c.out, "These programs are trusted as they are.")
		return nil
	}
	seen, err := list.See(fresh)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Rules would hold for %s as they are now:\n", counted(len(fresh), "program"))
	for _, p := range fresh {
		note := ""
		if resolved, err := filepath.EvalSymlinks(p); err == nil && resolved != p {
			note = " → " + resolved
		}
		if errors.Is(list.Check(p), toolchains.ErrChanged) {
			note += " (changed since you trusted it)"
		}
		fmt.Fprintf(c.out, "  %s\n", text.ShowLine(p+note))
	}
	if !yes {
		if ok, err := c.confirm("Trust them, until they change?"); err != nil || !ok {
			return err
		}
	}
	if err := list.Add(seen, time.Now()); err != nil {
		return err
	}
	for _, t := range seen {
		if list.Check(t.Path) != nil {
			return fmt.Errorf("%s has changed since you were asked: look at it, and run this again", text.ShowLine(t.Path))
		}
	}
	_, err = fmt.Fprintln(c.out, "Trusted, each until its file changes.")
	return err
}

func (c *command) listPrograms() error {
	list, err := c.programList()
	if err != nil {
		return err
	}
	found, err := list.List()
	if err != nil {
		return err
	}
	type row struct {
		Path   string    `json:"path"`
		SHA256 string    `json:"sha256"`
		At     time.Time `json:"at"`
		Holds  bool      `json:"holds"`
	}
	rows, cells := []row{}, [][]string{}
	for _, t := range found {
		r := row{t.Path, t.SHA256, t.At, list.Check(t.Path) == nil}
		rows = append(rows, r)
		cells = append(cells, []string{text.ShowLine(t.Path), t.At.Format(time.DateTime), map[bool]string{true: "yes", false: "no: it has changed"}[r.Holds]})
	}
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	return c.table([]string{"PROGRAM", "TRUSTED", "HOLDS"}, cells)
}

func (c *command) revokePrograms(path string) error {
	list, err := c.programList()
	if err != nil {
		return err
	}
	n, err := list.Remove(c.here(path))
	if err != nil {
		return err
	}
	if n == 0 {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no program there was trusted; 'toolcrib sandbox trust list' shows those that are"}
	}
	_, err = fmt.Fprintf(c.out, "Rules no longer hold for %s.\n", counted(n, "program"))
	return err
}
