package voice_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/voice"
	"github.com/toolcrib/toolcrib/model"
)

const (
	uttered  = "recognizer_loop:utterance"
	response = voice.SkillID + ".converse.get_response"
	patient  = time.Minute
)

// brain is a model that does what a test says.
type brain func(ctx context.Context, r model.Request, emit func(model.Delta)) model.Message

func (b brain) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	m := b(ctx, r, emit)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := model.StopEnd
	if len(m.Calls) > 0 {
		stop = model.StopCalls
	}
	return &model.Answer{Message: m, Stop: stop}, nil
}

func (b brain) Traits() model.Traits { return model.Traits{Name: "b", Format: "openai", Tools: true} }

// talker is a conversation with an agent over the real loop.
type talker struct {
	agent.Agent
	talk   agent.Conversation
	closed func()
}

func (t *talker) Turn(ctx context.Context, input model.Message, emit func(agent.Event)) (*agent.Outcome, error) {
	return t.Run(ctx, &t.talk, input, emit)
}

func (t *talker) Caller() toolcrib.Caller { return t.Agent.Caller }

func (t *talker) Close() error {
	t.closed()
	return nil
}

// house is a bus with a voice, over a crib that asks about everything but looking.
type house struct {
	t     testing.TB
	url   string
	crib  *toolcrib.Crib
	desk  *desk.Desk
	mouth *bus.Client       // of who speaks
	heard *bus.Subscription // all that goes by
	think brain
	told  string
	logs  *lines
	busy  bool // the intent service says only once that it is there
	mute  bool // it never says it

	mu     sync.Mutex
	ran    []string
	about  map[string]bus.Message
	opened int
	closed int
}

type note struct {
	Name string `json:"name"`
}

// lines is a log that can be read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

func (h *house) tool(name string, effects toolcrib.Effects) toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{Name: name, Effects: effects}, func(_ context.Context, _ *toolcrib.Env, in note) (note, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ran = append(h.ran, name+" "+in.Name)
		return in, nil
	})
}

func (h *house) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Effects.ReadOnly() {
		return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "mode"}, nil
	}
	guard := "mode"
	if strings.Contains(string(r.Input), "suspicious") {
		guard = "flow"
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: guard, Reason: "it changes something"}, nil
}

// build makes a house. Change may change what the voice is told.
func build(t testing.TB, think brain, change func(*voice.Config)) *house {
	t.Helper()
	h := &house{t: t, think: think, about: map[string]bus.Message{}, logs: &lines{}}
	var err error
	h.desk, err = desk.New(desk.Config{
		Store: &desk.Memory{}, Unattended: desk.Leave, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s },
		Poll: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.crib = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Guards: []toolcrib.Guard{h}, Approver: h.desk}
	box := toolcrib.NewBox("notes", h.tool("look", toolcrib.Reads), h.tool("write", toolcrib.Writes), h.tool("wipe", toolcrib.Destroys), h.tool("start", toolcrib.Runs|toolcrib.Network))
	if _, faults := h.crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	server, err := bus.NewServer(bus.ServerConfig{Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	h.url = "ws://" + ln.Addr().String() + bus.DefaultPath
	log := slog.New(slog.NewTextHandler(h.logs, nil))
	cfg := voice.Config{
		Caller: toolcrib.Caller{Subject: "ovos-bus", Frontend: "ovos-bus"}, Persona: "Toolcrib", Hears: voice.AllUtterances,
		Desk: h.desk, Spoken: voice.Harmless, About: h.aboutCall, Bus: bus.ClientConfig{URL: h.url}, ID: "ours",
		Answer: patient, Soonest: time.Nanosecond, Look: 100 * time.Millisecond, Log: log, Open: h.open,
	}
	if change != nil {
		change(&cfg)
	}
	v, err := voice.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if h.mouth, err = bus.Open(bus.ClientConfig{URL: h.url, Source: "audio"}); err != nil {
		t.Fatal(err)
	}
	h.heard = h.mouth.Subscribe(bus.Filter{Match: func(m bus.Message) bool { return m.Type != uttered && m.Type != "mycroft.intents.is_alive" }})
	if err := h.mouth.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	talking, hush := context.WithCancel(context.Background())
	var speaking sync.WaitGroup
	speaking.Go(func() {
		if err := v.Serve(talking); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		hush()
		speaking.Wait()
		_ = h.mouth.Close()
		cancel()
		serving.Wait()
		if h.opened != h.closed {
			t.Errorf("%d conversations were opened, %d closed", h.opened, h.closed)
		}
	})
	h.ready()
	return h
}

// ready waits until the voice hears the bus.
func (h *house) ready() {
	h.t.Helper()
	for limit := time.Now().Add(patient); ; {
		ctx, cancel := context.WithTimeout(h.t.Context(), 100*time.Millisecond)
		_, err := h.mouth.Ask(ctx, bus.Message{Type: voice.SkillID + ".stop"}, bus.Answer{Loose: true})
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			h.t.Fatal(err)
		}
	}
}

func (h *house) open(_ context.Context, caller toolcrib.Caller, told string) (voice.Talker, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened++
	h.told = told
	caller.Session = "agent-" + string(rune('a'+h.opened))
	return &talker{Agent: agent.Agent{Crib: h.crib, Model: h.think, Caller: caller, Instructions: told}, closed: func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closed++
	}}, nil
}

func (h *house) aboutCall(id string) (bus.Message, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.about[id]
	return m, ok
}

func (h *house) did() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.ran...)
}

// in is the context of a message in a session.
func in(session, lang, source string) map[string]json.RawMessage {
	s, _ := json.Marshal(map[string]string{"session_id": session, "lang": lang})
	src, _ := json.Marshal(source)
	return map[string]json.RawMessage{"session": s, "source": src, "destination": json.RawMessage(`"skills"`)}
}

// send sends a message.
func (h *house) send(typ string, data any, context map[string]json.RawMessage) {
	h.t.Helper()
	m, err := bus.NewMessage(typ, data)
	if err != nil {
		h.t.Fatal(err)
	}
	m.Context = context
	if err := h.mouth.Send(h.t.Context(), m); err != nil {
		h.t.Fatal(err)
	}
}

// say has a person say something.
func (h *house) say(session, words string) {
	h.t.Helper()
	h.send(uttered, map[string]any{"utterances": []string{words}, "lang": "en-US"}, in(session, "en-US", "audio"))
}

// both waits for messages of two types, in any order, and gives the data of the first.
func (h *house) both(first, second, session string) map[string]any {
	h.t.Helper()
	m, data := h.next(first+" "+second, session)
	if m.Type == first {
		h.next(second, session)
		return data
	}
	_, data = h.next(first, session)
	return data
}

// next waits for a message of a type in a session, or of one of several.
func (h *house) next(typ, session string) (bus.Message, map[string]any) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patient)
	defer cancel()
	for {
		m, err := h.heard.Next(ctx)
		if err != nil {
			h.t.Fatalf("no %s in %s: %v\n%s", typ, session, err, h.logs.text.String())
		}
		if !slices.Contains(strings.Fields(typ), m.Type) || m.SessionID() != session {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal(m.Data, &data); err != nil {
			h.t.Fatal(err)
		}
		return m, data
	}
}

// hears waits for a sentence.
func (h *house) hears(session, want string) bus.Message {
	h.t.Helper()
	m, data := h.next("speak", session)
	if data["utterance"] != want {
		h.t.Fatalf("heard %q, want %q", data["utterance"], want)
	}
	return m
}

// question waits for a question.
func (h *house) question(session string) string {
	h.t.Helper()
	_, data := h.next("speak", session)
	if data["expect_response"] != true {
		h.t.Fatalf("this is no question: %v", data)
	}
	return data["utterance"].(string)
}

// calls is a model that calls tools, and then says what came of it.
func calls(list ...model.ToolCall) brain {
	return func(_ context.Context, r model.Request, _ func(model.Delta)) model.Message {
		last := r.Messages[len(r.Messages)-1]
		if last.Role != model.Tool {
			return model.Message{Role: model.Assistant, Calls: list}
		}
		if last.Failed {
			return model.Text(model.Assistant, "I did **not** do that.")
		}
		return model.Text(model.Assistant, "It is done.")
	}
}

func call(id, tool, name string) model.ToolCall {
	args, _ := json.Marshal(note{name})
	return model.ToolCall{ID: id, Name: tool, Arguments: args}
}
