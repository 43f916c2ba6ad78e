package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) modelsCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.modelsList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "models",
		Short: "The language models that agents use: list, try, set",
		Long: `The language models of your configuration, and those that programs on this machine
serve. By writing a model into your configuration you let Toolcrib reach its host.`,
		Example: `  toolcrib models                   what is set up, and what is found on this machine
  toolcrib models set local --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
  toolcrib models set claude --api anthropic --model claude-sonnet-4-5 --key env:ANTHROPIC_API_KEY
  toolcrib models try local         ask it a few questions, and see what works`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the models, and find those on this machine", Args: usageArgs(cobra.NoArgs), RunE: list},
		&cobra.Command{
			Use: "try [NAME]", Short: "Ask a model a few questions, and say what works", Args: usageArgs(cobra.MaximumNArgs(1)), ValidArgsFunction: c.completeModel,
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.modelsTry(cmd.Context(), strings.Join(args, ""))
			},
		},
		c.modelsSetCmd(),
		&cobra.Command{
			Use: "remove NAME", Short: "Take a model out of your configuration", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeModel,
			RunE: func(_ *cobra.Command, args []string) error { return c.modelsRemove(args[0]) },
		},
	)
	return cmd
}

func (c *command) completeModel(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, _, err := c.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(loaded.Value.Models)), cobra.ShellCompDirectiveNoFileComp
}

// modelRow is a model of the settings, for a list.
type modelRow struct {
	Name    string `json:"name"`
	API     string `json:"api"`
	Model   string `json:"model"`
	BaseURL string `json:"base_url"`
	Key     string `json:"key,omitempty"` // the name of the secret
	Default bool   `json:"default,omitempty"`
	Wrong   string `json:"wrong,omitempty"` // what makes no sense in it
}

func (c *command) modelsList(ctx context.Context) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	cfg := loaded.Value
	rows := []modelRow{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		rows = append(rows, modelOf(name, cfg))
	}
	found := models.Find(ctx, c.modelPlaces())
	vars := []models.Variable{}
	for _, v := range models.Variables() {
		if value, set := c.lookupEnv(v.Name); set && value != "" {
			vars = append(vars, v)
		}
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{"models": rows, "found": found, "variables": vars})
	}
	return c.showModels(rows, found, vars)
}

// modelPlaces is where services are looked for; a test has others.
func (c *command) modelPlaces() []models.Place {
	if c.places != nil {
		return c.places
	}
	return models.Places()
}

func modelOf(name string, cfg settings.Config) modelRow {
	m := cfg.Models[name]
	r := modelRow{Name: name, API: m.API, Model: m.Model, BaseURL: models.Base(m), Default: cfg.Model == name || cfg.Model == "" && len(cfg.Models) == 1}
	if r.API == "" {
		r.API = "openai"
	}
	if r.Model == "" {
		r.Model = name
	}
	var err error
	if r.Key, err = models.KeyName(m.Key); err == nil {
		err = models.Check(name, m)
	}
	if err != nil {
		r.Wrong = err.Error()
	}
	return r
}

func (c *command) showModels(rows []modelRow, found []models.Service, vars []models.Variable) error {
	if len(rows) == 0 {
		fmt.Fprintln(c.out, "No model is set up. 'toolcrib models set NAME --base-url URL --model MODEL' adds one.")
	} else {
		table := [][]string{}
		for _, r := range rows {
			mark := ""
			if r.Default {
				mark = "default"
			}
			key := r.Key
			if key != "" {
				key = "secret:" + key
			}
			table = append(table, []string{r.Name, r.API, r.Model, r.BaseURL, dash(key), mark})
		}
		if err := c.table([]string{"NAME", "API", "MODEL", "ADDRESS", "KEY", ""}, table); err != nil {
			return err
		}
		if len(rows) > 1 && !slices.ContainsFunc(rows, func(r modelRow) bool { return r.Default }) {
			fmt.Fprintln(c.out, "None of them is the default: 'toolcrib models set NAME --default' makes one.")
		}
		for _, r := range rows {
			if r.Wrong != "" {
				fmt.Fprintf(c.err, "toolcrib: warning: models.%s: %s\n", text.ShowLine(r.Name), text.ShowLine(r.Wrong))
			}
		}
	}
	for _, s := range found {
		fmt.Fprintf(c.out, "\n%s answers at %s with %s.\n", s.Name, s.BaseURL, counted(len(s.Models), "model"))
		for i, m := range s.Models {
			if i == 10 {
				fmt.Fprintf(c.out, "  and %d more\n", len(s.Models)-i)
				break
			}
			fmt.Fprintf(c.out, "  toolcrib models set NAME --base-url %s --model %s\n", s.BaseURL, text.ShellWord(m))
		}
	}
	if len(vars) > 0 {
		fmt.Fprintln(c.out, "\nVariables with keys are set; none of them is used until you say so:")
	}
	for _, v := range vars {
		line := "  toolcrib models set NAME --api " + v.API
		if v.BaseURL != "" {
			line += " --base-url " + v.BaseURL
		}
		fmt.Fprintf(c.out, "%s --model MODEL --key env:%s\n", line, v.Name)
	}
	return nil
}

func (c *command) modelsRemove(name string) error {
	before, _, err := c.load()
	if err != nil {
		return err
	}
	removed := false
	file, err := c.editConfig(func(text []byte) (out []byte, err error) {
		out, removed, err = config.RemoveEntry(text, "models", name)
		return out, err
	})
	if err != nil {
		return err
	}
	if !removed {
		return usagef("%s has no model %q", file, name)
	}
	c.loaded = nil
	if before.Value.Model == name {
		fmt.Fprintf(c.err, "toolcrib: warning: it was the default, and %s still says so: 'toolcrib models set NAME --default' makes another one\n", file)
	}
	fmt.Fprintf(c.out, "Removed from %s. A key in the vault stays there; 'toolcrib secret list' shows it.\n", file)
	return nil
}
