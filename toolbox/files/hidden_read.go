package files

import (
	"bytes"
	"errors"
	"io"

	"github.com/toolcrib/toolcrib"
)

// Whoever reads a part of a file is shown what stands there in the whole file:
// a part of a key does not look like one, and neither does a key in an encoding
// that the file does not have. So values are hidden before anything is cut or
// found.

// The windows that a text is looked through in. What is hidden is shorter than
// the part of a window that is looked at once more with what follows.
const (
	windowSize = 4 << 20
	windowTail = 64 << 10
)

// covered gives a text piece by piece, with its hidden values behind marks. It
// has as many lines as the text itself, so that line numbers stay what they are.
func (b *Box) covered(r io.Reader, piece func([]byte) error) error {
	var rest []byte
	for end := false; !end; {
		buffer := bytes.NewBuffer(rest)
		_, err := io.CopyN(buffer, r, windowSize)
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return err
		}
		window := buffer.Bytes()
		hidden, err := b.cfg.Hide(string(window))
		if err != nil {
			return err
		}
		cut := len(window)
		if !end {
			cut = apart(window, hidden)
		}
		if err := piece(b.marked(window[:cut], hidden)); err != nil {
			return err
		}
		rest = bytes.Clone(window[cut:])
	}
	return nil
}

// apart gives where a window can be cut: behind a line, and behind what is
// hidden.
func apart(window []byte, hidden []Span) int {
	cut := len(window) - windowTail
	if n := bytes.LastIndexByte(window[:cut], '\n'); n >= 0 {
		cut = n + 1
	}
	for _, h := range hidden {
		if h.From < cut && h.To > cut {
			return min(h.To, len(window))
		}
	}
	return cut
}

// marked puts marks in the place of spans, one in each line.
func (b *Box) marked(text []byte, hidden []Span) []byte {
	if len(hidden) == 0 {
		return text
	}
	var out bytes.Buffer
	at := 0
	for _, h := range hidden {
		from, to := max(h.From, at), min(h.To, len(text))
		if from >= to {
			continue
		}
		out.Write(text[at:from])
		out.WriteString(b.cfg.Mark)
		for range bytes.Count(text[from:to], []byte{'\n'}) {
			out.WriteString("\n" + b.cfg.Mark)
		}
		at = to
	}
	out.Write(text[at:])
	return out.Bytes()
}

// errOtherEncoding: a text that is read in another way than it was written
// shows what is hidden.
var errOtherEncoding = errors.New("the file holds values that are hidden, and in this encoding they would be shown: read it without encoding")

// sameText makes sure that an encoding which the caller chose does not show
// what is hidden in the file as it is.
func (b *Box) sameText(files *toolcrib.Files, in readIn) error {
	if b.cfg.Hide == nil || in.auto() {
		return nil
	}
	data, err := b.wholeFile(files, in.Path)
	if err != nil {
		return err
	}
	natural := decode(data, guess(data[:min(len(data), 8<<10)]))
	hidden, err := b.cfg.Hide(natural)
	if err != nil || len(hidden) == 0 {
		return err
	}
	if in.Encoding == encBase64 || decode(data, in.Encoding) != natural {
		return errOtherEncoding
	}
	return nil
}

// wholeFile reads a file as far as it can be judged as a whole.
func (b *Box) wholeFile(files *toolcrib.Files, name string) (data []byte, err error) {
	file, _, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, b.cfg.MaxEdit))
}
