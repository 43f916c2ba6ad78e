package voice

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/model"
)

// talk is the conversation in one session of the bus.
type talk struct {
	session string
	turn    sync.Mutex // held for a turn
	talker  Talker     // of whoever holds turn; nil: it has not begun

	// Guarded by the lock of the voice.
	agent   string // the agent's own session
	waiting int    // turns under way and in line
	used    time.Time
	about   bus.Message // what is being answered
	lang    string
	cancel  func() // ends the turn under way; nil: none is
	latest  func() // ends the newest turn
}

// told is what a model is told that is spoken to.
func told(lang string) string {
	return fmt.Sprintf(`You are spoken to, and what you write is read out by a voice. Answer in one to three short sentences of plain words, in the language of the person, which is most likely %s. No headings, lists, tables, code, links, paths, identifiers or emoji. If there is much to tell, tell what matters most and offer the rest. What needs permission the program asks the person for itself, aloud: just call the tool, and never tell anybody to say yes. If something was not allowed or not answered, say so in one sentence.`, lang)
}

// begin answers something that was said. It ends what is being answered in the same
// session: the person has moved on.
func (v *Voice) begin(s said, done func(did bool)) {
	id := s.SessionID()
	s.lang = cmp.Or(s.lang, v.cfg.Lang)
	v.mu.Lock()
	t := v.talks[id]
	if t == nil && v.room() {
		t = &talk{session: id}
		v.talks[id] = t
	}
	if t == nil || t.waiting >= maxQueue || v.turns >= maxTurns {
		v.mu.Unlock()
		v.cfg.Log.Warn("too much is said at once; something is not answered")
		done(false)
		return
	}
	if t.latest != nil {
		t.latest()
	}
	ctx, cancel := context.WithCancel(v.life)
	t.latest = cancel
	t.waiting++
	v.turns++
	v.mu.Unlock()
	v.working.Go(func() {
		v.answer(ctx, t, s)
		cancel()
		v.mu.Lock()
		t.waiting--
		v.turns--
		t.used = time.Now()
		v.mu.Unlock()
		done(true)
	})
}

// room makes room for one more conversation, by forgetting the one that was used
// least; the lock is held. False: all are in use.
func (v *Voice) room() bool {
	if len(v.talks) < maxTalks {
		return true
	}
	var oldest *talk
	for _, t := range v.talks {
		if t.waiting == 0 && (oldest == nil || t.used.Before(oldest.used)) {
			oldest = t
		}
	}
	if oldest == nil {
		return false
	}
	v.drop(oldest)
	return true
}

// drop forgets a conversation; the lock is held.
func (v *Voice) drop(t *talk) {
	delete(v.talks, t.session)
	delete(v.byAgent, t.agent)
	v.working.Go(func() {
		t.turn.Lock()
		defer t.turn.Unlock()
		if t.talker != nil {
			if err := t.talker.Close(); err != nil {
				v.cfg.Log.Warn("a conversation could not be closed", "err", err)
			}
			t.talker = nil
		}
	})
}

// forget forgets conversations that have not been used since then.
func (v *Voice) forget(since time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, t := range v.talks {
		if t.waiting == 0 && t.used.Before(since) {
			v.drop(t)
		}
	}
}

// end forgets all, and waits until everything has ended.
func (v *Voice) end() {
	v.working.Wait() // the lives of all have ended
	v.forget(time.Now().Add(time.Hour))
	v.working.Wait()
}

// answer takes a turn.
func (v *Voice) answer(ctx context.Context, t *talk, s said) {
	t.turn.Lock()
	defer t.turn.Unlock()
	if ctx.Err() != nil {
		return
	}
	r := &reader{Voice: v, ctx: ctx, about: back(s.Message), lang: s.lang, speech: NewSpeech(s.lang)}
	if t.talker == nil {
		talker, err := v.cfg.Open(ctx, v.cfg.Caller, told(s.lang))
		if err != nil {
			v.cfg.Log.Warn("nobody can answer what is said on the bus", "err", err)
			r.say(spoken.Say(s.lang, spoken.Unavailable))
			return
		}
		t.talker = talker
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	v.mu.Lock()
	t.agent, t.about, t.lang, t.cancel = t.talker.Caller().Session, r.about, r.lang, cancel
	v.byAgent[t.agent] = t
	v.mu.Unlock()
	out, err := t.talker.Turn(running, model.Text(model.User, s.words[0]), r.hear)
	v.mu.Lock()
	t.cancel = nil
	v.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	r.end(out, err)
}

// asideFor is how long an answer without speaking is worked on: nobody can say stop to
// it, and whoever asked has given up by then.
const asideFor = 2 * time.Minute

// aside answers a query without speaking, and outside of every conversation.
func (v *Voice) aside(m bus.Message) {
	s, ok := read(m)
	s.lang = cmp.Or(s.lang, v.cfg.Lang)
	v.mu.Lock()
	full := v.turns >= maxTurns || v.asides >= maxAside
	if ok && !full {
		v.turns++
		v.asides++
	}
	v.mu.Unlock()
	answer := func(response any) {
		v.reply(m, typeAnswer, map[string]any{"persona_id": v.cfg.Persona, "utterance": strings.Join(s.words[:min(len(s.words), 1)], ""), "response": response})
	}
	if !ok || full {
		answer(nil)
		return
	}
	v.working.Go(func() {
		defer func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.turns--
			v.asides--
		}()
		ctx, cancel := context.WithTimeout(v.life, asideFor)
		defer cancel()
		talker, err := v.cfg.Open(ctx, v.cfg.Caller, told(s.lang))
		if err != nil {
			v.cfg.Log.Warn("nobody can answer what is asked on the bus", "err", err)
			answer(nil)
			return
		}
		out, err := talker.Turn(ctx, model.Text(model.User, s.words[0]), nil)
		if closed := talker.Close(); closed != nil {
			v.cfg.Log.Warn("a conversation could not be closed", "err", closed)
		}
		if err == nil && out != nil {
			if text := strings.Join(Say(s.lang, out.Text), " "); text != "" {
				answer(text)
				return
			}
		}
		answer(nil)
	})
}

// stop ends what is being answered and asked in a session.
func (v *Voice) stop(m bus.Message) {
	id := m.SessionID()
	_, named := m.Context["session"]
	stopped := false
	v.mu.Lock()
	for session, t := range v.talks {
		if (session == id || !named) && t.waiting > 0 && t.latest != nil {
			t.latest()
			if t.cancel != nil {
				t.cancel()
			}
			stopped = true
		}
	}
	for session, f := range v.floors {
		if (session == id || !named) && f.stop != nil {
			f.stop()
			stopped = true
		}
	}
	v.mu.Unlock()
	if stopped || m.Type == typeStopSkill {
		v.tell(m, typeStopSkill+".response", map[string]any{"skill_id": SkillID, "result": stopped})
	}
}

// busy reports whether something can be stopped in a session.
func (v *Voice) busy(session string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	t, f := v.talks[session], v.floors[session]
	return t != nil && t.waiting > 0 || f != nil && f.now != nil
}
