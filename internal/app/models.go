package app

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
)

// openModels makes the models of the settings. What bounds and watches calls is there by
// then, and holds for requests to models too.
func (a *App) openModels(ctx context.Context, cfg settings.Config, _ Needs) error {
	guards, around := a.bounds.ForModels()
	found, faults := models.Open(ctx, cfg, models.Needs{
		Crib: a.Crib, Guards: guards, Around: around, HTTP: a.Crib.HTTP, Watch: a.watching.Observer().WatchAlso,
		Rules: func() []toolcrib.Guard {
			list := a.policy.live.Guards() // a delegate is judged as each of its lineage
			for i, g := range list {
				list[i] = models.OnlyNamed(g)
			}
			return list
		},
		Secret: func(ctx context.Context, name string) (string, error) {
			return a.keeper.Expand(ctx, "${secret:"+name+"}")
		},
		Known: func() (*secrets.Known, error) {
			known := a.keeper.Redaction()
			if err := a.keeper.Locked(); err != nil {
				return nil, fmt.Errorf("%w: %s", err, keeper.Unlock(err))
			}
			return known, nil
		},
	})
	a.Models, a.Faults = found, append(a.Faults, faults...)
	return nil
}
