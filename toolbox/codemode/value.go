package codemode

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// deepestValue is how deep a value may be nested: a result around it, and that of a
// script around that, still pass as results of tools.
const deepestValue = 100

// usable gives the value of a script as every reader of results takes it. What JSON
// cannot say and JavaScript can, half a character, becomes the sign for what is broken; a
// value that would be refused as a result is told to who wrote the script, with what the
// script has done.
func usable(value json.RawMessage) (json.RawMessage, error) {
	value = wholeLetters(value)
	doc, err := schema.Parse(value, schema.Limits{Depth: deepestValue})
	if err != nil {
		return nil, &codemode.ScriptError{Name: "TypeError", Message: "the script ran to its end, but what it returned cannot be given on (" + err.Error() + "): return something flatter, or a text"}
	}
	doc.Release()
	return value, nil
}

// wholeLetters replaces the escapes of half characters.
func wholeLetters(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte(`\ud`)) && !bytes.Contains(value, []byte(`\uD`)) {
		return value
	}
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		if value[i] != '\\' {
			out = append(out, value[i])
			i++
			continue
		}
		r, size := jsontext.Escape([]byte(value), i)
		switch {
		case size == 0: // no JSON, which its reader says
			return value
		case size == 6 && r == '\uFFFD':
			out = append(out, `\ufffd`...)
		default:
			out = append(out, value[i:i+size]...)
		}
		i += size
	}
	return out
}
