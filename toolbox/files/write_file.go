package files

import (
	"bytes"
	"context"
	_ "embed" // the description
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed write_file.md
var writeFileText string

type writeIn struct {
	Path    string `json:"path" minlen:"1" maxlen:"4096" doc:"The file: relative to the working directory, or absolute inside a granted one. Missing directories are made."`
	Content string `json:"content" doc:"What the file is to hold, or what is to be added to it."`
	Append  bool   `json:"append,omitempty" doc:"Add to the end of the file instead of replacing it."`
}

type writeOut struct {
	Path         string `json:"path" doc:"Absolute path of the file, after links; as given if nothing was written."`
	Success      bool   `json:"success" doc:"The file holds the content."`
	Lines        int    `json:"lines" doc:"How many lines the file has now."`
	BytesWritten int    `json:"bytes_written" doc:"How many bytes of content were written; 0 if the file held it already."`
	Message      string `json:"message" doc:"What was done, or why not."`
	Diff         string `json:"diff" doc:"The change as a unified difference."`
}

func (b *Box) writeFile() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "write_file", Title: "Write a file", Description: writeFileText,
		Effects: toolcrib.Reads | toolcrib.Writes, Group: groupFS,
	}, func(_ context.Context, env *toolcrib.Env, in writeIn) (writeOut, error) {
		handle, err := granted(env)
		if err != nil {
			return writeOut{}, err
		}
		out, err := b.write(env, handle, in)
		if err != nil && !refused(err) {
			out = writeOut{Path: in.Path, Message: err.Error()}
		}
		return out, err
	})
	t.Preview = preview(b, b.planWrite)
	return t
}

func (b *Box) write(env *toolcrib.Env, handle *files.Handle, in writeIn) (writeOut, error) {
	c, err := planned(b, env, handle, in, b.planWrite)
	if err != nil {
		return writeOut{}, err
	}
	out := writeOut{Success: true, Lines: countLines(string(c.after)), Message: "The file holds exactly this already."}
	if c.isNew() || c.brings || !files.StampOf(c.after).Same(c.was) {
		if err := b.apply(env, handle, c); err != nil {
			return writeOut{}, err
		}
		out.BytesWritten, out.Diff = len(in.Content), c.diff()
		switch {
		case c.isNew():
			out.Message = "File created."
		case in.Append:
			out.Message = "Added to the file."
		default:
			out.Message = "File replaced."
		}
		if c.what != "" { // which hidden values stay
			out.Message += " " + strings.TrimSuffix(strings.ReplaceAll(c.what, "\n", "; "), "; ") + "."
		}
	}
	out.Path = c.path
	return out, nil
}

// planWrite tells what a call would write.
func (b *Box) planWrite(env *toolcrib.Env, handle *files.Handle, in writeIn) (*change, error) {
	c, err := b.load(env, handle, in.Path)
	if err != nil {
		return nil, err
	}
	if in.Append && c.large {
		return nil, fmt.Errorf("the file is larger than %d bytes, the limit for adding to it", b.cfg.MaxEdit)
	}
	content, err := b.restore(c, in.Content, in.Append)
	if err != nil {
		return nil, err
	}
	c.after, c.adds = []byte(content), in.Append
	if in.Append {
		c.after = append(bytes.Clone(c.before), content...)
	}
	return c, b.checkHiddenKept(c)
}
