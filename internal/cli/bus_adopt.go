package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/adopt"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/text"
)

type adopting struct {
	python               string
	dry, yes, undo, bare bool
	ask                  bool
}

func (c *command) busAdoptCmd() *cobra.Command {
	var how adopting
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Take the place of the voice assistant's plugin for tools",
		Long: `Look at mycroft.conf and at the installed Python packages of a voice assistant,
and show which toolboxes Toolcrib would serve in place of the plugin
ovos-phal-plugin-tools. Once you agree, it writes the settings into your
configuration, switches the plugin off in your mycroft.conf, and installs the
service that hosts the tools on the bus. Everything else in both files stays as it
is, and --undo puts them back.`,
		Example: `  toolcrib bus adopt --dry-run              only show what would be done
  toolcrib bus adopt
  toolcrib bus adopt --python ~/venvs/ovos  the packages are there
  toolcrib bus adopt --undo`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if how.undo {
				if how.python != "" || how.bare {
					return usagef("--undo takes neither --python nor --no-service: it puts back what was changed")
				}
				return c.busAdoptUndo(cmd.Context(), how)
			}
			return c.busAdopt(cmd.Context(), how)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&how.python, "python", "", "the virtual environment of the voice assistant, or its interpreter (default: it is looked for)")
	flags.BoolVar(&how.dry, "dry-run", false, "show what would be done, and do nothing")
	flags.BoolVarP(&how.yes, "yes", "y", false, "do what is shown without being asked")
	flags.BoolVar(&how.undo, "undo", false, "put everything back")
	flags.BoolVar(&how.bare, "no-service", false, "install no service: you start 'toolcrib bus serve' yourself")
	flags.BoolVar(&how.ask, "ask-writes", false, "ask you before files are written; the plugin does not ask")
	return cmd
}

// adoptShown is what is planned or was done, for programs.
type adoptShown struct {
	adopt.Plan
	Service *service.Done `json:"service,omitempty"`
	Done    bool          `json:"done"`
}

func (c *command) busAdopt(ctx context.Context, how adopting) error {
	loaded, paths, err := c.load()
	if err != nil {
		return err
	}
	needs := adopt.Needs{
		Finding: adopt.Finding{Getenv: c.getenv, Home: c.home(), Look: c.programs.Look, Running: c.runningPythons},
		State:   paths.State, Config: c.settings(paths), Settings: loaded.Value, AskWrites: how.ask,
		Unset: func(key string) bool { return loaded.Origins[key].Source == config.SourceDefault },
	}
	plan, err := adopt.Look(needs, how.python)
	if errors.Is(err, adopt.ErrNothing) {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: err.Error(), Err: err}
	}
	if err != nil {
		return failed{err}
	}
	shown := adoptShown{Plan: plan}
	unit, err := c.serviceUnit("bus")
	if err != nil {
		return err
	}
	installs := false
	if !how.bare {
		// What install would do, for it to be seen before anything is.
		d, err := service.Install(ctx, c.serviceNeeds(), unit, true)
		switch {
		case errors.Is(err, service.ErrNotHere):
			shown.Notes = append(shown.Notes, err.Error())
		case err != nil:
			return serviceError(err)
		default:
			shown.Service, installs = &d, true
		}
	}
	nothing := len(plan.Changes) == 0 && (shown.Service == nil || !shown.Service.Changed)
	if how.dry || nothing {
		return c.tellAdopt(shown, nothing)
	}
	if !c.asJSON(false) {
		if err := c.tellAdopt(shown, false); err != nil {
			return err
		}
	}
	if !how.yes {
		if ok, err := c.confirm("Do this?"); err != nil || !ok {
			return err
		}
	}
	if err := adopt.Apply(ctx, needs, plan, installs && shown.Service.Changed, nil); err != nil {
		return failed{err}
	}
	shown.Done = true
	if installs {
		d, err := service.Install(ctx, c.serviceNeeds(), unit, false)
		if err != nil {
			return errors.Join(serviceError(err), errors.New("the files are written; 'toolcrib bus adopt --undo' puts them back"))
		}
		shown.Service = &d
	}
	if c.asJSON(false) {
		return c.printJSON(shown)
	}
	return c.tellAdopted(shown)
}

// tellAdopt shows a plan.
func (c *command) tellAdopt(s adoptShown, nothing bool) error {
	if c.asJSON(false) {
		return c.printJSON(s)
	}
	var rows [][]string
	for _, r := range s.Rows {
		rows = append(rows, []string{r.Toolbox, r.Today, r.After, r.Why})
	}
	if len(rows) > 0 {
		if err := c.table([]string{"TOOLBOX", "TODAY", "AFTER", "WHY"}, rows); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintln(&b)
	if s.Python != "" {
		fmt.Fprintf(&b, "Python packages: %s (%s)\n", s.Python, s.Found)
	}
	for _, t := range s.Taken {
		if t.Left != "" {
			fmt.Fprintf(&b, "Not taken from mycroft.conf: %s: %s\n", t.From, t.Left)
		} else {
			fmt.Fprintf(&b, "From mycroft.conf: %s=%s (%s)\n", t.Key, t.Value, t.From)
		}
	}
	for _, change := range s.Changes {
		verb := "would be changed"
		if !change.There {
			verb = "would be made"
		}
		fmt.Fprintf(&b, "%s %s:\n  %s\n", change.File, verb, strings.Join(change.Does, "\n  "))
	}
	if s.Service != nil && s.Service.Changed {
		fmt.Fprintf(&b, "%s would be written, to run 'toolcrib bus serve' from log-in on\n", s.Service.File)
	}
	for _, note := range s.Notes {
		fmt.Fprintln(&b, note)
	}
	if nothing {
		fmt.Fprintln(&b, "Nothing is left to do: Toolcrib has taken the place of the plugin already.")
	}
	return c.write([]byte(text.Show(b.String())), nil)
}

// tellAdopted says what was done.
func (c *command) tellAdopted(s adoptShown) error {
	var b strings.Builder
	fmt.Fprintln(&b)
	for _, change := range s.Changes {
		verb := "Changed"
		if !change.There {
			verb = "Made"
		}
		fmt.Fprintf(&b, "%s %s.\n", verb, change.File)
	}
	if err := c.write([]byte(text.Show(b.String())), nil); err != nil {
		return err
	}
	if s.Service != nil {
		if err := c.tellServices([]service.Done{*s.Service}, "", false); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.out, "Start 'toolcrib bus serve' to host the tools.")
	}
	_, err := fmt.Fprintln(c.out, "To put everything back: toolcrib bus adopt --undo")
	return err
}

func (c *command) busAdoptUndo(ctx context.Context, how adopting) error {
	_, paths, err := c.load()
	if err != nil {
		return err
	}
	is, installed, err := adopt.Adopted(paths.State)
	if err != nil {
		return failed{err}
	}
	var done []service.Done
	if is && installed {
		d, err := service.Remove(ctx, c.serviceNeeds(), "bus", how.dry)
		if err != nil && !errors.Is(err, service.ErrChanged) && !errors.Is(err, service.ErrNotHere) {
			return serviceError(err)
		}
		if errors.Is(err, service.ErrChanged) {
			d.Notes = append(d.Notes, err.Error())
		}
		done = append(done, d)
	}
	list, err := adopt.Undo(ctx, paths.State, how.dry)
	if err != nil {
		return failed{err}
	}
	if c.asJSON(false) {
		if list == nil {
			list = []adopt.Undone{}
		}
		return c.printJSON(map[string]any{"files": list, "service": done, "done": !how.dry && is})
	}
	if !is {
		fmt.Fprintln(c.out, "There is nothing to put back.")
		return nil
	}
	if err := c.tellServices(done, "", false); err != nil {
		return err
	}
	would := ""
	if how.dry {
		would = "would be: "
	}
	for _, u := range list {
		fmt.Fprintf(c.out, "%s: %s%s\n", text.ShowLine(u.File), would, u.How)
	}
	if !how.dry {
		fmt.Fprintln(c.out, "Restart PHAL, and its plugin serves the tools again.")
	}
	return nil
}

// runningPythons are the interpreters of a voice assistant of this account that run
// now with its home, as they were started: the link in a virtual environment, not
// what it leads to.
func (c *command) runningPythons() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	var list []string
	for _, dir := range dirs {
		status, err := plainfile.Begin(filepath.Join(dir, "status"), 4096)
		if err != nil || !strings.Contains(string(status), "\nUid:\t"+strconv.Itoa(os.Getuid())+"\t") {
			continue
		}
		line, err := plainfile.Begin(filepath.Join(dir, "cmdline"), 4096)
		program, rest, _ := strings.Cut(string(line), "\x00")
		if err != nil || !filepath.IsAbs(program) || !strings.HasPrefix(filepath.Base(program), "python") || !strings.Contains(strings.ToLower(rest), "ovos") {
			continue
		}
		environ, err := plainfile.Begin(filepath.Join(dir, "environ"), 1<<20)
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+c.home()) {
			list = append(list, program)
		}
	}
	return unique(list)
}
