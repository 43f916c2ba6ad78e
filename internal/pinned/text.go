package pinned

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	show "github.com/toolcrib/toolcrib/internal/text"
)

// Unseen says what a person does not see of a definition and a model reads; empty: nothing.
// Such a text is meant for one of them only. A definition with a member that is there
// twice is refused.
func Unseen(text json.RawMessage) (unseen string, err error) {
	if halves(text) {
		unseen = "it has halves of letters, of which nobody can see which they are"
	}
	err = Texts(text, func(s string) error {
		if r, found := show.FirstHidden(strings.ReplaceAll(s, "\r\n", "\n")); found && unseen == "" {
			unseen = fmt.Sprintf("it has letters that cannot be seen (U+%04X)", r)
		}
		return nil
	})
	return unseen, err
}

// halves reports whether a text has half a letter in it, as one has that was cut in
// the middle of an emoji: two that differ there have one fingerprint.
func halves(text []byte) bool {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); {
		r, n := jsontext.Escape(text, i)
		if half, ok := jsontext.EscapedUnit(text, i); ok && r == utf8.RuneError && utf16.IsSurrogate(half) {
			return true
		}
		i += max(n, 1)
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			return false
		}
		i += next
	}
	return false
}

// Texts gives every text of a value, decoded, and refuses one with a member that
// is there twice.
func Texts(value json.RawMessage, each func(string) error) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	type level struct{ names map[string]bool } // nil: an array
	var open []level
	key := false // a member's name comes next
	for {
		if len(open) == 0 && dec.InputOffset() > 0 {
			return nil
		}
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, level{map[string]bool{}})
			case '[':
				open = append(open, level{})
			default:
				open = open[:len(open)-1]
			}
			key = len(open) > 0 && open[len(open)-1].names != nil
			continue
		case string:
			if err := each(t); err != nil {
				return err
			}
			if key {
				names := open[len(open)-1].names
				if names[t] {
					return fmt.Errorf("it has two members %q", t)
				}
				names[t] = true
				key = false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1].names != nil
	}
}

// Canonical is the same for two texts that differ in space and the order of
// members only.
func Canonical(text json.RawMessage) (string, error) {
	var value any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return "", err
	}
	plain, err := json.Marshal(value) // members come out sorted
	return string(plain), err
}

// Sum is a fingerprint without a key.
func Sum(canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	return hex.EncodeToString(sum[:])
}
