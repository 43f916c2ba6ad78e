package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) secretRotateCmd() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "rotate [--to PLACE] [-- PROGRAM ARGUMENT …]",
		Short: "Close the vault with a new key, and put the old one out of use",
		Long: `Close the vault with a new key. At every moment it opens with the old one or the
new one. Without --to the new key goes where the old one is.

  keyring      a key is made and put there; the old one is removed
  env          the new key has to be in TOOLCRIB_VAULT_KEY_NEW, the old one
               still in TOOLCRIB_VAULT_KEY
  passphrase   you are asked for a new one, twice
  command      the program after -- has to print the new key
  file         a key is made and put into a file that only your account reads

A copy of the vault that was made before still opens with the old key.`,
		Example: `  TOOLCRIB_VAULT_KEY_NEW="$(cat new.key)" toolcrib secret rotate
  toolcrib secret rotate --to keyring
  toolcrib secret rotate --to command -- pass show toolcrib`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.rotate(cmd.Context(), to, args) },
	}
	cmd.Flags().StringVar(&to, "to", "", "where the new key is to be: keyring, env, passphrase, command or file")
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"keyring", "env", "passphrase", "command", "file"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (c *command) rotate(ctx context.Context, to string, program []string) error {
	v, err := c.vault()
	if err != nil {
		return err
	}
	cfg := c.loaded.Value.Vault.Key
	from := c.placeOf(cfg)
	if to == "" {
		to = from
	}
	keys, err := c.nextKeys(cfg, to, program)
	if err != nil {
		return err
	}
	r, err := v.Rotate(ctx, keys)
	if err != nil {
		return c.vaultError(v, err)
	}
	next := c.afterRotation(cfg, from, to, program)
	if len(r.Left) > 0 {
		next = append(next, fmt.Sprintf("Still in the keyring, and no longer needed: %s. The next rotation removes what it can.", strings.Join(r.Left, ", ")))
	}
	if c.asJSON(false) {
		return c.printJSON(struct {
			Old  string   `json:"old"`
			New  string   `json:"new"`
			Left []string `json:"left,omitempty"`
			Next []string `json:"next,omitempty"`
		}{r.Old, r.New, r.Left, next})
	}
	lines := append([]string{fmt.Sprintf("The vault is closed with the key %s now, and no more with %s.", r.New, r.Old)}, next...)
	_, err = fmt.Fprintln(c.out, text.Show(strings.Join(lines, "\n")))
	return err
}

// placeOf says where the key is that the configuration leads to.
func (c *command) placeOf(cfg vault.KeyConfig) string {
	switch key, _ := c.lookupEnv(cfg.Variable()); {
	case cfg.From != "" && cfg.From != "auto":
		return cfg.From
	case key != "":
		return "env"
	case vault.HasFiles(c.keyDir(cfg)):
		return "file"
	}
	return "keyring"
}

// keyDir is where a key lies that is kept in a file.
func (c *command) keyDir(cfg vault.KeyConfig) string {
	paths, _, err := c.paths()
	if cfg.Dir != "" || err != nil {
		return cfg.Dir
	}
	return vault.KeyDir(paths.State)
}

// nextKeys is where the new key comes from.
func (c *command) nextKeys(cfg vault.KeyConfig, to string, program []string) (vault.Keys, error) {
	if len(program) > 0 && to != "command" {
		return vault.Keys{}, usagef("secret rotate takes a program only with --to command")
	}
	switch to {
	case "keyring":
		return vault.FromKeyring(), nil
	case "env":
		return vault.FromEnv(cfg.Next(), c.lookupEnv), nil
	case "passphrase":
		return vault.FromPassphrase(c.passphrase), nil
	case "command":
		if len(program) == 0 {
			return vault.Keys{}, usagef("which program prints the new key? Write it after --")
		}
		return vault.FromCommand(program, cfg.Variable(), cfg.Next()), nil
	case "file":
		return vault.FromFiles(c.keyDir(cfg)), nil
	}
	return vault.Keys{}, usagef("--to is none of keyring, env, passphrase, command and file")
}

// afterRotation says what the person has to do, so that the next command finds
// the new key.
func (c *command) afterRotation(cfg vault.KeyConfig, from, to string, program []string) []string {
	var next []string
	_, paths, err := c.load()
	file := paths.ConfigFile
	if err != nil {
		file = "the configuration" // it was read before
	}
	if to == "env" {
		next = append(next, fmt.Sprintf("Now set %s to what %s has.", cfg.Variable(), cfg.Next()))
	}
	if to != from && from == "env" {
		next = append(next, fmt.Sprintf("Now unset %s, which has the old key.", cfg.Variable()))
	}
	auto := cfg.From == "" || cfg.From == "auto"
	if to != from && !(auto && (to == "env" || to == "keyring" || to == "file")) {
		next = append(next, fmt.Sprintf("Now set vault.key.from: %s in %s.", to, file))
	}
	if to == "command" {
		next = append(next, fmt.Sprintf("Now set vault.key.command in %s to the program you named (%s).", file, program[0]))
	}
	return next
}

func (c *command) secretExportCmd() *cobra.Command {
	var to []string
	var passphrase bool
	var file string
	cmd := &cobra.Command{
		Use:   "export --to age1… | --passphrase",
		Short: "Write all secrets as an encrypted file that age opens",
		Long: `Write all secrets, encrypted for public age keys or under a passphrase that you
are asked for. There is no plain export. 'age --decrypt' opens it; inside is JSON.`,
		Example: `  toolcrib secret export --to age1… > secrets.age
  toolcrib secret export --passphrase --file secrets.age`,
		Args: noMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (len(to) > 0) == passphrase {
				return usagef("for whom? Give --to with a public age key, or --passphrase")
			}
			return c.exportSecrets(cmd.Context(), to, file)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&to, "to", nil, "a public age key that opens it; may be given again")
	flags.BoolVar(&passphrase, "passphrase", false, "ask for a passphrase that opens it")
	flags.StringVar(&file, "file", "", "write a new file, for your eyes only, instead of standard output")
	return cmd
}

func (c *command) exportSecrets(ctx context.Context, to []string, file string) error {
	v, err := c.vault()
	if err != nil {
		return err
	}
	opt := vault.ExportTo{Recipients: to}
	if len(to) == 0 {
		if opt.Passphrase, err = c.newPassphrase(ctx, "Passphrase for the export: "); err != nil {
			return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "asking for the passphrase: " + err.Error(), Err: err}
		}
	}
	var backup bytes.Buffer
	n, err := v.Export(ctx, &backup, opt)
	if err != nil {
		return c.vaultError(v, err)
	}
	if file == "" {
		_, err = c.out.Write(backup.Bytes())
		return err
	}
	if err := writePrivate(file, backup.Bytes()); err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
	}
	s := "s"
	if n == 1 {
		s = ""
	}
	_, err = fmt.Fprintf(c.out, "wrote %d secret%s to %s\n", n, s, text.ShowLine(file))
	return err
}

// writePrivate makes a file that only its owner reads. One that is there already
// is left alone.
func writePrivate(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
