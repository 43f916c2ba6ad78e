package files

import (
	"errors"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Whoever reads a part of a file is shown what stands there in the whole file:
// a part of a key does not look like one, and neither does a key in an encoding
// that the file does not have. So values are hidden before anything is cut or
// found.

// covered is a text with its hidden values behind marks. It has as many lines
// as the text itself, so that line numbers stay what they are.
func (b *Box) covered(text string) (string, error) {
	if b.cfg.Hide == nil {
		return text, nil
	}
	hidden, err := b.cfg.Hide(text)
	if err != nil || len(hidden) == 0 {
		return text, err
	}
	var out strings.Builder
	at := 0
	for _, h := range hidden {
		from, to := max(h.From, at), min(h.To, len(text))
		if from >= to {
			continue
		}
		out.WriteString(text[at:from])
		out.WriteString(b.cfg.Mark)
		for range strings.Count(text[from:to], "\n") {
			out.WriteString("\n" + b.cfg.Mark)
		}
		at = to
	}
	out.WriteString(text[at:])
	return out.String(), nil
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
