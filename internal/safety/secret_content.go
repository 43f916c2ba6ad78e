package safety

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// contents takes secrets out of the pieces of a result. All their texts are
// looked at as one, once with a line end between two, as they are shown, and
// once without: a key may come line by line, or be cut anywhere. That it is one
// look also means that many small pieces cost what one large one does.
func (l *resultScan) contents(list []toolcrib.Content) {
	var shown, small []*string // what is read in a row, and what stands alone
	for i := range list {
		c := &list[i]
		for _, s := range []*string{&c.Type, &c.MIME, &c.URI, &c.Name} {
			if *s != "" && (s != &c.Type || !plainType(c.Type)) {
				small = append(small, s)
			}
		}
		if c.Text != "" {
			c.Text = l.resolved(c.Text)
			shown = append(shown, &c.Text)
		}
		l.data(c)
		if len(c.More) > 0 {
			c.More = l.json(c.More)
		}
	}
	l.joined(small, "\n", false)
	if len(shown) > 1 {
		l.joined(shown, "", true)
	}
	l.joined(shown, "\n", false)
}

func plainType(kind string) bool {
	return slices.Contains([]string{"text", "image", "audio", "resource", "link"}, kind)
}

// joined looks at texts as one. If across, only what lies in more than one of
// them counts: where they are put together letters meet that do not belong.
func (l *resultScan) joined(texts []*string, between string, across bool) {
	whole := ""
	if len(texts) == 1 {
		whole = *texts[0]
	} else {
		var b strings.Builder
		for _, t := range texts {
			b.WriteString(*t)
			b.WriteString(between)
		}
		whole = b.String()
	}
	found := l.scanner.Find(whole, l.known)
	if len(found) == 0 {
		return
	}
	at := 0
	for _, t := range texts {
		from, to := at, at+len(*t)
		at = to + len(between)
		for len(found) > 0 && found[0].End <= from {
			found = found[1:]
		}
		var here []secrets.Finding
		for _, f := range found {
			if f.Start >= to {
				break
			}
			if across && f.Start >= from && f.End <= to {
				continue
			}
			l.note([]secrets.Finding{f})
			f.Start, f.End = max(f.Start, from)-from, min(f.End, to)-from
			here = append(here, f)
		}
		*t = secrets.StrikeOut(*t, here)
	}
}

// data takes secrets out of bytes: all of them where they can be read as text,
// and else what is known.
func (l *resultScan) data(c *toolcrib.Content) {
	if len(c.Data) == 0 {
		return
	}
	text := string(c.Data)
	var found []secrets.Finding
	switch readable(c.MIME, c.Data) {
	case readText:
		text = l.resolved(text)
		found = l.scanner.Find(text, l.known)
	case readUnknown:
		found = l.known.Find(text, 0)
	default:
		found = l.known.Find(text, pictureLeast)
	}
	l.note(found)
	if clean := secrets.StrikeOut(text, found); clean != string(c.Data) {
		c.Data = []byte(clean)
	}
}

// pictureLeast is the length of a value that is looked for in pictures and
// sounds: a shorter one is in them by chance, and its place is none to write in.
const pictureLeast = 8

// reading says how bytes are read.
type reading uint8

const (
	readUnknown reading = iota // it may be text, in some encoding
	readText
	readPicture // or sound, or letters
)

// readable goes by the type first and then by the bytes.
func readable(kind string, data []byte) reading {
	if name, _, err := mime.ParseMediaType(kind); err == nil {
		kind = name
	}
	kind = strings.ToLower(strings.TrimSpace(kind))
	family, _, _ := strings.Cut(kind, "/")
	switch {
	case kind == "image/svg+xml", textual(kind):
		return readText
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0: // whatever it is called, no picture is like this
		return readText
	case slices.Contains([]string{"image", "audio", "video", "font"}, family):
		return readPicture
	}
	return readUnknown
}

// textual are the types that are read as text whatever the bytes are.
func textual(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	return slices.Contains([]string{"json", "ndjson", "jsonl", "xml", "yaml", "toml", "javascript", "ecmascript", "typescript", "sql", "sh", "shellscript", "python", "php", "perl", "ruby",
		"graphql", "rtf", "tex", "latex", "httpd-php", "www-form-urlencoded", "xhtml", "markdown", "csv", "pem-file"}, strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-"))
}
