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
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// adding writes servers into the text of the file of settings.
func adding(list []taken) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, t := range list {
			var err error
			if text, err = settings.AddServer(text, t.name, settings.ServerEntry(t.server)); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

// tryEdit finds out whether the servers can be written, before anything is.
func (c *command) tryEdit(paths config.Paths, list []taken) error {
	text, err := os.ReadFile(c.settings(paths))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := adding(list)(text); err != nil {
		return badConfig{fmt.Errorf("%s: %w", c.settings(paths), err)}
	}
	return nil
}

// checkSecrets gives the secrets that are to be made, and the servers that may
// be taken over. One that refers to a secret which is there already, or is
// another server's, would be given what is not its own: it is told and left.
func (c *command) checkSecrets(ctx context.Context, v *vault.Vault, list []taken) ([]taken, map[string]string, error) {
	there := map[string]bool{}
	// Where no server has to do with a secret, nobody is asked for the key.
	if slices.ContainsFunc(list, func(t taken) bool { return len(clientfiles.SecretNames(t.server)) > 0 }) {
		infos, err := v.List(ctx)
		if err != nil {
			return nil, nil, c.vaultError(v, err)
		}
		for _, i := range infos {
			there[i.Name] = true
		}
	}
	of := map[string]string{} // whose secret it is
	for _, t := range list {
		for _, s := range t.secrets {
			if was, taken := of[s.Name]; taken && was != t.name {
				return nil, nil, failed{fmt.Errorf("%s and %s both have a secret that would be called %s: rename one of them where it is (nothing was changed)", was, t.name, s.Name)}
			}
			of[s.Name] = t.name
		}
	}
	values := map[string]string{}
	var out []taken
	for _, t := range list {
		if foreign := foreignSecret(t, there, of); foreign != "" {
			fmt.Fprintf(c.err, "toolcrib: warning: left out: %s: it refers to the secret %s, which is not its own; if it may have it, add the server by hand\n", t.name, text.ShowLine(foreign))
			continue
		}
		out = append(out, t)
		for _, s := range t.secrets {
			if !there[s.Name] {
				values[s.Name] = s.Value
				continue
			}
			// One that is there is somebody's: it must not be overwritten.
			old, err := v.Get(ctx, vault.Ref{Name: s.Name})
			if err != nil && !errors.Is(err, vault.ErrNotFound) {
				return nil, nil, c.vaultError(v, err)
			}
			if err == nil && old != s.Value {
				return nil, nil, failed{fmt.Errorf("the vault has another secret %s: rename or remove it, and import again (nothing was changed)", s.Name)}
			}
			if err != nil { // it is somebody's in a scope of theirs only
				values[s.Name] = s.Value
			}
		}
	}
	return out, values, nil
}

// foreignSecret gives a secret that a server refers to and that is not its own.
func foreignSecret(t taken, there map[string]bool, of map[string]string) string {
	for _, name := range clientfiles.SecretNames(t.server) {
		owner, made := of[name]
		if made && owner != t.name || !made && there[name] {
			return name
		}
	}
	return ""
}

// takeOver writes what was checked: first what is needed to take it back, then
// the secrets, then the servers. If one fails, those before are taken back.
func (c *command) takeOver(ctx context.Context, paths config.Paths, v *vault.Vault, list []taken, values map[string]string) (file string, err error) {
	done := imported{At: time.Now(), Secrets: slices.Sorted(maps.Keys(values))}
	for _, t := range list {
		entry, err := json.Marshal(settings.ServerEntry(t.server))
		if err != nil {
			return "", err
		}
		done.Servers = append(done.Servers, importedServer{Name: t.name, Entry: entry})
	}
	// What cannot be read or changed fails below, when it is written.
	if before, err := os.ReadFile(c.settings(paths)); err == nil {
		if after, err := adding(list)(before); err == nil {
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
		if back := dropSecrets(context.WithoutCancel(ctx), v, made); back != nil {
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
	return c.editConfig(adding(list))
}

// dropSecrets removes secrets; one that is gone is no error.
func dropSecrets(ctx context.Context, v *vault.Vault, names []string) error {
	var errs []error
	for _, name := range names {
		if err := v.Remove(ctx, vault.Ref{Name: name}); err != nil && !errors.Is(err, vault.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
