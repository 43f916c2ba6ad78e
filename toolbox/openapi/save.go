package openapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

var errLonger = errors.New("the answer is too long")

// save writes an answer to a file of the granted directories as it comes. What does not come
// whole changes nothing there.
func (c *call) save(ctx context.Context, a *answer, body io.Reader) error {
	if c.env.Files == nil {
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so that the answer cannot be saved; to allow one, add it to grant.write"}
	}
	in := &watched{from: bufio.NewReader(body), left: int64(c.box.cfg.MaxSave)}
	if _, err := in.from.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			return nil // an empty answer is no file
		}
		return c.broken(ctx, a, err)
	}
	n, err := c.env.Files.WriteFrom(c.saveTo, in)
	switch {
	case err == nil:
		a.saved = n
		return nil
	case errors.Is(in.err, errLonger):
		a.cut = fmt.Sprintf("it is longer than %d bytes", c.box.cfg.MaxSave)
		return nil
	case in.err != nil:
		return c.broken(ctx, a, in.err)
	}
	return err
}

// saved tells of an answer that was written to a file.
func (c *call) saved(a *answer, kind string) *toolcrib.Result {
	if a.cut != "" {
		return c.fail(a, "the answer was not saved: %s", a.cut)
	}
	return c.text(a, fmt.Sprintf("%d bytes (%s) were written to %s.", a.saved, shortKind(kind), text.ShowLine(c.saveTo)))
}

// watched reads so much and no more, and remembers what went wrong: so that one can tell a broken
// answer from a full disk.
type watched struct {
	from *bufio.Reader
	left int64
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if w.left -= int64(n); w.left < 0 {
		n, err = 0, errLonger
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
