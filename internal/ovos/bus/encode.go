package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Encode writes a message as a frame of exactly three keys, or says why it may
// not go out. A message without a session gets the default one.
func (m Message) Encode() ([]byte, error) {
	frame, err := m.encode()
	if err != nil {
		return nil, fmt.Errorf("encoding message %q: %w", m.Type, err)
	}
	return frame, nil
}

func (m Message) encode() ([]byte, error) {
	switch {
	case m.Type == "":
		return nil, errors.New("the type is empty")
	case !utf8.ValidString(m.Type):
		return nil, errors.New("the type is not UTF-8")
	}
	data := m.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	if err := checkValue(data, 1, true); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	session, named := m.Context["session"]
	if !named {
		session = newSession(DefaultSession)
	}
	if err := checkSession(session); err != nil {
		return nil, fmt.Errorf("context.session: %w", err)
	}

	size := len(`{"type":"","data":,"context":{"session":}}`) + len(m.Type) + len(data) + len(session)
	for key, raw := range m.Context {
		size += len(key) + len(raw) + len(`"":,`)
	}
	frame := make([]byte, 0, size)
	frame = append(frame, `{"type":`...)
	frame = append(frame, jsontext.Quote(m.Type)...)
	frame = append(frame, `,"data":`...)
	frame = append(frame, data...)
	frame = append(frame, `,"context":{"session":`...)
	frame = append(frame, session...)
	for _, key := range slices.Sorted(maps.Keys(m.Context)) {
		if key == "session" {
			continue
		}
		if !utf8.ValidString(key) {
			return nil, fmt.Errorf("context key %q is not UTF-8", key)
		}
		if err := checkValue(m.Context[key], 2, false); err != nil {
			return nil, fmt.Errorf("context.%s: %w", text.ShowLine(key), err)
		}
		frame = append(frame, ',')
		frame = append(frame, jsontext.Quote(key)...)
		frame = append(frame, ':')
		frame = append(frame, m.Context[key]...)
	}
	return append(frame, "}}"...), nil
}

// Decode reads a frame as the readers in the field do: unknown keys are
// ignored, absent or empty parts are {}, a type that is no string is "". It is
// milder only where that loses nothing: half a surrogate pair becomes U+FFFD.
// Everything else that is wrong is a *[PoisonError]. The message keeps the
// frame's memory.
func Decode(frame []byte) (Message, error) {
	s := scanner{text: frame, mend: true}
	env, err := s.envelope(false)
	if err != nil {
		return Message{}, err
	}
	return s.message(env), nil
}

// message takes the parts of a scanned frame.
func (s *scanner) message(env envelope) Message {
	m := Message{Type: s.typ(env), Data: s.cut(env.data), Context: map[string]json.RawMessage{}}
	if len(m.Data) == 0 {
		m.Data = json.RawMessage("{}")
	}
	if raw := s.cut(env.context); len(raw) > 0 {
		members(raw, m.Context)
	}
	return m
}

func (s *scanner) typ(env envelope) string {
	if raw := s.cut(env.typ); len(raw) > 0 && raw[0] == '"' {
		said, _ := jsontext.Unquote(raw)
		return said
	}
	return ""
}

// members puts the members of a scanned object into a map.
func members(object []byte, into map[string]json.RawMessage) {
	s := scanner{text: object, pos: 1, depth: 1}
	for first := true; ; first = false {
		key, more, err := s.key(first)
		if err != nil || !more {
			return // an error cannot be: it was scanned
		}
		p, err := s.value1()
		if err != nil {
			return
		}
		into[string(key)] = bytes.TrimSpace(s.cut(p))
	}
}
