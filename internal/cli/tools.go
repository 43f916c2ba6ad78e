package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) toolsCmd() *cobra.Command {
	var dialectName string
	list := func(cmd *cobra.Command, _ []string) error { return c.listTools(cmd, dialectName) }
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List tools, or show one",
		Example: `  toolcrib tools                              list them
  toolcrib tools write_file                   one: arguments, what the rules say, an example
  toolcrib tools -o json | jq '.[].name'      for programs
  toolcrib tools --dialect ovos               as OpenVoiceOS knows them
  toolcrib tools check FILE                   what a file of your own declares
  toolcrib tools try NAME key=value           run a tool of your own and see how it ran`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: c.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return list(cmd, nil)
			}
			return c.showTool(cmd, dialectName, args[0])
		},
	}
	c.dialectFlag(cmd, &dialectName)
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the tools", Args: usageArgs(cobra.NoArgs), RunE: list,
	}, &cobra.Command{
		Use: "show NAME", Short: "Show one tool's contract", Args: usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: c.completeTool,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.showTool(cmd, dialectName, args[0]) },
	})
	cmd.AddCommand(c.toolsSearchCmd(&dialectName), c.toolsCostCmd(&dialectName), c.toolsDefinitionsCmd(), c.toolsLearnedCmd(), c.toolsForgetCmd(), c.toolsCheckCmd(), c.toolsTryCmd())
	return cmd
}

func (c *command) dialectFlag(cmd *cobra.Command, to *string) {
	cmd.PersistentFlags().StringVar(to, "dialect", dialect.Native, "whose names and shapes: "+strings.Join(dialect.Names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(dialect.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// shelf opens the catalog alone: listing needs no journal.
func (c *command) shelf(cmd *cobra.Command, dialectName string) (*app.App, toolcrib.Caller, error) {
	d, err := dialect.Parse(dialectName)
	if err != nil {
		return nil, toolcrib.Caller{}, usage(err)
	}
	caller, err := c.caller("cli", d)
	if err != nil {
		return nil, caller, err
	}
	a, err := c.openFor(cmd.Context(), app.ToList, nil)
	if err != nil {
		return nil, caller, err
	}
	c.tellFaults(a)
	return a, caller, nil
}

func (c *command) listTools(cmd *cobra.Command, dialectName string) error {
	a, caller, err := c.shelf(cmd, dialectName)
	if err != nil {
		return err
	}
	specs := a.Shown(caller)
	if c.asJSON(false) {
		contracts := make([]any, 0, len(specs))
		for _, s := range specs {
			contracts = append(contracts, dialect.Contract(caller.Dialect, s))
		}
		return c.printJSON(contracts)
	}
	names, rows := typedNames(a, caller, specs), make([][]string, 0, len(specs))
	if terminal(c.out) {
		list := make([]toolRow, len(specs))
		for i, s := range specs {
			list[i] = toolRow{names[i], s.Box, s.LeadsText(), sentenceOf(s.Description)}
		}
		_, err := fmt.Fprintln(c.out, strings.Join(toolLines(list, c.columns()), "\n"))
		return err
	}
	for i, s := range specs {
		rows = append(rows, []string{names[i], s.Box, s.LeadsText(), firstSentence(s.Description)})
	}
	return c.table([]string{"NAME", "BOX", "EFFECTS", "DESCRIPTION"}, rows)
}

// typedNames are the names of tools that can be typed into rules and elsewhere; in a
// dialect those of the dialect.
func typedNames(a *app.App, caller toolcrib.Caller, specs []toolcrib.Entry) []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		if names[i] = s.Name; caller.Dialect == "" {
			names[i] = a.TypedName(s)
		}
	}
	return names
}

// shape is as much of a schema as a person wants to read at a glance.
type shape struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        any               `json:"type"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	AnyOf       []property        `json:"anyOf"`
}

// kinds are the types of a property, in words.
func (p property) kinds() string {
	if len(p.AnyOf) == 0 {
		return typeText(p.Type)
	}
	words := make([]string, 0, len(p.AnyOf))
	for _, alternative := range p.AnyOf {
		words = append(words, alternative.kinds())
	}
	return strings.Join(words, " or ")
}

// values are those that a property may have, if they are listed.
func (p property) values() []json.RawMessage {
	if len(p.AnyOf) == 2 && p.AnyOf[1].kinds() == "null" { // the list of what may be null
		return p.AnyOf[0].values()
	}
	return p.Enum
}

func (c *command) showFields(title string, schema json.RawMessage) {
	var s shape
	if schema == nil || json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return
	}
	fmt.Fprintf(c.out, "\n%s:\n", title)
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := s.Properties[name]
		notes := []string{p.kinds()}
		if slices.Contains(s.Required, name) {
			notes = append(notes, "required")
		}
		if p.Default != nil {
			notes = append(notes, "default "+string(p.Default))
		}
		if values := p.values(); values != nil {
			words := make([]string, 0, len(values))
			for _, e := range values {
				words = append(words, string(e))
			}
			notes = append(notes, "one of "+strings.Join(words, ", "))
		}
		fmt.Fprintf(c.out, "  %s (%s)\n", text.ShowLine(name), text.ShowLine(strings.Join(notes, "; ")))
		if p.Description != "" {
			fmt.Fprintf(c.out, "      %s\n", text.ShowLine(p.Description))
		}
	}
}

func typeText(t any) string {
	switch t := t.(type) {
	case string:
		return t
	case []any:
		words := make([]string, 0, len(t))
		for _, w := range t {
			words = append(words, fmt.Sprint(w))
		}
		return strings.Join(words, " or ")
	}
	return ""
}

// completeTool offers tool names to the shell, and after one its arguments.
func (c *command) completeTool(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	arguments := strings.Contains(cmd.Use, "key=value")
	if len(args) > 0 && !arguments {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, err := cmd.Flags().GetString("dialect")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if len(args) > 0 {
		return c.argumentWords(cmd, name, args, begun)
	}
	return c.toolWords(cmd, name)
}

// toolWords are the names of the tools, each with what it does.
func (c *command) toolWords(cmd *cobra.Command, dialectName string) ([]string, cobra.ShellCompDirective) {
	was := c.err
	c.err = io.Discard // a shell would show warnings in the middle of a line
	defer func() { c.err = was }()
	a, caller, err := c.shelf(cmd, dialectName)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	specs := slices.Collect(a.Crib.Tools(caller))
	for i, name := range typedNames(a, caller, specs) {
		s := specs[i]
		words = append(words, name+"\t"+text.ShowLine(firstSentence(s.Description)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
