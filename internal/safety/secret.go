package safety

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// SecretMode is what is done about a secret that was found.
type SecretMode uint8

// The modes. The zero value takes secrets out and lets the rest through.
const (
	SecretRedact SecretMode = iota
	SecretBlock
	SecretWarn
)

func (m SecretMode) String() string {
	if m > SecretWarn {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return [...]string{"redact", "block", "warn"}[m]
}

// UnmarshalText reads the word; anything else blocks and is an error.
func (m *SecretMode) UnmarshalText(text []byte) error {
	for _, known := range []SecretMode{SecretRedact, SecretBlock, SecretWarn} {
		if string(text) == known.String() {
			*m = known
			return nil
		}
	}
	*m = SecretBlock
	return fmt.Errorf("unknown mode %q: want block, redact or warn", text)
}

// Secrets finds and takes out secrets for the guard, the vetter, the journal
// and the desk. Scanner is needed and is asked when something has to be looked
// over for the first time: sync.OnceValues(secrets.New) is what it is made for.
type Secrets struct {
	Scanner func() (*secrets.Scanner, error)
	// Known gives the values that are always secrets, as they are now. Nil, and
	// a nil set: none.
	Known func() *secrets.Known
}

func (s Secrets) ready() (*secrets.Scanner, *secrets.Known, error) {
	if s.Scanner == nil {
		return nil, nil, errors.New("looking for secrets: there is no scanner")
	}
	scanner, err := s.Scanner()
	if err != nil {
		return nil, nil, fmt.Errorf("looking for secrets: %w", err)
	}
	if s.Known == nil {
		return scanner, nil, nil
	}
	return scanner, s.Known(), nil
}

// RedactJSON takes secrets out of a JSON text by the names of its keys, by
// rules and by what is known, for people who have to see the rest of it.
// Without a scanner nothing of it is left.
func (s Secrets) RedactJSON(text json.RawMessage) json.RawMessage {
	scanner, known, err := s.ready()
	if err != nil || !json.Valid(text) {
		return json.RawMessage(`"` + secrets.Mark + `"`)
	}
	return secrets.RedactBy(redact.JSON(text), func(flat string) []secrets.Finding { return shownFindings(scanner, known, flat) })
}

// RedactText does the same with a plain text.
func (s Secrets) RedactText(text string) string {
	scanner, known, err := s.ready()
	if err != nil {
		return secrets.Mark
	}
	// By rules first: the core sees words, and a key of many lines is more.
	return redact.Text(redactText(scanner, known, text))
}

// Find tells where secrets are in a plain text, as the vetter would take them
// out of the value of a result.
func (s Secrets) Find(text string) ([]secrets.Finding, error) {
	scanner, known, err := s.ready()
	if err != nil {
		return nil, err
	}
	return scanner.Find(text, known), nil
}

// redactText takes secrets out of a text. If it is JSON it is taken as such,
// because there a secret can be written with escapes.
func redactText(scanner *secrets.Scanner, known *secrets.Known, text string) string {
	find := func(flat string) []secrets.Finding { return shownFindings(scanner, known, flat) }
	if head := strings.TrimLeft(text, " \t\r\n"); head != "" && (head[0] == '{' || head[0] == '[') && strings.Contains(head, `\`) && json.Valid([]byte(head)) {
		text = string(secrets.RedactBy(json.RawMessage(text), find))
	}
	return secrets.StrikeOut(text, find(text))
}
