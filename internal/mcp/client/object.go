package client

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// isObject reports whether a text is one valid JSON object.
func isObject(text []byte) bool {
	i := jsontext.SkipSpace(text, 0)
	return i < len(text) && text[i] == '{' && json.Valid(text)
}
