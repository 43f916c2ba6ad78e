// Package files is the toolbox of files: reading, writing, editing and
// removing them (group fs), listing, finding and searching them (group
// search).
//
// Programs and internal/app import it. Its one invariant: it touches nothing
// but what Env.Files hands out, and changes no file that is not as its caller
// last saw it.
//
// Hidden files are files like others. Walks never go into a directory named
// .git unless they begin in one, never follow links, and skip what is
// protected.
package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Config sets up the box. The zero value of each field is its default.
type Config struct {
	MaxRead   int64 // bytes of a file in one answer of read_file; default 256 KiB
	MaxEdit   int64 // bytes of a file that is edited, added to or shown as a difference; default 16 MiB
	MaxImage  int64 // bytes of an image in an answer; default 4 MiB
	MaxFound  int   // files in one answer of find_files; default 2000
	MaxAnswer int   // bytes of names and lines in one answer of the search tools; default 1 MiB

	// Hide finds the parts of a text that callers are not shown, in order and
	// apart, and Mark is what they see in the place of each. A caller that writes
	// the mark back gets the hidden part put back where it was, and nowhere else.
	// Nil: everything is shown, and no text is a mark.
	Hide func(text string) ([]Span, error)
	Mark string // empty: [redacted]
	// Again makes a memory of values for a text that is too long for Hide to see it
	// as a whole. Nil: each of its parts is looked at by itself.
	Again func() Again
	// Keep is told what a call is about to change, so that a person can take it back.
	// Nil: nobody wants to know.
	Keep func(Kept)
}

// Kept is what a call does to one file.
type Kept struct {
	Call, Subject string
	Path          string // absolute, after links
	Before        []byte // what the file held; nil if New or Slot
	New           bool   // there was no file
	After         files.Stamp
	Slot          string // of what was removed: the directory in the trash that holds it
	Type          string // of what was removed: file, directory or link
}

func (c Config) filled() Config {
	return Config{
		MaxRead:   cmp.Or(c.MaxRead, 256<<10),
		MaxEdit:   cmp.Or(c.MaxEdit, 16<<20),
		MaxImage:  cmp.Or(c.MaxImage, 4<<20),
		MaxFound:  cmp.Or(c.MaxFound, 2000),
		MaxAnswer: cmp.Or(c.MaxAnswer, 1<<20),
		Hide:      c.Hide,
		Mark:      cmp.Or(c.Mark, "[redacted]"),
		Again:     c.Again,
		Keep:      c.Keep,
	}
}

// What profiles select these tools by.
const (
	groupFS     = "fs"
	groupSearch = "search"
)

// Box is the toolbox. It remembers, for each caller, what the files it has
// shown looked like.
type Box struct {
	cfg      Config
	seen     *memory[seenKey, knownFile]    // content as a caller last saw it
	approved *memory[approvedKey, approval] // what a person saw in a preview
}

// Open makes the box.
func Open(_ context.Context, cfg Config) (*Box, error) {
	if cfg.MaxRead < 0 || cfg.MaxEdit < 0 || cfg.MaxImage < 0 || cfg.MaxFound < 0 || cfg.MaxAnswer < 0 {
		return nil, errors.New("opening toolbox files: a limit is negative")
	}
	return &Box{cfg: cfg.filled(), seen: newMemory[seenKey, knownFile](8192), approved: newMemory[approvedKey, approval](1024)}, nil
}

// Name is the name of the box.
func (b *Box) Name() string { return "files" }

// Tools lists the tools of the box.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	return []toolcrib.Tool{
		b.readFile(), b.writeFile(), b.editFile(), b.deleteFile(),
		b.listFiles(), b.findFiles(), b.searchFiles(),
	}, nil
}

// granted gives the handle of a call, or says that there is none.
func granted(env *toolcrib.Env) (*files.Handle, error) {
	if env.Files == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: refusal.NoDirectory}
	}
	return env.Files, nil
}

// refused reports whether an error is an answer of its own, not a failure
// that a tool describes in its output.
func refused(err error) bool {
	_, ok := toolcrib.AsError(err)
	return ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// withContent is toolcrib.Define for a tool that also answers with something
// other than its value, such as an image.
func withContent[In, Out any](s toolcrib.Spec, fn func(context.Context, *toolcrib.Env, In) (Out, []toolcrib.Content, error)) toolcrib.Tool {
	t := toolcrib.Define[In, Out](s, nil)
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "the input cannot be read: " + strings.TrimPrefix(err.Error(), "json: "), Err: err}
		}
		out, content, err := fn(ctx, env, in)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &toolcrib.Result{Value: value, Content: content}, nil
	}
	return t
}
