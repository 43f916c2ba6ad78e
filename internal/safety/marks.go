package safety

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// Marks refuses calls that would write a mark of redaction. A model that was
// shown [redacted] in the place of a secret and hands on what it saw would
// overwrite the secret with the mark, and nobody would see it.
//
// A tool that changes nothing may be given a mark, since a search for one is
// harmless. The tools of Except put back what a mark stands for, or refuse it
// themselves.
type Marks struct {
	Except []string // boxes
	// Effects is what one call can do as far as a guard understood its input. Nil,
	// or an answer of zero: what the tool declares.
	Effects func(ctx context.Context, r toolcrib.Review) toolcrib.Effects
}

// Judge implements [toolcrib.Guard]. It denies, or says nothing.
func (m Marks) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if slices.Contains(m.Except, r.Spec.Box) || r.Spec.Effects.ReadOnly() {
		return nil, nil
	}
	place, err := markedPlace(r.Input)
	if err != nil || place == "" {
		return nil, err
	}
	if m.Effects != nil {
		// What a command line only reads may start programs, but not change anything.
		if e := m.Effects(ctx, r); e != 0 && (e &^ toolcrib.Runs).ReadOnly() && e.All()&toolcrib.Network == 0 {
			return nil, nil
		}
	}
	return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "secrets", Rule: "mark", Reason: fmt.Sprintf(
		"%s has %s in it, which stands for a value that was not shown, and would be written as it is. "+
			"Change files with edit_file or write_file, which put the value back where it was; if the word itself is meant, write it in another way, such as (redacted)",
		place, secrets.Mark)}, nil
}

// markedPlace finds the first argument that has a mark in it.
func markedPlace(input []byte) (place string, err error) {
	const word = "redacted" // a look for most inputs, which have neither
	if !bytes.Contains(input, []byte(word)) && !bytes.Contains(input, []byte(`\u`)) {
		return "", nil
	}
	err = secrets.All(input, "input", func(v *secrets.Visit) {
		if text, isText := v.Token(); place == "" && isText && strings.Contains(text, secrets.Mark) {
			place = Neutral(strings.TrimPrefix(v.Path(), "input."))
		}
	})
	return place, err
}
