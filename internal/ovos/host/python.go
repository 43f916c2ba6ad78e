package host

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// value is a JSON value as a Python host sees it.
type value struct {
	raw        json.RawMessage
	text       string // what str() gives for scalars; "" for what is absent
	kind       string // the name of its type; "str" for what is absent
	unhashable string // the type's name, if it cannot be a key
	falsy      bool
}

// pythonValue reads a sound JSON value.
func pythonValue(raw json.RawMessage) value {
	v := value{raw: bytes.TrimSpace(raw), kind: "str"}
	if len(v.raw) == 0 {
		v.falsy = true
		return v
	}
	switch v.raw[0] {
	case '"':
		if err := json.Unmarshal(v.raw, &v.text); err != nil {
			v.text = "" // cannot be: it was scanned
		}
		v.falsy = v.text == ""
	case 'n':
		v.text, v.kind, v.falsy = "None", "NoneType", true
	case 't':
		v.text, v.kind = "True", "bool"
	case 'f':
		v.text, v.kind, v.falsy = "False", "bool", true
	case '[', '{':
		v.kind = "list"
		if v.raw[0] == '{' {
			v.kind = "dict"
		}
		v.falsy = len(bytes.TrimSpace(v.raw[1:len(v.raw)-1])) == 0
		v.unhashable = v.kind
	default:
		v.number()
	}
	return v
}

func (v *value) number() {
	text := string(v.raw)
	if !strings.ContainsAny(text, ".eE") {
		v.kind, v.text = "int", text
		if text == "-0" {
			v.text = "0"
		}
		v.falsy = v.text == "0"
		return
	}
	f, err := strconv.ParseFloat(text, 64)
	v.kind, v.falsy = "float", err == nil && f == 0
	v.text = pythonFloat(f)
}

// pythonFloat writes a number as repr() does: the shortest digits, with an
// exponent for the very small and from 1e16 on.
func pythonFloat(f float64) string {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	_, exp, _ := strings.Cut(text, "e")
	if n, err := strconv.Atoi(exp); err != nil || n < -4 || n >= 16 {
		return text
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// echo is the value in an answer: itself, if it may be sent and is no longer
// than a name should be.
func (v value) echo() json.RawMessage {
	if v.falsy || v.unhashable != "" {
		return json.RawMessage(`""`)
	}
	if len(v.raw) <= maxName {
		if _, err := bus.Object(map[string]json.RawMessage{"name": v.raw}); err == nil {
			return v.raw
		}
	}
	raw, err := json.Marshal(text.Clip(v.text, maxName))
	if err != nil {
		return json.RawMessage(`""`) // cannot be: every text has a JSON form
	}
	return raw
}

const (
	missingName = "Missing required field: 'name'"
	nameIsText  = "invalid: a tool is named by a text"

	maxName   = 256
	maxDetail = 16 << 10
)

// shown is a name as a message shows it: a model may read that, or a person.
func (v value) shown() string { return text.ShowLine(text.Clip(v.text, maxName)) }

func unknownTool(name value) string { return "Unknown tool: '" + name.shown() + "'" }

func unhashable(v value) string { return "TypeError: unhashable type: '" + v.unhashable + "'" }
