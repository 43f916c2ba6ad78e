package schema

import "github.com/toolcrib/toolcrib/internal/jsontext"

// AppendCanonical appends the one form that all texts with the same content share: keys sorted bytewise, no white space,
// no escape that is not needed. Number literals stay as they were written, so 1 and 1.0 remain two texts.
func (d *Doc) AppendCanonical(dst []byte) []byte {
	if d.sorted && d.tight {
		return append(dst, d.text...)
	}
	return d.appendNode(dst, 0)
}

func (d *Doc) appendNode(dst []byte, i uint32) []byte {
	n := &d.nodes[i]
	switch n.kind {
	case Object:
		dst = append(dst, '{')
		for j, k := range d.keys(i) {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = d.appendNode(dst, k)
			dst = append(dst, ':')
			dst = d.appendNode(dst, k+1)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		c := i + 1
		for j := range n.b {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = d.appendNode(dst, c)
			c = d.nodes[c].next
		}
		return append(dst, ']')
	case String:
		if n.flags&flagEscaped != 0 {
			return jsontext.AppendString(dst, d.dec[n.a:n.b])
		}
	}
	return append(dst, d.text[n.start:n.end]...)
}
