package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// where says what a server is. What is written as a reference stays one.
func where(s mcphub.Server) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (c *command) hubShow(ctx context.Context, name string) error {
	a, err := c.hub(ctx)
	if err != nil {
		return err
	}
	b, err := c.server(a, name)
	if err != nil {
		return err
	}
	tools, listErr := b.Tools(ctx)
	held := b.Held()
	var warnings []mcphub.Warning
	for _, w := range a.Hub.Warnings() {
		if w.Server == name {
			warnings = append(warnings, w)
		}
	}
	if c.asJSON(false) {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		return c.printJSON(map[string]any{"status": b.Status(), "where": where(b.Server()), "tools": names, "held": held, "warnings": warnings})
	}
	s := b.Status()
	fmt.Fprintf(c.out, "%s: %s\n", printable(name), printable(where(b.Server())))
	if listErr != nil {
		fmt.Fprintln(c.out, listErr)
		return nil
	}
	fmt.Fprintf(c.out, "protocol %s, %s\n\n", dash(s.Version), readable(string(s.Info)))
	var rows [][]string
	for _, t := range tools {
		if t.Group != mcphub.ShelfGroup {
			rows = append(rows, []string{t.Name, t.Effects.String(), firstSentence(t.Description)})
		}
	}
	if err := c.table([]string{"TOOL", "EFFECTS", "DESCRIPTION"}, rows); err != nil {
		return err
	}
	for _, h := range held {
		fmt.Fprintf(c.out, "\nKept back: %s: %s\n", printable(h.Tool), printable(h.Why))
		for _, line := range difference(h.Was, h.Is) {
			fmt.Fprintln(c.out, printable(line))
		}
	}
	if len(held) > 0 {
		fmt.Fprintf(c.out, "\n'toolcrib hub approve %s' takes them as they are now, '… approve %s TOOL' one of them.\n", name, name)
	}
	for _, w := range warnings {
		fmt.Fprintf(c.out, "Warning: %s: %s\n", printable(w.Tool), printable(w.Text))
	}
	return nil
}

// difference shows two definitions line by line: what went, and what came.
func difference(was, is json.RawMessage) []string {
	lines := func(text json.RawMessage) []string {
		if text == nil {
			return nil
		}
		var value any
		if json.Unmarshal(text, &value) != nil {
			return []string{string(text)}
		}
		pretty, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return []string{string(text)}
		}
		return strings.Split(string(pretty), "\n")
	}
	before, after := lines(was), lines(is)
	var out []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			out = append(out, "+ "+line)
		}
	}
	return out
}
