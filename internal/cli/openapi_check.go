package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// apiFlags are what check and add take alike.
type apiFlags struct{ settings.OpenAPI }

func (f *apiFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.BaseURL, "base-url", "", "where the API is, instead of the servers that the document names")
	for flag, into := range map[string]*[]string{"operation": &f.Operations, "tag": &f.Tags, "method": &f.Methods, "path": &f.Paths} {
		cmd.Flags().StringArrayVar(into, flag, nil, "only what this "+flag+" or pattern matches; one after ! leaves out what it matches")
	}
	cmd.Flags().BoolVar(&f.Save, "save", false, "tools that answer with a file may write it to a granted directory")
}

func (f *apiFlags) filtered() bool {
	return len(f.Operations)+len(f.Tags)+len(f.Methods)+len(f.Paths) > 0
}

// document makes a file that a person typed one that means the same everywhere.
func (c *command) document(given string) string {
	if strings.Contains(given, "://") || strings.HasPrefix(strings.ToLower(given), "file:") || strings.HasPrefix(given, "~/") || filepath.IsAbs(given) || strings.ContainsAny(given, "\n{") {
		return given
	}
	return filepath.Join(c.dir, given)
}

func (c *command) openapiCheckCmd() *cobra.Command {
	var flags apiFlags
	cmd := &cobra.Command{
		Use: "check FILE|URL", Short: "Show which tools a document gives, what is left out and why, and what they cost",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.Document = c.document(args[0])
			api, err := c.lookAt(cmd.Context(), "check", flags.OpenAPI)
			if err != nil {
				return err
			}
			return c.showAPI(api)
		},
	}
	flags.add(cmd)
	return cmd
}

// lookAt reads a document that is in no settings.
func (c *command) lookAt(ctx context.Context, name string, s settings.OpenAPI) (*openapis.API, error) {
	done := c.progress("reading the document")
	api, err := openapis.Look(ctx, name, s, openapis.Needs{Config: c.dir, Home: c.home(), Version: version()})
	done()
	if err != nil {
		said := strings.TrimPrefix(err.Error(), "openapi."+name+": ")
		return nil, failed{errors.New(strings.TrimPrefix(said, "opening the OpenAPI document of "+name+": "))}
	}
	return api, nil
}

func leftOut(faults []openapis.Fault) (n int) {
	for _, f := range faults {
		if f.Left {
			n++
		}
	}
	return n
}

// showAPI tells what became of a document.
func (c *command) showAPI(api *openapis.API) error {
	box := api.Box()
	ops, faults, warnings := box.Operations(), box.Faults(), openapis.Warnings(box)
	tokens := 0
	for _, o := range ops {
		tokens += o.Tokens
	}
	if c.asJSON(false) {
		return c.printJSON(map[string]any{
			"document": api.Where(), "title": box.Title(), "tools": len(ops), "tokens": tokens, "hosts": box.Hosts(), "granted": api.Hosts(), "schemes": box.Schemes(),
			"operations": ops, "faults": faults, "warnings": warnings, "held": api.Held(),
		})
	}
	fmt.Fprintf(c.out, "%s: %s\n", dash(text.ShowLine(box.Title())), text.ShowLine(api.Where()))
	fmt.Fprintf(c.out, "%s, %d tokens in a model's context; %d left out\n", counted(len(ops), "tool"), tokens, leftOut(faults))
	fmt.Fprintf(c.out, "calls go to: %s\n", dash(text.ShowLine(strings.Join(box.Hosts(), ", "))))
	for _, s := range box.Schemes() {
		state := "no credential is set"
		if s.Set {
			state = "a credential is set"
		}
		fmt.Fprintf(c.out, "security scheme %s (%s): %s\n", text.ShowLine(s.Name), text.ShowLine(s.Type), state)
	}
	fmt.Fprintln(c.out)
	var rows [][]string
	for _, o := range ops {
		rows = append(rows, []string{o.Tool, text.ShowLine(text.Clip(o.Method+" "+o.Path, 80)), o.Effects.String(), fmt.Sprint(o.Tokens)})
	}
	if err := c.table([]string{"TOOL", "REQUEST", "EFFECTS", "TOKENS"}, rows); err != nil {
		return err
	}
	for _, f := range faults {
		word := "Note"
		if f.Left {
			word = "Left out"
		}
		fmt.Fprintf(c.out, "%s: %s: %s\n", word, text.ShowLine(f.Where), text.ShowLine(f.Reason))
	}
	c.warnOf(warnings)
	if len(ops) > manyOperations {
		return c.proposeFilters(api)
	}
	return nil
}

// warnOf shows the first of the warnings: who reads a thousand reads none.
func (c *command) warnOf(warnings []openapis.Warning) {
	const most = 20
	for i, w := range warnings {
		if i == most {
			fmt.Fprintf(c.out, "Warning: and %d more\n", len(warnings)-most)
			return
		}
		fmt.Fprintf(c.out, "Warning: %s: %s\n", text.ShowLine(w.Tool), text.ShowLine(w.Text))
	}
}

// manyOperations is from how many on filters are proposed: models choose badly among more.
const manyOperations = 60

// proposeFilters shows what could be chosen among.
func (c *command) proposeFilters(api *openapis.API) error {
	type sum struct{ tools, tokens int }
	tags, methods := map[string]sum{}, map[string]sum{}
	add := func(into map[string]sum, key string, tokens int) {
		s := into[key]
		into[key] = sum{s.tools + 1, s.tokens + tokens}
	}
	ops := api.Box().Operations()
	for _, o := range ops {
		add(methods, strings.ToLower(o.Method), o.Tokens)
		for _, tag := range o.Tags {
			add(tags, tag, o.Tokens)
		}
	}
	fmt.Fprintf(c.out, "\n%d tools are more than a model chooses well among. They can be filtered:\n", len(ops))
	var rows [][]string
	for _, kind := range []struct {
		flag string
		sums map[string]sum
	}{{"--tag", tags}, {"--method", methods}} {
		keys := slices.SortedFunc(maps.Keys(kind.sums), func(a, b string) int {
			return cmp.Or(cmp.Compare(kind.sums[b].tools, kind.sums[a].tools), strings.Compare(a, b))
		})
		for _, key := range keys[:min(len(keys), 60)] {
			rows = append(rows, []string{kind.flag + " " + quoted(key), fmt.Sprint(kind.sums[key].tools), fmt.Sprint(kind.sums[key].tokens)})
		}
	}
	return c.table([]string{"FILTER", "TOOLS", "TOKENS"}, rows)
}
