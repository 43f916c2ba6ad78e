package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
	changes, err := applied.Changes()
	if err != nil {
		return err
	}
	if dry {
		shown, err := applied.Show()
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.out, text.Show(box.Head+redact.Text(shown)))
		return err
	}
	var paths []restoredPath
	for i := range changes {
		change := &changes[i]
		switch git := change.Git; {
		case git != nil && git.Decision == toolcrib.Deny:
			return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: text.Show(change.Path + ": " + git.Reason + ", so it is not put back")}
		case git != nil && change.Carried == nil: // the files that it means are among the changes
			continue
		}
		paths = append(paths, restoredPath{change.Path, change.After == nil})
	}
	return c.restore(ctx, box, undo.ChangesTool, box.Input(), paths)
}

// restoredPath is a path that is put back, or removed.
type restoredPath struct {
	path    string
	removed bool
}

// like is the call of the tool that would do the same.
func (p restoredPath) like() (tool string, input json.RawMessage, err error) {
	tool, fields := "write_file", map[string]string{"path": p.path, "content": ""}
	if p.removed {
		tool, fields = "delete_file", map[string]string{"path": p.path}
	}
	input, err = json.Marshal(fields)
	return tool, input, err
}

// around gives the first of some paths, to say where a command is to be run.
func around(paths []restoredPath) string {
	if i := slices.IndexFunc(paths, func(p restoredPath) bool { return p.path != "" }); i >= 0 {
		return paths[i].path
	}
	return ""
}
