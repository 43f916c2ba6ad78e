package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guard/secrets"
)

// SecretVetter looks for secrets in what a tool gave back: in its value, its
// texts, and its data if that is text. It goes by rules and by what is known,
// not by the names of keys: a page token has to reach the model.
type SecretVetter struct {
	Secrets
	Mode SecretMode
}

// seam is how much of two neighbouring texts is looked at together.
const seam = 8 << 10

// Vet gives the result without its secrets, with a note about them, or an error.
func (v SecretVetter) Vet(_ context.Context, _ toolcrib.Review, given *toolcrib.Result) (*toolcrib.Result, error) {
	scanner, known, err := v.ready()
	if err != nil {
		return nil, err
	}
	look := &secretLook{scanner: scanner, known: known}
	clean := *given
	clean.Content = slices.Clone(given.Content)
	if len(given.Value) > 0 {
		if !json.Valid(given.Value) {
			return nil, fmt.Errorf("looking for secrets: the value is not JSON")
		}
		clean.Value = look.json(given.Value)
	}
	look.seams(clean.Content)
	for i := range clean.Content {
		look.content(&clean.Content[i])
	}
	switch {
	case len(look.rules) == 0:
		return given, nil
	case v.Mode == SecretRedact:
		return &clean, nil
	case v.Mode == SecretWarn:
		return flagged(given, look.rules), nil
	}
	return nil, &toolcrib.Error{Code: toolcrib.Denied,
		Message: "the tool ran, but its result holds what looks like a secret (" + strings.Join(look.rules, ", ") + ") and is held back"}
}

// flagged puts a note behind a result. A result without contents is shown by
// its value, so that gets a content of its own first.
func flagged(given *toolcrib.Result, rules []string) *toolcrib.Result {
	r := *given
	r.Content = slices.Clone(given.Content)
	if len(r.Content) == 0 && len(r.Value) > 0 {
		r.Content = append(r.Content, toolcrib.Content{Type: "text", Text: string(r.Value)})
	}
	r.Content = append(r.Content, toolcrib.Content{Type: "text",
		Text: "Note: this result holds what looks like a secret (" + strings.Join(rules, ", ") + "). Do not repeat it and do not send it anywhere."})
	return &r
}

// secretLook goes through one result and keeps what it found.
type secretLook struct {
	scanner *secrets.Scanner
	known   *secrets.Known
	rules   []string
}

func (l *secretLook) note(found []secrets.Finding) {
	for _, f := range found {
		if !slices.Contains(l.rules, f.Rule) {
			l.rules = append(l.rules, f.Rule)
		}
	}
}

func (l *secretLook) json(text json.RawMessage) json.RawMessage {
	clean, found := l.scanner.RedactFound(text, l.known)
	l.note(found)
	return clean
}

func (l *secretLook) text(text string) string {
	head := strings.TrimLeft(text, " \t\r\n")
	if head != "" && (head[0] == '{' || head[0] == '[') && strings.Contains(head, `\`) && json.Valid([]byte(head)) {
		text = string(l.json(json.RawMessage(text)))
	}
	found := l.scanner.Find(text, l.known)
	l.note(found)
	return secrets.StrikeOut(text, found)
}

func (l *secretLook) content(c *toolcrib.Content) {
	c.Text, c.URI, c.Name = l.text(c.Text), l.text(c.URI), l.text(c.Name)
	if len(c.Data) > 0 && readableData(c.MIME, c.Data) {
		if clean := l.text(string(c.Data)); clean != string(c.Data) {
			c.Data = []byte(clean)
		}
	}
}

// seams looks for what begins in one text and ends in the next.
func (l *secretLook) seams(contents []toolcrib.Content) {
	last := -1
	for i := range contents {
		if contents[i].Text == "" {
			continue
		}
		if last >= 0 {
			l.seam(&contents[last].Text, &contents[i].Text)
		}
		last = i
	}
}

func (l *secretLook) seam(a, b *string) {
	from, to := max(0, len(*a)-seam), min(len(*b), seam)
	tail, head := (*a)[from:], (*b)[:to]
	var across []secrets.Finding
	for _, f := range l.scanner.Find(tail+head, l.known) {
		if f.Start < len(tail) && f.End > len(tail) {
			across = append(across, f)
		}
	}
	if len(across) == 0 {
		return
	}
	l.note(across)
	first, second := slices.Clone(across), slices.Clone(across)
	for i, f := range across {
		first[i].End = len(tail)
		second[i].Start, second[i].End = 0, f.End-len(tail)
	}
	*a = (*a)[:from] + secrets.StrikeOut(tail, first)
	*b = secrets.StrikeOut(head, second) + (*b)[to:]
}

// readableData reports whether data can be read as a text.
func readableData(kind string, data []byte) bool {
	if name, _, err := mime.ParseMediaType(kind); err == nil {
		kind = name
	}
	switch {
	case strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"), strings.HasPrefix(kind, "video/"), strings.HasPrefix(kind, "font/"):
		return kind == "image/svg+xml"
	}
	return utf8.Valid(data)
}
