package safety

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// SecretVetter looks for secrets in what a tool gave back: in its value, its
// texts, and its data if that is text. It goes by rules and by what is known,
// not by the names of keys: a page token has to reach the model.
type SecretVetter struct {
	Secrets
	Mode SecretMode
}

// Vet gives the result without its secrets, with a note about them, or an error.
func (v SecretVetter) Vet(_ context.Context, _ toolcrib.Review, given *toolcrib.Result) (*toolcrib.Result, error) {
	scanner, known, err := v.ready()
	if err != nil {
		return nil, err
	}
	look := &resultScan{scanner: scanner, known: known}
	clean := *given
	clean.Content = slices.Clone(given.Content)
	if len(given.Value) > 0 {
		clean.Value = look.json(given.Value)
	}
	if len(given.More) > 0 {
		clean.More = look.json(given.More)
	}
	look.contents(clean.Content)
	switch {
	case len(look.rules) == 0:
		return given, nil
	case v.Mode == SecretRedact:
		return &clean, nil
	case v.Mode == SecretWarn:
		return flagged(given, look.rules), nil
	}
	return nil, &toolcrib.Error{Code: toolcrib.CodeDenied,
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

// resultScan goes through one result and keeps what it found.
type resultScan struct {
	scanner *secrets.Scanner
	known   *secrets.Known
	rules   []string
}

func (l *resultScan) note(found []secrets.Finding) {
	for _, f := range found {
		if !slices.Contains(l.rules, f.Rule) {
			l.rules = append(l.rules, f.Rule)
		}
	}
}

func (l *resultScan) json(text json.RawMessage) json.RawMessage {
	clean, found := l.scanner.RedactFound(text, l.known)
	l.note(found)
	return clean
}

// resolved takes out of a text that is JSON what is only seen with its escapes
// resolved.
func (l *resultScan) resolved(text string) string {
	head := strings.TrimLeft(text, " \t\r\n")
	if head != "" && (head[0] == '{' || head[0] == '[') && strings.Contains(head, `\`) && json.Valid([]byte(head)) {
		return string(l.json(json.RawMessage(text)))
	}
	return text
}
