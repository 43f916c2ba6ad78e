package voice

import (
	"cmp"
	"context"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/internal/text"
)

// question is one of the desk that a person is being asked.
type question struct {
	own    bool // our own loop waits for the answer
	cancel func()
}

// attend begins to ask aloud what calls from the bus need approved.
func (v *Voice) attend(ctx context.Context) (stop func(), err error) {
	if v.cfg.Spoken == Off {
		return func() {}, nil
	}
	events, stop, err := v.cfg.Desk.Watch(context.WithoutCancel(ctx), desk.Screen{Name: "voice", Sees: v.sees, Buffer: 256})
	if err != nil {
		return nil, err
	}
	v.working.Go(func() {
		for ev := range events {
			v.notice(ev.Question)
			if ev.Missed > 0 {
				v.lookAgain()
			}
		}
	})
	return stop, nil
}

// sees chooses the questions of calls from this bus that a spoken yes may answer.
func (v *Voice) sees(q desk.Question) bool {
	c := q.Caller
	if c.Frontend != v.cfg.Caller.Frontend || c.Subject != v.cfg.Caller.Subject || c.Organisation != v.cfg.Caller.Organisation || q.State == desk.Open && !v.cfg.Spoken.takes(&q) {
		return false
	}
	_, known := v.cfg.About(q.Call)
	return known || v.talkOf(&q) != nil
}

// talkOf is the conversation of ours that a question belongs to; nil: the call came
// from a client, whatever it says its session is.
func (v *Voice) talkOf(q *desk.Question) *talk {
	if _, foreign := v.cfg.About(q.Call); foreign || q.Caller.Session == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.byAgent[lineage.Root(q.Caller.Session)]
}

// lookAgain finds what was missed.
func (v *Voice) lookAgain() {
	list, err := v.cfg.Desk.Questions(v.life, desk.Filter{State: desk.Open})
	if err != nil {
		v.cfg.Log.Warn("open questions cannot be read", "err", err)
		return
	}
	for _, q := range list {
		if v.sees(q) {
			v.notice(q)
		}
	}
}

// Why a call is refused whose question a person is asked, or was.
const (
	whileAsked = "a person has to approve this and is asked aloud now"
	unanswered = "a person was asked aloud, and no clear yes or no was heard"
)

// notice hears of a question that is new, has changed or is settled.
func (v *Voice) notice(q desk.Question) {
	t := v.talkOf(&q)
	v.mu.Lock()
	is := v.asked[q.ID]
	begins := is == nil && q.State == desk.Open && q.Waiting > 0
	var ctx context.Context
	if begins {
		is = &question{own: t != nil}
		ctx, is.cancel = context.WithCancel(v.life)
		v.asked[q.ID] = is
	}
	v.mu.Unlock()
	switch {
	case is == nil:
	case q.State != desk.Open || q.Waiting == 0 && is.own: // settled, or nobody waits for it any more
		is.cancel()
	case !is.own && q.Waiting > 0:
		// A caller on the bus waits for three seconds, and must not be served after it
		// has given up: it is told at once, and repeats the call.
		v.cfg.Desk.Dismiss(q.ID, whileAsked)
	}
	if begins {
		v.working.Go(func() {
			v.put(ctx, q, t)
			is.cancel()
			v.mu.Lock()
			delete(v.asked, q.ID)
			v.mu.Unlock()
		})
	}
}

// inLine is how long a question stands in line behind others before it is about
// something that nobody remembers.
const inLine = 30 * time.Second

// put puts a question to a person and gives the desk the answer.
func (v *Voice) put(ctx context.Context, q desk.Question, t *talk) {
	about, lang, from, ok := v.whom(q, t)
	if !ok {
		return // the turn has ended
	}
	limit, cancel := context.WithTimeout(ctx, inLine+4*v.cfg.Answer)
	defer cancel()
	m, err := v.ask(limit, about, lang, from, questionOf(&q)...)
	if ctx.Err() != nil {
		return // it was settled elsewhere, or whoever wanted it has given up
	}
	reply, say := desk.Reply{Choice: desk.Deny, Message: "a person said no, aloud"}, spoken.NotAllowed
	switch {
	case err != nil || m == Unclear:
		v.cfg.Desk.Dismiss(q.ID, unanswered)
		if t == nil && err == nil {
			v.speak(about, lang, spoken.Say(lang, spoken.AnswerMissed), false)
		}
		return
	case m == Yes:
		reply, say = desk.Reply{Choice: desk.AllowOnce, Within: v.cfg.Good}, spoken.RepeatNow
		if t != nil {
			reply.Within = time.Minute // the call waits for it
		}
	}
	if _, _, _, waits := v.whom(q, t); t != nil && !waits {
		return // it was stopped
	}
	by := "somebody who spoke on the bus, in session " + text.Clip(text.ShowExact(about.SessionID()), 80)
	if _, err := v.cfg.Desk.Answer(ctx, q.ID, reply, by); err != nil {
		if ctx.Err() == nil {
			v.cfg.Log.Info("a spoken answer came too late", "question", q.ID, "err", err)
		}
		return
	}
	if t == nil { // else the agent goes on, and says itself what comes of it
		v.speak(about, lang, spoken.Say(lang, say), false)
	}
}

// whom finds the person to be asked, and who calls.
func (v *Voice) whom(q desk.Question, t *talk) (about bus.Message, lang, from string, ok bool) {
	if t != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		return t.about, t.lang, "", t.cancel != nil
	}
	m, known := v.cfg.About(q.Call)
	return m, cmp.Or(langOf(m, ""), v.cfg.Lang), m.Text("source"), known
}
