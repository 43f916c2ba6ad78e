package voice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/model"
)

// Talker is a conversation with an agent.
type Talker interface {
	Turn(ctx context.Context, input model.Message, emit func(agent.Event)) (*agent.Outcome, error)
	// Caller is as whom it calls. Its session is the conversation's own, and no name
	// that comes over the bus.
	Caller() toolcrib.Caller
	Close() error
}

// Hears says which utterances an agent answers besides what it is asked as a persona.
type Hears int

// What it hears.
const (
	NoUtterances  Hears = iota
	Fallback            // what the intent service has nobody else for
	AllUtterances       // where there is no intent service
)

// Config is what a voice needs. The zero value of each time and bound is its default.
type Config struct {
	// Open opens a conversation for a caller, whose model is told more than its preset
	// says. Nil: nobody answers, and a voice only asks for approval.
	Open func(ctx context.Context, caller toolcrib.Caller, told string) (Talker, error)
	// Caller is who calls over this bus, and the preset that answers. Its frontend
	// tells calls from the bus from others.
	Caller  toolcrib.Caller
	Persona string // the name by which it is asked
	Lang    string // the language of messages that name none; en-US
	Hears   Hears

	// Desk is where the crib asks people, and Spoken what a spoken yes may allow.
	Desk   *desk.Desk
	Spoken Spoken
	// About gives the message of a call that came over the bus, for a while.
	About func(call string) (bus.Message, bool)

	Bus bus.ClientConfig
	ID  string // the source of what it sends; empty: toolcrib

	Answer  time.Duration // how long an answer is waited for; 15 s
	Soonest time.Duration // what comes sooner after a question was not said by who heard it; 300 ms
	Between time.Duration // the same for a question that follows another; eight times as long
	Look    time.Duration // how long an intent service has to say that it is there; 1 s
	Good    time.Duration // how long a yes waits for a call to be repeated; 10 min
	Idle    time.Duration // after which a conversation is forgotten; 10 min

	Log *slog.Logger // nil: slog.Default
}

const (
	maxTalks = 32 // conversations that are remembered
	maxTurns = 8  // answers that are worked on at once
	maxQueue = 4  // questions that wait in one session
	maxAside = 4  // of the answers, those that are given without speaking

	maxContext = 256 << 10 // bytes of the context of a message, which is kept and sent back
	maxSession = 512       // bytes of the name of a session
)

// Voice is an agent that is spoken to. It serves once.
type Voice struct {
	cfg     Config
	bus     *bus.Client
	back    chan struct{} // the bus has come back
	life    context.Context
	working sync.WaitGroup

	mu      sync.Mutex
	talks   map[string]*talk     // by the session on the bus
	byAgent map[string]*talk     // by the session of the agent
	floors  map[string]*floor    // by the session on the bus
	asked   map[string]*question // by the question at the desk
	turns   int
	asides  int
	ended   map[string]time.Time // when the latest question ended, by session
	routed  time.Time            // when an intent service was there last
	heard   map[string]utterance // the latest, by session: a message may come under two names
}

type utterance struct {
	typ, words string
	at         time.Time
}

// New makes a voice.
func New(cfg Config) (*Voice, error) {
	if cfg.Spoken != Off && (cfg.Desk == nil || cfg.About == nil) {
		return nil, errors.New("asking aloud for approval: there is no desk")
	}
	if cfg.Answer < 0 || cfg.Soonest < 0 || cfg.Good < 0 || cfg.Idle < 0 || cfg.Look < 0 || cfg.Between < 0 {
		return nil, errors.New("a voice's times must not be negative")
	}
	cfg.ID, cfg.Lang = cmp.Or(cfg.ID, "toolcrib"), cmp.Or(cfg.Lang, "en-US")
	cfg.Answer, cfg.Soonest = cmp.Or(cfg.Answer, 15*time.Second), cmp.Or(cfg.Soonest, 300*time.Millisecond)
	cfg.Look, cfg.Between = cmp.Or(cfg.Look, time.Second), cmp.Or(cfg.Between, 8*cfg.Soonest)
	cfg.Good, cfg.Idle = cmp.Or(cfg.Good, 10*time.Minute), cmp.Or(cfg.Idle, 10*time.Minute)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	return &Voice{
		cfg: cfg, back: make(chan struct{}, 1), talks: map[string]*talk{}, byAgent: map[string]*talk{},
		floors: map[string]*floor{}, asked: map[string]*question{}, heard: map[string]utterance{}, ended: map[string]time.Time{},
	}, nil
}

// Serve listens and answers until ctx ends.
func (v *Voice) Serve(ctx context.Context) (err error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	v.life = life
	cfg, changed := v.cfg.Bus, v.cfg.Bus.Changed
	cfg.Changed = func(connected bool, cause error) {
		if connected {
			select {
			case v.back <- struct{}{}:
			default:
			}
		}
		if changed != nil {
			changed(connected, cause)
		}
	}
	cfg.Log = cmp.Or(cfg.Log, v.cfg.Log)
	if v.bus, err = bus.Open(cfg); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.bus.Close()) }()
	messages := v.bus.Subscribe(bus.Filter{Types: v.types()})
	defer messages.Close()
	stop, err := v.attend(ctx)
	if err != nil {
		return fmt.Errorf("watching the desk: %w", err)
	}
	keeping, done := context.WithCancel(ctx)
	v.working.Go(func() { v.keep(keeping) })
	for {
		m, err := messages.Next(ctx)
		if err != nil {
			break // it is to end
		}
		v.take(m)
	}
	done()
	stop()
	kill()
	v.end()
	return nil
}

// types are the messages that are heard.
func (v *Voice) types() []string {
	list := []string{typeUtterance, typeUtteranceNew, typeUnmatched, typeUnmatchedNew, typeRecord, typeRecordNew, typeRecorded, typeRecordedNew,
		typeResponse, typeStop, typeStopNew, typeStopSkill}
	if v.cfg.Open == nil {
		return list
	}
	list = append(list, typePersona, typeAskPersona, typePersonas, typeStopIs, typeStopSkill+".ping")
	if v.cfg.Hears == Fallback {
		list = append(list, typeFallbackIs, typeFallbackIs2, typeFallback+".request")
	}
	return list
}

// take hands a message to whoever wants it. It never waits.
func (v *Voice) take(m bus.Message) {
	if size := contextSize(m); size > maxContext || len(m.SessionID()) > maxSession {
		v.cfg.Log.Warn("a message whose context is too large is not heard", "type", m.Type, "bytes", size)
		return
	}
	switch m.Type {
	case typeUtterance, typeUtteranceNew:
		if s, ok := read(m); ok && !v.twin(s) && !v.hear(hearing{said: s}) && v.cfg.Open != nil && v.cfg.Hears == AllUtterances {
			v.begin(s, func(bool) { v.tell(back(m), typeHandled, nil) })
		}
	case typeResponse:
		if s, ok := read(m); ok && !v.hear(hearing{said: s, routed: true}) {
			v.stray(s)
		}
	case typeUnmatched, typeUnmatchedNew:
		v.hear(hearing{said: said{Message: m}, unmatched: true})
	case typeRecord, typeRecordNew, typeRecorded, typeRecordedNew:
		v.hear(hearing{said: said{Message: m}, listening: true})
	case typeStop, typeStopNew, typeStopSkill:
		v.stop(m)
	case typeStopIs, typeStopSkill + ".ping":
		v.tell(m, "skill.stop.pong", map[string]any{"skill_id": SkillID, "can_handle": v.busy(m.SessionID())})
	case typeFallbackIs, typeFallbackIs2:
		v.tell(m, "ovos.skills.fallback.pong", map[string]any{"skill_id": SkillID, "can_handle": true})
	case typeFallback + ".request":
		v.mu.Lock()
		v.routed = time.Now() // the service is there, even if it is too busy to say so when it is asked
		v.mu.Unlock()
		v.tell(m, typeFallback+".start", nil)
		v.asks(m, func(did bool) {
			v.tell(m, typeFallback+".response", map[string]any{"result": did, "fallback_handler": SkillID})
			v.tell(m, typeHandled, nil)
		})
	case typePersona:
		if v.named(m, "persona") {
			v.asks(m, func(bool) { v.tell(m, typeHandled, nil) })
		}
	case typeAskPersona:
		if v.named(m, "persona_id") {
			v.aside(m)
		}
	case typePersonas:
		v.reply(m, typePersonas+".response", map[string]any{"pipeline_id": SkillID, "personas": []any{map[string]string{"persona_id": v.cfg.Persona, "name": v.cfg.Persona}}})
	}
}

// asks takes what the intent service hands on: the answer to a question, or something
// to be answered.
func (v *Voice) asks(m bus.Message, done func(did bool)) {
	s, ok := read(m)
	switch {
	case !ok:
		done(false)
	case v.hear(hearing{said: s, routed: true}):
		done(true)
	default:
		v.begin(s, done)
	}
}

// stray is an answer to a question that is settled. An intent service that has not
// heard of that yet, or has lost it while its parts told each other of the session,
// would bring us everything from now on: it is told again, and what was said is not
// lost if we are spoken to in this session.
func (v *Voice) stray(s said) {
	v.tell(s.Message, typeListened, map[string]string{"skill_id": SkillID})
	v.mu.Lock()
	talks := v.talks[s.SessionID()] != nil
	v.mu.Unlock()
	if v.cfg.Open != nil && (talks || v.cfg.Hears == Fallback) {
		v.begin(s, func(bool) { v.tell(s.Message, typeHandled, nil) })
	}
}

// named reports whether a query is for us: by our name, or by none.
func (v *Voice) named(m bus.Message, key string) bool {
	name := field(m, key)
	return name == "" || strings.EqualFold(name, v.cfg.Persona)
}

// twin reports whether an utterance is one that came under its other name just now.
func (v *Voice) twin(s said) bool {
	const window = 2 * time.Second
	id, now := s.SessionID(), time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	was, is := v.heard[id], utterance{s.Type, s.words[0], now}
	if was.words == is.words && was.typ != is.typ && now.Sub(was.at) < window {
		return true
	}
	if len(v.heard) >= 4*maxTalks {
		clear(v.heard) // at worst one is answered twice
	}
	v.heard[id] = is
	return false
}

// keep registers with the intent service, again whenever the bus or the service may
// have come back, and forgets conversations that have ended.
func (v *Voice) keep(ctx context.Context) {
	tick := time.NewTicker(min(time.Minute, v.cfg.Idle))
	defer tick.Stop()
	warned := false
	for {
		if v.cfg.Open != nil && v.cfg.Hears == Fallback {
			v.tell(bus.Message{}, "ovos.skills.fallback.register", map[string]any{"skill_id": SkillID, "priority": priority})
		}
		if v.cfg.Hears == AllUtterances && !warned && v.intents(ctx) {
			warned = true
			v.cfg.Log.Warn("an intent service is on the bus and answers utterances too: bus.voice.utterances should be fallback, or none")
		}
		select {
		case <-ctx.Done():
			return
		case <-v.back:
		case <-tick.C:
			v.forget(time.Now().Add(-v.cfg.Idle))
		}
	}
}

// priority is behind every skill that knows an answer, and before the one that says
// that nobody does.
const priority = 95
