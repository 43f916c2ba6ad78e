package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// logins keeps logins in the vault.
type logins struct{ vault *vault.Vault }

// Logins is where the hub and the toolboxes of APIs keep the tokens that they got.
func (k *Keeper) Logins() logins { return logins{k.vault} }

// Names of logins in the vault begin with one of these; the hub and the documents of APIs
// choose them.
const (
	loginPrefix    = "mcp-oauth."
	apiLoginPrefix = "openapi-oauth."
)

// loginSecrets are the secrets inside a stored login. It is one text in the vault,
// and nobody repeats it whole: what a server shows is one of its tokens.
func loginSecrets(name, value string) []string {
	if !strings.HasPrefix(name, loginPrefix) && !strings.HasPrefix(name, apiLoginPrefix) {
		return nil
	}
	var login struct {
		Grants []struct {
			Access  string `json:"access"`
			Refresh string `json:"refresh"`
			Client  struct {
				Secret       string `json:"secret"`
				Registration string `json:"registration_access_token"`
			} `json:"client"`
		} `json:"grants"`
	}
	if err := json.Unmarshal([]byte(value), &login); err != nil {
		return nil // it is not a login; as a whole it is known all the same
	}
	var all []string
	for _, g := range login.Grants {
		all = append(all, g.Access, g.Refresh, g.Client.Secret, g.Client.Registration)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Load implements oauth.Store.
func (t logins) Load(ctx context.Context, name string) ([]byte, error) {
	value, err := t.vault.Get(ctx, vault.Ref{Name: name})
	if errors.Is(err, vault.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []byte(value), nil
}

// Save implements oauth.Store.
func (t logins) Save(ctx context.Context, name string, value []byte) error {
	return t.vault.Set(ctx, vault.Ref{Name: name}, string(value))
}

// Delete implements oauth.Store.
func (t logins) Delete(ctx context.Context, name string) error {
	if err := t.vault.Remove(ctx, vault.Ref{Name: name}); err != nil && !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	return nil
}
