package app

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/learn"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// Learned is what searches for tools led to, to be shown and forgotten.
func Learned(cfg settings.Config, needs Needs) *learn.Book {
	return learn.NewBook(filepath.Join(needs.State, "learned.json"), cfg.Search.MaxAge)
}

// openLearning has calls taught to the search, where they can be made.
func (a *App) openLearning(_ context.Context, cfg settings.Config, needs Needs) error {
	if !cfg.Search.Learn {
		return nil
	}
	a.book = Learned(cfg, needs)
	if needs.For == ToCall {
		l := &learn.Listener{
			Book: a.book, Box: finder.Name, Tool: finder.SearchTool, Profile: a.profileOf, Log: a.Crib.Log,
			Silent: func() bool { return a.keeper.Locked() != nil },
		}
		a.Crib.OnEnd = append(a.Crib.OnEnd, l.Hear)
	}
	return nil
}

// profileOf names whom a caller learns with: the callers of its organisation that
// have the same profiles.
func (a *App) profileOf(caller toolcrib.Caller) string {
	var names []string
	if v := a.policy.visible.Load(); v != nil && v.Profile != nil {
		names = v.Profile(caller)
	}
	name := strings.Join(names, "+")
	if caller.Organisation != "" {
		name = caller.Organisation + "/" + name
	}
	return name
}

// past gives the search what callers of a profile taught it.
func (a *App) past() func(toolcrib.Caller) (string, func() []finder.Use) {
	return exposed.Past(a.book, a.profileOf, a.Crib.Log)
}
