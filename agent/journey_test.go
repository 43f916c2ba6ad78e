package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// journey is one conversation, played over the APIs of all models and through ReAct.
type journey struct {
	name string
	// turns are what the model answers. Through ReAct each call is a turn of its own,
	// in text.
	turns []modeltest.Turn
	// react, if set, is what a model without tool calls answers instead.
	react   []modeltest.Turn
	summary modeltest.Turn // what it answers to who wants a summary
	person  []cribtest.Reply
	inputs  []string // what the person says; none: one thing
	setup   func(t *testing.T, s *stage)

	answer  string   // the final answer; empty: not looked at
	stopped string   // why it stopped; empty: answer
	calls   string   // the journal: tools and outcomes, but for done
	results []string // what the results have to say, each in one of them
	events  string   // the kinds of events; empty: not looked at
	fails   string   // what the error says
	check   func(t *testing.T, s *stage)
	// native: there is no such thing in text. packed: nor with Gemini, whose arguments
	// are never text.
	native, packed bool
}

// stage is where a journey is played.
type stage struct {
	*workshop
	api    string
	probe  *probe
	agent  *Agent
	server *modeltest.Server
	c      Conversation
	ev     events
	out    *Outcome
	err    error
	ctx    context.Context //nolint:containedctx // a test may end it
	cancel context.CancelFunc
	watch  func(Event)
	point  model.Endpoint
}

func call(name, args string) modeltest.Call { return modeltest.Call{Name: name, Arguments: args} }

func callTurn(list ...modeltest.Call) modeltest.Turn { return modeltest.Turn{Calls: list} }

func sayTurn(text string) modeltest.Turn { return modeltest.Turn{Text: text} }

// asReAct says turns in text.
func asReAct(turns []modeltest.Turn) []modeltest.Turn {
	var out []modeltest.Turn
	for _, t := range turns {
		if len(t.Calls) == 0 {
			if t.Text != "" && t.Stop != "refused" {
				t.Text = "Thought: I know enough.\nFINAL_ANSWER: " + t.Text
			}
			out = append(out, t)
			continue
		}
		for _, c := range t.Calls {
			one := t
			one.Calls = nil
			one.Text = fmt.Sprintf("Thought: I need %s.\nAction: %s\nAction Input: %s", c.Name, c.Name, c.Arguments)
			out = append(out, one)
		}
	}
	return out
}

func (j journey) play(t *testing.T, api string) {
	if api == "react" && (j.native || j.packed) || api == "gemini" && j.packed {
		return
	}
	p := newProbe()
	s := &stage{workshop: newWorkshop(t, p.box()), api: api, probe: p}
	s.person.Script = j.person
	s.ctx, s.cancel = context.WithCancel(t.Context())
	defer s.cancel()
	s.agent = &Agent{Crib: s.Crib, Instructions: "Be brief.", Caller: toolcrib.Caller{Subject: "ann", Session: "s1"}}
	turns := j.turns
	if api == "react" {
		turns = asReAct(turns)
		if j.react != nil {
			turns = j.react
		}
	}
	s.serve(t, turns, j.summary)
	s.point = model.Endpoint{Model: "scripted", Pause: func(context.Context, time.Duration) error { return nil }, Traits: model.Traits{Tools: api != "react", Images: true}}
	if j.setup != nil {
		j.setup(t, s)
	}
	s.agent.Model = s.open(t)
	inputs := j.inputs
	if len(inputs) == 0 {
		inputs = []string{"Please do it."}
	}
	for _, in := range inputs {
		s.out, s.err = s.agent.Run(s.ctx, &s.c, model.Text(model.User, in), func(e Event) {
			s.ev.add(e)
			if s.watch != nil {
				s.watch(e)
			}
		})
		checkWhole(t, &s.c)
	}
	j.judge(t, s)
	s.checkRequests(t)
}

// serve plays the turns; requests for summaries are not among them.
func (s *stage) serve(t *testing.T, turns []modeltest.Turn, summary modeltest.Turn) {
	var mu sync.Mutex
	next := 0
	s.server = modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		mu.Lock()
		defer mu.Unlock()
		if r.System == summarySystem {
			return summary
		}
		next++
		if next > len(turns) {
			t.Errorf("the script has %d turns, and the model is asked once more: %.300s", len(turns), r.Last())
			return modeltest.Turn{Fail: modeltest.BadRequest}
		}
		return turns[next-1]
	})
}

// asked gives the requests but for those for summaries.
func (s *stage) asked() []modeltest.Request {
	return slices.DeleteFunc(s.server.Requests(), func(r modeltest.Request) bool { return r.System == summarySystem })
}

// summaries gives the requests for summaries.
func (s *stage) summaries() []modeltest.Request {
	return slices.DeleteFunc(s.server.Requests(), func(r modeltest.Request) bool { return r.System != summarySystem })
}

func (j journey) judge(t *testing.T, s *stage) {
	t.Helper()
	if want := j.stopped; want != "any" && s.out.Stopped != want && (want != "" || s.out.Stopped != StoppedAnswer) {
		t.Errorf("it stopped because of %s (%v)", s.out.Stopped, s.err)
	}
	if (s.err != nil) != (j.fails != "") || s.err != nil && !strings.Contains(s.err.Error(), j.fails) {
		t.Errorf("error %v, want %q", s.err, j.fails)
	}
	if j.answer != "" && s.out.Text != j.answer {
		t.Errorf("answer %q, want %q", s.out.Text, j.answer)
	}
	if got := s.journalled(); j.calls != "" && got != j.calls {
		t.Errorf("the journal has %q, want %q", got, j.calls)
	}
	for _, want := range j.results {
		if !slices.ContainsFunc(s.c.Messages, func(m model.Message) bool { return m.Role == model.Tool && strings.Contains(m.Said(), want) }) {
			t.Errorf("no result says %q: %s", want, s.results())
		}
	}
	if got := s.ev.kinds(); j.events != "" && got != j.events {
		t.Errorf("events\n%s, want\n%s", got, j.events)
	}
	last := s.ev.list[len(s.ev.list)-1]
	if want := map[bool]string{true: Done, false: last.Kind}[s.err == nil]; last.Kind != want || last.Usage == nil || *last.Usage != s.out.Usage {
		t.Errorf("the last event is %+v", last)
	}
	if s.err == nil && s.out.Stopped == StoppedAnswer && len(j.inputs) == 0 && !strings.HasSuffix(s.ev.content(), s.out.Text) {
		t.Errorf("told %q, answered %q", s.ev.content(), s.out.Text)
	}
	if j.check != nil {
		j.check(t, s)
	}
}

// journalled lists the calls of the journal: what was not done has its outcome behind it.
func (s *stage) journalled() string {
	var out []string
	for _, r := range s.journal.Records() {
		word := r.Tool
		if r.Outcome != toolcrib.Done {
			word += "=" + string(r.Outcome)
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func (s *stage) results() string {
	var out []string
	for _, m := range s.c.Messages {
		if m.Role == model.Tool {
			out = append(out, m.Said())
		}
	}
	return strings.Join(out, "\n---\n")
}

// checkRequests: services refuse a conversation in which a call has no result behind it.
func (s *stage) checkRequests(t *testing.T) {
	t.Helper()
	for _, r := range s.server.Requests() {
		open := 0
		for _, m := range r.Messages {
			switch {
			case m.Role == "tool":
				open--
			case open != 0:
				t.Fatalf("request %d: %d calls without a result before %q", r.N, open, m.Text)
			}
			if m.Role == "assistant" {
				open = len(m.Calls)
				seen := map[string]bool{}
				for _, c := range m.Calls {
					if c.Name == "" || seen[c.ID] && c.ID != "" {
						t.Fatalf("request %d: bad call %+v", r.N, c)
					}
					seen[c.ID] = true
				}
			}
		}
		if open != 0 {
			t.Fatalf("request %d ends with %d calls without a result", r.N, open)
		}
	}
}

// TestJourneys plays each of them through ReAct and over one of the APIs, by turns.
func TestJourneys(t *testing.T) {
	apis := variants()
	playJourneys(t, func(i int) []string { return []string{apis[i%3], "react"} })
}

// TestJourneysOverEveryAPI plays them over the others. It runs without the race detector:
// what could race is above the APIs, and has raced there.
func TestJourneysOverEveryAPI(t *testing.T) {
	apis := variants()
	playJourneys(t, func(i int) []string { return []string{apis[(i+1)%3], apis[(i+2)%3]} })
}

func playJourneys(t *testing.T, over func(i int) []string) {
	t.Helper()
	list := slices.Concat(callJourneys(), refusalJourneys(), malformedJourneys(), modelJourneys(), contextJourneys())
	if len(list) < 40 {
		t.Errorf("only %d journeys", len(list))
	}
	t.Log(len(list), "journeys")
	for i, j := range list {
		t.Run(j.name, func(t *testing.T) {
			for _, api := range over(i) {
				t.Run(api, func(t *testing.T) {
					t.Parallel()
					j.play(t, api)
				})
			}
		})
	}
}

var errNobody = errors.New("nobody could be asked")
