package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// escape writes everything as %XX but the characters that mean nothing in an address, and
// those in keep.
func escape(s, keep string) string {
	const hex = "0123456789ABCDEF"
	plain := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~' || strings.IndexByte(keep, c) >= 0
	}
	i := 0
	for i < len(s) && plain(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+16), s[:i]...)
	for ; i < len(s); i++ {
		if c := s[i]; plain(c) {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

// reserved are the characters that allowReserved leaves as they are in a query: those
// that neither end it nor divide it.
const reserved = ":/?@!$'()*;"

// atom is a value as a text: numbers as they were written, objects and lists as JSON.
func atom(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	text, err := jsontext.Marshal(v)
	return strings.TrimSpace(string(text)), err
}

// pairs are the members of an object in a fixed order, without those that are null.
func pairs(o map[string]any) []string {
	keys := slices.Sorted(maps.Keys(o))
	return slices.DeleteFunc(keys, func(k string) bool { return o[k] == nil })
}

// joined writes the elements of a list, or names and values of an object in turn.
func joined(v any, sep, keep string, esc bool) (string, error) {
	write := func(v any) (string, error) {
		s, err := atom(v)
		if esc {
			s = escape(s, keep)
		}
		return s, err
	}
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s, err := write(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
	case map[string]any:
		for _, k := range pairs(v) {
			name, _ := write(k)
			s, err := write(v[k])
			if err != nil {
				return "", err
			}
			parts = append(parts, name, s)
		}
	default:
		return write(v)
	}
	return strings.Join(parts, sep), nil
}

// assigned writes the members of an object as name=value.
func assigned(o map[string]any, sep, keep string, esc bool) (string, error) {
	var parts []string
	for _, k := range pairs(o) {
		s, err := atom(o[k])
		if err != nil {
			return "", err
		}
		if esc {
			k, s = escape(k, keep), escape(s, keep)
		}
		parts = append(parts, k+"="+s)
	}
	return strings.Join(parts, sep), nil
}

// isEmpty reports whether a list or an object has nothing in it.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(pairs(v)) == 0
	}
	return false
}

var errEmptyPath = errors.New("a value of the path is empty: that would call another operation")

// noDots refuses a value that some server could read as a way upwards.
func noDots(s string) error {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return fmt.Errorf("%s leads upwards: that would call another operation", strconv.QuoteToASCII(s[:min(len(s), 100)]))
		}
	}
	return nil
}
