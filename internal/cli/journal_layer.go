package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/undo"
)

// layerOf gives the ID of the layer whose changes a call applied; empty: it applied none.
func layerOf(rec toolcrib.Record) string {
	id := ""
	for _, v := range rec.Verdicts {
		switch {
		case v.Guard != "layer" || !v.Note || v.Rule == "":
		case v.Decision == toolcrib.Allow:
			id = v.Rule
		case v.Rule == id: // it could not be applied
			id = ""
		}
	}
	return id
}

// layerChanges is what the journal shows of a command that ran on a layer.
type layerChanges struct {
	Layer   string `json:"layer"`
	Text    string `json:"text,omitempty"` // what was changed, with the differences
	File    string `json:"file,omitempty"` // where all of it can be read
	NotKept string `json:"not_kept,omitempty"`
}

// mostShownChanges is how much of what a command changed is shown.
const mostShownChanges = 64 << 10

// changesOf gives what a command changed on its layer; nil: it applied nothing.
func (c *command) changesOf(rec toolcrib.Record) *layerChanges {
	id := layerOf(rec)
	if id == "" {
		return nil
	}
	out := &layerChanges{Layer: id}
	applied, err := c.appliedLayer(id)
	if err != nil {
		out.NotKept = err.Error()
		return out
	}
	out.NotKept = applied.NotKept()
	shown, file, err := applied.List(mostShownChanges)
	if err != nil {
		out.NotKept = "what was changed cannot be read: " + err.Error()
		return out
	}
	if out.Text = redact.Text(string(shown)); len(shown) > mostShownChanges*9/10 {
		out.File = file
	}
	return out
}

// appliedLayer finds what was kept of the changes of a command.
func (c *command) appliedLayer(id string) (undo.Applied, error) {
	_, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	applied, err := app.Layers(paths.State).Applied(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it was taken back already, or is older than seven days")
	}
	return applied, err
}

// page is how a person is shown it.
func (l *layerChanges) page(hint string) string {
	if l == nil {
		return ""
	}
	out := "\nWhat it changed on its layer " + text.ShowLine(l.Layer) + "\n" + text.Show(l.Text)
	if l.File != "" {
		out += "All of it is in " + text.ShowLine(l.File) + "\n"
	}
	if l.NotKept != "" {
		return out + "It cannot be taken back: " + text.ShowLine(l.NotKept) + "\n"
	}
	return out + "\n" + hint + "\n"
}

// undoLayer takes back what a command changed.
func (c *command) undoLayer(ctx context.Context, rec toolcrib.Record, id string, dry bool) error {
	applied, err := c.appliedLayer(id)
	if err != nil {
		return cannot("call %s cannot be taken back: %v", rec.ID, err)
	}
	if why := applied.NotKept(); why != "" {
		return cannot("call %s cannot be taken back: %s", rec.ID, why)
	}
	if err := applied.Unchanged(); err != nil {
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: text.Show(err.Error())}
	}
	box := &undo.Command{Call: rec.ID, Applied: applied, Head: fmt.Sprintf("would take back what call %s (%s, %s) changed:\n", rec.ID, rec.Tool, rec.Start.Local().Format("2006-01-02 15:04:05"))}
	if dry {
		shown, err := box.Show()
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.out, text.Show(redact.Text(shown)))
		return err
	}
	result, err := c.restore(ctx, box, undo.ChangesTool, box.Input(), nil)
	if err != nil {
		return err
	}
	if code, why := unapplied(result); code != "" {
		// What was applied goes on waiting by itself: nothing is dropped.
		why = strings.ReplaceAll(strings.TrimPrefix(why, undo.ChangesTool+": "), ". They are dropped: ", "; ")
		return elsewhere(&toolcrib.Error{Code: code, Tool: undo.ChangesTool, Message: "nothing was taken back: " + why}, box.First)
	}
	var out struct {
		Paths   int    `json:"paths"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(result.Value, &out); err != nil {
		return err
	}
	out.Message = fmt.Sprintf("What the command changed was taken back: %d paths.", out.Paths)
	said := out.Message
	if out.Paths == 1 {
		said = text.ShowLine(box.First) + ": " + said
	}
	return c.sayRestored(out, said)
}
