package files

import (
	"bytes"
	"errors"
	"io"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// WriteFrom is [Handle.WriteFile] for content that is too long to be held in memory: it is written
// to the disk as it comes, beside the file, and takes its place when it is whole. It gives how
// many bytes that were. If the content ends with an error, nothing has changed.
func (f *Handle) WriteFrom(name string, from io.Reader) (int64, error) {
	head, err := io.ReadAll(io.LimitReader(from, sensitive.MaxKey+1))
	if err != nil {
		return 0, err
	}
	if len(head) <= sensitive.MaxKey {
		return int64(len(head)), f.WriteFile(name, head, nil)
	}
	counted := &counter{from: io.MultiReader(bytes.NewReader(head), from)}
	used := false
	err = f.write(name, head, func() (io.Reader, error) {
		if used { // it was read, and does not come again
			return nil, failure(name, "it was replaced while it was written; call again", ErrChanged)
		}
		used = true
		return counted, nil
	}, nil)
	if counted.err != nil && !errors.Is(counted.err, io.EOF) {
		err = counted.err // not a matter of the file
	}
	return counted.n, err
}

// counter counts what is read, and remembers why that ended.
type counter struct {
	from io.Reader
	n    int64
	err  error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
