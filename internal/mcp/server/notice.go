package server

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// withNotices puts what vetters say about a prompt before its words. It goes into the first
// message where that is a text, since some clients show their models no other; else it is a
// message itself. Nil: there is nothing to say, or no message to say it about.
func withNotices(messages json.RawMessage, contents []toolcrib.Content) (json.RawMessage, error) {
	var notices strings.Builder
	for _, c := range contents {
		if c.Notice {
			notices.WriteString(c.Text + "\n\n")
		}
	}
	said := notices.String()
	var list []map[string]json.RawMessage
	if said == "" || messages == nil {
		return nil, nil
	}
	if err := json.Unmarshal(messages, &list); err != nil || len(list) == 0 {
		return nil, err
	}
	var first struct{ Type, Text string }
	content := objectMembers(list[0]["content"])
	if json.Unmarshal(list[0]["content"], &first) == nil && first.Type == "text" && content != nil {
		content["text"] = jsontext.Quote(said + first.Text)
		changed, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		list[0]["content"] = changed
	} else {
		notice := map[string]json.RawMessage{"role": json.RawMessage(`"user"`), "content": append(append(json.RawMessage(`{"type":"text","text":`), jsontext.Quote(said)...), '}')}
		list = append([]map[string]json.RawMessage{notice}, list...)
	}
	return json.Marshal(list)
}
