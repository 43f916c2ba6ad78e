package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
)

// showTool shows one tool: what it is, what it takes, and what would become of a call.
func (c *command) showTool(cmd *cobra.Command, dialectName, name string) error {
	d, err := dialect.Parse(dialectName)
	if err != nil {
		return usage(err)
	}
	if c.asJSON(false) {
		a, caller, err := c.shelf(cmd, dialectName)
		if err != nil {
			return err
		}
		spec, err := a.ToolNamed(caller, name)
		if err != nil {
			return noTool(cmd, name, err)
		}
		return c.printJSON(dialect.Contract(caller.Dialect, spec))
	}
	caller, err := c.caller("cli", d)
	if err != nil {
		return err
	}
	return c.prepared(cmd.Context(), unchanged, func(a *app.App) error {
		spec, err := a.ToolNamed(caller, name)
		if err != nil {
			return noTool(cmd, name, err)
		}
		name, is := typedNames(a, caller, []toolcrib.Entry{spec})[0], spec.Box+"/"+spec.Native
		if name == is {
			is = "models call it " + spec.Name
		}
		fmt.Fprintf(c.out, "%s (%s; effects: %s)\n\n%s\n", name, is, spec.LeadsText(), text.Show(strings.TrimSpace(spec.Description)))
		c.showFields("Arguments", spec.Input)
		c.showFields("Result", spec.Output)
		c.showRules(cmd.Context(), a, caller, spec, name)
		fmt.Fprintf(c.out, "\nDefinition %s\n", spec.Hash)
		return nil
	})
}

// noTool adds which command may have been meant by what is no tool.
func noTool(cmd *cobra.Command, name string, err error) error {
	group := cmd
	if cmd.Name() == "show" {
		return err
	}
	hint := meant(group, name)
	e, ok := toolcrib.AsError(err)
	if hint == "" || !ok {
		return err
	}
	shown := *e
	shown.Message += "; or did you mean the command: " + hint
	return &shown
}

// showRules shows a call of a tool as one would write it, and what the rules say to it.
func (c *command) showRules(ctx context.Context, a *app.App, caller toolcrib.Caller, spec toolcrib.Entry, name string) {
	pairs := examplePairs(spec.Input)
	words := []string{"toolcrib call", text.ShowLine(name)}
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		if strings.ContainsAny(value, " '\"$&|<>()*?;[]{}~#\\") {
			value = text.ShellQuote(value)
		}
		words = append(words, text.ShowLine(key+"="+value))
	}
	fmt.Fprintf(c.out, "\nExample:\n  %s\n", strings.Join(words, " "))
	call := toolcrib.Call{Tool: spec.Name, Caller: caller, Lenient: dialect.Lenient(caller.Dialect)}
	var err error
	if call.Input, err = pairsInput(spec.Input, pairs); err != nil {
		return
	}
	e, err := a.Explain(ctx, call)
	if err != nil {
		fmt.Fprintf(c.out, "\nWhat the rules say to this example cannot be told: %s\n", text.ShowLine(err.Error()))
		return
	}
	e.Tool = name
	who := "you"
	if caller.Agent != "" {
		who = "the agent " + caller.Agent
	}
	fmt.Fprintf(c.out, "\nIf %s made this call:\n  %s", text.ShowLine(who), strings.ReplaceAll(text.Show(explained(e)), "\n  ", "\n    "))
}

// examplePairs makes up arguments that a tool takes: those that it needs.
func examplePairs(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]struct {
			Type     any               `json:"type"`
			Default  json.RawMessage   `json:"default"`
			Enum     []json.RawMessage `json:"enum"`
			Examples []json.RawMessage `json:"examples"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if schema == nil || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	usual := map[string]string{
		"path": "notes.txt", "content": "hello", "command": "ls", "url": "https://example.com", "query": "toolcrib", "pattern": "needle", "glob": "*.txt",
		"expression": "2+2", "equation": "x**2 - 4", "from_unit": "km", "to_unit": "mi", "old_text": "one", "new_text": "two", "question": "Which one?",
	}
	var pairs []string
	for _, name := range slices.Sorted(slices.Values(s.Required)) {
		p := s.Properties[name]
		value := usual[name]
		switch kind := typeText(p.Type); {
		case len(p.Examples) > 0:
			value = rawWord(p.Examples[0])
		case len(p.Enum) > 0:
			value = rawWord(p.Enum[0])
		case p.Default != nil:
			value = rawWord(p.Default)
		case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
			value = "1"
		case strings.Contains(kind, "boolean"):
			value = "true"
		case strings.Contains(kind, "array"):
			value = "[]"
		case strings.Contains(kind, "object"):
			value = "{}"
		case value == "":
			value = "…"
		}
		pairs = append(pairs, name+"="+value)
	}
	return pairs
}

// rawWord is a value as it is written behind a key.
func rawWord(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
