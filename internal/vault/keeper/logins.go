package keeper

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// logins keeps logins in the vault.
type logins struct{ vault *vault.Vault }

// Logins is where the hub keeps the tokens that it got.
func (k *Keeper) Logins() logins { return logins{k.vault} }

// Load implements mcphub.Tokens.
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

// Save implements mcphub.Tokens.
func (t logins) Save(ctx context.Context, name string, value []byte) error {
	return t.vault.Set(ctx, vault.Ref{Name: name}, string(value))
}

// Delete implements mcphub.Tokens.
func (t logins) Delete(ctx context.Context, name string) error {
	if err := t.vault.Remove(ctx, vault.Ref{Name: name}); err != nil && !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	return nil
}
