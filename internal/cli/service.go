package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/text"
)

// serviceFrontends are the frontends that run as servers, by the name of their
// service: what it is, and the command.
func serviceFrontends() []service.Unit {
	return []service.Unit{
		{Name: "serve", Title: "Toolcrib: tools over MCP and HTTP", Args: []string{"serve"}},
		{Name: "bus", Title: "Toolcrib: tools on the message bus of a voice assistant", Args: []string{"bus", "serve"}},
	}
}

func serviceNames() []string {
	var names []string
	for _, u := range serviceFrontends() {
		names = append(names, u.Name)
	}
	return names
}

func (c *command) serviceCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run Toolcrib from log-in on, without a terminal",
		Long: `Install, show and remove services of yours: units of systemd's user manager on
Linux, agents of launchd on macOS. No administrator is needed. There is one for
each frontend that runs as a server: ` + strings.Join(serviceNames(), " and ") + ` ('toolcrib serve', 'toolcrib bus serve').`,
		Example: `  toolcrib service install serve
  toolcrib service install bus --dry-run       only show the file
  toolcrib service status
  toolcrib service remove`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.serviceInstallCmd(), c.serviceStatusCmd(), c.serviceRemoveCmd())
	return cmd
}

func (c *command) serviceInstallCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "install FRONTEND…",
		Short: "Have a frontend run from now on, and after every log-in",
		Long: `Write a service for a frontend, start it, and have it start at every log-in. It
runs this program with the flags that are given here (--config, --set, --agent,
--deny, --ask) and with your TOOLCRIB_HOME. Secrets do not belong there and are
refused: put them into the vault. Frontends: ` + strings.Join(serviceNames(), ", ") + `.

Where no manager of services runs, as in a container, the file is written and
you are told what to run.`,
		Example: `  toolcrib service install serve
  toolcrib service install bus --set bus.url=ws://127.0.0.1:8181/core`,
		Args:      usageArgs(cobra.MinimumNArgs(1)),
		ValidArgs: serviceNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.tellLeftOut()
			var all []service.Done
			for _, name := range unique(args) {
				u, err := c.serviceUnit(name)
				if err != nil {
					return err
				}
				d, err := service.Install(cmd.Context(), c.serviceNeeds(), u, dry)
				if err != nil {
					return errors.Join(c.tellServices(all, "", dry), serviceError(err))
				}
				all = append(all, d)
			}
			return c.tellServices(all, "Already installed and running.", dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the file as it would be, and do nothing")
	return cmd
}

func (c *command) serviceRemoveCmd() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "remove [FRONTEND…]",
		Short: "Stop a service and remove what install wrote",
		Long: `End services and remove their files; without a name all that 'toolcrib service
install' wrote. A file that you changed is kept, and named.`,
		Example: `  toolcrib service remove bus
  toolcrib service remove --dry-run`,
		ValidArgs: serviceNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, _, err := c.load(); err != nil {
				return err
			}
			names := unique(args)
			for _, name := range names {
				if !slices.Contains(serviceNames(), name) {
					return noService(name)
				}
			}
			if len(names) == 0 {
				var err error
				if names, err = service.Installed(c.serviceNeeds()); err != nil {
					return err
				}
			}
			var all []service.Done
			var errs []error
			for _, name := range names {
				d, err := service.Remove(cmd.Context(), c.serviceNeeds(), name, dry)
				if err != nil {
					errs = append(errs, serviceError(err))
				}
				all = append(all, d)
			}
			return errors.Join(c.tellServices(all, "No such service is installed.", false), errors.Join(errs...))
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, and do nothing")
	return cmd
}

func noService(name string) error {
	near := ""
	if guess := text.Nearest(name, serviceNames()); guess != "" {
		near = fmt.Sprintf(" (did you mean %s?)", guess)
	}
	return usagef("%q is no frontend that runs as a service%s: want one of %s", name, near, strings.Join(serviceNames(), ", "))
}

// serviceError gives errors of services their exit status.
func serviceError(err error) error {
	switch {
	case errors.Is(err, service.ErrNotHere):
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	case errors.Is(err, service.ErrChanged):
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	}
	return err
}

// tellServices says what was done; nothing is what to say if that was nothing.
func (c *command) tellServices(list []service.Done, nothing string, show bool) error {
	if c.asJSON(false) {
		if list == nil {
			list = []service.Done{}
		}
		return c.printJSON(list)
	}
	var b strings.Builder
	did := false
	for _, d := range list {
		if show && d.Changed {
			fmt.Fprintf(&b, "%s would be:\n%s\n", d.File, d.Text)
		}
		for _, line := range d.Did {
			fmt.Fprintf(&b, "%s.\n", line)
			did = true
		}
		for _, line := range d.Notes {
			fmt.Fprintln(&b, line)
		}
		if len(d.Run) > 0 {
			did = true
			fmt.Fprintf(&b, "Left to run:\n  %s\n", strings.Join(d.Run, "\n  "))
		}
	}
	if !did && nothing != "" {
		fmt.Fprintln(&b, nothing)
	}
	return c.write([]byte(text.Show(b.String())), nil)
}

// unique drops what was said before.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (c *command) serviceStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "status [FRONTEND…]",
		Short: "Show which services are installed and whether they run",
		Long: `Say of each service whether it is installed, starts at log-in and runs, how it
ended, the last lines of its log, and how it differs from what install would
write now, for example because this program was moved.`,
		ValidArgs: serviceNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			names := unique(args)
			if len(names) == 0 {
				names = serviceNames()
			}
			return c.serviceStatus(cmd.Context(), names)
		},
	}
}

func (c *command) serviceStatus(ctx context.Context, names []string) error {
	list := []service.State{}
	for _, name := range names {
		u, err := c.serviceUnit(name)
		if err != nil {
			return err
		}
		s, err := service.Status(ctx, c.serviceNeeds(), u)
		if err != nil {
			return serviceError(err)
		}
		list = append(list, s)
	}
	if c.asJSON(false) {
		return c.printJSON(list)
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		tellState(&b, s)
	}
	return c.write([]byte(text.Show(b.String())), nil)
}

func tellState(b *strings.Builder, s service.State) {
	if !s.Installed {
		fmt.Fprintf(b, "%s: not installed\n", s.Service)
		return
	}
	yes := map[bool]string{true: "yes", false: "no"}
	how := s.Detail
	if s.Manager {
		how = fmt.Sprintf("%s; starts at log-in: %s", s.Detail, yes[s.Enabled])
		if s.Lingers != nil {
			how += ", goes on after log-out: " + yes[*s.Lingers]
		}
	}
	fmt.Fprintf(b, "%s: %s\n  file: %s\n", s.Service, how, s.File)
	if !s.Ours {
		fmt.Fprintln(b, "  It was not written by 'toolcrib service install', or was changed since.")
	}
	if len(s.Differs) > 0 {
		fmt.Fprintln(b, "  It differs from what 'toolcrib service install' would write now:")
		for _, line := range s.Differs {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if len(s.Log) > 0 {
		fmt.Fprintf(b, "  The last lines of its log (%s):\n", s.LogFrom)
		for _, line := range s.Log {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}
