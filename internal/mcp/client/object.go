package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// member is one member of an object, as it is written.
type member struct {
	key   []byte // what the name says
	name  []byte // as it is written, in quotes
	value json.RawMessage
}

var errNoObject = errors.New("not a JSON object")

// members takes an object apart without decoding its values: results can be
// large, and only one or two of their members matter here. Text has to be valid
// JSON; each gets the members in order, and ends the walk by returning false.
func members(text []byte, each func(m member) bool) error {
	i := space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return errNoObject
	}
	i = space(text, i+1)
	for i < len(text) && text[i] == '"' {
		end := skip(text, i)
		name := text[i:end:end]
		key, err := unquote(name)
		if err != nil {
			return err
		}
		i = space(text, end)
		if i >= len(text) || text[i] != ':' {
			return errNoObject
		}
		i = space(text, i+1)
		end = skip(text, i)
		if !each(member{key, name, text[i:end:end]}) {
			return nil
		}
		i = space(text, end)
		if i < len(text) && text[i] == ',' {
			i = space(text, i+1)
		}
	}
	if i >= len(text) || text[i] != '}' {
		return errNoObject
	}
	return nil
}

// lookup gives the member of an object, nil if there is none. Of several with
// the same name it is the last, as for encoding/json.
func lookup(text []byte, key string) json.RawMessage {
	var found json.RawMessage
	err := members(text, func(m member) bool {
		if string(m.key) == key {
			found = m.value
		}
		return true
	})
	if err != nil {
		return nil
	}
	return found
}

// unquote gives what a string says; most say what is written.
func unquote(text []byte) ([]byte, error) {
	if len(text) >= 2 && bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text[1 : len(text)-1], nil
	}
	var s string
	err := json.Unmarshal(text, &s)
	return []byte(s), err
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// skip gives the end of the value that begins at i.
func skip(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // a number or a word ends here
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// skipString gives the end of the string that begins at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n
		slashes := 0
		for i-1-slashes >= 0 && text[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return len(text)
}

// isObject reports whether a text is one valid JSON object.
func isObject(text []byte) bool {
	i := space(text, 0)
	return i < len(text) && text[i] == '{' && json.Valid(text)
}
