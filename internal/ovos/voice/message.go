package voice

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// SkillID is what the voice assistant knows us by, as it knows its skills.
const SkillID = "toolcrib.voice"

// The types of messages, as the field has them; where a topic has a new name, both.
const (
	typeUtterance    = "recognizer_loop:utterance"
	typeUtteranceNew = "ovos.utterance.handle"
	typeSpeak        = "speak"
	typeHandled      = "ovos.utterance.handled"
	typeUnmatched    = "complete_intent_failure"
	typeUnmatchedNew = "ovos.intent.unmatched"
	typeRecord       = "recognizer_loop:record_begin"
	typeRecordNew    = "ovos.listener.record.started"
	typeRecorded     = "recognizer_loop:record_end"
	typeRecordedNew  = "ovos.listener.record.ended"

	typePersona     = "persona:query"
	typeAskPersona  = "ovos.persona.query"
	typeAnswer      = "ovos.persona.answer"
	typePersonas    = "ovos.persona.list"
	typeFallback    = "ovos.skills.fallback." + SkillID
	typeFallbackIs  = "ovos.skills.fallback.ping"
	typeFallbackIs2 = "ovos.fallback.ping"

	typeStop      = "mycroft.stop"
	typeStopNew   = "ovos.stop"
	typeStopIs    = "ovos.stop.ping"
	typeStopSkill = SkillID + ".stop"

	typeActivate = "intent.service.skills.activate"
	typeListen   = "skill.converse.get_response.enable"
	typeListened = "skill.converse.get_response.disable"
	typeResponse = SkillID + ".converse.get_response"
	typeAlive    = "mycroft.intents.is_alive"
)

// said is what a message brings of what a person said.
type said struct {
	bus.Message
	words []string // as the recogniser heard it, the likeliest first
	lang  string
}

// contextSize is how large the context of a message is.
func contextSize(m bus.Message) (size int) {
	for key, value := range m.Context {
		size += len(key) + len(value)
	}
	return size
}

const (
	maxWords = 4 << 10 // bytes of what is said at once
	maxHeard = 8       // readings of it
)

// read reads what was said; ok: there is something.
func read(m bus.Message) (s said, ok bool) {
	var data struct {
		Utterances json.RawMessage `json:"utterances"`
		Utterance  json.RawMessage `json:"utterance"`
		Query      json.RawMessage `json:"query"`
		Lang       json.RawMessage `json:"lang"`
	}
	if json.Unmarshal(m.Data, &data) != nil {
		return s, false
	}
	s = said{Message: m, lang: langOf(m, textOf(data.Lang))}
	var list []json.RawMessage
	if one := textOf(data.Query); one != "" {
		s.words = append(s.words, one)
	} else if one := textOf(data.Utterance); one != "" && len(data.Utterances) == 0 {
		s.words = append(s.words, one)
	} else if json.Unmarshal(data.Utterances, &list) == nil {
		for _, raw := range list[:min(len(list), maxHeard)] {
			if one := textOf(raw); one != "" {
				s.words = append(s.words, one)
			}
		}
	}
	for i, w := range s.words {
		s.words[i] = text.Clip(w, maxWords)
	}
	return s, len(s.words) > 0
}

// textOf is a JSON text without what cannot be said, and "" for everything else.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// langOf is the language of a message: what it says itself, or its session; empty: it
// says none. It goes into what a model is told, so that it can only be a tag.
func langOf(m bus.Message, own string) string {
	var session struct {
		Lang json.RawMessage `json:"lang"`
	}
	_ = json.Unmarshal(m.Context["session"], &session) // a session that is none has no language
	for _, tag := range []string{own, m.Text("lang"), textOf(session.Lang)} {
		if isTag(tag) {
			return tag
		}
	}
	return ""
}

func isTag(tag string) bool {
	if len(tag) < 2 || len(tag) > 16 {
		return false
	}
	for _, r := range tag {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

// back is a message whose context leads to who said something: what an intent service
// makes of an utterance leads there already, and an utterance itself leads to the
// service.
func back(m bus.Message) bus.Message {
	if m.Type == typeUtterance || m.Type == typeUtteranceNew {
		return m.Reply("", m.Type, nil)
	}
	m.Data = nil // it is kept for as long as the conversation
	return m
}

// message is one of ours in the context of another.
func message(about bus.Message, typ string, data any) (bus.Message, error) {
	raw, err := bus.Object(data)
	if err != nil {
		return bus.Message{}, err
	}
	out := about.Forward(typ, raw)
	delete(out.Context, bus.CorrelationKey) // it is no answer to a request
	out.Context["skill_id"] = jsontext.Quote(SkillID)
	return out, nil
}

// responding is a message whose session says that we wait for an answer. The intent
// service keeps that of the session "default" itself, and reads that of others from
// what the client sends, which takes it from here.
func responding(m bus.Message, now time.Time) bus.Message {
	if m.SessionID() == bus.DefaultSession {
		return m
	}
	session := map[string]json.RawMessage{}
	if json.Unmarshal(m.Context["session"], &session) != nil {
		return m
	}
	var active []json.RawMessage
	_ = json.Unmarshal(session["active_skills"], &active) // absent: none is
	states := map[string]json.RawMessage{}
	_ = json.Unmarshal(session["utterance_states"], &states)
	if states == nil {
		states = map[string]json.RawMessage{}
	}
	states[SkillID] = json.RawMessage(`"response"`)
	self, err := json.Marshal([]any{SkillID, float64(now.UnixMilli()) / 1000})
	if err != nil {
		return m
	}
	session["active_skills"], err = json.Marshal(append([]json.RawMessage{self}, active...))
	if err != nil {
		return m
	}
	if session["utterance_states"], err = json.Marshal(states); err != nil {
		return m
	}
	raw, err := json.Marshal(session)
	if err != nil {
		return m
	}
	return m.With("session", raw)
}
