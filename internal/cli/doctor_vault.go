package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// vaultFindings say whether the secrets can be read, and which of those that are
// named nobody has set. Where there are none and none is named there is nothing to say.
func (c *command) vaultFindings(ctx context.Context, a *app.App, cfg settings.Config) (out []finding) {
	entries, fix, locked := a.VaultState(ctx)
	switch {
	case errors.Is(locked, vault.ErrUnsaid):
		return []finding{{"vault", "warning", "it opens with a passphrase: until somebody has said it ('toolcrib secret list' asks for it), calls are recorded without their texts and nobody is asked. A key in a file opens it by itself", fix}}
	case locked != nil:
		return []finding{{"vault", "problem", "there are secrets, and they cannot be read: " + locked.Error() + "; tools that need one are refused, other calls are recorded without their texts, and nobody is asked" + lockedMore(locked, fix), fix}}
	case entries > 0:
		out = append(out, finding{"vault", "ok", "open, " + counted(entries, "value") + " kept out of results and records", ""})
	}
	keep := ""
	if key, _ := c.lookupEnv(cfg.Vault.Key.Variable()); entries == 0 && key == "" && (cfg.Vault.Key.From == "" || cfg.Vault.Key.From == "auto") && !vault.HasFiles(c.keyDir(cfg.Vault.Key)) {
		keep = noKeyring(c.getenv, exec.LookPath)
	}
	for _, w := range a.LackingSecrets(ctx, cfg) {
		out = append(out, finding{"vault", "problem", fmt.Sprintf("%s names the secret %s, which nobody has set: what needs it is refused", w.Where, w.Name), keep + "toolcrib secret set " + w.Name})
	}
	return out
}

// noKeyring is what has to be typed first where there is no vault yet, and no keyring
// that its key could be kept in: without it nothing is kept.
func noKeyring(getenv func(string) string, look func(string) (string, error)) string {
	if runtime.GOOS != "linux" || getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return ""
	}
	if _, err := look("dbus-launch"); err == nil {
		return ""
	}
	return "toolcrib config set vault.key.from file && "
}

// lockedMore says what the command does to a vault that does not open any more.
func lockedMore(err error, fix string) string {
	switch {
	case !strings.HasPrefix(fix, "mv "):
	case errors.Is(err, vault.ErrKey):
		return ". Put the key back if you have a copy; else the vault is set aside, and the secrets are set again"
	case errors.Is(err, vault.ErrDamaged):
		return ". Put a copy of it back if you have one; else it is set aside, and the secrets are set again"
	}
	return ""
}
