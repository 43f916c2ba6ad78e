package safety

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// value makes every string and every key of a JSON text harmless and leaves
// the rest as it is, byte for byte. Where two keys would become one it is an error:
// readers would take one value or the other.
func (f *changes) value(text json.RawMessage) (json.RawMessage, error) {
	s := string(text)
	var out []byte
	last, keys := 0, false
	for i := 0; i < len(s); {
		open := strings.IndexByte(s[i:], '"')
		if open < 0 {
			break
		}
		open += i
		end, escapes, ok := jsontext.ScanString(s, open)
		if !ok {
			return nil, errors.New("the value is not JSON: a string has no end")
		}
		i = end
		now, changed, err := f.str(s[open:end], escapes)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(s)+len(s)/8+32)
		}
		out = append(out, s[last:open]...)
		out = jsontext.AppendString(out, now)
		last = end
		keys = keys || strings.HasPrefix(strings.TrimLeft(s[end:], " \t\r\n"), ":")
	}
	if out == nil {
		return text, nil
	}
	out = append(out, s[last:]...)
	if keys {
		if err := uniqueKeys(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// str makes one string, which is given with its quotes, harmless.
func (f *changes) str(quoted string, escapes bool) (now string, changed bool, err error) {
	text := quoted[1 : len(quoted)-1]
	if escapes {
		said, ok := jsontext.AppendUnescaped(nil, text)
		if text = string(said); !ok {
			return "", false, errors.New("the value is not JSON: a string has an escape that means nothing")
		}
	}
	now = f.neutral(text)
	return now, now != text, nil
}

// uniqueKeys reports an object that has a key twice.
func uniqueKeys(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil: an array
		value bool            // a value comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the value is not JSON: %w", err)
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, level{keys: map[string]bool{}})
				continue
			case '[':
				open = append(open, level{})
				continue
			}
			open = open[:top]
		case string:
			if top >= 0 && open[top].keys != nil && !open[top].value {
				if open[top].keys[t] {
					return errors.New("two keys of an object cannot be told apart once hidden characters are written out")
				}
				open[top].keys[t], open[top].value = true, true
				continue
			}
		}
		if n := len(open); n > 0 {
			open[n-1].value = false
		}
	}
}
