package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/namecheck"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// unmatched lists what in the settings means no tool, and the line that it stands in.
func (c *command) unmatched(ctx context.Context, a *app.App) []namecheck.Unmatched {
	list := a.Unmatched(ctx)
	paths, _, err := c.paths()
	if err != nil {
		return list
	}
	for i := range list {
		if at := c.whereIs(list[i].Text, paths); at != "" {
			list[i].Where = at + ": " + list[i].Where
		}
	}
	return list
}

// whereIs finds the line of a setting by its text; empty: it stands in no file.
func (c *command) whereIs(text string, paths config.Paths) string {
	if text == "" {
		return ""
	}
	return config.FindText(text, c.settings(paths), c.project, paths.SystemFile)
}

// located is a mistake in rules with the lines that they stand in.
func (c *command) located(err error) error {
	paths, _, noPaths := c.paths()
	if noPaths != nil {
		return err
	}
	said := err.Error()
	for _, bad := range ruleErrors(err) {
		if at := c.whereIs(bad.Text, paths); at != "" {
			said = strings.Replace(said, bad.Error(), at+": "+bad.Error(), 1)
		}
	}
	return errors.New(said)
}

// ruleErrors are all mistakes in rules that an error is made of.
func ruleErrors(err error) (out []*policy.RuleError) {
	switch e := err.(type) {
	case *policy.RuleError:
		return []*policy.RuleError{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			out = append(out, ruleErrors(part)...)
		}
	case interface{ Unwrap() error }:
		return ruleErrors(e.Unwrap())
	}
	return out
}
