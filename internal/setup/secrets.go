package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Clash says that a secret cannot be kept under its name. Nothing was changed.
type Clash struct{ Server, Text string }

func (c *Clash) Error() string { return c.Text }

// CheckSecrets gives the secrets that are to be made, and the servers that may
// be taken over. One that refers to a secret which is there already, or is
// another server's, would be given what is not its own: it is told and left.
func CheckSecrets(ctx context.Context, v *vault.Vault, list []Taken, leave func(t Taken, secret string)) ([]Taken, map[string]string, error) {
	there := map[string]bool{}
	// Where no server has to do with a secret, nobody is asked for the key.
	if slices.ContainsFunc(list, func(t Taken) bool { return len(clientfiles.SecretNames(t.Server)) > 0 }) {
		infos, err := v.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range infos {
			there[i.Name] = true
		}
	}
	of := map[string]string{} // whose secret it is
	for _, t := range list {
		for _, s := range t.Secrets {
			if was, taken := of[s.Name]; taken && was != t.Name {
				return nil, nil, &Clash{t.Name, fmt.Sprintf("%s and %s both have a secret that would be called %s: rename one of them where it is (nothing was changed)", was, t.Name, s.Name)}
			}
			of[s.Name] = t.Name
		}
	}
	values := map[string]string{}
	var out []Taken
	for _, t := range list {
		if foreign := foreignSecret(t, there, of); foreign != "" {
			leave(t, foreign)
			continue
		}
		out = append(out, t)
		for _, s := range t.Secrets {
			if !there[s.Name] {
				values[s.Name] = s.Value
				continue
			}
			// One that is there is somebody's: it must not be overwritten.
			old, err := v.Get(ctx, vault.Ref{Name: s.Name})
			if err != nil && !errors.Is(err, vault.ErrNotFound) {
				return nil, nil, err
			}
			if err == nil && old != s.Value {
				return nil, nil, &Clash{t.Name, fmt.Sprintf("the vault has another secret %s: rename or remove it, and import again (nothing was changed)", s.Name)}
			}
			if err != nil { // it is somebody's in a scope of theirs only
				values[s.Name] = s.Value
			}
		}
	}
	return out, values, nil
}

// foreignSecret gives a secret that a server refers to and that is not its own.
func foreignSecret(t Taken, there map[string]bool, of map[string]string) string {
	for _, name := range clientfiles.SecretNames(t.Server) {
		owner, made := of[name]
		if made && owner != t.Name || !made && there[name] {
			return name
		}
	}
	return ""
}

// Adding writes servers into the text of the file of settings.
func Adding(list []Taken) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, t := range list {
			var err error
			if text, err = settings.AddServer(text, t.Name, settings.ServerEntry(t.Server)); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

// DropSecrets removes secrets; one that is gone is no error.
func DropSecrets(ctx context.Context, v *vault.Vault, names []string) error {
	var errs []error
	for _, name := range names {
		if err := v.Remove(ctx, vault.Ref{Name: name}); err != nil && !errors.Is(err, vault.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
