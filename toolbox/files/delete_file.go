package files

import (
	"context"
	_ "embed" // the description
	"fmt"
	"io/fs"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed delete_file.md
var deleteFileText string

type deleteIn struct {
	Path string `json:"path" minlen:"1" maxlen:"4096" doc:"The file, link or empty directory: relative to the working directory, or absolute inside a granted one."`
}

type deleteOut struct {
	Path    string `json:"path" doc:"Absolute path of what was removed; as given if nothing was."`
	Deleted bool   `json:"deleted" doc:"It is gone from there; a person can get it back from the trash."`
	Type    string `json:"type" doc:"What it was: file, directory or link; empty if nothing was removed."`
}

func (b *Box) deleteFile() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "delete_file", Title: "Delete a file", Description: deleteFileText,
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys, Group: groupFS,
	}, func(_ context.Context, env *toolcrib.Env, in deleteIn) (deleteOut, error) {
		handle, err := granted(env)
		if err != nil {
			return deleteOut{}, err
		}
		_, err = planned(b, env, handle, in, b.planDelete)
		var gone files.Removed
		if err == nil {
			gone, err = handle.Remove(in.Path)
		}
		switch {
		case refused(err):
			return deleteOut{}, err
		case err != nil:
			return deleteOut{Path: in.Path}, err
		}
		b.keep(env, Kept{Path: gone.Path, Slot: gone.Slot, Type: gone.Type})
		b.seen.drop(keyFor(env, gone.Path))
		return deleteOut{Path: gone.Path, Deleted: true, Type: gone.Type}, nil
	})
	t.Preview = preview(b, b.planDelete)
	return t
}

// planDelete tells what a call would remove. Of a link, that is the link.
func (b *Box) planDelete(env *toolcrib.Env, handle *files.Handle, in deleteIn) (*change, error) {
	info, err := handle.Lstat(in.Path)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		c, err := b.load(env, handle, in.Path)
		if err == nil {
			err = b.checkHiddenKept(c)
			c.what = fmt.Sprintf("would remove the file %q of %d bytes\n", in.Path, c.was.Size) + c.what
		}
		return c, err
	case mode.IsDir():
		return &change{name: in.Path, what: fmt.Sprintf("would remove the directory %q, if it is empty\n", in.Path)}, nil
	case mode&fs.ModeSymlink != 0:
		return &change{name: in.Path, what: fmt.Sprintf("would remove the link %q, not what it leads to\n", in.Path)}, nil
	}
	return nil, fmt.Errorf("it is a device, a pipe or a socket, not a file: %q", in.Path)
}
