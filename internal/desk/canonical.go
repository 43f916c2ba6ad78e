package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep arguments may be nested to be normalised.
const maxDepth = 128

var errAmbiguous = errors.New("the text can be read in more than one way")

// canonical writes JSON so that two texts that mean the same are the same:
// without space, keys sorted, strings in one spelling. Numbers stay as they are
// written: 1 and 1.0 are the same to some tools only.
//
// A text that two readers may understand differently (a key that stands there
// twice, broken characters) is an error: it must not be taken for any other.
func canonical(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, errAmbiguous
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	out, err := appendValue(nil, dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errAmbiguous
	}
	return out, nil
}

func appendValue(out []byte, dec *json.Decoder, depth int) ([]byte, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		if v {
			return append(out, "true"...), nil
		}
		return append(out, "false"...), nil
	case json.Number:
		return append(out, v...), nil
	case string:
		return appendString(out, v)
	case json.Delim:
		if depth >= maxDepth {
			return nil, errAmbiguous
		}
		if v == '[' {
			return appendList(out, dec, depth)
		}
		return appendObject(out, dec, depth)
	}
	return nil, errAmbiguous
}

func appendList(out []byte, dec *json.Decoder, depth int) ([]byte, error) {
	out = append(out, '[')
	for first := true; dec.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, dec, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return append(out, ']'), nil
}

func appendObject(out []byte, dec *json.Decoder, depth int) ([]byte, error) {
	type member struct {
		key   string
		value []byte
	}
	var members []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errAmbiguous
		}
		value, err := appendValue(nil, dec, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, member{key, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return nil, errAmbiguous
			}
			out = append(out, ',')
		}
		var err error
		if out, err = appendString(out, m.key); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}'), nil
}

// appendString refuses the sign that decoding puts in place of half a
// character: it no longer tells what stood there.
func appendString(out []byte, s string) ([]byte, error) {
	if strings.ContainsRune(s, utf8.RuneError) {
		return nil, errAmbiguous
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append(out, text...), nil
}
