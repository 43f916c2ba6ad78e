package files

import (
	"io"
	"unicode/utf8"
)

// newlines reads a text as Unicode means it to be cut into lines: whatever ends
// one comes out as a single newline, and a byte that is no text as U+FFFD.
type newlines struct {
	r    io.Reader
	raw  []byte // read and not yet looked at
	out  []byte // ready to be given
	buf  [16 << 10]byte
	err  error
	skip bool // the last was a carriage return: a line feed belongs to it
}

// Read implements [io.Reader].
func (n *newlines) Read(p []byte) (int, error) {
	for len(n.out) == 0 {
		if n.err != nil && len(n.raw) == 0 {
			return 0, n.err
		}
		n.fill()
		n.turn()
	}
	k := copy(p, n.out)
	n.out = n.out[k:]
	return k, nil
}

func (n *newlines) fill() {
	if n.err != nil {
		return
	}
	kept := copy(n.buf[:], n.raw)
	var got int
	got, n.err = n.r.Read(n.buf[kept:])
	n.raw = n.buf[:kept+got]
}

// turn looks at what was read, but for a character that is not there in full.
func (n *newlines) turn() {
	out := n.out[:0:0]
	for len(n.raw) > 0 {
		if n.err == nil && !utf8.FullRune(n.raw) {
			break
		}
		r, size := utf8.DecodeRune(n.raw)
		n.raw = n.raw[size:]
		after := n.skip
		n.skip = r == '\r'
		switch r {
		case '\n':
			if after {
				continue
			}
			out = append(out, '\n')
		case '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			out = append(out, '\n')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	n.out = out
}
