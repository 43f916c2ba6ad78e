package server

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/redact"
)

// clean takes the secrets out of a text that somebody else wrote.
func (s *Server) clean(text string) string {
	if s.cfg.Crib.RedactText != nil {
		return s.cfg.Crib.RedactText(text)
	}
	return redact.Text(text)
}

// cleanJSON does the same with valid JSON: by its keys, and by the words of its
// strings, since such are written for people.
func (s *Server) cleanJSON(text json.RawMessage) json.RawMessage {
	if s.cfg.Crib.Redact != nil {
		text = s.cfg.Crib.Redact(text)
	} else {
		text = redact.JSON(text)
	}
	return eachString(text, s.clean)
}

// eachString changes the strings of valid JSON that are no keys. It copies only
// if there is something to change.
func eachString(text json.RawMessage, change func(string) string) json.RawMessage {
	var out []byte
	kept := 0 // everything before this is in out already
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := jsontext.StringEnd([]byte(text), i)
		if said, ok := jsonText(text[i:end]); ok && !bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), []byte(":")) {
			if changed := change(said); changed != said {
				out = jsontext.AppendString(append(out, text[kept:i]...), changed)
				kept = end
			}
		}
		i = end - 1
	}
	if out == nil {
		return text
	}
	return append(out, text[kept:]...)
}
