package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) layersCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return c.listLayers() }
	cmd := &cobra.Command{
		Use:   "layers",
		Short: "See what commands changed and nobody has answered for, and settle it",
		Long: `With sandbox.layers a command works on a layer over your files, and you are asked
about what it changed. If nobody answers in time the layer waits here for seven
days: the next command of the same session sees it, and your files are as they were.
A layer is named by its ID, or by as much of it as is unique.`,
		Example: `  toolcrib layers                 what waits
  toolcrib layers show l-k3       what would be applied, with the differences
  toolcrib layers apply l-k3      apply it
  toolcrib layers drop l-k3       forget it`,
		Args: usageArgs(cobra.NoArgs),
		RunE: list,
	}
	var yes bool
	drop := &cobra.Command{
		Use: "drop ID", Short: "Forget what commands changed on a layer", Example: "  toolcrib layers drop l-k3\n  toolcrib layers drop l-k3 --yes", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeLayer,
		RunE: func(cmd *cobra.Command, args []string) error { return c.dropLayer(cmd.Context(), args[0], yes) },
	}
	drop.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the layers that wait for an answer", Example: "  toolcrib layers list\n  toolcrib layers list -o json", Args: usageArgs(cobra.NoArgs), RunE: list,
	}, &cobra.Command{
		Use: "show ID", Short: "Show what commands changed on a layer, with the differences", Example: "  toolcrib layers show l-k3", Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeLayer,
		RunE: func(cmd *cobra.Command, args []string) error { return c.showLayer(cmd.Context(), args[0]) },
	}, &cobra.Command{
		Use: "apply ID", Short: "Apply what commands changed on a layer", Example: "  toolcrib layers apply l-k3",
		Long: `Applies what commands changed on a layer to your files. It is a call as any other:
the rules of now judge every change, you may be asked, and it stands in the journal.
What is protected or denied is never applied, and a file that somebody has changed
since is left as it is: then nothing is applied.`,
		Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: c.completeLayer,
		RunE: func(cmd *cobra.Command, args []string) error { return c.applyLayer(cmd.Context(), args[0]) },
	}, drop)
	return cmd
}

// waitingLayers are those that wait for an answer, the oldest first.
func (c *command) waitingLayers() ([]app.WaitingLayer, error) {
	paths, _, err := c.paths()
	if err != nil {
		return nil, usage(err)
	}
	list := app.Layers(paths.State).Waiting()
	slices.SortFunc(list, func(a, b app.WaitingLayer) int { return a.At.Compare(b.At) })
	return list, nil
}

func (c *command) listLayers() error {
	list, err := c.waitingLayers()
	if err != nil {
		return err
	}
	if c.asJSON(false) {
		if list == nil {
			list = []app.WaitingLayer{}
		}
		return c.printJSON(list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.out, "No layer waits for an answer.")
		return err
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		l := &list[i]
		if l.Stuck != "" {
			rows = append(rows, []string{l.ID, age(time.Since(l.At)), "", "stuck", text.ShowLine(l.Stuck)})
			continue
		}
		who := l.Caller.Subject
		if l.Caller.Agent != "" {
			who = l.Caller.Agent
		}
		if l.Caller.Session != "" {
			who += " in " + l.Caller.Session
		}
		rows = append(rows, []string{l.ID, age(time.Since(l.At)), who, fmt.Sprintf("%d new, %d changed, %d deleted", l.Created, l.Changed, l.Deleted), ranOn(l)})
	}
	return c.table([]string{"ID", "AGE", "FOR", "CHANGES", "COMMAND"}, rows)
}

// ranOn is the last command that ran on a layer, on one line.
func ranOn(l *app.WaitingLayer) string {
	var in struct {
		Command string `json:"command"`
	}
	line := string(l.Input)
	if json.Unmarshal(l.Input, &in) == nil && in.Command != "" {
		line = in.Command
	}
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return line
}

// layerNamed finds a layer by its ID or by the beginning of it.
func (c *command) layerNamed(name string) (layer app.WaitingLayer, all app.Layers, err error) {
	paths, _, err := c.paths()
	if err != nil {
		return layer, "", usage(err)
	}
	list, err := c.waitingLayers()
	if err != nil {
		return layer, "", err
	}
	var ids []string
	for i := range list {
		if begins(list[i].ID, "l-", name) {
			ids, layer = append(ids, list[i].ID), list[i]
		}
	}
	return layer, app.Layers(paths.State), oneOf("layer", "toolcrib layers", name, ids)
}

// openLayer finds a layer, and opens it to be looked at or applied.
func (c *command) openLayer(ctx context.Context, name string) (*app.OpenLayer, error) {
	layer, all, err := c.layerNamed(name)
	if err != nil {
		return nil, err
	}
	if layer.Stuck != "" {
		return nil, cannot("layer %s cannot be opened: %s", layer.ID, layer.Stuck)
	}
	return all.Open(ctx, layer.ID)
}

func (c *command) showLayer(ctx context.Context, name string) error {
	box, err := c.openLayer(ctx, name)
	if err != nil {
		return err
	}
	shown := redact.Text(box.Shown())
	if c.asJSON(false) {
		return c.printJSON(struct {
			app.WaitingLayer
			Shown string `json:"shown"`
		}{box.Layer(), shown})
	}
	_, err = fmt.Fprint(c.out, text.Show(shown))
	return err
}

// dropLayer needs to open nothing: what cannot be opened any more can be dropped too.
func (c *command) dropLayer(ctx context.Context, name string, yes bool) error {
	layer, all, err := c.layerNamed(name)
	if err != nil {
		return err
	}
	if layer.Stuck != "" {
		c.warn(layer.ID + " may hold files as they were before a command changed them, which are lost with it: " + layer.Stuck)
	}
	if !yes {
		ok, err := c.confirm("Forget what commands changed on layer " + layer.ID + "?")
		if err != nil {
			return err
		}
		if !ok {
			return usagef("nothing was dropped: --yes says that you mean it")
		}
	}
	if err := all.Drop(ctx, layer); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, layer.ID+"  dropped")
	return err
}

// applyLayer makes the call that applies a layer: judged, asked and recorded as any other.
func (c *command) applyLayer(ctx context.Context, name string) error {
	box, err := c.openLayer(ctx, name)
	if err != nil {
		return err
	}
	id := box.Layer().ID
	caller, err := c.caller("cli", "")
	if err != nil {
		return err
	}
	a, err := c.openFor(ctx, app.ToCall, func(_ *settings.Config, needs *app.Needs) {
		needs.Unattended, needs.Boxes = desk.Leave, append(needs.Boxes, box)
	})
	if err != nil {
		return err
	}
	defer c.closeApp(ctx, a)
	c.tellFaults(a)
	call := box.Call(caller)
	stop, err := c.attendCall(ctx, a.Desk, &call)
	if err != nil {
		return err
	}
	defer stop()
	result, err := a.Crib.Call(ctx, call)
	if err != nil {
		return err
	}
	var told []string
	for _, content := range result.Content {
		if content.Notice && !strings.HasPrefix(content.Text, "[untrusted") { // that is for models
			told = append(told, content.Text)
		}
	}
	list, err := c.waitingLayers()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(l app.WaitingLayer) bool { return l.ID == id }) {
		return failed{errors.New(cmp.Or(strings.Join(told, "; "), result.String()))}
	}
	for _, text := range told {
		c.warn(text)
	}
	_, err = fmt.Fprintln(c.out, id+"  applied")
	return err
}
