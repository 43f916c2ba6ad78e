package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) marketIndexCmd() *cobra.Command {
	var key string
	var fresh bool
	var valid time.Duration
	cmd := &cobra.Command{
		Use: "index DIR --key FILE|secret:NAME", Short: "Make a registry of a directory: an index of it, signed",
		Long: `Write index.json and index.json.sig into a directory, for the packages in it: folders and
zip archives that lie directly in it. Folders are packed into packages/. Any web server
can serve the directory, and 'toolcrib market registry add NAME ADDRESS --type index'
searches it. Run it again after every change.

The key is a file that only you can read, or a secret of the vault. --new-key makes it.
Who has it can sign what your users install: keep it off the web server.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.marketIndex(cmd.Context(), args[0], key, fresh, valid)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the key to sign with: a file, or secret:NAME of the vault")
	cmd.Flags().BoolVar(&fresh, "new-key", false, "make the key first")
	cmd.Flags().DurationVar(&valid, "valid", 0, "how long the index holds, such as 720h; 0: for ever")
	return cmd
}

func (c *command) marketIndex(ctx context.Context, dir, from string, fresh bool, valid time.Duration) error {
	if from == "" {
		return usagef("say with --key which key signs it: a file, or secret:NAME of the vault")
	}
	if valid < 0 {
		return usagef("--valid: write a time above 0")
	}
	key, err := c.signingKey(ctx, from, fresh)
	if err != nil {
		return err
	}
	made, err := market.Make(dir, key, valid, time.Now())
	if err != nil {
		return failed{err}
	}
	if c.asJSON(false) {
		return c.printJSON(made)
	}
	for _, s := range made.Skipped {
		fmt.Fprintf(c.err, "toolcrib: note: left out: %s\n", text.ShowLine(s))
	}
	var rows [][]string
	for _, i := range made.Index.Items {
		rows = append(rows, []string{i.Name, dash(i.Version), i.Kind, dash(i.File)})
	}
	if err := c.table([]string{"NAME", "VERSION", "KIND", "FILE"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Number %d, signed with\n  %s\nTell your users this key.\n", made.Index.Serial, made.Key)
	return nil
}

// signingKey reads the key, or makes it first.
func (c *command) signingKey(ctx context.Context, from string, fresh bool) (ed25519.PrivateKey, error) {
	name, inVault := strings.CutPrefix(from, "secret:")
	if inVault {
		return c.vaultKey(ctx, name, fresh)
	}
	if fresh {
		secret, err := market.NewKey()
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(from, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, usagef("%s is there already: leave --new-key out to use it", from)
		}
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(secret + "\n")
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("there is no key %s: --new-key makes one", from)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > 4<<10:
		return nil, usagef("%s is no file with a key", from)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, usagef("others can read the key %s: chmod 600 keeps them out", from)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	key, err := market.ReadKey(string(text))
	if err != nil {
		return nil, usagef("%s: %v", from, err)
	}
	return key, nil
}

func (c *command) vaultKey(ctx context.Context, name string, fresh bool) (ed25519.PrivateKey, error) {
	v, err := c.openVault(nil)
	if err != nil {
		return nil, err
	}
	secret, err := v.Get(ctx, vault.Ref{Name: name})
	switch {
	case err == nil && fresh:
		return nil, usagef("the vault has a secret %s already: leave --new-key out to use it", name)
	case errors.Is(err, vault.ErrNotFound) && !fresh:
		return nil, usagef("the vault has no secret %s: --new-key makes it", name)
	case err != nil && !errors.Is(err, vault.ErrNotFound):
		return nil, c.vaultError(v, err)
	}
	if fresh {
		if secret, err = market.NewKey(); err != nil {
			return nil, err
		}
		if err := v.Set(ctx, vault.Ref{Name: name}, secret); err != nil {
			return nil, c.vaultError(v, err)
		}
	}
	key, err := market.ReadKey(secret)
	if err != nil {
		return nil, usagef("the secret %s: %v", name, err)
	}
	return key, nil
}
