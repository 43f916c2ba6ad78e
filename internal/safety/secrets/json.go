package secrets

import (
	"bytes"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// part is a string of a JSON text, or a stretch of other text between two.
type part struct {
	from, to         int // in the JSON text, with the quotes
	flatFrom, flatTo int // its content in the flat text
	isString, isKey  bool
}

// flatten gives a JSON text with the escapes in its strings resolved. The
// scanner sees the rest as well: the key before a value tells what it is, and a
// key that is spread over a list of lines is one key.
func flatten(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var flat strings.Builder
	flat.Grow(len(raw))
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			n = len(raw) - at
		}
		if n > 0 {
			flat.Write(raw[at : at+n])
			at += n
			continue
		}
		end := jsontext.StringEnd(raw, at)
		flat.WriteByte('"')
		unquote(&flat, raw[at:end])
		flat.WriteByte('"')
		at = end
	}
	return flat.String()
}

// parts goes through what flat was made of. It is asked only where something
// was found, and keeps nothing: a text can be millions of empty strings.
func parts(raw []byte, see func(part)) {
	var scratch strings.Builder
	flat := 0
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			n = len(raw) - at
		}
		if n > 0 {
			see(part{from: at, to: at + n, flatFrom: flat, flatTo: flat + n})
			at, flat = at+n, flat+n
			continue
		}
		t := part{from: at, to: jsontext.StringEnd(raw, at), flatFrom: flat + 1, isString: true}
		size := max(0, t.to-t.from-2)
		if bytes.IndexByte(raw[t.from:t.to], '\\') >= 0 {
			scratch.Reset()
			unquote(&scratch, raw[t.from:t.to])
			size = scratch.Len()
		}
		t.flatTo = t.flatFrom + size
		at, flat = t.to, t.flatTo+1
		next := at
		for next < len(raw) && space(raw[next]) {
			next++
		}
		t.isKey = next < len(raw) && raw[next] == ':'
		see(t)
	}
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// unquote writes what a string token stands for. Broken bytes stay as they are:
// places are counted in bytes.
func unquote(out *strings.Builder, quoted []byte) {
	if len(quoted) < 2 {
		return
	}
	body := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		out.Write(body)
		return
	}
	said, _ := jsontext.AppendUnescaped(make([]byte, 0, len(body)), body)
	out.Write(said)
}
