package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// infoLine is how a server calls itself. It may also send pictures.
func infoLine(info json.RawMessage) string {
	var said struct{ Name, Title, Version string }
	if json.Unmarshal(info, &said) != nil {
		return text.Show(text.Clip(string(info), 200))
	}
	line := strings.TrimSpace(said.Name + " " + said.Version)
	if said.Title != "" && said.Title != said.Name {
		line = said.Title + " (" + line + ")"
	}
	return dash(text.ShowLine(text.Clip(line, 200)))
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
	if err := c.noServer(a, name); err != nil {
		return err
	}
	b, _ := a.Hub.Box(name)
	tools, listErr := b.Tools(ctx)
	held := b.Held()
	instructions, _ := b.Instructions()
	warnings, unchecked, leftOut := a.Hub.Warnings(name), b.Unchecked(), b.LeftOut()
	if c.asJSON(false) {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		return c.printJSON(map[string]any{"status": b.Status(), "where": b.Server().Where(), "tools": names, "held": held, "warnings": warnings, "unchecked": unchecked, "left_out": leftOut, "instructions": instructions, "runs": a.ServerPlace(b)})
	}
	s := b.Status()
	fmt.Fprintf(c.out, "%s: %s\n", text.ShowLine(name), text.ShowLine(b.Server().Where()))
	if place := a.ServerPlace(b); place != "" {
		fmt.Fprintf(c.out, "runs %s\n", text.ShowLine(place))
	}
	if listErr != nil {
		fmt.Fprintln(c.out, listErr)
		return nil
	}
	if passed := a.Passed(); len(passed) > 0 && b.Server().Command != "" {
		fmt.Fprintf(c.out, "variables that it gets by hub.pass_env: %s\n", text.ShowLine(strings.Join(passed, ", ")))
	}
	fmt.Fprintf(c.out, "protocol %s, %s\n\n", dash(s.Version), infoLine(s.Info))
	var rows [][]string
	for _, t := range tools {
		if !b.Added(t.Name) {
			rows = append(rows, []string{t.Name, t.Effects.String(), firstSentence(t.Description)})
		}
	}
	if err := c.table([]string{"TOOL", "EFFECTS", "DESCRIPTION"}, rows); err != nil {
		return err
	}
	if instructions != "" {
		fmt.Fprintf(c.out, "\nIt tells models:\n  %s\n", strings.ReplaceAll(text.Show(instructions), "\n", "\n  "))
	}
	for _, f := range leftOut {
		fmt.Fprintf(c.out, "\nLeft out: %s: %s\n", text.ShowLine(f.Tool), text.ShowLine(f.Why))
	}
	for _, h := range held {
		c.showHeld(h.Tool, h.Why, h.Was, h.Is)
	}
	for _, tool := range b.Gone() {
		fmt.Fprintf(c.out, "\nGone: %s: the server does not offer it any more\n", text.ShowLine(tool))
	}
	if len(held) > 0 {
		fmt.Fprintf(c.out, "\n'toolcrib hub approve %s' shows them and takes them as they are shown, '… approve %s TOOL' one of them.\n", name, name)
	}
	for _, u := range unchecked {
		fmt.Fprintf(c.out, "Left to the server to check: %s: %s %s\n", text.ShowLine(u.Tool), text.ShowLine(u.Where), text.ShowLine(u.Why))
	}
	for _, w := range warnings {
		fmt.Fprintf(c.out, "Warning: %s: %s\n", text.ShowLine(w.Tool), text.ShowLine(w.Text))
	}
	return nil
}
