package app

import (
	"context"
	"sync"

	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// A hook is started anew for each tool of a client, which waits for it. What takes
// longest and needs nothing of the rest is begun at once, beside it.

// earlyHook is what was begun.
type earlyHook struct {
	journal func() (*store.Journal, error)
	scanner func() (*secrets.Scanner, error)
}

// HookWarm is what was begun before there were settings. Nil: nothing was.
type HookWarm struct {
	scanner func() (*secrets.Scanner, error)
}

// WarmHook begins what needs no settings, before these are read.
func WarmHook() *HookWarm {
	w := &HookWarm{scanner: sync.OnceValues(secrets.New)}
	go func() { _, _ = w.scanner() }() // who needs it gets the error
	go settings.Warm()
	return w
}

func beginHook(ctx context.Context, cfg settings.Config, needs Needs) *earlyHook {
	warm := needs.Hook.Warm
	if warm == nil {
		warm = WarmHook()
	}
	e := &earlyHook{
		scanner: warm.scanner,
		journal: sync.OnceValues(func() (*store.Journal, error) {
			if _, err := OpenSeals(needs.State, true); err != nil {
				return nil, err
			}
			return sqlite.Open(ctx, journalConfig(cfg, needs))
		}),
	}
	go func() { _, _ = e.journal() }()
	return e
}

// journalOr gives the journal that was begun, or opens one.
func (e *earlyHook) journalOr(open func() (*store.Journal, error)) (*store.Journal, error) {
	if e == nil {
		return open()
	}
	return e.journal()
}
