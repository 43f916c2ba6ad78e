package voice

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// tell sends a message in the context of another.
func (v *Voice) tell(about bus.Message, typ string, data any) {
	m, err := message(about, typ, data)
	if err == nil {
		m.Context["source"] = jsontext.Quote(v.cfg.ID)
		err = v.bus.Send(v.life, m)
	}
	if err != nil && v.life.Err() == nil {
		v.cfg.Log.Warn("a message may not have reached the bus", "type", typ, "err", err)
	}
}

// reply answers who sent a message.
func (v *Voice) reply(m bus.Message, typ string, data any) {
	raw, err := bus.Object(data)
	if err == nil {
		err = v.bus.Send(v.life, m.Reply(v.cfg.ID, typ, raw))
	}
	if err != nil && v.life.Err() == nil {
		v.cfg.Log.Warn("an answer may not have reached the bus", "type", typ, "err", err)
	}
}

// speak has the assistant say something, and listen then if an answer is expected.
func (v *Voice) speak(about bus.Message, lang, words string, listen bool) {
	v.tell(about, typeSpeak, map[string]any{
		"utterance": words, "lang": lang, "expect_response": listen, "meta": map[string]string{"skill": SkillID},
	})
}

// busyFor is how long an intent service that was there may have too much to do to say
// so: what is said meanwhile may be meant for one of its skills.
const busyFor = 10 * time.Minute

// intents asks whether there is an intent service.
func (v *Voice) intents(ctx context.Context) bool {
	is := v.alive(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	if is {
		v.routed = time.Now()
	}
	return is || !v.routed.IsZero() && time.Since(v.routed) < busyFor
}

func (v *Voice) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Look)
	defer cancel()
	answer, err := v.bus.Ask(ctx, bus.Message{Type: typeAlive, Data: json.RawMessage(`{}`)}, bus.Answer{})
	if err != nil {
		return false
	}
	var is struct {
		Status bool `json:"status"`
	}
	return json.Unmarshal(answer.Data, &is) == nil && is.Status
}

// field is a text in the data of a message; "" for everything else.
func field(m bus.Message, key string) string {
	var data map[string]json.RawMessage
	if json.Unmarshal(m.Data, &data) != nil {
		return ""
	}
	return textOf(data[key])
}
