package vault

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// DefaultEnv is the variable that has the key, if no other is named.
const DefaultEnv = "TOOLCRIB_VAULT_KEY"

// Config says where a vault lies.
type Config struct {
	// Dir is the directory of the store, an absolute path. It is made, closed to
	// other users, when the first secret is set. Nothing else belongs into it.
	Dir string
	// Wait is how long a change waits for another process to finish its own.
	// 0: 10 s.
	Wait time.Duration
	Now  func() time.Time // nil: time.Now
}

func (c Config) check() error {
	if !filepath.IsAbs(c.Dir) || filepath.Clean(c.Dir) == filepath.Dir(filepath.Clean(c.Dir)) {
		return invalid("the vault's directory must be an absolute path to a directory of its own")
	}
	if c.Wait < 0 {
		return invalid("the vault cannot wait for a negative time")
	}
	return nil
}

// KeyConfig is the setting for where the key comes from. A project file has no
// say in it.
type KeyConfig struct {
	From    string   `yaml:"from" enum:"auto,keyring,env,passphrase,command,file" doc:"Where the key of the vault is. auto: the variable if it is set, else the file if there is one (toolcrib setup makes it where there is no keyring), else the keyring. keyring: the keyring of the operating system. env: an environment variable. passphrase: a person is asked. command: a command prints it. file: a file that only your account can read."`
	Env     string   `yaml:"env" doc:"The environment variable that has an age key or a passphrase. Empty: TOOLCRIB_VAULT_KEY. Programs that are started never get it."`
	Command []string `yaml:"command" doc:"The program, with its arguments, that prints an age key or a passphrase. It is run without a shell."`
	Dir     string   `yaml:"dir" doc:"The directory of the file, with from: file. Empty: vault-key in the state directory. Whoever reads all your files reads this one too."`
}

// Variable is the name of the variable that may hold the key, which no program
// that is started may see.
func (c KeyConfig) Variable() string { return cmp.Or(c.Env, DefaultEnv) }

// Next is the name of the variable for the key that a rotation goes over to.
func (c KeyConfig) Next() string { return c.Variable() + "_NEW" }

// Keys makes the place of keys that is set. The zero value is auto. A place that
// is named and cannot be used is an error; there is no second choice.
func (c KeyConfig) Keys(lookup func(string) (string, bool), ask func(ctx context.Context, fresh bool) (string, error)) (Keys, error) {
	name := c.Variable()
	switch c.From {
	case "", "auto":
		if text, ok := lookup(name); ok && text != "" {
			return FromEnv(name, lookup), nil
		}
		if HasFiles(c.Dir) {
			return FromFiles(c.Dir), nil
		}
		return FromKeyring(), nil
	case "keyring":
		return FromKeyring(), nil
	case "file":
		if c.Dir != "" && !filepath.IsAbs(c.Dir) {
			return Keys{}, invalid("the vault's key is to be in a file, and its directory is no absolute path")
		}
		return FromFiles(c.Dir), nil
	case "env":
		return FromEnv(name, lookup), nil
	case "passphrase":
		if ask == nil {
			return Keys{}, wrongKey("the vault wants a passphrase, and there is nobody to ask")
		}
		return FromPassphrase(ask), nil
	case "command":
		if len(c.Command) == 0 || c.Command[0] == "" {
			return Keys{}, invalid("the vault's key is to come from a command, and none is set")
		}
		return FromCommand(c.Command, name, c.Next()), nil
	}
	return Keys{}, fmt.Errorf("the vault's key: %w", invalid("it comes from auto, keyring, env, passphrase, command or file"))
}
