package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/vault"
)

func (c *command) modelsSetCmd() *cobra.Command {
	var s settings.Model
	var key string
	var byDefault bool
	cmd := &cobra.Command{
		Use:   "set NAME [--api API] [--base-url URL] [--model MODEL] [--key KEY] [--default]",
		Short: "Write a model into your configuration",
		Long: `Write a model into your configuration, or change what is given of one that is there.

A key is named, never written: secret:NAME is one of the vault, env:VARIABLE is copied
into the vault, and - has it typed, or read from standard input, into the vault.

Where there are several models, --default has this one used if none is named.`,
		Example: `  toolcrib models set local --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
  toolcrib models set claude --api anthropic --model claude-sonnet-4-5 --key -
  toolcrib models set gpt --model gpt-5 --key env:OPENAI_API_KEY`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := map[string]any{}
			flags := cmd.Flags()
			for setting, value := range map[string]any{"api": s.API, "base_url": s.BaseURL, "model": s.Model, "tools": s.Tools, "images": s.Images, "context": s.Context} {
				if flags.Changed(strings.ReplaceAll(setting, "_", "-")) {
					given[setting] = value
				}
			}
			if flags.Changed("output-tokens") { // --output is how this command prints
				given["output"] = s.Output
			}
			prices := map[string]any{}
			for flag, value := range map[string]float64{"input": s.Prices.Input, "output": s.Prices.Output, "cache_read": s.Prices.CacheRead, "cache_write": s.Prices.CacheWrite} {
				if flags.Changed("price-" + strings.ReplaceAll(flag, "_", "-")) {
					prices[flag] = value
				}
			}
			if len(prices) > 0 {
				given["prices"] = prices
			}
			return c.modelsSet(cmd.Context(), args[0], given, key, byDefault)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.API, "api", "", "what its service speaks: openai, anthropic or gemini")
	flags.StringVar(&s.BaseURL, "base-url", "", "the address of the service, such as http://127.0.0.1:11434/v1")
	flags.StringVar(&s.Model, "model", "", "what the service calls it")
	flags.StringVar(&key, "key", "", "its key: secret:NAME, env:VARIABLE, or - to type it")
	flags.BoolVar(&byDefault, "default", false, "use this one where none is named (model: NAME)")
	flags.StringVar(&s.Tools, "tools", "", "how it uses tools: auto, native or react")
	flags.StringVar(&s.Images, "images", "", "whether it takes images: auto, yes or no")
	flags.IntVar(&s.Context, "context", 0, "how many tokens a request may have")
	flags.IntVar(&s.Output, "output-tokens", 0, "how many tokens an answer may have")
	flags.Float64Var(&s.Prices.Input, "price-input", 0, "what a million tokens cost that are sent")
	flags.Float64Var(&s.Prices.Output, "price-output", 0, "what a million tokens cost that are answered")
	flags.Float64Var(&s.Prices.CacheRead, "price-cache-read", 0, "what a million tokens cost that the service had kept")
	flags.Float64Var(&s.Prices.CacheWrite, "price-cache-write", 0, "what a million tokens cost that it then keeps")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, _ error) error { // it may hold a key
		return usagef("%s does not take a flag that was given, or not so; --help lists them", cmd.CommandPath())
	})
	return cmd
}

func (c *command) modelsSet(ctx context.Context, name string, given map[string]any, key string, byDefault bool) error {
	if !modelName(name) {
		return usagef("a model is called by letters, digits, - _ and . here, and begins with a letter or digit")
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	secret, value, err := c.modelKey(ctx, name, key)
	if err != nil {
		return err
	}
	if secret != "" {
		given["key"] = "secret:" + secret
	}
	if _, there := loaded.Value.Models[name]; there && len(given) == 0 && !byDefault {
		return usagef("say what to change of %s: --api, --base-url, --model, --key, --default, …", name)
	}
	undo := func() error { return nil }
	if value != "" {
		if undo, err = c.keepKey(ctx, secret, value); err != nil {
			return err
		}
	}
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		entry := map[string]any{}
		old, _, err := config.Entry(text, "models", name)
		if err != nil {
			return nil, err
		}
		if was, ok := old.(map[string]any); ok {
			maps.Copy(entry, was)
		}
		for k, v := range given {
			prices, isPrices := v.(map[string]any)
			if was, ok := entry[k].(map[string]any); ok && isPrices {
				maps.Copy(was, prices)
				continue
			}
			entry[k] = v
		}
		out, err := config.SetEntry(text, "models", name, entry)
		if err != nil {
			return nil, err
		}
		if err := checkModel(name, out); err != nil || !byDefault {
			return out, err
		}
		return config.SetWord(out, "model", name)
	})
	if err != nil {
		return errors.Join(usage(err), undo())
	}
	c.loaded = nil // it is another now
	after, _, err := c.load()
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		return c.printJSON(modelOf(name, after.Value))
	}
	fmt.Fprintf(c.out, "Written to %s.\n", file)
	if value != "" {
		fmt.Fprintf(c.out, "The key is in the vault, as %s, and not in that file.\n", secret)
	}
	fmt.Fprintf(c.out, "'toolcrib models try %s' asks it a few questions.\n", name)
	if cfg := after.Value; cfg.Model == "" && len(cfg.Models) > 1 {
		fmt.Fprintf(c.out, "There are several models now, and none is the default: 'toolcrib models set %s --default' makes it this one.\n", name)
	}
	return nil
}

// checkModel reads the entry as the program will.
func checkModel(name string, text []byte) error {
	var in struct {
		Models map[string]settings.Model `yaml:"models"`
	}
	if err := config.Decode(text, &in); err != nil {
		return err
	}
	return models.Check(name, in.Models[name])
}

func modelName(name string) bool {
	for i, r := range name {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !plain && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// modelKey reads --key: the name of the secret, and its value if it has to be kept.
func (c *command) modelKey(ctx context.Context, model, key string) (secret, value string, err error) {
	own := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, model) + "_api_key"
	switch variable, fromEnv := strings.CutPrefix(key, "env:"); {
	case key == "":
		return "", "", nil
	case fromEnv:
		value, set := c.lookupEnv(variable)
		if !set || value == "" {
			return "", "", usagef("--key: that variable is not set")
		}
		return own, strings.TrimSpace(value), nil
	case key == "-":
		value, _, err = c.value(ctx, own)
		return own, strings.TrimSpace(value), err
	}
	if secret, err = models.KeyName(key); err != nil { // it may be the key, and is not repeated
		return "", "", usagef("--key: write secret:NAME, env:VARIABLE, or - to type it. A key itself is never given on the command line: the shell keeps it, and other users see it")
	}
	return secret, "", nil
}

// keepKey puts a key into the vault, in place of one that is there; the function it gives
// puts back what was.
func (c *command) keepKey(ctx context.Context, name, value string) (undo func() error, err error) {
	v, err := c.openVault(nil)
	if err != nil {
		return nil, err
	}
	ref := vault.Ref{Name: name}
	old, err := v.Get(ctx, ref)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return nil, c.vaultError(v, err)
	}
	fresh := err != nil
	if err := v.Set(ctx, ref, value); err != nil {
		return nil, c.vaultError(v, fmt.Errorf("keeping the key as %s: %w", name, err))
	}
	return func() error {
		ctx := context.WithoutCancel(ctx)
		if fresh {
			return setup.DropSecrets(ctx, v, []string{name})
		}
		return v.Set(ctx, ref, old)
	}, nil
}
