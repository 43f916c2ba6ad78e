package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// bounded is the layers for a start: bounded by a project's file that is broken. What it
// held before has bounds enough.
func (c *command) bounded(l *config.Loaded[settings.Config], broken *brokenProject) *settings.Layers {
	layers := c.layers(l)
	if broken != nil && !broken.before {
		layers.BreakProject()
	}
	return layers
}

// open builds the whole crib, journal and all.
func (c *command) open(ctx context.Context, unattended desk.Unattended, private ...string) (*app.App, error) {
	a, err := c.openFor(ctx, app.ToCall, func(_ *settings.Config, needs *app.Needs) {
		needs.Unattended, needs.Private = unattended, append(needs.Private, private...)
	})
	if err != nil {
		return nil, err
	}
	c.tellFaults(a)
	c.tellUnmatched(ctx, a)
	return a, nil
}

// openFor builds as much of a crib as a command needs. Change says what is
// different in this run; nil: nothing is.
func (c *command) openFor(ctx context.Context, purpose app.Purpose, change func(*settings.Config, *app.Needs)) (*app.App, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	open := func(loaded *config.Loaded[settings.Config]) (*app.App, error) {
		cfg, needs := loaded.Value, c.needs(loaded, paths)
		needs.For = purpose
		if change != nil {
			change(&cfg, &needs)
		}
		return app.Open(ctx, cfg, needs)
	}
	done := c.progress("opening the tools and their servers")
	a, err := open(loaded)
	done()
	if _, bad := errors.AsType[settings.BadConfig](err); bad && (c.project != "" && !loaded.Trusted || len(c.outer) > 0) {
		return c.openPast(err, purpose, open)
	}
	if err != nil {
		return nil, c.openError(err, purpose)
	}
	return a, nil
}

// openPast opens a crib without what is wrong with the project's file, which shows only
// when all is put together.
func (c *command) openPast(why error, purpose app.Purpose, open func(*config.Loaded[settings.Config]) (*app.App, error)) (a *app.App, err error) {
	opt, _, err := c.options()
	if err != nil {
		return nil, err
	}
	was := *c
	c.kept = nil
	_, err = c.tryProject(opt, c.care+1, c.loaded.Trusted, why, func(try projectAttempt) (err error) {
		c.loaded, c.broken, c.care = try.loaded, try.broken, try.care
		a, err = open(try.loaded)
		return err
	})
	if err != nil {
		c.loaded, c.broken, c.care = was.loaded, was.broken, was.care
		return nil, c.openError(err, purpose) // it is not the project's file
	}
	fmt.Fprintf(c.err, "toolcrib: warning: %v\n", c.broken)
	return a, nil
}

// openError tells settings that make no sense from what cannot be had now.
func (c *command) openError(err error, purpose app.Purpose) error {
	if bad, ok := errors.AsType[settings.BadConfig](err); ok {
		return badConfig{app.Located(c.located(bad.Unwrap()), c.whereIs)}
	}
	if purpose != app.ToCall {
		return err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
}

// located puts the line of a setting before an error that begins with its key.
func (c *command) located(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, part := range all.Unwrap() {
			out = append(out, c.located(part))
		}
		return errors.Join(out...)
	}
	key, _, keyed := strings.Cut(err.Error(), ": ")
	if at := c.loaded.Origins[key]; keyed && at.File != "" && at.Line > 0 {
		return fmt.Errorf("%s:%d: %w", text.ShowLine(at.File), at.Line, err)
	}
	return err
}
