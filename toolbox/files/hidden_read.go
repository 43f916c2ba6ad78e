package files

import (
	"bytes"
	"errors"
	"io"

	"github.com/toolcrib/toolcrib/files"
)

// Whoever reads a part of a file is shown what stands there in the whole file:
// a part of a key does not look like one, and neither does a key in an encoding
// that the file does not have. So values are hidden before anything is cut or
// found.

// The windows that a text is looked through in. What is hidden is shorter than
// the part of a window that is looked at once more with what follows; and what
// it is hidden for, such as its name on the line before, stands no further away
// than the part that is looked at once more with what went before.
const (
	windowSize = 4 << 20
	windowTail = 64 << 10
	windowHead = 1 << 20
)

// covered gives a text piece by piece, with its hidden values behind marks. It
// has as many lines as the text itself, so that line numbers stay what they are.
// Whole reads the same text from its beginning: one that is longer than a window
// is looked through before anything of it is given, since what is hidden in one
// place is hidden in all of them.
func (b *Box) covered(r io.Reader, whole func() io.Reader, piece func([]byte) error) error {
	w := &windows{r: r}
	var all *survey
	for !w.end {
		window, err := w.next()
		if err != nil {
			return err
		}
		if all == nil && !w.end {
			if all, err = b.survey(whole()); err != nil {
				return err
			}
		}
		l, err := b.viewWindow(all, window)
		if err != nil {
			return err
		}
		given := w.given
		cut := w.pass(window, l.hidden)
		shown := b.marked(window[given:cut], spansBeyond(l.hidden, given))
		if l.wide && bytes.IndexByte(shown, 0) >= 0 {
			shown = bytes.Repeat([]byte{'\n'}, bytes.Count(shown, []byte{'\n'}))
		}
		if err := piece(shown); err != nil {
			return err
		}
	}
	return nil
}

// windows cuts a text into windows that overlap.
type windows struct {
	r     io.Reader
	rest  []byte // of the last window, looked at once more with the next
	given int    // how much of it was given already
	end   bool   // the last window was the last one
}

func (w *windows) next() ([]byte, error) {
	buffer := bytes.NewBuffer(w.rest)
	_, err := io.CopyN(buffer, w.r, windowSize)
	if w.end = errors.Is(err, io.EOF); err != nil && !w.end {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// pass goes on to the next window, and tells up to where this one is given.
func (w *windows) pass(window []byte, hidden []Span) (cut int) {
	cut = len(window)
	if !w.end {
		cut = max(cutPlace(window, hidden), w.given)
	}
	from := max(cut-windowHead, 0)
	if n := bytes.IndexByte(window[from:cut], '\n'); from > 0 && n >= 0 {
		from += n + 1
	}
	w.rest, w.given = bytes.Clone(window[from:]), cut-from
	return cut
}

// spansBeyond gives the spans that reach beyond a place, as seen from there.
func spansBeyond(hidden []Span, at int) []Span {
	if at == 0 {
		return hidden
	}
	var out []Span
	for _, h := range hidden {
		if h.To > at {
			out = append(out, Span{max(h.From-at, 0), h.To - at})
		}
	}
	return out
}

// cutPlace gives where a window can be cut: behind a line, and behind what is
// hidden.
func cutPlace(window []byte, hidden []Span) int {
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
var errOtherEncoding = errors.New("the file holds values that are hidden, and in this encoding they would be shown: read it without encoding, or in the one that it is written in")

// sameText makes sure that the encoding in which a file is to be read does not
// show what is hidden in it in another one: not in the one that the file seems to
// have, nor in those that it could have.
func (b *Box) sameText(files *files.Handle, in readIn) error {
	if b.cfg.Hide == nil {
		return nil
	}
	data, err := b.wholeFile(files, in.Path)
	if err != nil {
		return err
	}
	encoding := guess(data[:min(len(data), 8<<10)])
	wide := encoding == encUTF16LE || encoding == encUTF16BE
	zeros := bytes.IndexByte(data, 0) >= 0
	if in.auto() && (encoding == encBinary || !wide && !zeros) {
		return nil // nothing of it is shown, or it is text of one kind only
	}
	natural := decode(data, encoding)
	chosen := natural
	if !in.auto() {
		chosen = decode(data, in.Encoding)
	}
	readings := []string{natural}
	if wide {
		readings = append(readings, decode(data, encUTF8), decode(data, encLatin1))
	}
	if zeros {
		readings = append(readings, decode(data, encUTF16LE), decode(data, encUTF16BE))
		if in.Encoding != encUTF16LE && in.Encoding != encUTF16BE && !wide {
			readings = append(readings, string(bytes.ReplaceAll(data, []byte{0}, nil)))
		}
	}
	for _, text := range readings {
		if text == chosen && in.Encoding != encBase64 {
			continue // what it hides is hidden
		}
		hidden, err := b.cfg.Hide(text)
		if err != nil {
			return err
		}
		if len(hidden) > 0 {
			return errOtherEncoding
		}
	}
	return nil
}

// hides reports whether a file that looks like a picture holds a text with
// something hidden in it.
func (b *Box) hides(data []byte) (bool, error) {
	if b.cfg.Hide == nil {
		return false, nil
	}
	for _, text := range []string{string(data), string(bytes.ReplaceAll(data, []byte{0}, nil))} {
		if hidden, err := b.cfg.Hide(text); err != nil || len(hidden) > 0 {
			return true, err
		}
	}
	return false, nil
}

// wholeFile reads a file as far as it can be judged as a whole.
func (b *Box) wholeFile(files *files.Handle, name string) (data []byte, err error) {
	file, _, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, b.cfg.MaxEdit))
}
