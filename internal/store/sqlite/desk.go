package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/store"
)

//go:embed migrations/desk/*.sql
var deskMigrations embed.FS

// deskFileName is the desk's database, beside the journal's.
const deskFileName = "desk.db"

// OpenDesk opens the desk's database in cfg.Dir, and makes it if there is none.
func OpenDesk(ctx context.Context, cfg store.Config) (*store.Desk, error) {
	return store.OpenDesk(ctx, cfg, func(cfg store.Config) (store.Driver, error) {
		path := filepath.Join(cfg.Dir, deskFileName)
		if err := store.PrivateFile(path); err != nil {
			return store.Driver{}, err
		}
		d, err := connectors(path, cfg, "rw")
		if err != nil {
			return store.Driver{}, err
		}
		if d.Migrations, err = fs.Sub(deskMigrations, "migrations/desk"); err != nil {
			return store.Driver{}, fmt.Errorf("finding the schema: %w", err)
		}
		return d, nil
	})
}
