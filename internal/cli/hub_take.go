package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// tryEdit finds out whether the servers can be written, before anything is.
func (c *command) tryEdit(paths config.Paths, list []setup.Taken) error {
	text, err := os.ReadFile(c.settings(paths))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := setup.Adding(list)(text); err != nil {
		return badConfig{fmt.Errorf("%s: %w", c.settings(paths), err)}
	}
	return nil
}

// checkSecrets gives the secrets that are to be made, and the servers that may be
// taken over.
func (c *command) checkSecrets(ctx context.Context, v *vault.Vault, list []setup.Taken) ([]setup.Taken, map[string]string, error) {
	out, values, err := setup.CheckSecrets(ctx, v, list, func(t setup.Taken, secret string) {
		fmt.Fprintf(c.err, "toolcrib: warning: left out: %s: it refers to the secret %s, which is not its own; if it may have it, add the server by hand\n", t.Name, text.ShowLine(secret))
	})
	if clash, ok := errors.AsType[*setup.Clash](err); ok {
		return nil, nil, failed{clash}
	}
	if err != nil {
		return nil, nil, c.vaultError(v, err)
	}
	return out, values, nil
}

// takeOver writes what was checked: first what is needed to take it back, then
// the secrets, then the servers. If one fails, those before are taken back.
func (c *command) takeOver(ctx context.Context, paths config.Paths, v *vault.Vault, list []setup.Taken, values map[string]string) (file string, err error) {
	done := imported{At: time.Now(), Secrets: slices.Sorted(maps.Keys(values))}
	for _, t := range list {
		entry, err := json.Marshal(settings.ServerEntry(t.Server))
		if err != nil {
			return "", err
		}
		done.Servers = append(done.Servers, importedServer{Name: t.Name, Entry: entry})
	}
	// What cannot be read or changed fails below, when it is written.
	if before, err := os.ReadFile(c.settings(paths)); err == nil {
		if after, err := setup.Adding(list)(before); err == nil {
			done.Before, done.After = before, digest(after)
		}
	}
	former, err := os.ReadFile(importFile(paths.State))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := done.save(paths.State); err != nil {
		return "", err
	}
	var made []string
	defer func() {
		if err == nil {
			return
		}
		err = fmt.Errorf("nothing was taken over: %w", err)
		if back := setup.DropSecrets(context.WithoutCancel(ctx), v, made); back != nil {
			err = errors.Join(err, fmt.Errorf("secrets are left in the vault, 'toolcrib hub import --undo' removes them: %w", back))
			return
		}
		if former != nil {
			err = errors.Join(err, rewrite.Replace(importFile(paths.State), former, 0o600))
			return
		}
		err = errors.Join(err, os.Remove(importFile(paths.State)))
	}()
	for _, name := range done.Secrets {
		if err := v.Set(ctx, vault.Ref{Name: name}, values[name]); err != nil {
			return "", c.vaultError(v, fmt.Errorf("keeping the secret %s: %w", name, err))
		}
		made = append(made, name)
	}
	return c.editConfig(setup.Adding(list))
}
