package schema

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
			return AppendString(dst, d.dec[n.a:n.b])
		}
	}
	return append(dst, d.text[n.start:n.end]...)
}

// AppendString appends s as a JSON string in canonical form: only the quote, the backslash and control characters are
// escaped. s must be valid UTF-8, as everything that comes out of a Doc is.
func AppendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for j, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:j]...)
		from = j + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
