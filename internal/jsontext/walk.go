package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// ErrNoObject says that a text is not a JSON object.
var ErrNoObject = errors.New("not a JSON object")

// SkipSpace gives the place of the next sign that is no white space.
func SkipSpace[S Text](text S, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// StringEnd gives the place behind the string that opens at i, which is the end
// of the text if it is not closed.
func StringEnd[S Text](text S, i int) int {
	end, _, _ := ScanString(text, i)
	return end
}

// ScanString is StringEnd for callers that want to know whether the string has
// escapes, and whether it is closed.
func ScanString[S Text](text S, i int) (end int, escaped, closed bool) {
	open := i
	for i++; i <= len(text); i++ {
		quote := indexByte(text, i, '"')
		if quote < 0 {
			break
		}
		i = quote
		slashes := 0
		for i-1-slashes > open && text[i-1-slashes] == '\\' {
			slashes++ // an even number of them escapes itself, not the quote
		}
		if slashes%2 == 0 {
			return i + 1, indexByte(text[:i], open+1, '\\') >= 0, true
		}
	}
	return len(text), open < len(text) && indexByte(text, open+1, '\\') >= 0, false
}

// ValueEnd gives the place behind the value that begins at i.
func ValueEnd[S Text](text S, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = StringEnd(text, i)
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

// Depth counts how deep a valid text is nested.
func Depth[S Text](text S) int {
	deepest, now := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = StringEnd(text, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// Member is one member of an object, as it is written.
type Member struct {
	Key   string          // what the name says
	Name  []byte          // as it is written, in quotes
	Value json.RawMessage // as it is written
}

// Members takes an object apart without decoding its values. The text has to be
// valid JSON; each gets the members in order, and ends the walk by returning
// false.
func Members(text []byte, each func(Member) bool) error {
	i := SkipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return ErrNoObject
	}
	i = SkipSpace(text, i+1)
	for i < len(text) && text[i] == '"' {
		end := StringEnd(text, i)
		name := text[i:end:end]
		key, ok := Unquote(name)
		if !ok {
			return ErrNoObject
		}
		i = SkipSpace(text, end)
		if i >= len(text) || text[i] != ':' {
			return ErrNoObject
		}
		i = SkipSpace(text, i+1)
		end = ValueEnd(text, i)
		if !each(Member{key, name, text[i:end:end]}) {
			return nil
		}
		i = SkipSpace(text, end)
		if i < len(text) && text[i] == ',' {
			i = SkipSpace(text, i+1)
		}
	}
	if i >= len(text) || text[i] != '}' {
		return ErrNoObject
	}
	return nil
}

// Lookup gives the member of an object, nil if there is none. Of several with
// the same name it is the last, as for encoding/json.
func Lookup(text []byte, key string) json.RawMessage {
	var found json.RawMessage
	err := Members(text, func(m Member) bool {
		if m.Key == key {
			found = m.Value
		}
		return true
	})
	if err != nil {
		return nil
	}
	return found
}

// indexByte finds a byte from i on, -1 if there is none.
func indexByte[S Text](text S, i int, c byte) int {
	n := -1
	switch t := any(text[i:]).(type) {
	case string:
		n = strings.IndexByte(t, c)
	case []byte:
		n = bytes.IndexByte(t, c)
	}
	if n < 0 {
		return -1
	}
	return n + i
}
