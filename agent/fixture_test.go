package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/clock"
	filebox "github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/interact"
	"github.com/toolcrib/toolcrib/toolbox/math"
)

// scripted is a model that follows a script.
type scripted struct {
	traits model.Traits
	turns  []func(ctx context.Context, q model.Request, emit func(model.Delta)) (*model.Answer, error)

	mu    sync.Mutex
	asked []model.Request
}

func (s *scripted) Traits() model.Traits { return s.traits }

func (s *scripted) Ask(ctx context.Context, q model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if n >= len(s.turns) {
		return nil, errors.New("the script has no further turn")
	}
	return s.turns[n](ctx, q, emit)
}

func (s *scripted) request(i int) model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[i]
}

type turnFunc = func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error)

// says is a turn that answers with a text, in pieces.
func says(s string) turnFunc {
	return func(_ context.Context, _ model.Request, emit func(model.Delta)) (*model.Answer, error) {
		for piece := range strings.SplitAfterSeq(s, " ") {
			emit(model.Delta{Text: piece})
		}
		return &model.Answer{Message: model.Text(model.Assistant, s), Stop: model.StopEnd, Usage: model.Usage{Input: 10, Output: 2}}, nil
	}
}

// calls is a turn that calls tools: name and arguments in turn.
func calls(pairs ...string) turnFunc {
	var list []model.ToolCall
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, model.ToolCall{ID: "c" + string(rune('1'+i/2)), Name: pairs[i], Arguments: json.RawMessage(pairs[i+1])})
	}
	return callsAs(list...)
}

func callsAs(list ...model.ToolCall) turnFunc {
	return func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) {
		return &model.Answer{Message: model.Message{Role: model.Assistant, Calls: list}, Stop: model.StopCalls, Usage: model.Usage{Input: 10, Output: 2}}, nil
	}
}

func script(turns ...turnFunc) *scripted {
	return &scripted{traits: model.Traits{Name: "scripted", Format: "openai", Tools: true, Images: true}, turns: turns}
}

// workshop is a crib with real toolboxes over a directory of its own.
type workshop struct {
	*toolcrib.Crib
	dir     string
	journal *cribtest.Memory
	person  *cribtest.Person
}

func newWorkshop(t testing.TB, more ...toolcrib.Toolbox) *workshop {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	open := func(box toolcrib.Toolbox, err error) toolcrib.Toolbox {
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	fb, err := filebox.Open(t.Context(), filebox.Config{})
	boxes := append([]toolcrib.Toolbox{
		open(math.Open(t.Context(), math.Config{})), open(clock.Open(t.Context(), clock.Config{})), open(fb, err), open(interact.Open(t.Context(), interact.Config{})),
	}, more...)
	w := &workshop{dir: dir, journal: &cribtest.Memory{}, person: &cribtest.Person{}}
	cat := &toolcrib.Catalog{}
	if _, faults := cat.Load(t.Context(), toolcrib.Contents{Boxes: boxes}); len(faults) > 0 {
		t.Fatal(faults)
	}
	w.Crib = &toolcrib.Crib{
		Catalog: cat, Guards: []toolcrib.Guard{cribtest.GuardFunc(judge)}, Journal: w.journal, Approver: Asks(w.person),
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}}, Files: files.Options{Base: dir},
		Limits: toolcrib.Limits{Ask: time.Minute}, Log: slog.New(slog.DiscardHandler),
	}
	return w
}

// judge allows what reads and asks about what writes; what removes is forbidden.
func judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	v := &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "test"}
	switch {
	case strings.Contains(r.Spec.Name, "delete"):
		v.Decision, v.Reason = toolcrib.Deny, "nothing is removed here"
	case !r.Spec.Effects.ReadOnly() && !strings.HasPrefix(r.Spec.Name, "free"):
		v.Decision, v.Reason = toolcrib.Ask, "it changes files"
	}
	return v, nil
}

func (w *workshop) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// events collects what a run tells.
type events struct {
	list []Event
}

func (e *events) add(ev Event) { e.list = append(e.list, ev) }

// kinds lists the events but for the stages, each with what it is about.
func (e *events) kinds() string {
	var out []string
	for _, ev := range e.list {
		switch ev.Kind {
		case Stage:
		case Content:
			if n := len(out); n > 0 && out[n-1] == Content {
				continue
			}
			out = append(out, Content)
		case Call, CallResult:
			word := ev.Kind + ":" + ev.Tool
			if ev.Kind == CallResult && !ev.Success() {
				word += "!"
			}
			out = append(out, word)
		default:
			out = append(out, ev.Kind)
		}
	}
	return strings.Join(out, " ")
}

func (e *events) content() string {
	var b strings.Builder
	for _, ev := range e.list {
		if ev.Kind == Content {
			b.WriteString(ev.Text)
		}
	}
	return b.String()
}

// checkWhole: each call has its one result, in order.
func checkWhole(t testing.TB, c *Conversation) {
	t.Helper()
	if !c.whole() {
		text, _ := json.MarshalIndent(c.Messages, "", " ")
		t.Errorf("the conversation is not whole: %s", text)
	}
}

func lastResult(c *Conversation) model.Message {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role == model.Tool {
			return m
		}
	}
	return model.Message{}
}
