package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// vault is this user's, for a command of its own: whoever typed that is there
// to be asked for a passphrase.
func (c *command) vault() (*vault.Vault, error) {
	return c.openVault(c.passphrase)
}

// openVault opens this user's vault. Ask is for the passphrase; nil: a person is
// asked only if one sits at both ends.
func (c *command) openVault(ask func(context.Context, bool) (string, error)) (*vault.Vault, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	needs := c.needs(loaded, paths)
	if ask != nil {
		needs.Keys.Ask = ask
	}
	v, err := app.OpenVault(loaded.Value, needs)
	if err != nil {
		return nil, badConfig{err}
	}
	return v, nil
}

// setKeys says where the key of the vault is. A person is asked for a passphrase
// only if one sits at both ends.
func (c *command) setKeys(needs *app.Needs) {
	needs.Keys.Env, needs.Keys.Programs, needs.Keys.Dir = c.lookupEnv, c.programs, c.dir
	if in, ok := c.in.(*os.File); ok && isTerminal(in) && terminal(c.err) {
		needs.Keys.Ask = c.passphrase
	}
}

func (c *command) lookupEnv(name string) (string, bool) {
	for _, v := range slices.Backward(c.environ) {
		if v, ok := strings.CutPrefix(v, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// keyVariables are TOOLCRIB_… variables that are no settings.
func keyVariables() []string {
	return []string{vault.KeyConfig{}.Variable(), vault.KeyConfig{}.Next()}
}

// hideKeys takes the variables that have keys out of the environment of this
// process, so that no program it starts inherits them, whoever starts it. This
// run has its own copy.
func hideKeys(cfg vault.KeyConfig) error {
	var errs []error
	for _, name := range []string{cfg.Variable(), cfg.Next()} {
		errs = append(errs, os.Unsetenv(name))
	}
	return errors.Join(errs...)
}

// passphrase asks for the passphrase of the vault, or for a new one, twice. It
// asks at the terminal of the person, since standard input may be the value.
func (c *command) passphrase(ctx context.Context, fresh bool) (string, error) {
	if !fresh {
		return c.hiddenLine(ctx, "Passphrase of the vault: ")
	}
	return c.newPassphrase(ctx, "New passphrase for the vault: ")
}

func (c *command) newPassphrase(ctx context.Context, question string) (string, error) {
	first, err := c.hiddenLine(ctx, question)
	if err != nil {
		return "", err
	}
	again, err := c.hiddenLine(ctx, "The same once more: ")
	if err == nil && again != first {
		err = errors.New("the two were not the same")
	}
	return first, err
}

// vaultError says what went wrong with the vault and what to do about it.
func (c *command) vaultError(v *vault.Vault, err error) error {
	e := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Code = toolcrib.CodeTimeout
	case errors.Is(err, vault.ErrNotFound):
		e.Code = toolcrib.CodeNotFound
		e.Message += "; 'toolcrib secret list' shows what there is"
	case errors.Is(err, vault.ErrInvalid):
		e.Code = toolcrib.CodeInvalid
	case errors.Is(err, vault.ErrKey):
		e.Message += "\n" + c.keyAdvice(v)
	case errors.Is(err, vault.ErrDamaged):
		e.Message += "; it was left as it is: put back a copy of it, or move it away and set the secrets again"
	case errors.Is(err, vault.ErrUnsafe):
		e.Message += "; nothing was read or changed"
	case errors.Is(err, vault.ErrBusy):
		e.Code = toolcrib.CodeTimeout
		e.Message += "; nothing was changed: try again"
	default:
		e.Code = toolcrib.CodeInternal
	}
	return e
}

// keyAdvice is for who has no key, or not the right one.
func (c *command) keyAdvice(v *vault.Vault) string {
	name, file := vault.DefaultEnv, "the configuration"
	if loaded, paths, err := c.load(); err == nil {
		name, file = loaded.Value.Vault.Key.Variable(), paths.ConfigFile
	}
	if there, err := v.Exists(); err != nil || there {
		return fmt.Sprintf("Nothing was changed. The vault opens with the key it was closed with and no other: look where that is kept (%s, a keyring, a password manager), and at vault.key in %s.", name, file)
	}
	return fmt.Sprintf(`Nothing was kept. There is no vault yet, and it needs a key from somewhere. Have one made and kept in a file that only your account can read, and try again:
  toolcrib config set vault.key.from file
Or be asked for a passphrase each time: toolcrib config set vault.key.from passphrase
Or bring a key of your own, and keep a copy with your passwords:
  export %s="$(toolcrib secret newkey)"`, name)
}

// offerKeyFile is for a first secret where the system has no keyring: a person at a
// terminal is asked whether the key may lie in a file, and told where.
func (c *command) offerKeyFile(ctx context.Context, v *vault.Vault) (*vault.Vault, error) {
	there, err := v.Exists()
	if err != nil {
		return nil, c.vaultError(v, err)
	}
	if tty, ok := c.in.(*os.File); !ok || !isTerminal(tty) || there {
		return v, nil
	}
	loaded, _, err := c.load()
	if err != nil {
		return nil, err
	}
	key := loaded.Value.Vault.Key
	if given, _ := c.lookupEnv(key.Variable()); given != "" || key.From != "" && key.From != "auto" || tryKeyring(ctx) == nil {
		return v, nil
	}
	fmt.Fprintf(c.err, "The vault needs a key, and this system has no keyring that could keep it.\nIt can be kept in a file that only your account can read, below\n  %s\n", text.ShowLine(c.keyDir(key)))
	if yes, err := c.confirm("Keep it there?"); err != nil || !yes {
		return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: c.keyAdvice(v), Err: err}
	}
	if err := c.configSet(ctx, [][2]string{{"vault.key.from", "file"}}); err != nil {
		return nil, err
	}
	c.loaded = nil
	return c.vault()
}
