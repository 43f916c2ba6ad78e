package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// page is what a terminal shows.
type page struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// room is a desk with a person at a terminal.
type room struct {
	t     *testing.T
	desk  *desk.Desk
	page  *page
	lines chan typed
	keys  *io.PipeWriter
	edits func([]byte) ([]byte, error)
}

func newRoom(t *testing.T) *room {
	t.Helper()
	return newRoomFor(t, nil)
}

// newRoomFor is a room in which only some questions are asked.
func newRoomFor(t *testing.T, sees func(desk.Question) bool) *room {
	t.Helper()
	return newRoomCalm(t, sees, 0)
}

// newRoomCalm is a room in which a question that takes another's place has to be seen
// for a while.
func newRoomCalm(t *testing.T, sees func(desk.Question) bool, calm time.Duration) *room {
	t.Helper()
	d, err := desk.New(desk.Config{
		Store: &desk.Memory{}, Project: "/srv/p", Poll: 5 * time.Millisecond, Wait: time.Minute, Unattended: desk.Leave,
		RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s },
		Terms: func(q toolcrib.Question) desk.Terms {
			return desk.Terms{Rules: []string{"write_file(x *)"}, Parts: []string{"first \x1b[2J part"}, Floor: q.Call.Tool == "wipe"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, desk: d, page: &page{}, lines: make(chan typed, 1)}
	var in io.Reader
	in, r.keys = io.Pipe()
	p := &atTerminal{
		desk: d, sees: sees, in: bufio.NewReader(in), out: r.page, by: "ann", look: look{width: 80}, calm: calm, lines: r.lines,
		edit: func(text []byte) ([]byte, error) {
			if r.edits == nil {
				return nil, errNoEditor
			}
			return r.edits(text)
		},
	}
	events, stop, err := d.Watch(t.Context(), desk.Screen{Name: "test", Sees: sees})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(t.Context(), events)
	}()
	t.Cleanup(func() {
		_ = r.keys.Close()
		stop()
		<-done
	})
	return r
}

// sees waits until the page has a text, as often as it is said.
func (r *room) sees(text string, times int) {
	r.t.Helper()
	for range 6000 {
		if strings.Count(r.page.String(), text) >= times {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Fatalf("%q is not shown %d times:\n%s", text, times, r.page)
}

func (r *room) types(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.keys, line+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

type reply struct {
	answer toolcrib.Answer
	err    error
}

// ask puts a question and gives where its answer comes.
func (r *room) ask(q toolcrib.Question) chan reply {
	out := make(chan reply, 1)
	go func() {
		a, err := r.desk.Approve(r.t.Context(), q)
		out <- reply{a, err}
	}()
	return out
}

func writing() toolcrib.Question {
	return toolcrib.Question{
		Call:    toolcrib.Call{ID: "c1", Tool: "write_file", Caller: toolcrib.Caller{Subject: "bob", Session: "s1", Frontend: "mcp"}},
		Spec:    toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file"}, Native: "write_file", Box: "files"},
		Effects: toolcrib.Reads | toolcrib.Writes,
		Input:   json.RawMessage(`{"path":"a\u001b[2Jb\n  content: fine","content":"` + strings.Repeat("x", 300) + `"}`),
		Preview: "--- a\n+++ a\n-old\n+new\x1b[31m\n",
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "files", Reason: "it changes files; x: reads only\nsecond"}, {Decision: toolcrib.Allow, Guard: "other"}},
	}
}

const prompt = "], Enter denies: "

func TestAtTerminal(t *testing.T) {
	for typed, want := range map[string]toolcrib.Answer{
		"y":          {Decision: toolcrib.Allow, By: "ann"},
		" YES ":      {Decision: toolcrib.Allow, By: "ann"},
		"n":          {By: "ann"},
		"":           {By: "ann"},
		"n not here": {By: "ann", Message: "not here"},
	} {
		r := newRoom(t)
		got := r.ask(writing())
		r.sees(prompt, 1)
		short := r.page.String()
		for _, part := range []string{
			"write_file, for bob, by mcp, would run", "\n    path: a[U+001B][2Jb\n          content: fine\n", "\n    -old\n    +new", "\n  In /srv/p\n", "\n  Why: it changes files; x: reads only\n    second\n",
			"  y yes, once  s this session  p this project  a always  n no  m no, because…\n", "e edit  ? more\n", "first [U+001B][2J part\n",
		} {
			if !strings.Contains(short, part) {
				t.Errorf("the question does not say %q:\n%s", part, short)
			}
		}
		if strings.Contains(short, "\x1b") || strings.Contains(short, "It can") || strings.Contains(short, "remember") {
			t.Errorf("the question says too much: %q", short)
		}
		r.types("?")
		r.sees(prompt, 2)
		r.types(typed)
		if a := <-got; a.err != nil || a.answer.Decision != want.Decision || a.answer.By != want.By || a.answer.Message != want.Message {
			t.Errorf("%q: %+v", typed, a)
		}
		text := r.page.String()
		for _, part := range []string{
			"write_file, for bob, by mcp, would run", "It can: read, write\n", "\n  path: a[U+001B][2Jb\n        content: fine\n", "\n  content: (300 bytes, see below)\n",
			"  -old\n  +new", "Asked by the files guard:\n  it changes files; x: reads only\n  second\n", "first [U+001B][2J part\n",
			"y  allow it once\n", "s  allow it in this session, for 24 h\n", "p  allow it in /srv/p, for 90 days\n", "m  deny it with a message",
			"remember this tool with exactly these arguments", "write_file(x *)", "[y/s/p/a/n/m/e",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("the question does not say %q:\n%s", part, text)
			}
		}
		if strings.Contains(text, "\x1b") || strings.Contains(text, "the other guard") {
			t.Errorf("the question says too much: %q", text)
		}
	}
}

// What cannot be understood is asked again, and answers nothing.
func TestAtTerminalAsksAgain(t *testing.T) {
	r := newRoom(t)
	got := r.ask(writing())
	for i, bad := range []string{"yes please", "ye", "s forever", "r", "e", ""} {
		r.sees("nswer", i+1)
		r.types(bad)
		if bad == "e" {
			r.sees("as JSON on one line", 1)
			r.types("nonsense")
			r.sees("not a JSON object", 1)
			r.types(`null`)
			r.sees("not a JSON object", 2)
			r.types(`{"path":"z"}`)
			break
		}
	}
	if a := <-got; a.err != nil || string(a.answer.Input) != `{"path":"z"}` {
		t.Errorf("%+v", a)
	}
}

func TestAtTerminalRemembers(t *testing.T) {
	for typed, check := range map[string]func(desk.Grant) bool{
		"s":     func(g desk.Grant) bool { return g.Scope == desk.Session && g.Session == "s1" && g.Arguments != "" },
		"p 2h":  func(g desk.Grant) bool { return g.Scope == desk.Project && g.Expires.Sub(g.At) == 2*time.Hour },
		"a 7d":  func(g desk.Grant) bool { return g.Scope == desk.Always && g.Expires.Sub(g.At) == 7*24*time.Hour },
		"ar":    func(g desk.Grant) bool { return g.Scope == desk.Always && len(g.Rules) == 1 && g.Expires.IsZero() },
		"sr 1h": func(g desk.Grant) bool { return g.Scope == desk.Session && len(g.Rules) == 1 },
	} {
		r := newRoom(t)
		got := r.ask(writing())
		r.sees(prompt, 1)
		r.types(typed)
		if a := <-got; a.err != nil || a.answer.Decision != toolcrib.Allow {
			t.Errorf("%q: %+v", typed, a)
		}
		r.sees("remembered as g-", 1)
		grants, err := r.desk.Grants(t.Context(), desk.GrantFilter{})
		if err != nil || len(grants) != 1 || !check(grants[0]) || grants[0].By != "ann" {
			t.Errorf("%q: %+v, %v", typed, grants, err)
		}
	}
}

// What is asked every time offers nothing that lasts, and takes nothing.
func TestAtTerminalFloor(t *testing.T) {
	r := newRoom(t)
	q := writing()
	q.Call.Tool = "wipe"
	got := r.ask(q)
	r.sees("[y/n/m/e/?"+prompt, 1)
	r.types("a")
	r.sees("can only be allowed once", 1)
	r.sees(prompt, 2)
	r.types("m")
	r.sees("Message to the model: ", 1)
	r.types("never")
	if a := <-got; a.err != nil || a.answer.Decision != toolcrib.Deny || a.answer.Message != "never" {
		t.Errorf("%+v", a)
	}
}

func TestAtTerminalEdits(t *testing.T) {
	r := newRoom(t)
	var seen string
	r.edits = func(text []byte) ([]byte, error) {
		if seen != "" {
			return []byte(`{"path":"b"}` + "\n"), nil
		}
		seen = string(text)
		return text, nil // unchanged
	}
	q := writing()
	q.Input = json.RawMessage(`{"path":"a"}`)
	got := r.ask(q)
	r.sees(prompt, 1)
	r.types("e")
	r.sees("nothing was changed", 1)
	r.sees(prompt, 2)
	r.types("e")
	if a := <-got; a.err != nil || string(a.answer.Input) != `{"path":"b"}` || seen != "{\n  \"path\": \"a\"\n}\n" {
		t.Errorf("%+v; edited %q", a, seen)
	}
}

// A question that another screen answers is taken away, and the next is shown.
func TestAtTerminalComesSecond(t *testing.T) {
	r := newRoom(t)
	first := r.ask(writing())
	r.sees(prompt, 1)
	other := writing()
	other.Input = json.RawMessage(`{"path":"second"}`)
	second := r.ask(other)
	var open []desk.Question
	for len(open) < 2 {
		var err error
		if open, err = r.desk.Questions(t.Context(), desk.Filter{State: desk.Open}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.desk.Answer(t.Context(), open[0].ID, desk.Reply{Choice: desk.Deny}, "carl"); err != nil {
		t.Fatal(err)
	}
	if a := <-first; a.answer.By != "carl" {
		t.Errorf("%+v", a)
	}
	r.sees("Answered by carl on another screen: deny.", 1)
	r.sees("path: second", 1)
	r.sees(prompt, 2)
	r.types("y")
	if a := <-second; a.answer.Decision != toolcrib.Allow || a.answer.By != "ann" {
		t.Errorf("%+v", a)
	}
}

// A tool's own question is answered by number or in words; nothing is no answer.
func TestAtTerminalOwnQuestion(t *testing.T) {
	for typed, want := range map[string]toolcrib.Answer{
		"2": {Decision: toolcrib.Allow, Message: "blue"}, "y": {Decision: toolcrib.Allow, Message: "y"},
		"green": {Decision: toolcrib.Allow, Message: "green"}, "3": {Decision: toolcrib.Allow, Message: "3"}, "": {},
	} {
		r := newRoom(t)
		got := r.ask(toolcrib.Question{Call: toolcrib.Call{Tool: "ask_user"}, Text: "Which colour?", Options: []string{"red", "blue"}})
		r.sees("Answer (its number, or your own words; empty: none): ", 1)
		r.types(typed)
		if a := <-got; a.err != nil || a.answer.Decision != want.Decision || a.answer.Message != want.Message {
			t.Errorf("%q: %+v", typed, a)
		}
	}
}

// A call that a tool makes, such as one of a script, has another ID. It waits for the
// person at the terminal of the first one, also if the same was left open before.
func TestAtTerminalInnerCall(t *testing.T) {
	r := newRoomFor(t, questionsOf("outer", "shell-1", time.Now().Add(time.Hour))) // so that what was left open is older
	q := writing()
	q.Call.ID, q.Call.Caller.Session = "inner", "shell-1"
	other := q
	other.Call.Caller.Session = "shell-2"
	if a := <-r.ask(other); toolcrib.CodeOf(a.err) != toolcrib.CodeUnavailable {
		t.Errorf("a call of another session: %+v", a)
	}
	got := r.ask(q)
	r.sees(prompt, 1)
	r.types("y")
	if a := <-got; a.err != nil || a.answer.Decision != toolcrib.Allow {
		t.Errorf("%+v", a)
	}
}

// Who hangs up answers nothing, and the call is told so at once.
func TestAtTerminalHangsUp(t *testing.T) {
	r := newRoom(t)
	got := r.ask(writing())
	r.sees(prompt, 1)
	if err := r.keys.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-got; toolcrib.CodeOf(a.err) != toolcrib.CodeUnavailable || !errors.Is(a.err, desk.ErrPending) || !strings.Contains(a.err.Error(), "stays open") {
		t.Errorf("%+v", a)
	}
	open, err := r.desk.Questions(context.Background(), desk.Filter{State: desk.Open})
	if err != nil || len(open) != 1 {
		t.Errorf("%+v, %v", open, err)
	}
}

func TestLook(t *testing.T) {
	l := look{width: 40}
	for text, want := range map[string]string{
		"short": "  short\n",
		"":      "  \n",
		"these are quite a few words which do not fit in": "  these are quite a few words which do\n        not fit in\n",
		strings.Repeat("x", 75):                           "  " + strings.Repeat("x", 38) + "\n        " + strings.Repeat("x", 32) + "\n        " + strings.Repeat("x", 5) + "\n",
		strings.Repeat("界", 25):                           "  " + strings.Repeat("界", 19) + "\n        " + strings.Repeat("界", 6) + "\n",
	} {
		if got := l.line("", text); got != want {
			t.Errorf("%q is shown as\n%s", text, got)
		}
	}
	l.colour = true
	if got := l.line(desk.PartChange, "+new"); got != "  \x1b[32m+new\x1b[0m\n" {
		t.Errorf("%q", got)
	}
	if got := l.line(desk.PartArguments, "+new"); got != "  +new\n" {
		t.Errorf("%q", got)
	}
}

// A long question is shown without its middle, says so, and is shown whole on a key.
func TestAtTerminalLongQuestion(t *testing.T) {
	r := newRoom(t)
	q := writing()
	q.Preview = "--- a\n+++ a\n" + strings.Repeat("+one\n-two\n", 40) + "+the last line\n"
	got := r.ask(q)
	r.sees(prompt, 1)
	short := r.page.String()
	if n := strings.Count(short, "\n"); n > briefMost+8 || !strings.Contains(short, "lines are not shown here: ? shows them\n") || !strings.Contains(short, "+the last line\n") || !strings.Contains(short, "path: a") {
		t.Errorf("%d lines:\n%s", n, short)
	}
	for i, word := range []string{"y", "a", "sr", "p 2h", "e"} { // the harm may be in the middle
		r.types(word)
		r.sees(prompt, i+2)
		r.sees("There is more than is shown: ? shows all of it first.\n", i+1)
	}
	r.types("?")
	r.sees(prompt, 7)
	if whole := r.page.String(); strings.Count(whole, "  +one\n") < 40 {
		t.Errorf("the whole question is not shown:\n%s", whole)
	}
	r.types("y")
	if a := <-got; a.answer.Decision != toolcrib.Allow {
		t.Errorf("%+v", a)
	}
}

// What was typed for a question that was settled elsewhere answers no other one, and
// nor does what was on its way when another one took its place.
func TestAtTerminalLateAnswer(t *testing.T) {
	for _, calm := range []time.Duration{0, time.Hour} {
		r := newRoomCalm(t, nil, calm)
		first := r.ask(writing())
		r.sees(prompt, 1)
		open, err := r.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
		if err != nil || len(open) != 1 {
			t.Fatal(open, err)
		}
		if _, err := r.desk.Answer(t.Context(), open[0].ID, desk.Reply{Choice: desk.Deny}, "bob"); err != nil {
			t.Fatal(err)
		}
		<-first
		r.sees("on another screen", 1)
		if calm == 0 {
			r.types("y")                                                                           // a moment too late
			for end := time.Now().Add(time.Minute); len(r.lines) == 0 && time.Now().Before(end); { // or it could count as typed later
				time.Sleep(time.Millisecond)
			}
		}
		q := writing()
		q.Call.ID, q.Call.Tool = "c2", "wipe"
		second := r.ask(q)
		r.sees(prompt, 2)
		if calm > 0 {
			r.types("y") // nobody reads as fast
			r.sees("This is another question than the one before.", 1)
			r.sees(prompt, 3)
			continue
		}
		go func() { _, _ = io.WriteString(r.keys, "n not this one\n") }() // nobody reads it if the other was taken
		if a := <-second; a.answer.Decision == toolcrib.Allow || a.answer.Message != "not this one" {
			t.Errorf("the late answer was taken for another question: %+v", a)
		}
	}
}

// No character is wider than it is counted, and no name: what runs over the edge looks
// like a line of ours.
func TestLookRunsOverNoEdge(t *testing.T) {
	l := look{width: 60}
	wide := strings.Repeat("\u231a\U0001f004", 60) + "Answer [y/n]"
	q := desk.Question{ID: "q-1", Tool: "t", Caller: toolcrib.Caller{Subject: "ann", Client: "Client" + strings.Repeat(" ", 30) + strings.Repeat("Why: it reads ", 4)}}
	for row := range strings.SplitSeq(l.line("", wide)+l.question(&q), "\n") {
		if text.Width(row) > l.width {
			t.Errorf("%d columns: %s", text.Width(row), row)
		}
	}
}

// A yes is to what was seen: one to a question whose middle was left out counts only
// after it was shown. A no counts at once.
func TestAtTerminalYesToTheUnseen(t *testing.T) {
	r := newRoom(t)
	q := writing()
	q.Preview = "--- a\n+++ a\n" + strings.Repeat("+one\n-two\n", 12) + "+evil\n" + strings.Repeat("+three\n-four\n", 12)
	got := r.ask(q)
	r.sees(prompt, 1)
	if strings.Contains(r.page.String(), "+evil") {
		t.Fatalf("nothing is left out:\n%s", r.page)
	}
	r.types("y")
	r.sees(prompt, 2)
	r.types("?")
	r.sees(prompt, 3)
	if len(got) > 0 || !strings.Contains(r.page.String(), "+evil") {
		t.Fatalf("answered, or not shown:\n%s", r.page)
	}
	r.types("y")
	if a := <-got; a.err != nil || a.answer.Decision != toolcrib.Allow {
		t.Errorf("%+v", a)
	}
	got = r.ask(q)
	r.sees(prompt, 4)
	r.types("n")
	if a := <-got; a.err != nil || a.answer.Decision == toolcrib.Allow {
		t.Errorf("%+v", a)
	}
}

// TestAPartAtTerminal: of what a command has changed a person takes what they name.
func TestAPartAtTerminal(t *testing.T) {
	for typed, want := range map[string]string{"o a src": "a|src", `only "a b"`: "a b", "o\na": "a", "o\n\no c": "c"} {
		r := newRoom(t)
		q := writing()
		q.ByPath = true
		got := r.ask(q)
		r.sees(prompt, 1)
		r.types("?")
		r.sees(prompt, 2)
		for i, line := range strings.Split(typed, "\n") {
			switch i {
			case 1:
				r.sees("The paths to take", 1)
			case 2:
				r.sees(prompt, 3)
			}
			r.types(line)
		}
		if a := <-got; a.err != nil || a.answer.Decision != toolcrib.Allow || strings.Join(a.answer.Paths, "|") != want {
			t.Errorf("%q: %+v", typed, a)
		}
		for _, part := range []string{"write_file, for bob, by mcp, has run", "o PATH… only these", "o  take only some of it: o PATH…", "You can take a part of it"} {
			if !strings.Contains(r.page.String(), part) {
				t.Errorf("the question does not say %q:\n%s", part, r.page)
			}
		}
	}
	r := newRoom(t) // of what would run there is no part
	got := r.ask(writing())
	r.sees(prompt, 1)
	r.types("?")
	r.sees(prompt, 2)
	r.types("o a")
	r.sees("is not one of the answers", 1)
	r.types("n")
	<-got
}
