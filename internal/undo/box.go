package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Tool is the name of the tool that puts files back.
const Tool = "restore_file"

// BoxName is the name of its box, which nothing else may have.
const BoxName = "undo"

// maxRestored is how large a file of the trash may be that is put back.
const maxRestored = 64 << 20

// Box has one tool, which takes one change back. Only a person's own command opens one:
// no agent has this tool.
type Box struct {
	Change Change
	Trash  Trash
	Keep   func(Change) error // keeps what the tool itself changes; nil: nobody
	Shown  string             // what the person who is asked is shown of the change that is taken back
}

// Name is the name of the box.
func (b *Box) Name() string { return BoxName }

type restoreIn struct {
	Path string `json:"path" minlen:"1" maxlen:"4096" doc:"The file that is put back."`
	Of   string `json:"of" minlen:"1" doc:"The call whose change is taken back, or the ID in the trash."`
}

type restoreOut struct {
	Path    string `json:"path" doc:"The file."`
	Message string `json:"message" doc:"What was done."`
}

// Tools lists the tool of the box.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	effects := toolcrib.Reads | toolcrib.Writes
	if b.Change.New {
		effects |= toolcrib.Destroys
	}
	t := toolcrib.Define(toolcrib.Spec{
		Name: Tool, Title: "Put a file back", Group: "fs", Effects: effects,
		Description: "Puts one file back as it was before a call, if nobody has changed it since. Only a person's own command has this tool.",
	}, func(_ context.Context, env *toolcrib.Env, in restoreIn) (restoreOut, error) {
		if in.Path != b.Change.Path || in.Of != b.name() {
			return restoreOut{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "this is not the change that was to be taken back"}
		}
		if env.Files == nil {
			return restoreOut{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: refusal.NoDirectory}
		}
		said, err := b.restore(env)
		if errors.Is(err, files.ErrChanged) {
			err = fmt.Errorf("the file was changed since, so it stays as it is: %s", in.Path)
		}
		return restoreOut{Path: in.Path, Message: said}, err
	})
	t.Preview = func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) { return b.Shown, nil }
	return []toolcrib.Tool{t}, nil
}

// name is what the change is called in a call of the tool.
func (b *Box) name() string {
	if b.Change.Call != "" {
		return b.Change.Call
	}
	return b.Change.Slot
}

// Input is the input of the call.
func (b *Box) Input() map[string]string {
	return map[string]string{"path": b.Change.Path, "of": b.name()}
}

func (b *Box) restore(env *toolcrib.Env) (string, error) {
	if err := b.unlinked(env); err != nil {
		return "", err
	}
	switch c := b.Change; {
	case c.Slot != "":
		return b.fromTrash(env)
	case c.New:
		return b.removeNew(env)
	}
	return b.writeBack(env)
}

// unlinked refuses a path that links lead elsewhere now: paths are kept after links, so
// that one that has any was put there since, and the file behind it is another.
func (b *Box) unlinked(env *toolcrib.Env) error {
	path := b.Change.Path
	if b.Change.Slot != "" { // nothing is there, and what the end of it is does not matter
		path = filepath.Dir(path)
	}
	leads, err := env.Files.Real(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it is told where it is used
	case err != nil:
		return err
	case leads != path:
		return fmt.Errorf("%s leads to %s by a link now, which is another file and stays as it is", path, leads)
	}
	return nil
}

// keep remembers what this call changes, so that it can be taken back as well.
func (b *Box) keep(env *toolcrib.Env, c Change) {
	if b.Keep != nil {
		c.Call, c.Subject, c.Path = env.Call.ID, env.Call.Caller.Subject, b.Change.Path
		_ = b.Keep(c) // it is no reason to leave the file as it is
	}
}

// writeBack writes what the file held before.
func (b *Box) writeBack(env *toolcrib.Env) (string, error) {
	c := b.Change
	now, was, err := env.Files.ReadFile(c.Path, maxRestored)
	if err != nil {
		return "", err
	}
	if !was.Same(c.After) {
		return "", files.ErrChanged
	}
	b.keep(env, Change{Before: now, After: files.StampOf(c.Before)})
	if err := env.Files.WriteFile(c.Path, c.Before, &c.After); err != nil {
		return "", err
	}
	return fmt.Sprintf("The file holds again what it held before: %d bytes.", len(c.Before)), nil
}

// removeNew moves a file that the call made to the trash.
func (b *Box) removeNew(env *toolcrib.Env) (string, error) {
	c := b.Change
	was, err := env.Files.Stamp(c.Path)
	if err != nil {
		return "", err
	}
	if !was.Same(c.After) {
		return "", files.ErrChanged
	}
	gone, err := env.Files.Remove(c.Path)
	if err != nil {
		return "", err
	}
	b.keep(env, Change{Slot: gone.Slot, Type: gone.Type})
	return "The file that the call made is in the trash.", nil
}

// fromTrash puts a removed file back where it was, if nothing is there.
func (b *Box) fromTrash(env *toolcrib.Env) (string, error) {
	c := b.Change
	one, err := b.Trash.Get(c.Slot)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it is not in the trash any more")
	}
	if err != nil {
		return "", err
	}
	if one.Path != c.Path {
		return "", errors.New("what lies there in the trash was somewhere else")
	}
	if err := Movable(b.Trash, one); err != nil {
		return "", err
	}
	if _, err := env.Files.Lstat(c.Path); err == nil {
		return "", fmt.Errorf("there is a file at its place again, which stays as it is: %s", c.Path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	data, err := plainfile.Read(b.Trash.Entry(c.Slot), maxRestored)
	if err != nil {
		return "", err
	}
	b.keep(env, Change{New: true, After: files.StampOf(data)})
	if err := env.Files.WriteFile(c.Path, data, &files.Stamp{}); err != nil {
		return "", err
	}
	said := fmt.Sprintf("The file is back: %d bytes.", len(data))
	if one.Mode&0o111 != 0 {
		said += " It was executable, and is not any more: chmod +x makes it so."
	}
	if err := b.Trash.Drop(c.Slot); err != nil {
		said += " It is still in the trash too."
	}
	return said, nil
}

// Movable says why something of the trash cannot be put back by the tool, and how a person
// can do it.
func Movable(t Trash, one Removed) error {
	switch {
	case one.Type == "directory":
		return fmt.Errorf("it was an empty directory; make it again: mkdir -p %s", text.ShellQuote(one.Path))
	case one.Type == "link":
		return fmt.Errorf("it was a link; make it again: ln -s %s %s", text.ShellQuote(one.Target), text.ShellQuote(one.Path))
	case one.Size > maxRestored:
		return fmt.Errorf("it is larger than %d MiB; move it yourself: mv %s %s", maxRestored>>20, text.ShellQuote(t.Entry(one.ID)), text.ShellQuote(one.Path))
	}
	return nil
}
