package skill

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

const (
	maxFront       = 64 << 10 // bytes of a front matter
	maxName        = 200      // letters of a name; the format has 64
	maxDescription = 2048     // letters of a description; the format has 1024
)

// describe reads what a skill says of itself. It is mild: a skill is left out
// only if it does not say what it is for. Notes tell what is odd.
func (b *Box) describe(s *Skill, text []byte) (notes []string, err error) {
	front, body, err := split(text)
	if err != nil {
		return nil, err
	}
	how := noFront
	var fields map[string]any
	if front != nil {
		fields, how = b.fields(front)
	}
	if how != "" {
		notes = append(notes, how)
	}
	if how == looseNote && bytes.Contains(front, []byte("gate:")) {
		return nil, errors.New("its front matter is no YAML, so that nobody can tell what its gate asks for")
	}
	if s.Gate, err = gateOf(fields); err != nil {
		return nil, err
	}
	if is, ok := fields["disable-model-invocation"].(bool); ok && is {
		return nil, errors.New("it says that models are not to use it")
	}
	s.Name = line(scalar(fields["name"]), maxName)
	s.Description = clean(strings.TrimSpace(scalar(fields["description"])), maxDescription)
	s.License, s.Compatibility = line(scalar(fields["license"]), 200), line(scalar(fields["compatibility"]), 500)
	s.AllowedTools = words(fields["allowed-tools"])
	if s.Description == "" {
		if s.Description = clean(summary(body), maxSummary); s.Description == "" {
			return nil, errors.New("it has no description, which says when it is of use")
		}
		notes = append(notes, "it has no description, and goes by how its text begins")
	}
	dir := path.Base(s.dir)
	if s.dir == "." {
		dir = "" // the place itself, or a single file: its directory need not be the skill's own
	}
	switch {
	case s.Name == "" && dir == "":
		return nil, errors.New("it has no name")
	case s.Name == "":
		s.Name = line(dir, maxName)
		notes = append(notes, "it has no name, and goes by that of its directory")
	case dir != "" && dir != s.Name:
		notes = append(notes, fmt.Sprintf("its name %q is not that of its directory", s.Name))
	}
	if utf8.RuneCountInString(s.Name) > 64 {
		notes = append(notes, "its name is longer than 64 letters")
	}
	return notes, nil
}

// split takes a file apart: front matter between two lines of three dashes,
// and the instructions after it. A file without one is instructions alone.
func split(text []byte) (front []byte, body string, err error) {
	if !utf8.Valid(text) {
		return nil, "", errors.New("it is not UTF-8")
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	text = bytes.TrimLeft(text, " \t\n")
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if string(bytes.TrimRight(first, " \t")) != "---" {
		return nil, strings.TrimSpace(string(text)), nil
	}
	for at := 0; at < len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(rest)-at, len(rest)
		}
		if string(bytes.TrimRight(rest[at:at+end], " \t")) == "---" {
			if at > maxFront {
				return nil, "", fmt.Errorf("its front matter is larger than %d bytes", maxFront)
			}
			return rest[:at:at], strings.TrimSpace(string(rest[next:])), nil
		}
		at = next
	}
	return nil, "", errors.New("its front matter has no end")
}

// noFront tells of a file that is instructions alone.
const noFront = "it does not begin with a front matter"

// maxSummary bounds what stands for a description that is missing.
const maxSummary = 300

// summary is how a text begins: its first heading, and the first lines of text.
func summary(body string) string {
	var heading, first string
	for l := range strings.Lines(body) {
		l = strings.TrimSpace(l)
		switch title := strings.TrimLeft(l, "#"); {
		case title != l:
			if heading == "" && first == "" {
				heading = strings.TrimSpace(title)
				continue
			}
		case l != "" && !strings.HasPrefix(l, "```") && strings.Trim(l, "-=*_ ") != "":
			first = strings.TrimSpace(first + " " + l)
			continue
		}
		if first != "" {
			break
		}
	}
	if heading != "" && first != "" {
		heading += ": "
	}
	return heading + first
}

// scalar is a value as a text; what is none is no text.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// words reads a list as people write it: a YAML list, or a text with commas or
// spaces. A comma or space in brackets belongs to its word.
func words(v any) []string {
	var list []string
	add := func(text string) {
		if text = line(text, 200); text != "" && len(list) < 100 {
			list = append(list, text)
		}
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			add(scalar(e))
		}
	case string:
		depth, from := 0, 0
		for at, r := range v {
			switch {
			case r == '(':
				depth++
			case r == ')':
				depth = max(0, depth-1)
			case depth == 0 && (r == ',' || unicode.IsSpace(r)):
				add(v[from:at])
				from = at + utf8.RuneLen(r)
			}
		}
		add(v[from:])
	}
	return list
}

// line is a text on one line.
func line(text string, most int) string {
	return clean(strings.Join(strings.Fields(text), " "), most)
}

// clean writes out what cannot be seen, and bounds a text. A description is shown
// to models and people: both have to see the same.
func clean(s string, most int) string {
	return text.ClipRunes(text.ShowForeign(strings.ToValidUTF8(s, "\uFFFD")), most)
}
