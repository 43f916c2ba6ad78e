package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/text"
)

// modelsTry asks a model a few questions. They are recorded and counted as any others.
func (c *command) modelsTry(ctx context.Context, name string) error {
	caller, err := c.caller("cli", "")
	if err != nil {
		return err
	}
	a, err := c.open(ctx, desk.Leave)
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	m, err := a.Models.Model(name, caller)
	if err != nil {
		return usage(err)
	}
	done := c.progress("asking " + m.Name())
	t, err := models.Try(ctx, m)
	done()
	if err != nil {
		return failed{err}
	}
	if c.asJSON(false) {
		return c.printJSON(t)
	}
	fmt.Fprintf(c.out, "%s answers", t.Model)
	if t.Answers != "" && t.Answers != t.Model {
		fmt.Fprintf(c.out, " as %s", text.ShowLine(t.Answers))
	}
	fmt.Fprintln(c.out, ".")
	word := map[bool]string{true: "yes", false: "no"}
	rows := [][]string{
		{"text", word[t.Text]}, {"streaming", word[t.Stream]}, {"calls tools", word[t.Tools]}, {"goes on with results", word[t.Results]},
		{"images", word[t.Images]}, {"tells usage", word[t.Usage]},
		{"first word after", t.First.Round(time.Millisecond).String()}, {"whole answer after", t.Whole.Round(time.Millisecond).String()},
		{"used", fmt.Sprintf("%d tokens read, %d written", t.Use.Input, t.Use.Output)},
	}
	if m.Priced() {
		rows = append(rows, []string{"cost", fmt.Sprintf("%.6f", t.Cost)})
	}
	if err := c.table([]string{"WHAT", ""}, rows); err != nil {
		return err
	}
	for _, n := range t.Notes {
		fmt.Fprintln(c.out, "Note: "+text.ShowLine(n))
	}
	return nil
}
