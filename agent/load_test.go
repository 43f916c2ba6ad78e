package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/openai"
)

// instant is a model that calls a tool and then answers, in no time.
type instant struct {
	traits model.Traits
	turns  atomic.Int64
	react  bool
}

func (m *instant) Traits() model.Traits { return m.traits }

func (m *instant) Ask(_ context.Context, _ model.Request, emit func(model.Delta)) (*model.Answer, error) {
	text := "Done."
	var list []model.ToolCall
	if m.turns.Add(1)%2 == 1 {
		text = "Thought: x\nAction: service_007\nAction Input: {\"name\":\"x\"}"
		if !m.react {
			text, list = "", []model.ToolCall{{ID: "c", Name: "service_007", Arguments: json.RawMessage(`{"name":"x"}`)}}
		}
	} else if m.react {
		text = "FINAL_ANSWER: Done."
	}
	if emit != nil && text != "" {
		emit(model.Delta{Text: text})
	}
	a := &model.Answer{Message: model.Message{Role: model.Assistant, Calls: list}, Usage: model.Usage{Input: 5000, Output: 10}}
	if text != "" {
		a.Message.Parts = []model.Part{{Text: text}}
	}
	return a, nil
}

func manyAgent(t testing.TB, react bool) (*Agent, *instant) {
	w := newWorkshop(t, manyTools300(t))
	m := &instant{traits: model.Traits{Format: "openai", Tools: !react, Context: 200_000}, react: react}
	shown := func(c toolcrib.Caller) []toolcrib.Entry {
		out := make([]toolcrib.Entry, 0, 320)
		for e := range w.Tools(c) {
			out = append(out, e)
		}
		return out
	}
	w.Crib.Journal = &lastOnly{}
	return &Agent{Crib: w.Crib, Model: m, Shown: shown, Definitions: &Definitions{}}, m
}

// lastOnly is a journal that keeps nothing, so that it costs nothing.
type lastOnly struct{}

func (*lastOnly) Begin(context.Context, *toolcrib.Record) (*toolcrib.Record, error) { return nil, nil }
func (*lastOnly) End(context.Context, *toolcrib.Record) error                       { return nil }

// BenchmarkTurn is one turn with 300 tools in a conversation of 40 messages: what the
// loop and the pipeline take beside model and tool.
func BenchmarkTurn(b *testing.B) {
	for _, react := range []bool{false, true} {
		b.Run(map[bool]string{false: "native", true: "react"}[react], func(b *testing.B) {
			a, m := manyAgent(b, react)
			var c Conversation
			for range 10 {
				if _, err := a.Run(b.Context(), &c, model.Text(model.User, "Go on."), nil); err != nil {
					b.Fatal(err)
				}
			}
			before := m.turns.Load()
			b.ReportAllocs()
			for b.Loop() {
				c.Messages = c.Messages[:40]
				if _, err := a.Run(b.Context(), &c, model.Text(model.User, "Go on."), func(Event) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(m.turns.Load()-before), "ns/turn")
		})
	}
}

// TestTurnIsCheap: with 300 tools a turn takes less than a millisecond beside model and
// tools. The best of several rounds counts, because the machine may be busy.
func TestTurnIsCheap(t *testing.T) {
	for _, react := range []bool{false, true} {
		a, _ := manyAgent(t, react)
		var c Conversation
		best := time.Hour
		for range 200 {
			begin := time.Now()
			if _, err := a.Run(t.Context(), &c, model.Text(model.User, "Go on."), nil); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin)/2) // two turns
		}
		limit := time.Millisecond
		if raceEnabled {
			limit *= 20
		}
		if best > limit {
			t.Errorf("react %v: a turn takes %v", react, best)
		}
		t.Log(react, best)
	}
}

// heap is how much memory is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLongSession: 200 inputs, each with a call whose result is long, stay under 100 MB
// and within the context.
func TestLongSession(t *testing.T) {
	p := newProbe()
	w := newWorkshop(t, p.box())
	w.Crib.Journal = &lastOnly{}
	before := heap()
	n, most, summaries := 0, 0, 0
	m := &scripted{traits: model.Traits{Format: "openai", Tools: true, Context: 32_000}}
	a := &Agent{Crib: w.Crib, Model: modelFunc{m.traits, func(q model.Request) *model.Answer {
		size := 0
		for i := range q.Messages {
			size += sizeOf(&q.Messages[i])
		}
		most = max(most, size)
		if q.System == summarySystem {
			summaries++
			return &model.Answer{Message: model.Text(model.Assistant, "They go on and on.")}
		}
		if n++; n%2 == 1 {
			return &model.Answer{Message: model.Message{Calls: []model.ToolCall{{ID: "1", Name: "huge", Arguments: json.RawMessage(`{"size":40000}`)}}}}
		}
		return &model.Answer{Message: model.Text(model.Assistant, strings.Repeat("I looked at it. ", 50))}
	}}}
	var c Conversation
	peak := uint64(0)
	for i := range 200 {
		out, err := a.Run(t.Context(), &c, model.Text(model.User, fmt.Sprintf("Question %d. %s", i, strings.Repeat("Please. ", 20))), nil)
		if err != nil || out.Stopped != StoppedAnswer {
			t.Fatal(i, out, err)
		}
		if i%20 == 19 {
			peak = max(peak, heap())
		}
	}
	checkWhole(t, &c)
	used := int64(peak) - int64(before)
	t.Logf("%d messages, %d MB, at most %d tokens in a request, %d summaries, the last of %d bytes for %d messages", len(c.Messages), used>>20, most, summaries, len(c.Summary), c.Summarised)
	if used > 100<<20 || most > 32_000 || c.Summarised == 0 || len(c.Summary) > 16_000 {
		t.Errorf("%d MB, %d tokens", used>>20, most)
	}
}

// modelFunc is a function as a model.
type modelFunc struct {
	traits model.Traits
	answer func(model.Request) *model.Answer
}

func (m modelFunc) Traits() model.Traits { return m.traits }

func (m modelFunc) Ask(_ context.Context, q model.Request, _ func(model.Delta)) (*model.Answer, error) {
	return m.answer(q), nil
}

// TestHundredSessions: 100 conversations at once over one crib and a real socket.
func TestHundredSessions(t *testing.T) {
	w := newWorkshop(t)
	w.write(t, "a.txt", strings.Repeat("some text\n", 500))
	w.Crib.Journal = &cribtest.Memory{}
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if r.Messages[len(r.Messages)-1].Role == "user" {
			return callTurn(call("read_file", `{"path":"a.txt"}`), call("evaluate_expression", sum))
		}
		return sayTurn("It is 42, and the file is long.")
	})
	before := heap()
	m, err := openai.New(model.Endpoint{BaseURL: server.Base("openai"), Model: "scripted", Traits: model.Traits{Tools: true, Context: 128_000}})
	if err != nil {
		t.Fatal(err)
	}
	defs := &Definitions{}
	var all sync.WaitGroup
	var peak atomic.Uint64
	sessions, inputs := 100, 3
	if raceEnabled {
		sessions, inputs = 40, 1 // what can race does so with fewer, and each costs ten times as much
	}
	list := make([]Conversation, sessions)
	for i := range list {
		all.Go(func() {
			a := &Agent{Crib: w.Crib, Model: m, Definitions: defs, Caller: toolcrib.Caller{Subject: "ann", Session: fmt.Sprint(i)}}
			for range inputs {
				var told int
				out, err := a.Run(t.Context(), &list[i], model.Text(model.User, "Go on."), func(Event) { told++ })
				if err != nil || out.Calls != 2 || told == 0 {
					t.Errorf("session %d: %+v, %v", i, out, err)
					return
				}
			}
			if i%25 == 0 {
				peak.Store(max(peak.Load(), heap()))
			}
		})
	}
	all.Wait()
	for i := range list {
		checkWhole(t, &list[i])
	}
	used := int64(max(peak.Load(), heap())) - int64(before)
	t.Logf("%d MB", used>>20)
	if used > 300<<20 {
		t.Errorf("100 sessions take %d MB", used>>20)
	}
}
