package vault

import (
	"context"
	"fmt"
	"strings"
)

const refOpen = "${secret:"

// Part is a piece of a text: plain, or the name of a secret to stand there.
type Part struct {
	Text   string
	Secret string // a name, if this piece is a reference
}

// ParseText takes a text apart at its references, which are written
// ${secret:NAME}. With a second $ in front it is plain text, less that $.
// Everything else is plain: ${VAR} is somebody else's, and $(…) is never run by
// anybody. What looks like a reference and is none is an error, since it would
// be sent to a server as it stands; the error tells the place and not the text,
// in which the secret itself may have been pasted.
func ParseText(text string) ([]Part, error) {
	var parts []Part
	plain := 0 // where the plain piece began
	add := func(end int) {
		if end > plain {
			parts = append(parts, Part{Text: text[plain:end]})
		}
	}
	for i := 0; i < len(text); {
		next := strings.IndexByte(text[i:], '$')
		if next < 0 {
			break
		}
		i += next
		switch {
		case strings.HasPrefix(text[i+1:], refOpen):
			add(i)
			plain = i + 1
			i += 1 + len(refOpen)
		case strings.HasPrefix(text[i:], refOpen):
			name, err := refName(text[i+len(refOpen):])
			if err != nil {
				return nil, fmt.Errorf("reference at byte %d: %w", i, err)
			}
			add(i)
			parts = append(parts, Part{Secret: name})
			i += len(refOpen) + len(name) + 1
			plain = i
		case nearRef(text[i+1:]):
			return nil, fmt.Errorf("reference at byte %d: %w", i, invalid("a secret is written ${secret:NAME}, in small letters and without spaces"))
		default:
			i++
		}
	}
	add(len(text))
	return parts, nil
}

// refName takes the name from the text behind the colon.
func refName(text string) (string, error) {
	end := strings.IndexByte(text[:min(len(text), maxName+1)], '}')
	if end < 0 {
		if strings.IndexByte(text, '}') < 0 {
			return "", invalid("it has no closing }")
		}
		return "", invalid("it has no closing } within %d bytes", maxName)
	}
	return text[:end], CheckName(text[:end])
}

// nearRef reports whether the text behind a $ was meant as a reference:
// ${Secret:NAME} or ${ secret : NAME }. The forms that shells give to a
// variable with a default, ${SECRET:-x}, are not.
func nearRef(text string) bool {
	const blank = " \t"
	text, ok := strings.CutPrefix(text, "{")
	if !ok {
		return false
	}
	text = strings.TrimLeft(text, blank)
	const word = "secret"
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return false
	}
	text, ok = strings.CutPrefix(strings.TrimLeft(text[len(word):], blank), ":")
	return ok && (text == "" || strings.IndexByte("-=?+", text[0]) < 0)
}

// Expand puts secrets in place of the references of a text. A value is put in
// as it is: what looks like a reference in it stays. The function is one like
// Granted makes, so that a text gets no more than its reader may have.
func Expand(ctx context.Context, text string, secret func(context.Context, string) (string, error)) (string, error) {
	parts, err := ParseText(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Secret == "" {
			b.WriteString(p.Text)
			continue
		}
		value, err := secret(ctx, p.Secret)
		if err != nil {
			return "", fmt.Errorf("expanding ${secret:%s}: %w", p.Secret, err)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}
