package clientfiles

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// jsonEdit changes a JSON text in place. Positions come from the parsed tree,
// and every byte outside of the change stays.
type jsonEdit struct {
	src []byte
	eol string
}

func eolOf(src []byte) string {
	if bytes.Contains(src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indentAt gives the blanks at the beginning of the line of a position, and
// whether nothing else stands before it.
func indentAt(src []byte, at int) (indent string, first bool) {
	begin := bytes.LastIndexByte(src[:at], '\n') + 1
	line := src[begin:at]
	blanks := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:blanks]), blanks == len(line)
}

// unit gives one step of indentation as the file has it: between an object and
// its first member, or else the root and its own.
func (e jsonEdit) unit(objects ...value) string {
	for _, o := range objects {
		if len(o.fields) == 0 {
			continue
		}
		outer, _ := indentAt(e.src, o.start)
		inner, first := indentAt(e.src, o.fields[0].start)
		if step, ok := strings.CutPrefix(inner, outer); ok && first && step != "" {
			return step
		}
	}
	return "  "
}

func splice(src []byte, from, to int, text string) []byte {
	return slices.Concat(src[:from], []byte(text), src[to:])
}

// commentsEnd gives where the last comment between two tokens ends, or the
// beginning if there is none, and whether that comment runs to the line's end.
func commentsEnd(src []byte, from int) (end int, line bool) {
	end = from
	for at := from; at < len(src); {
		switch {
		case bytes.HasPrefix(src[at:], []byte("//")):
			n := bytes.IndexByte(src[at:], '\n')
			if n < 0 {
				return len(src), true
			}
			at += n
			end, line = at, true
			if src[end-1] == '\r' {
				end--
			}
		case bytes.HasPrefix(src[at:], []byte("/*")):
			n := bytes.Index(src[at+2:], []byte("*/"))
			if n < 0 {
				return end, line
			}
			at += 2 + n + 2
			end, line = at, false
		case src[at] == ' ' || src[at] == '\t' || src[at] == '\n' || src[at] == '\r':
			at++
		default:
			return end, line
		}
	}
	return end, line
}

// insert adds a member at the end of an object.
func (e jsonEdit) insert(root, object value, name string, v value) []byte {
	if len(object.fields) == 0 {
		return e.insertFirst(root, object, name, v)
	}
	last := object.fields[len(object.fields)-1]
	indent, own := indentAt(e.src, last.start)
	st := style{unit: e.unit(object, root), eol: e.eol, flat: !own}
	before := e.eol + indent
	if !own {
		before = " "
	}
	from, comma := last.value.end, ""
	if last.comma >= 0 {
		from, comma = last.comma+1, ","
	}
	at, line := commentsEnd(e.src, from)
	if line && !own {
		before = e.eol
	}
	out := splice(e.src, at, at, before+quote(name)+": "+st.json(v, indent)+comma)
	if comma == "" {
		out = splice(out, last.value.end, last.value.end, ",")
	}
	return out
}

func (e jsonEdit) insertFirst(root, object value, name string, v value) []byte {
	outer, _ := indentAt(e.src, object.start)
	unit := e.unit(root)
	indent := outer + unit
	at, _ := commentsEnd(e.src, object.start+1)
	text := e.eol + indent + quote(name) + ": " + style{unit: unit, eol: e.eol}.json(v, indent)
	if !bytes.Contains(e.src[at:object.end], []byte("\n")) {
		text += e.eol + outer
	}
	return splice(e.src, at, at, text)
}

// replace puts another value in the place of a member's.
func (e jsonEdit) replace(root, object value, i int, v value) []byte {
	f := object.fields[i]
	indent, own := indentAt(e.src, f.start)
	st := style{unit: e.unit(object, root), eol: e.eol, flat: !own}
	return splice(e.src, f.value.start, f.value.end, st.json(v, indent))
}

// remove takes a member out, with its comma, or with the one before it if it is
// the last.
func (e jsonEdit) remove(object value, i int) []byte {
	f := object.fields[i]
	begin := object.start + 1
	if i > 0 {
		begin = object.fields[i-1].comma + 1
	}
	from, line := commentsEnd(e.src, begin)
	to := f.value.end
	if f.comma >= 0 {
		to = f.comma + 1
	}
	// A line comment before it would swallow what follows on the same line.
	if rest := bytes.TrimLeft(e.src[to:], " \t\r"); line && !bytes.HasPrefix(rest, []byte("\n")) {
		from = f.start
	}
	out := splice(e.src, from, to, "")
	if f.comma < 0 && i > 0 {
		comma := object.fields[i-1].comma
		out = splice(out, comma, comma+1, "")
	}
	return out
}

var errTwice = errors.New("a key on the way to the server is given twice, and programs differ in which one counts: remove one by hand")

// objectAt follows a path to an object. missing is how many keys of the path
// are not there yet.
func objectAt(root value, path []string) (object value, missing int, err error) {
	object = root
	for i, name := range path {
		if count(object, name) > 1 {
			return object, 0, errTwice
		}
		next, ok := object.get(name)
		if !ok {
			return object, len(path) - i, nil
		}
		if next.kind != kindTable {
			return object, 0, errors.New("the key " + strings.Join(path[:i+1], ".") + " holds " + next.kind.String() + ", not a table of servers: correct it by hand")
		}
		object = next
	}
	return object, 0, nil
}

func count(object value, name string) (n int) {
	for _, f := range object.fields {
		if f.name == name {
			n++
		}
	}
	return n
}
