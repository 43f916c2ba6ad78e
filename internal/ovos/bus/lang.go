package bus

import (
	"bytes"
	"encoding/json"
)

// Langs gives the languages that a message names, in the order in which the clients
// of the field go by them: its data, its context, its session. Tags come as they are
// written (de-DE, de_de); a message may name none.
func (m Message) Langs() []string {
	var list []string
	data, session := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	objectMembers(m.Data, data)
	objectMembers(m.Context["session"], session)
	for _, raw := range []json.RawMessage{data["lang"], m.Context["lang"], session["lang"]} {
		if tag := stringOf(bytes.TrimSpace(raw)); tag != "" {
			list = append(list, tag)
		}
	}
	return list
}

// objectMembers reads the members of an object; of anything else there are none.
func objectMembers(raw json.RawMessage, found map[string]json.RawMessage) {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		members(raw, found)
	}
}
