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

func (c *command) openapiAddCmd() *cobra.Command {
	var flags apiFlags
	var auth, keys, logins []string
	var all, yes bool
	cmd := &cobra.Command{
		Use:   "add NAME FILE|URL",
		Short: "Add a document to your configuration",
		Long: `Read a document, show what its tools would be and which hosts they would reach, ask,
and write it into your configuration. A host that is not public is granted only if
you name it with --host, or if the document or --base-url is there.`,
		Example: `  toolcrib openapi add pets https://petstore3.swagger.io/api/v3/openapi.json --tag pet
  toolcrib openapi add github ./api.github.com.json --expose search --auth token=github_token
  toolcrib openapi add shop http://127.0.0.1:8000/openapi.json`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			secrets, err := pairsOf("auth", auth)
			if err != nil {
				return err
			}
			flags.Auth = map[string]settings.OpenAPIAuth{}
			for scheme, secret := range secrets {
				flags.Auth[scheme] = settings.OpenAPIAuth{Secret: secret}
			}
			headers, err := pairsOf("key", keys)
			if err != nil {
				return err
			}
			for header, secret := range headers {
				flags.Auth[strings.ToLower(header)] = settings.OpenAPIAuth{Secret: secret, Type: "apiKey", In: "header", Name: header}
			}
			clients, err := pairsOf("login", logins)
			if err != nil {
				return err
			}
			for scheme, client := range clients {
				a := flags.Auth[scheme] // a secret that --auth names is that of the client
				a.Flow, a.ClientID = "code", client
				flags.Auth[scheme] = a
			}
			if !slices.Contains([]string{"", "full", settings.ExposeSearch}, flags.Expose) {
				return usagef("--expose: %q is neither full nor search", flags.Expose)
			}
			flags.Document = c.document(args[1])
			return c.openapiAdd(cmd.Context(), args[0], flags, all, yes)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringArrayVar(&flags.Hosts, "host", nil, "a host that its tools may reach, instead of those that are proposed")
	cmd.Flags().StringArrayVar(&auth, "auth", nil, "the credential of a security scheme, SCHEME=SECRET: the name of a secret in the vault")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "a secret for every request, HEADER=SECRET, where the document has no security scheme for it: the name of a secret in the vault")
	cmd.Flags().StringArrayVar(&logins, "login", nil, "a security scheme that you log in for with your browser, SCHEME=CLIENT_ID: the client that its authorization server knows")
	cmd.Flags().StringVar(&flags.Expose, "expose", "", "search: its tools are found by search and not listed")
	cmd.Flags().BoolVar(&all, "all", false, "take all operations, however many")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "take what is shown without being asked")
	return cmd
}

func (c *command) openapiAdd(ctx context.Context, name string, flags apiFlags, all, yes bool) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	if err := openapis.CheckName(name, loaded.Value, app.BoxNames()); err != nil {
		return usage(err)
	}
	if _, there := loaded.Value.OpenAPI[name]; there {
		return usagef("there is an OpenAPI document %q already; 'toolcrib openapi remove %s' takes it out", name, name)
	}
	s := flags.OpenAPI
	if _, err := openapis.Config(name, s); err != nil {
		return usage(err)
	}
	api, err := c.lookAt(ctx, name, s)
	if err != nil {
		return err
	}
	box := api.Box()
	ops := box.Operations()
	if len(ops) == 0 {
		return failed{fmt.Errorf("no operation of the document would be a tool; 'toolcrib openapi check' says why")}
	}
	if len(ops) > manyOperations && !all && !flags.filtered() && s.Expose != settings.ExposeSearch {
		if err := c.proposeFilters(api); err != nil {
			return err
		}
		return usagef("%d operations would be tools: choose some with --tag, --method, --path or --operation, have them found by search with --expose search, or take them with --all", len(ops))
	}
	tokens := 0
	for _, o := range ops {
		tokens += o.Tokens
	}
	fmt.Fprintf(c.out, "%s: %s\n%s, %d tokens in a model's context; %d left out\n", dash(text.ShowLine(box.Title())), text.ShowLine(api.Where()), counted(len(ops), "tool"), tokens, leftOut(box.Faults()))
	if len(s.Hosts) == 0 {
		var withheld []string
		s.Hosts, withheld = openapis.Propose(box.Hosts(), s.Document, s.BaseURL)
		for _, host := range withheld {
			fmt.Fprintf(c.out, "Not granted: %s is named by the document and not public; --host %[1]s grants it\n", text.ShowLine(host))
		}
	}
	fmt.Fprintf(c.out, "Its tools would reach: %s\n", dash(text.ShowLine(strings.Join(s.Hosts, ", "))))
	c.warnOf(openapis.Warnings(box))
	if !yes {
		if ok, err := c.confirm(fmt.Sprintf("Add %s with these hosts?", name)); err != nil || !ok {
			return err
		}
	}
	return c.openapiWrite(ctx, name, s)
}

// openapiWrite puts a document into the settings, and takes it up.
func (c *command) openapiWrite(ctx context.Context, name string, s settings.OpenAPI) error {
	file, err := c.editConfig(func(text []byte) ([]byte, error) {
		if _, there, err := config.Entry(text, "openapi", name); err != nil || there {
			if err == nil {
				err = fmt.Errorf("%s: there is an OpenAPI document of this name by now", name)
			}
			return nil, err
		}
		return config.SetEntry(text, "openapi", name, apiEntry(s))
	})
	if err != nil {
		return err
	}
	c.loaded = nil // it is another now
	fmt.Fprintf(c.out, "Added to %s.\n", file)
	if len(s.Auth) > 0 {
		var secrets []string
		for _, a := range s.Auth {
			if a.Secret != "" {
				secrets = append(secrets, a.Secret)
			}
			if a.Flow == "code" {
				fmt.Fprintf(c.out, "Log in with 'toolcrib openapi login %s'.\n", name)
			}
		}
		slices.Sort(secrets)
		if len(secrets) > 0 {
			fmt.Fprintf(c.out, "It uses %s of the vault: 'toolcrib secret set NAME' keeps one, and vault.grants.%s has to list it.\n", text.ShowLine(strings.Join(slices.Compact(secrets), ", ")), name)
		}
	}
	a, err := c.apis(ctx, name, func(n *openapis.Needs) { n.Fetch = true })
	if err != nil {
		return err
	}
	c.closeAPIs(a)
	return nil
}

// apiEntry is a document as the file of settings has it.
func apiEntry(s settings.OpenAPI) map[string]any {
	entry := map[string]any{"document": s.Document}
	for key, value := range map[string]string{"base_url": s.BaseURL, "expose": s.Expose} {
		if value != "" {
			entry[key] = value
		}
	}
	for key, list := range map[string][]string{"operations": s.Operations, "tags": s.Tags, "methods": s.Methods, "paths": s.Paths, "hosts": s.Hosts} {
		if len(list) > 0 {
			entry[key] = list
		}
	}
	if s.Save {
		entry["save"] = true
	}
	auth := map[string]any{}
	for _, scheme := range slices.Sorted(maps.Keys(s.Auth)) {
		a := s.Auth[scheme]
		said := map[string]any{}
		for key, value := range map[string]string{"secret": a.Secret, "type": a.Type, "in": a.In, "name": a.Name, "flow": a.Flow, "client_id": a.ClientID} {
			if value != "" {
				said[key] = value
			}
		}
		auth[scheme] = said
	}
	if len(auth) > 0 {
		entry["auth"] = auth
	}
	return entry
}
