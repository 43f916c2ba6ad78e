package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Check says why a tool would not get a secret, before a person is asked about a
// call that needs it. It asks nobody for a passphrase. Own: the person's own file
// names the secret for the tool, as ForTool has it; else vault.grants does.
func (k *Keeper) Check(ctx context.Context, call toolcrib.Call, box, tool, name string, own bool) error {
	if k == nil {
		return nil // nothing is called here
	}
	names := []string{name}
	if !own {
		names = k.guard.Granted(box, tool)
	}
	from := vault.Scope{Organisation: call.Caller.Organisation, Subject: call.Caller.Subject, Tool: box + "/" + tool}
	err := k.check(ctx, from, names, name)
	if err == nil {
		return nil
	}
	no := &toolcrib.Error{}
	errors.As(refusedSecret(call.Tool, err), &no)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		no.Message = fmt.Sprintf("the secret %s, which this tool needs, is not there for this caller; a person has to set it (toolcrib secret set %s)", name, name)
	case errors.Is(err, vault.ErrNotGranted):
		no.Message = fmt.Sprintf("the secret %s was not granted to this tool; to allow it, add it to vault.grants.%s", name, box)
	}
	return no
}

// check waits no longer for a key than a redaction does: a keyring may stand at a dialogue.
func (k *Keeper) check(ctx context.Context, from vault.Scope, names []string, name string) error {
	ctx, cancel := context.WithTimeout(ctx, knownWait)
	defer cancel()
	return k.vault.Check(ctx, from, names, name)
}

// CheckSetting says what a reference in a setting lacks, as Setting would.
func (k *Keeper) CheckSetting(ctx context.Context, text string) error {
	_, err := settings.Expand(ctx, text, os.LookupEnv, func(ctx context.Context, name string) (string, error) {
		if k == nil {
			return "", nil
		}
		return "", k.check(ctx, vault.Scope{}, []string{"*"}, name)
	})
	return err
}

// Missing gives those of these secrets that nobody has set, in any scope. A vault
// that cannot be read has none that is missing: it has another fault.
func (k *Keeper) Missing(ctx context.Context, names []string) (out []string) {
	if k == nil {
		return nil
	}
	there, _, err := k.vault.Known(ctx)
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for ref := range there {
		known[ref.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			out = append(out, name)
		}
	}
	return out
}
