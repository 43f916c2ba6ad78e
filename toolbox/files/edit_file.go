package files

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed edit_file.md
var editFileText string

type editIn struct {
	Path       string `json:"path" minlen:"1" maxlen:"4096" doc:"The file: relative to the working directory, or absolute inside a granted one."`
	OldText    string `json:"old_text" minlen:"1" doc:"The text to replace, exactly as it is in the file."`
	NewText    string `json:"new_text" doc:"The text to put in its place; empty removes it."`
	Occurrence *int   `json:"occurrence,omitempty" min:"0" doc:"Which of several equal places: 1 is the first, 0 means all of them. Left out: there must be exactly one."`
}

type editOut struct {
	Path             string `json:"path" doc:"Absolute path of the file, after links; as given if nothing was changed."`
	ReplacementsMade int    `json:"replacements_made" doc:"At how many places the text was replaced."`
	Success          bool   `json:"success" doc:"The file holds the new text."`
	Diff             string `json:"diff" doc:"The change as a unified difference."`
}

func (b *Box) editFile() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "edit_file", Title: "Edit a file", Description: editFileText,
		Effects: toolcrib.Reads | toolcrib.Writes, Group: groupFS,
	}, func(_ context.Context, env *toolcrib.Env, in editIn) (editOut, error) {
		files, err := granted(env)
		if err != nil {
			return editOut{}, err
		}
		c, err := planned(b, env, files, in, b.planEdit)
		if err == nil {
			err = b.apply(env, files, c)
		}
		switch {
		case refused(err):
			return editOut{}, err
		case err != nil:
			return editOut{Path: in.Path}, err
		}
		return editOut{Path: c.path, ReplacementsMade: c.count, Success: true, Diff: c.diff()}, nil
	})
	t.Preview = preview(b, b.planEdit)
	return t
}

// planEdit tells what a call would change.
func (b *Box) planEdit(env *toolcrib.Env, files *files.Handle, in editIn) (*change, error) {
	c, err := b.load(env, files, in.Path)
	switch {
	case err != nil:
		return nil, err
	case c.isNew():
		return nil, fmt.Errorf("no such file: %q; write_file makes new ones", in.Path)
	case c.large:
		return nil, fmt.Errorf("the file is larger than %d bytes, the limit for edits", b.cfg.MaxEdit)
	}
	which := unique
	if in.Occurrence != nil {
		which = *in.Occurrence
	}
	if err := b.edit(c, in.OldText, in.NewText, which); err != nil {
		return nil, err
	}
	if int64(len(c.after)) > 2*b.cfg.MaxEdit {
		return nil, errors.New("the file would become too large")
	}
	return c, b.checkHiddenKept(c)
}
