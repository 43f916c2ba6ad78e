package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) secretCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep the secrets that tools use",
		Long: `Secrets are kept by name, encrypted, with the key elsewhere: in the keyring of
the system, in a file that only you can read, in TOOLCRIB_VAULT_KEY, behind a
command, or made from a passphrase (vault.key in the configuration). A tool gets
the secrets that vault.grants names for it. The configuration refers to one as
${secret:NAME}.

A value is typed at a prompt that does not show it, or read from standard input.
It is never an argument: other users of the machine see those, and the shell
keeps them.`,
		Example: `  toolcrib secret set GITHUB_TOKEN                          asks for it
  toolcrib secret set DEPLOY_KEY --tool hub < id_ed25519    for the tools of one box
  toolcrib secret list
  toolcrib secret get GITHUB_TOKEN --reveal
  toolcrib secret rotate                                    a new key for all of them
  toolcrib secret newkey                                    a key, where there is no keyring`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 { // not repeated: nobody knows what it is
				return usagef("secret has no such command: it knows set, get, list, rm (or remove), rotate, export and newkey")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listSecrets(cmd.Context()) },
	}
	// The errors of flags repeat what was typed.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, _ error) error {
		return usagef("%s does not take a flag that was given, or not so; it is not repeated here, since it may hold a secret", cmd.CommandPath())
	})
	cmd.AddCommand(c.secretSetCmd(), c.secretGetCmd(), &cobra.Command{
		Use: "list", Short: "List the secrets by name and scope, never their values", Args: noMore,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listSecrets(cmd.Context()) },
	}, c.secretRemoveCmd(), c.secretRotateCmd(), c.secretExportCmd(), &cobra.Command{
		Use: "newkey", Short: "Print a new key for a vault, and keep it nowhere", Args: noMore,
		Long: `Print a new key. It is kept nowhere: put it where the vault is to find it, and a
copy where you keep passwords. Without its key a vault cannot be opened.`,
		Example: `  toolcrib secret newkey
  export TOOLCRIB_VAULT_KEY="$(toolcrib secret newkey)"`,
		RunE: func(*cobra.Command, []string) error { return c.newKey() },
	})
	return cmd
}

// noMore is cobra.NoArgs without repeating what was given.
func noMore(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments", cmd.CommandPath())
	}
	return nil
}

// oneName takes the name of a secret. What follows it is not repeated, and
// neither is a name that is none: either may be the value.
func oneName(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("give the name of a secret; 'toolcrib secret list' shows them. Write: %s NAME", cmd.CommandPath())
	case len(args) > 1:
		return usagef("%s takes a name and nothing else; if the value stood there, other users and the shell's history may have it now: change it", cmd.CommandPath())
	}
	if err := vault.CheckName(args[0]); err != nil {
		return usage(err)
	}
	return nil
}

// scopeFlags say for whom a secret is.
type scopeFlags struct{ vault.Scope }

func (s *scopeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.Organisation, "organisation", "", "the organisation it belongs to; * is every one (default: this node's own)")
	flags.StringVar(&s.Subject, "subject", "", "the person or service it is for (default: every one)")
	flags.StringVar(&s.Tool, "tool", "", "the box it is for, or one tool of it as box/tool (default: every one)")
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

func (c *command) secretSetCmd() *cobra.Command {
	var scope scopeFlags
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Keep a secret, or replace it", Args: oneName, ValidArgsFunction: c.completeSecret,
		Long: `Keep a secret. At a terminal the value is asked for and not shown; else it is all
of standard input, less one newline at its end.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], "=") { // the value must not be repeated here
				return usagef("a value is never given on the command line: it would be in the shell's history and in the list of processes, where this one now is. Say only the name, and change the value if it counts")
			}
			return c.setSecret(cmd.Context(), vault.Ref{Scope: scope.Scope, Name: args[0]})
		},
	}
	scope.add(cmd)
	return cmd
}

func (c *command) setSecret(ctx context.Context, ref vault.Ref) error {
	v, err := c.vault()
	if err != nil {
		return err
	}
	// What can be known to go wrong is said before a person types.
	if err = ref.Check(); err == nil {
		_, err = v.Stamp(ctx)
	}
	if err != nil {
		return c.vaultError(v, err)
	}
	if v, err = c.offerKeyFile(ctx, v); err != nil {
		return err
	}
	value, cut, err := c.value(ctx, ref.Name)
	if err != nil {
		return err
	}
	if err := v.Set(ctx, ref, value); err != nil {
		return c.vaultError(v, err)
	}
	note := ""
	if cut {
		note = ", without the newline at its end"
	}
	if len(value) < 4 {
		note += "; it is too short to be taken out of results and records"
	} else if vault.Guessable(value) {
		fmt.Fprintln(c.err, "toolcrib: this value can be guessed: who may send many guesses in calls sees which of them comes back hidden. Take a longer one with letters, digits and signs if you can")
	}
	return c.done(ref, "kept "+ref.String()+note)
}

// done says what was done, and to which secret.
func (c *command) done(ref vault.Ref, message string) error {
	if c.asJSON(false) {
		return c.printJSON(ref)
	}
	_, err := fmt.Fprintln(c.out, text.ShowLine(message))
	return err
}

func (c *command) secretGetCmd() *cobra.Command {
	var scope scopeFlags
	var reveal bool
	cmd := &cobra.Command{
		Use: "get NAME", Short: "Say what is known of a secret, or show its value", Args: oneName, ValidArgsFunction: c.completeSecret,
		Long: `Say for whom a secret is and when it was set. Only with --reveal is its value
printed: as it is, with a newline after it at a terminal and nothing in a pipe.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.getSecret(cmd.Context(), vault.Ref{Scope: scope.Scope, Name: args[0]}, reveal)
		},
	}
	scope.add(cmd)
	cmd.Flags().BoolVar(&reveal, "reveal", false, "print the value")
	return cmd
}

func (c *command) getSecret(ctx context.Context, ref vault.Ref, reveal bool) error {
	v, err := c.vault()
	if err != nil {
		return err
	}
	value, err := v.Get(ctx, ref)
	if err != nil {
		return c.vaultError(v, err)
	}
	if reveal {
		return c.reveal(ref, value)
	}
	list, err := v.List(ctx)
	if err != nil {
		return c.vaultError(v, err)
	}
	info := vault.Info{Ref: ref}
	for _, one := range list {
		if one.Ref == ref {
			info = one
		}
	}
	if c.asJSON(false) {
		return c.printJSON(info)
	}
	_, err = fmt.Fprintf(c.out, "%s, changed %s; --reveal shows it\n", text.ShowLine(ref.String()), whenText(info.Changed))
	return err
}

func (c *command) reveal(ref vault.Ref, value string) error {
	if c.asJSON(false) {
		shown := struct {
			vault.Ref
			Value string `json:"value,omitempty"`
			Bytes []byte `json:"bytes,omitempty"`
		}{Ref: ref}
		if utf8.ValidString(value) {
			shown.Value = value
		} else {
			shown.Bytes = []byte(value)
		}
		return c.printJSON(shown)
	}
	if terminal(c.out) {
		value = text.Show(value) + "\n"
	}
	_, err := io.WriteString(c.out, value)
	return err
}

func whenText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func (c *command) listSecrets(ctx context.Context) error {
	v, err := c.vault()
	if err != nil {
		return err
	}
	list, err := v.List(ctx)
	if err != nil {
		return c.vaultError(v, err)
	}
	if c.asJSON(false) {
		return c.printJSON(list)
	}
	rows := make([][]string, 0, len(list))
	for _, s := range list {
		rows = append(rows, []string{s.Name, cmp.Or(s.Organisation, "-"), cmp.Or(s.Subject, "-"), cmp.Or(s.Tool, "-"), whenText(s.Changed)})
	}
	return c.table([]string{"NAME", "ORGANISATION", "SUBJECT", "TOOL", "CHANGED"}, rows)
}

func (c *command) secretRemoveCmd() *cobra.Command {
	var scope scopeFlags
	cmd := &cobra.Command{
		Use: "rm NAME", Short: "Forget a secret", Args: oneName, ValidArgsFunction: c.completeSecret,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := c.vault()
			if err != nil {
				return err
			}
			ref := vault.Ref{Scope: scope.Scope, Name: args[0]}
			if err := v.Remove(cmd.Context(), ref); err != nil {
				return c.vaultError(v, err)
			}
			return c.done(ref, "removed "+ref.String())
		},
	}
	scope.add(cmd)
	return cmd
}

func (c *command) newKey() error {
	key, err := vault.NewKey()
	if err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeInternal, Message: err.Error(), Err: err}
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]string{"key": key})
	}
	_, err = fmt.Fprintln(c.out, key)
	return err
}
