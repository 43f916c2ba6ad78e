package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) toolsDefinitionsCmd() *cobra.Command {
	var o definition.Options
	format, formats := "openai", exposed.Formats()
	cmd := &cobra.Command{
		Use: "definitions", Short: "Write the tools' definitions as a model's API takes them",
		Long: `Write the tools' definitions as a model's API takes them. 'toolcrib call --as'
takes the model's answers back.

With --max-tools, three of the tools find, describe and call those that are left
out; which are left out is told on standard error. Toolboxes take turns, each by
the names of its tools. With --defer, the API's own search finds them instead:
Anthropic's, or that of OpenAI's Responses, which gets a namespace for each
toolbox.`,
		Example: `  toolcrib tools definitions --format anthropic > tools.json
  toolcrib tools definitions --strict --max-tools 128 --max-description 1024
  toolcrib tools definitions --format openai-responses --defer`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(formats, format) {
				return usagef("--format is %q: want one of %s", format, strings.Join(formats, ", "))
			}
			if err := checkMost(o.MaxTools, o.MaxDescription); err != nil {
				return err
			}
			return c.showDefinitions(cmd, format, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", format, "whose form: "+strings.Join(formats, ", "))
	flags.BoolVar(&o.Strict, "strict", false, "have OpenAI hold the model to the schema")
	flags.BoolVar(&o.Defer, "defer", false, "leave it to the API's own search to find the tools, or those beyond --max-tools")
	mostFlags(cmd, &o.MaxTools, &o.MaxDescription)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// mostFlags are the limits of services and clients.
func mostFlags(cmd *cobra.Command, tools, description *int) {
	cmd.Flags().IntVar(tools, "max-tools", 0, "show at most so many tools; the others are found by searching (0: all)")
	cmd.Flags().IntVar(description, "max-description", 0, "show at most so many characters of a tool's description (0: all)")
}

// leastTools is what a limit has room for at least: the three tools that find,
// describe and call the others, and one more.
const leastTools = 4

func checkMost(tools, description int) error {
	if tools != 0 && tools < leastTools {
		return usagef("--max-tools is %d: want at least %d, since three tools find the others", tools, leastTools)
	}
	if description < 0 {
		return usagef("--max-description is %d: want more than nothing", description)
	}
	return nil
}

// setMost makes settings of the limits, for this run.
func (c *command) setMost(tools, description int) error {
	if err := checkMost(tools, description); err != nil {
		return err
	}
	if tools > 0 {
		c.set = append(c.set, fmt.Sprintf("expose_tools=%d", tools))
	}
	if description > 0 {
		c.set = append(c.set, fmt.Sprintf("expose_description=%d", description))
	}
	return nil
}

func (c *command) showDefinitions(cmd *cobra.Command, format string, o definition.Options) error {
	d := dialect.Native
	if format == dialect.OVOS {
		d = format
	}
	caller, err := c.caller("cli", d)
	if err != nil {
		return err
	}
	a, err := c.openFor(cmd.Context(), app.ToList, func(cfg *settings.Config, _ *app.Needs) {
		cfg.ExposeTools = max(cfg.ExposeTools, o.MaxTools) // so that there is a search
	})
	if err != nil {
		return err
	}
	c.tellFaults(a)
	set, err := a.Definitions(caller, format, o)
	if err != nil {
		return usage(err)
	}
	for _, l := range slices.Concat(set.Left, set.Loose) {
		fmt.Fprintf(c.err, "toolcrib: warning: %s: %s\n", text.ShowLine(l.Tool), text.ShowLine(l.Why))
	}
	for _, l := range set.Skipped {
		fmt.Fprintf(c.err, "toolcrib: warning: %s: a part of its schema is left out of its definition: %s\n", text.ShowLine(l.Tool), text.ShowLine(l.Why))
	}
	if len(set.Rest) > 0 && !o.Defer {
		fmt.Fprintf(c.err, "toolcrib: %d tools are not among the definitions, and are found with search_tools: %s\n", len(set.Rest), text.ShowLine(strings.Join(set.Rest, ", ")))
	}
	if set.Tools == nil {
		set.Tools = []json.RawMessage{}
	}
	return c.printJSON(set.Tools)
}
