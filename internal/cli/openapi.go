package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) openapiCmd() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.openapiList(cmd.Context()) }
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "HTTP APIs as tools: check, add, list, approve, export",
		Long: `The OpenAPI documents whose operations are tools. Each document is a toolbox of its
own, which reaches the hosts that you grant it and no other. An operation that has
changed in its document is kept back until you approve it.`,
		Example: `  toolcrib openapi check https://petstore3.swagger.io/api/v3/openapi.json
  toolcrib openapi add pets https://petstore3.swagger.io/api/v3/openapi.json --tag pet
  toolcrib openapi add github ./api.github.com.json --tag issues --method get --auth token=github_token
  toolcrib openapi diff pets             fetch it again and show what has changed
  toolcrib openapi approve pets          take what is kept back
  toolcrib openapi export > tools.json   Toolcrib's own tools, for programs without MCP`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	one := func(use, short string, run func(ctx context.Context, name string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeAPI,
			RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args[0]) },
		}
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the documents", Args: usageArgs(cobra.NoArgs), RunE: list},
		one("show NAME", "Show the tools of a document, and what is kept back", c.openapiShow),
		c.openapiCheckCmd(), c.openapiAddCmd(),
		one("diff NAME", "Fetch a document again, and show what has changed since it was approved", c.openapiDiff),
		c.openapiApproveCmd(), c.openapiGrantCmd(), c.openapiLoginCmd(), c.openapiLogoutCmd(),
		one("remove NAME", "Take a document out of the configuration", c.openapiRemove),
		c.openapiExportCmd(),
	)
	return cmd
}

func (c *command) completeAPI(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, _, err := c.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(loaded.Value.OpenAPI)), cobra.ShellCompDirectiveNoFileComp
}

// apiNeeds is what documents are opened with.
func (c *command) apiNeeds(paths config.Paths) openapis.Needs {
	return openapis.Needs{State: paths.State, Config: paths.Config, Home: c.home(), Own: app.BoxNames(), Version: version()}
}

// apis opens the documents of the settings, or one of them.
func (c *command) apis(ctx context.Context, name string, change func(*openapis.Needs)) (*openapis.APIs, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	cfg, needs := loaded.Value, c.apiNeeds(paths)
	if change != nil {
		change(&needs)
	}
	if name != "" {
		s, ok := cfg.OpenAPI[name]
		switch {
		case !ok:
			return nil, usagef("there is no OpenAPI document %q; 'toolcrib openapi list' shows those there are", name)
		case s.Disabled:
			return nil, usagef("the OpenAPI document %q is switched off (openapi.%s.disabled)", name, name)
		}
		cfg.OpenAPI = map[string]settings.OpenAPI{name: s}
	}
	a, faults, err := openapis.Open(ctx, cfg, needs)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if name != "" {
			return nil, failed{f.Err}
		}
		fmt.Fprintf(c.err, "toolcrib: warning: left out: %s\n", text.ShowLine(f.Error()))
	}
	return a, nil
}

func looking(n *openapis.Needs) { n.ReadOnly = true }

func (c *command) openapiList(ctx context.Context) error {
	a, err := c.apis(ctx, "", looking)
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	type row struct {
		Name     string   `json:"name"`
		Document string   `json:"document"`
		Title    string   `json:"title"`
		Tools    int      `json:"tools"`
		Tokens   int      `json:"tokens"`
		Held     int      `json:"held,omitempty"`
		LeftOut  int      `json:"left_out,omitempty"`
		Hosts    []string `json:"hosts"`
		// Ungranted are hosts that its tools call and that are not granted.
		Ungranted []string `json:"ungranted,omitempty"`
	}
	rows, table := []row{}, [][]string{}
	for _, api := range a.List() {
		box := api.Box()
		r := row{Name: api.Name(), Document: api.Where(), Title: box.Title(), Held: len(api.Held()), Hosts: api.Hosts()}
		for _, o := range box.Operations() {
			r.Tools++
			r.Tokens += o.Tokens
		}
		r.Tools -= r.Held
		r.LeftOut = leftOut(box.Faults())
		r.Ungranted = openapis.Ungranted(box.Hosts(), r.Hosts)
		state := stateOf(r.Name, r.Held, len(r.Ungranted), len(box.Hosts()))
		rows = append(rows, r)
		table = append(table, []string{r.Name, fmt.Sprint(r.Tools), fmt.Sprint(r.Tokens), state, text.ShowLine(strings.Join(r.Hosts, " ")), text.ShowLine(r.Document)})
	}
	if c.asJSON(false) {
		return c.printJSON(rows)
	}
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	if len(loaded.Value.OpenAPI) == 0 {
		fmt.Fprintln(c.out, "There are no OpenAPI documents yet: 'toolcrib openapi check FILE' looks at one, 'toolcrib openapi add NAME FILE' adds it.")
		return nil
	}
	return c.table([]string{"NAME", "TOOLS", "TOKENS", "STATE", "HOSTS", "DOCUMENT"}, table)
}

// stateOf says what is missing before the tools of a document can be used, and what to do.
func stateOf(name string, held, ungranted, hosts int) string {
	var missing []string
	if held > 0 {
		missing = append(missing, fmt.Sprintf("%d kept back: toolcrib openapi diff %s", held, name))
	}
	switch {
	case ungranted > 0 && ungranted == hosts:
		missing = append(missing, "no host is granted: toolcrib openapi grant "+name)
	case ungranted > 0:
		missing = append(missing, fmt.Sprintf("%d of %d hosts not granted: toolcrib openapi grant %s", ungranted, hosts, name))
	}
	if len(missing) == 0 {
		return "ready"
	}
	return strings.Join(missing, "; ")
}

func (c *command) closeAPIs(a *openapis.APIs) {
	if err := a.Close(); err != nil {
		fmt.Fprintf(c.err, "toolcrib: warning: %v\n", err)
	}
}

func (c *command) openapiShow(ctx context.Context, name string) error {
	a, err := c.apis(ctx, name, looking)
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	api, _ := a.Get(name)
	if err := c.showAPI(api); err != nil || c.asJSON(false) {
		return err
	}
	for _, h := range api.Held() {
		fmt.Fprintf(c.out, "Kept back: %s: %s\n", text.ShowLine(h.Tool), text.ShowLine(h.Why))
	}
	if len(api.Held()) > 0 {
		fmt.Fprintf(c.out, "\n'toolcrib openapi diff %s' shows what has changed.\n", name)
	}
	return nil
}

func (c *command) openapiRemove(ctx context.Context, name string) error {
	removed := false
	file, err := c.editConfig(func(text []byte) (out []byte, err error) {
		out, removed, err = config.RemoveEntry(text, "openapi", name)
		return out, err
	})
	if err != nil {
		return err
	}
	if !removed {
		return usagef("%s has no OpenAPI document %q", file, name)
	}
	_, paths, err := c.load()
	if err != nil {
		return err
	}
	// One entry has to be there for the state to be opened; it is not used.
	a, _, err := openapis.Open(ctx, settings.Config{OpenAPI: map[string]settings.OpenAPI{name: {Disabled: true}}}, c.apiNeeds(paths))
	if err != nil {
		return err
	}
	defer c.closeAPIs(a)
	if err := a.Forget(name); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Removed from %s. What was kept and approved of it is forgotten.\n", file)
	return nil
}
