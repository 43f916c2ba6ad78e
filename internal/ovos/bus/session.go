package bus

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// DefaultSession is the id of the session that the voice assistant itself
// owns. Python clients keep every other id they see for ever, so a program
// that must differ uses one stable id, never a new one per message.
const DefaultSession = "default"

// SessionID is the id of the session a message belongs to; a message that names
// none belongs to the default session.
func (m Message) SessionID() string {
	if id := sessionID(m.Context["session"]); id != "" {
		return id
	}
	return DefaultSession
}

func sessionID(session json.RawMessage) string {
	session = bytes.TrimSpace(session)
	if len(session) == 0 || session[0] != '{' {
		return ""
	}
	found := map[string]json.RawMessage{}
	members(session, found)
	return stringOf(found["session_id"])
}

// newSession is the least that is a session.
func newSession(id string) json.RawMessage {
	return append(append([]byte(`{"session_id":`), jsontext.Quote(id)...), '}')
}

// soundSession makes a session of whatever stands in a context: readers
// disconnect over one that is no object, and mint and keep a new session for
// each message whose session has no id.
func soundSession(session json.RawMessage) json.RawMessage {
	if sessionID(session) != "" {
		return session
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(session, &object); err != nil || object == nil {
		return newSession(DefaultSession)
	}
	object["session_id"] = jsontext.Quote(DefaultSession)
	raw, err := json.Marshal(object)
	if err != nil {
		return newSession(DefaultSession)
	}
	return raw
}

func checkSession(session json.RawMessage) error {
	if err := checkValue(session, 2, true); err != nil {
		return err
	}
	if sessionID(session) == "" {
		return errors.New("session_id is not a text")
	}
	return nil
}
