package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
)

// judgedFor is for whom a call is judged; what is empty is as at this terminal.
type judgedFor struct {
	token, subject, organisation, agent string
}

func (w *judgedFor) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.token, "token", "", "as if whoever has this token of the configuration called, by its name")
	cmd.Flags().StringVar(&w.subject, "subject", "", "as if this person or service called: for rules about caller.subject (what a login gives them besides, say with --token)")
	cmd.Flags().StringVar(&w.organisation, "organisation", "", "as if somebody of this organisation called")
}

// callerFor is who calls then. Its caller has looked whether the preset of this
// run exists.
func (c *command) callerFor(a *app.App, w judgedFor, dialect string) (toolcrib.Caller, error) {
	caller, err := c.caller("cli", dialect)
	if err != nil {
		return caller, err
	}
	if w.token != "" {
		tokens := a.Tokens()
		of, ok := tokens[w.token]
		if !ok {
			return caller, missing("token", w.token, slices.Sorted(maps.Keys(tokens)))
		}
		of.Frontend, of.Dialect = app.HTTPFrontend, caller.Dialect // a token opens nothing else
		if c.agent != "" {
			of.Agent = c.agent
		}
		caller = of
	}
	if w.subject != "" {
		caller.Subject = w.subject
	}
	if w.organisation != "" {
		all := c.loaded.Value.Organisations
		if _, ok := all[w.organisation]; !ok {
			return caller, missing("organisation", w.organisation, slices.Sorted(maps.Keys(all)))
		}
		caller.Organisation = w.organisation
	}
	if w.agent != "" {
		if _, ok := c.loaded.Value.Agents[w.agent]; !ok {
			return caller, missing("agent", w.agent, slices.Sorted(maps.Keys(c.loaded.Value.Agents)))
		}
		caller.Agent = w.agent
	}
	return caller, nil
}

// missing is the error for a name that the configuration does not have.
func missing(kind, name string, there []string) error {
	if len(there) == 0 {
		return usagef("there is no %s %q: the configuration has none", kind, name)
	}
	return usagef("there is no %s %q; there are %s", kind, name, strings.Join(there, ", "))
}
