package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Check says why a handle that Granted makes would not give a secret. It makes
// nobody answer: of a vault whose passphrase nobody has said yet it says nothing.
func (v *Vault) Check(ctx context.Context, from Scope, names []string, name string) error {
	if err := errors.Join(CheckName(name), from.checkLookup()); err != nil {
		return fmt.Errorf("looking up a secret: %w", err)
	}
	if !slices.Contains(names, name) && !slices.Contains(names, "*") {
		return fmt.Errorf("looking up the secret %s: %w", name, ErrNotGranted)
	}
	there, _, err := v.Known(ctx)
	if errors.Is(err, ErrUnsaid) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking up the secret %s: %w", name, err)
	}
	order := from.order()
	for ref := range there {
		if ref.Name == name && slices.Contains(order, ref.Scope) {
			return nil
		}
	}
	return fmt.Errorf("looking up the secret %s: %w; 'toolcrib secret set %s' keeps one", name, ErrNotFound, name)
}
