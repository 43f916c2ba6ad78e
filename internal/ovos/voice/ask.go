package voice

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/internal/text"
)

// hearing is something that is heard in a session while a person is asked there.
type hearing struct {
	said
	routed    bool // the intent service brings it to us
	unmatched bool // the intent service found nobody for what was said last
	listening bool // somebody begins or ends to speak
}

// floor is where questions in one session stand in line: a person is asked one at a
// time.
type floor struct {
	slot  chan struct{}
	users int
	now   chan hearing // of who is asking; nil: nobody is
	stop  func()       // ends who is asking
}

// hear gives what is heard to who is asking in its session; false: nobody is.
func (v *Voice) hear(h hearing) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.floors[h.SessionID()]
	if f == nil || f.now == nil {
		return false
	}
	select {
	case f.now <- h:
	default: // a flood; who is asking has enough of it
	}
	return true
}

var errBusy = errors.New("too many questions wait in this session")

// floorOf stands in line for a session.
func (v *Voice) floorOf(ctx context.Context, session string) (f *floor, leave func(), err error) {
	v.mu.Lock()
	if f = v.floors[session]; f == nil {
		f = &floor{slot: make(chan struct{}, 1)}
		v.floors[session] = f
	}
	if f.users >= maxQueue {
		v.mu.Unlock()
		return nil, nil, errBusy
	}
	f.users++
	v.mu.Unlock()
	gone := func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if f.users--; f.users == 0 && v.floors[session] == f {
			delete(v.floors, session)
		}
	}
	select {
	case f.slot <- struct{}{}:
		return f, func() { <-f.slot; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, nil, context.Cause(ctx)
	}
}

// ask asks a person something to which the answer is yes or no, by the messages that
// the skills of the assistant use for it, and once more if the answer is not clear.
// What is not clear then, or not said in time, is Unclear. From names who must not be
// the one that answers.
func (v *Voice) ask(ctx context.Context, about bus.Message, lang, from string, keys ...spoken.Key) (Meaning, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, leave, err := v.floorOf(ctx, about.SessionID())
	if err != nil {
		return Unclear, err
	}
	defer leave()
	heard := make(chan hearing, 32)
	v.mu.Lock()
	f.now, f.stop = heard, cancel
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		f.now, f.stop = nil, nil
		if len(v.ended) >= 4*maxTalks {
			clear(v.ended)
		}
		v.ended[about.SessionID()] = time.Now()
		v.mu.Unlock()
	}()
	a := &asking{Voice: v, heard: heard, lang: lang, from: from, service: make(chan bool, 1), soonest: v.cfg.Soonest}
	v.mu.Lock()
	if last, ok := v.ended[about.SessionID()]; ok && time.Since(last) < max(v.cfg.Between, v.cfg.Soonest) {
		a.soonest = max(v.cfg.Between, v.cfg.Soonest) // a yes to that one, said twice or late, is none to this one
	}
	v.mu.Unlock()
	go func() { a.service <- v.intents(ctx) }()

	self := map[string]string{"skill_id": SkillID}
	v.tell(about, typeActivate, self) // only an active skill is given answers
	v.tell(about, typeListen, self)
	defer v.tell(about, typeListened, self)
	question := inWords(lang, append(keys, spoken.SayYesOrNo)...)
	for try := range 2 {
		words := question
		if try > 0 {
			words = inWords(lang, spoken.NotClear) + " " + question
		}
		v.speak(responding(about, time.Now()), lang, words, true)
		m, spoke, err := a.answer(ctx)
		if err != nil || m != Unclear || !spoke {
			return m, err
		}
		a.soonest = v.cfg.Soonest
	}
	return Unclear, nil
}

// asking is a question that is being asked.
type asking struct {
	*Voice
	heard   chan hearing
	lang    string
	from    string
	soonest time.Duration
	service chan bool // whether there is an intent service; told once
	known   bool
	there   bool
}

// routes reports whether an intent service decides for whom an answer is. Then an
// utterance itself counts for nothing: it may be meant for a skill that asks as well.
func (a *asking) routes(ctx context.Context) bool {
	if !a.known {
		select {
		case a.there = <-a.service:
			a.known = true
		case <-ctx.Done():
			return true
		}
	}
	return a.there
}

// maxListening is how often a person who begins to speak is waited for anew.
const maxListening = 6

// answer waits for an answer; spoke: there was one, whatever it means.
func (a *asking) answer(ctx context.Context) (m Meaning, spoke bool, err error) {
	asked := time.Now()
	wait := time.NewTimer(a.cfg.Answer)
	defer wait.Stop()
	var uttered *said // what was said in this session since
	for listening := 0; ; {
		select {
		case <-ctx.Done():
			return Unclear, false, context.Cause(ctx)
		case <-wait.C:
			return Unclear, false, nil
		case h := <-a.heard:
			switch {
			case h.listening:
				if listening++; listening <= maxListening {
					wait.Reset(a.cfg.Answer)
				}
			case h.unmatched:
				if uttered != nil {
					return Understand(a.lang, uttered.words), true, nil
				}
			case h.routed:
				if uttered == nil { // the service makes it of an utterance, which everybody hears
					a.suspect(h, "it came without anything having been said")
					continue
				}
				return Understand(a.lang, h.words), true, nil
			case a.tooSoon(time.Since(asked), h):
				a.suspect(h, "it came before the question can have been heard")
			case a.from != "" && h.Text("source") == a.from:
				a.suspect(h, "it came from the program whose call is asked about")
			default:
				uttered = &h.said
				if !a.routes(ctx) && ctx.Err() == nil {
					return Understand(a.lang, h.words), true, nil
				}
			}
		}
	}
}

// tooSoon reports whether an answer came before the question can have been heard. After
// another question that holds for longer, but not for a no: whatever it was meant for,
// nothing is done by it.
func (a *asking) tooSoon(after time.Duration, h hearing) bool {
	return after < a.cfg.Soonest || after < a.soonest && Understand(a.lang, h.words) != No
}

// suspect tells of an answer that does not count.
func (a *asking) suspect(h hearing, why string) {
	a.cfg.Log.Warn("an answer to a spoken question does not count: "+why, "type", text.ShowLine(h.Type), "source", text.ShowLine(text.Clip(h.Text("source"), 80)))
}
