package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Mark is what stands in the place of a secret.
const Mark = "[redacted]"

// Hit says where in a JSON text a secret is, and by which rule.
type Hit struct {
	Path string // such as args.headers[2].value, from the name that was given
	Rule string
}

// part is a string of a JSON text, or a stretch of other text between two.
type part struct {
	from, to         int // in the JSON text, with the quotes
	flatFrom, flatTo int // its content in the flat text
	isString, isKey  bool
}

// flatten gives a JSON text with the escapes in its strings resolved. The
// scanner sees the rest as well: the key before a value tells what it is, and a
// key that is spread over a list of lines is one key.
func flatten(raw []byte) (string, []part) {
	var tokens []part
	var flat strings.Builder
	flat.Grow(len(raw))
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			n = len(raw) - at
		}
		if n > 0 {
			tokens = append(tokens, part{from: at, to: at + n, flatFrom: flat.Len(), flatTo: flat.Len() + n})
			flat.Write(raw[at : at+n])
			at += n
			continue
		}
		t := part{from: at, to: stringEnd(raw, at), isString: true}
		flat.WriteByte('"')
		t.flatFrom = flat.Len()
		unquote(&flat, raw[t.from:t.to])
		t.flatTo = flat.Len()
		flat.WriteByte('"')
		at = t.to
		rest := bytes.TrimLeft(raw[at:min(len(raw), at+64)], " \t\r\n")
		t.isKey = len(rest) > 0 && rest[0] == ':'
		tokens = append(tokens, t)
	}
	return flat.String(), tokens
}

// stringEnd gives the index after the string that opens at i.
func stringEnd(raw []byte, i int) int {
	begin := i
	for i++; i < len(raw); i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for i-1-slashes > begin && raw[i-1-slashes] == '\\' {
			slashes++ // an even number of them escapes itself, not the quote
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// unquote writes what a string token stands for.
func unquote(out *strings.Builder, quoted []byte) {
	text := quoted[1:max(1, len(quoted)-1)]
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 || n+1 >= len(text) {
			out.Write(text)
			return
		}
		out.Write(text[:n])
		text = text[n:]
		switch text[1] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			size := unicodeEscape(out, text)
			text = text[size:]
			continue
		default:
			out.WriteByte(text[1])
		}
		text = text[2:]
	}
}

// unicodeEscape writes the letter of one \u or of a pair of them.
func unicodeEscape(out *strings.Builder, text []byte) int {
	one := func(text []byte) (rune, bool) {
		if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
		return rune(n), err == nil
	}
	r, ok := one(text)
	if !ok {
		out.Write(text[:2])
		return 2
	}
	if utf16.IsSurrogate(r) {
		if low, ok := one(text[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				out.WriteRune(both)
				return 12
			}
		}
	}
	out.WriteRune(r) // half a pair becomes the replacement character
	return 6
}

// Redact takes the secrets out of a valid JSON text: strings keep what is not
// secret in them, a number that is one becomes a string. It gives the text
// itself if there are none.
func (s *Scanner) Redact(raw json.RawMessage, known *Known) json.RawMessage {
	out, _ := s.RedactFound(raw, known)
	return out
}

// RedactFound is Redact that says by which rules as well. The places are those
// in the text with its escapes resolved.
func (s *Scanner) RedactFound(raw json.RawMessage, known *Known) (json.RawMessage, []Finding) {
	flat, tokens := flatten(raw)
	all := s.Find(flat, known)
	if len(all) == 0 {
		return raw, nil
	}
	found := all
	var out []byte
	keys := 0
	for _, t := range tokens {
		for len(found) > 0 && found[0].End <= t.flatFrom {
			found = found[1:]
		}
		if len(found) == 0 || found[0].Start >= t.flatTo {
			out = append(out, raw[t.from:t.to]...)
			continue
		}
		if !t.isString {
			out = append(out, literals(flat[t.flatFrom:t.flatTo], t.flatFrom, found)...)
			continue
		}
		text := strike(flat[t.flatFrom:t.flatTo], t.flatFrom, found)
		if t.isKey {
			if keys++; keys > 1 { // two keys of an object must not become one
				text = fmt.Sprintf("%s (%d)", text, keys)
			}
		}
		out = append(out, quote(text)...)
	}
	return out, all
}

// Strike takes the secrets out of a plain text.
func (s *Scanner) Strike(text string, known *Known) string {
	return StrikeOut(text, s.Find(text, known))
}

// StrikeOut takes what was found out of a text.
func StrikeOut(text string, found []Finding) string {
	if len(found) == 0 {
		return text
	}
	return strike(text, 0, found)
}

// strike puts the mark in the place of what was found in a text that begins at
// offset.
func strike(text string, offset int, found []Finding) string {
	var b strings.Builder
	kept := 0
	for _, f := range found {
		from, to := max(f.Start-offset, 0), min(f.End-offset, len(text))
		if from >= len(text) {
			break
		}
		if from < to {
			b.WriteString(text[kept:from])
			b.WriteString(Mark)
			kept = to
		}
	}
	return b.String() + text[kept:]
}

// literals does the same with numbers and names between strings: a touched one
// is replaced as a whole, signs of structure stay.
func literals(text string, offset int, found []Finding) string {
	var b strings.Builder
	const structure = "{}[]:, \t\r\n"
	for i := 0; i < len(text); {
		if strings.IndexByte(structure, text[i]) >= 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		from := i
		for i < len(text) && strings.IndexByte(structure, text[i]) < 0 {
			i++
		}
		word := text[from:i]
		for _, f := range found {
			if f.Start-offset < i && f.End-offset > from {
				word = `"` + Mark + `"`
				break
			}
		}
		b.WriteString(word)
	}
	return b.String()
}

func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return []byte(`"` + Mark + `"`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hits says where the secrets of a JSON text are; name is what the whole of it
// is called.
func (s *Scanner) Hits(raw json.RawMessage, known *Known, name string) []Hit {
	flat, tokens := flatten(raw)
	found := s.Find(flat, known)
	if len(found) == 0 {
		return nil
	}
	byEnd := map[int]string{}
	for _, t := range tokens {
		for _, f := range found {
			if f.Start < t.flatTo && f.End > t.flatFrom {
				byEnd[t.to] = f.Rule
				break
			}
		}
	}
	var hits []Hit
	last := 0
	err := walk(raw, name, func(v visit) {
		path := v.path
		for at, rule := range byEnd {
			if at > last && at <= v.end {
				if len(path) > 200 || len(s.Find(path, known)) > 0 {
					path = name // a key on the way is a secret itself
				}
				hits = append(hits, Hit{Path: path, Rule: rule})
				delete(byEnd, at)
			}
		}
		last = v.end
	})
	if err != nil || len(hits) == 0 {
		return []Hit{{Path: name, Rule: found[0].Rule}}
	}
	return hits
}

// Values calls see for every value that is no object or list, with the path
// that leads there and the last key on it.
func Values(raw json.RawMessage, name string, see func(path, key string, value json.Token)) error {
	return walk(raw, name, func(v visit) {
		if !v.isKey {
			see(v.path, v.key, v.value)
		}
	})
}

// visit is a key or a value on the way through a JSON text.
type visit struct {
	path, key string
	end       int // the place behind it
	value     json.Token
	isKey     bool
}

// level is an object or list that is open.
type level struct {
	path, key string
	list      bool
	next      int
	open      bool // a key was read, its value not yet
}

func (l *level) child() string {
	if l.list {
		return fmt.Sprintf("%s[%d]", l.path, l.next)
	}
	return l.path + "." + l.key
}

func walk(raw []byte, name string, see func(visit)) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	stack := []level{{path: name, list: true}} // the text as a list of one
	top := func() *level { return &stack[len(stack)-1] }
	path := func() string {
		if len(stack) == 1 {
			return name
		}
		return top().child()
	}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading JSON: %w", err)
		}
		v := visit{path: path(), key: top().key, end: int(dec.InputOffset()), value: tok}
		switch d, isDelim := tok.(json.Delim); {
		case isDelim && (d == '{' || d == '['):
			// A list stands under the key of its own.
			stack = append(stack, level{path: path(), key: top().key, list: d == '['})
			continue
		case isDelim:
			stack = stack[:len(stack)-1]
		case !top().list && !top().open:
			top().key, top().open = tok.(string), true
			v.path, v.isKey = top().path, true
			see(v)
			continue
		default:
			see(v)
		}
		top().next++
		top().open = false
	}
}
