package app

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// OutsideNotes says which programs outside take up what commands can write, and
// which servers of the person's clients take code from the project.
func (a *App) OutsideNotes() []reach.Note {
	if a.reach.Own == nil {
		return nil
	}
	return slices.Concat(a.reach.Own.Notes(), a.reach.Own.Clients.Notes())
}

// Programs finds the programs that this one starts outside of every sandbox,
// not by what commands can write.
func Programs(cfg settings.Config, needs Needs, path string) (hostpath.Finder, error) {
	r, err := reach.Of(cfg.Grant, needs.start())
	if err != nil {
		return hostpath.Finder{}, err
	}
	return hostpath.Finder{Writable: r.CommandsWrite, PATH: path}, nil
}
