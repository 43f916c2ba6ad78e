package agent

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// mendObject reads an object that is no JSON but can only mean one thing: in a fence of
// Markdown, with a comma behind the last member, with line breaks within texts, or with
// Python's words for true, false and null. What was cut off is never completed: nobody
// knows how it would have gone on.
func mendObject(raw []byte) (json.RawMessage, bool) {
	s := bytes.TrimSpace(raw)
	if rest, ok := bytes.CutPrefix(s, []byte("```")); ok {
		rest = bytes.TrimPrefix(rest, []byte("json"))
		if s, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte("```")); !ok {
			return nil, false
		}
		s = bytes.TrimSpace(s)
	}
	if len(s) == 0 || s[0] != '{' {
		return nil, false
	}
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			end := textEnd(s, i)
			if end < 0 {
				return nil, false
			}
			out = appendText(out, s[i:end])
			i = end
		case c == ',':
			next := jsontext.SkipSpace(s, i+1)
			if next < len(s) && (s[next] == '}' || s[next] == ']') {
				i = next
				continue
			}
			out = append(out, c)
			i++
		case c == 'T' || c == 'F' || c == 'N':
			word, value := pythonWord(s[i:])
			if word == "" {
				return nil, false
			}
			out = append(out, value...)
			i += len(word)
		default:
			out = append(out, c)
			i++
		}
	}
	if !json.Valid(out) {
		return nil, false
	}
	return out, true
}

// textEnd finds the end of a text that may have line breaks in it.
func textEnd[S jsontext.Text](s S, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// appendText writes the signs that may not stand in a text as escapes.
func appendText(out, s []byte) []byte {
	for _, c := range s {
		switch {
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		default:
			out = append(out, c)
		}
	}
	return out
}

func pythonWord(s []byte) (word, value string) {
	for word, value := range map[string]string{"True": "true", "False": "false", "None": "null"} {
		if bytes.HasPrefix(s, []byte(word)) {
			return word, value
		}
	}
	return "", ""
}
