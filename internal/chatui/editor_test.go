package chatui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/chatui/vttest"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestEditor types, and looks at what is there with the cursor in it.
func TestEditor(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"abc", "abc|"},
		{"abc\x1b[D\x1b[DX", "aX|bc"},
		{"abc\x01X\x05Y", "XabcY|"},
		{"one two\x17", "one |"},
		{"one two\x1b\x7f", "one |"},
		{"one two\x1bbX", "one X|two"},
		{"one two\x15", "|"},
		{"one two\x01\x0b", "|"},
		{"a\x1b\rb", "a\nb|"},
		{"a\nb\x1b[AX", "aX|\nb"},
		{"ab\nc\x1b[A\x1b[BX", "ab\ncX|"},
		{"\x1b[200~a\r\nb\rc\x1b[201~d", "a\nb\ncd|"},
		{"日本\x7fX", "日X|"},
		{"e\u0301\x7fX", "X|"}, // a letter and its mark are one
		{"\x1b[13;2ux", "\nx|"},
		{"\x1b[A", "second|"}, {"\x1b[A\x1b[A", "first|"}, {"\x1b[A\x1b[A\x1b[A", "first|"}, {"draft\x1b[A\x1b[B", "draft|"},
		{"\x1b]11;rgb:0000/0000/0000\x1b\\a\x1b[?1;2cb\x1b[2;5Rc", "abc|"}, // what terminals say unasked
	} {
		var r keyReader
		e := editor{history: []string{"first", "second"}}
		for _, k := range r.read([]byte(c.keys)) {
			e.press(k)
		}
		if got := string(e.text[:e.at]) + "|" + string(e.text[e.at:]); got != c.want {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestCursor: it stands where the next character will, whatever was typed.
func TestCursor(t *testing.T) {
	b := newFake(nil)
	s := sit(t, b, 20, 12, nil)
	s.wait("›")
	s.press("日本語 and a longer line")
	s.wait("er line")
	row, column := s.screen.Cursor()
	rows := strings.Split(s.screen.String(), "\n")
	if got := rows[row]; vtWidth(got) != column {
		t.Errorf("the cursor is at %d of %q:\n%s", column, got, s.screen)
	}
	s.press("\x03\x03")
	s.over()
}

func vtWidth(s string) (n int) {
	for _, r := range s {
		n += vttest.Width(r)
	}
	return n
}

// TestResize: the prompt is there once, in every size.
func TestResize(t *testing.T) {
	b := newFake(func(_ context.Context, _ string, emit func(agent.Event)) error {
		emit(says("A sentence that is long enough to be parted when the window becomes narrow."))
		return nil
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("hello\r")
	s.wait("narrow.")
	for _, size := range [][2]int{{40, 12}, {100, 30}, {20, 6}, {60, 20}} {
		s.resize(size[0], size[1])
		s.press("x")
		if err := s.screen.WaitFor(patience, func(now string) bool { return strings.Contains(now, "› x") && strings.Count(now, "scripted") <= 1 }, "one prompt"); err != nil {
			t.Fatal(err)
		}
		s.press("\x7f")
	}
	s.press("\x04")
	s.over()
}

// TestSlash goes through the commands.
func TestSlash(t *testing.T) {
	b := newFake(nil)
	b.todo = []Todo{{"write it", "completed"}, {"test it", "in_progress"}}
	s := sit(t, b, 80, 60, nil)
	s.wait("›")
	for _, c := range []struct{ keys, want string }{
		{"/he\t\r", "/mode [safe|auto|plan|yolo]"},
		{"/mode\r", "✓ default"},
		{"/mode pl\t\r", "The mode is plan now."},
		{"/model gpt\r", "The model is gpt now."},
		{"/agent wrong\r", "✗ there is no agent wrong"},
		{"/tools\r", "read_file  Read a text file."},
		{"/tools minimal\r", "The profile is minimal now."},
		{"/sessions\r", "s-0  an earlier one"},
		{"/resume nowhere\r", "✗ there is no such session"},
		{"/branch\r", "Going on in a copy, s-2."},
		{"/new\r", "A new conversation."},
		{"/todos\r", "[x] write it\n  [>] test it"},
		{"/cost\r", "not known: the model has no price"},
		{"/modell\r", "Did you mean /model?"},
	} {
		s.press(c.keys)
		s.wait(c.want)
	}
	s.press("/clear\r")
	s.waitNot("modell")
	if !strings.Contains(s.screen.All(), "Did you mean") {
		t.Error("what was cleared is lost")
	}
	s.press("/quit\r")
	s.over()
	if len(b.said()) != 0 {
		t.Errorf("%q was said to the agent", b.said())
	}
}

// TestPathIsNoCommand: what begins with a / and is a path is said to the agent.
func TestPathIsNoCommand(t *testing.T) {
	for given, want := range map[string]bool{"/help": true, " /mode plan ": true, "/etc/passwd has what?": false, "/": false, "// x": false, "/a.txt": false, "what is /help": false} {
		if _, _, ok := slash(given); ok != want {
			t.Errorf("%q: %t", given, ok)
		}
	}
}

func TestLines(t *testing.T) {
	b := newFake(func(_ context.Context, input string, emit func(agent.Event)) error {
		emit(says("You said " + input + "\x1b[2J."))
		if input == "fail" {
			return errors.New("it failed")
		}
		return nil
	})
	var out bytes.Buffer
	err := Lines(t.Context(), strings.NewReader("one\ntwo \\\nlines\n/mode plan\n\nfail"), &out, false, b, Options{})
	if err == nil || err.Error() != "it failed" {
		t.Error(err)
	}
	want := "You said one[U+001B][2J.\nYou said two \nlines[U+001B][2J.\n\n+ The mode is plan now.\n\nYou said fail[U+001B][2J.\n\nx it failed\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestLinesAsk: a person at a dumb terminal answers on lines; nothing is a no.
func TestLinesAsk(t *testing.T) {
	for given, want := range map[string]desk.Reply{
		"y\n": {Choice: desk.AllowOnce, Calls: 1}, "\n": {Choice: desk.Deny}, "what\nno\n": {Choice: desk.Deny}, "m\nnot now\n": {Choice: desk.Deny, Message: "not now"}, "d\ns\n": {Choice: desk.AllowSession, Calls: 1},
	} {
		got := make(chan desk.Reply, 1)
		b := newFake(nil)
		b.turn = func(context.Context, string, func(agent.Event)) error {
			got <- ask(b, desk.Question{Tool: "run_command"})
			return nil
		}
		out := &prompted{seen: make(chan struct{})}
		if err := Lines(t.Context(), io.MultiReader(strings.NewReader("go\n"), &later{out.seen, strings.NewReader(given)}), out, true, b, Options{}); err != nil {
			t.Error(err)
		}
		if r := <-got; r.Choice != want.Choice || r.Message != want.Message || r.Calls != want.Calls {
			t.Errorf("%q: %+v:\n%s", given, r, out.shown.String())
		}
	}
}

// prompted is a screen on which a question comes up.
type prompted struct {
	shown bytes.Buffer
	seen  chan struct{}
	once  sync.Once
}

func (p *prompted) Write(b []byte) (int, error) {
	n, err := p.shown.Write(b)
	if strings.Contains(p.shown.String(), "y yes, once") {
		p.once.Do(func() { close(p.seen) })
	}
	return n, err
}

// later is what a person types who has seen the question.
type later struct {
	seen <-chan struct{}
	io.Reader
}

func (l *later) Read(p []byte) (int, error) {
	<-l.seen
	return l.Reader.Read(p)
}

// typist is a person's keyboard on which lines are typed one after the other.
type typist struct {
	lines chan string
	idle  chan struct{} // gets one for each time that all that was typed has been taken
	rest  string
}

func newTypist() *typist {
	return &typist{lines: make(chan string, 8), idle: make(chan struct{}, 64)}
}

func (k *typist) Read(p []byte) (int, error) {
	if k.rest == "" {
		if len(k.lines) == 0 {
			k.idle <- struct{}{}
		}
		line, ok := <-k.lines
		if !ok {
			return 0, io.EOF
		}
		k.rest = line
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// TestLinesTypedAhead: lines that were there before the question was answer nothing.
func TestLinesTypedAhead(t *testing.T) {
	b := newFake(nil)
	got := make(chan desk.Reply, 1)
	keys := newTypist()
	out := &prompted{seen: make(chan struct{})}
	b.turn = func(context.Context, string, func(agent.Event)) error {
		<-keys.idle // "go" is taken
		keys.lines <- "y\nyes\na\n"
		<-keys.idle // they wait to be taken, and are read already
		keys.lines <- "s\n"
		<-keys.idle
		got <- ask(b, desk.Question{Tool: "run_command"})
		return nil
	}
	keys.lines <- "go\n"
	go func() {
		select {
		case <-out.seen:
			keys.lines <- "n\n"
			close(keys.lines)
		case <-t.Context().Done():
		}
	}()
	linesEnd(t, keys, out, b)
	if r := received(t, got); r.Choice != desk.Deny || !strings.Contains(out.shown.String(), "typed before the question") {
		t.Errorf("%+v:\n%s", r, out.shown.String())
	}
}

// linesEnd holds a conversation on lines, which has to end.
func linesEnd(t *testing.T, in io.Reader, out io.Writer, b Backend) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- Lines(t.Context(), in, out, true, b, Options{}) }()
	if err := received(t, ended); err != nil {
		t.Error(err)
	}
}

// received is what comes by a channel, for which nobody waits without an end.
func received[V any](t *testing.T, from <-chan V) (got V) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came within %v", patience)
	}
	return got
}

// tooEarly types a line as soon as a question is written, before its prompt is there, and
// goes on when that line has been read.
type tooEarly struct {
	prompted
	keys  *typist
	typed sync.Once
}

func (e *tooEarly) Write(b []byte) (int, error) {
	n, err := e.prompted.Write(b)
	if strings.Contains(e.shown.String(), "rm -r") {
		e.typed.Do(func() {
			<-e.keys.idle // all that was typed before
			e.keys.lines <- "s\n"
			<-e.keys.idle
		})
	}
	return n, err
}

// TestLineBeforeThePromptIsNoAnswer: a line that is read when the question is there
// already, but before its prompt is, was typed without seeing it. A busy machine reads
// what was typed that late.
func TestLineBeforeThePromptIsNoAnswer(t *testing.T) {
	b := newFake(nil)
	got := make(chan desk.Reply, 1)
	keys := newTypist()
	out := &tooEarly{prompted: prompted{seen: make(chan struct{})}, keys: keys}
	b.turn = func(context.Context, string, func(agent.Event)) error {
		got <- ask(b, desk.Question{Tool: "run_command", Input: json.RawMessage(`{"command":"rm -r"}`)})
		return nil
	}
	keys.lines <- "go\n"
	go func() {
		select {
		case <-out.seen:
			keys.lines <- "n\n"
			close(keys.lines)
		case <-t.Context().Done():
		}
	}()
	linesEnd(t, keys, out, b)
	if r := received(t, got); r.Choice != desk.Deny || !strings.Contains(out.shown.String(), `"s" was typed before`) {
		t.Errorf("taken as %+v:\n%s", r, out.shown.String())
	}
}

// TestNoQuestionWaitsAfterTheInputEnded: whoever closed the input answers nothing any
// more, neither the questions that wait then nor those that come later.
func TestNoQuestionWaitsAfterTheInputEnded(t *testing.T) {
	b := newFake(nil)
	dismissed := func(ctx context.Context, n int) error {
		for {
			b.mu.Lock()
			gone := len(b.gone)
			b.mu.Unlock()
			if gone >= n {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	open := func(id string) {
		b.questions <- desk.Event{Question: desk.Question{ID: id, Tool: "run_command", State: desk.Open, Waiting: 1}}
	}
	keys := newTypist()
	b.turn = func(ctx context.Context, _ string, _ func(agent.Event)) error {
		open("q-1")
		open("q-2")
		close(keys.lines)
		if err := dismissed(ctx, 2); err != nil {
			return err
		}
		open("q-3")
		return dismissed(ctx, 3)
	}
	keys.lines <- "go\n"
	linesEnd(t, keys, io.Discard, b)
	if !slices.Equal(b.gone, []string{"q-1", "q-2", "q-3"}) {
		t.Errorf("dismissed: %v", b.gone)
	}
}

// TestPasteIsNoAnswer: a terminal that does not mark what is pasted sends it as keys. None
// of them allows anything, whatever it begins with.
func TestPasteIsNoAnswer(t *testing.T) {
	for _, pasted := range []string{"always check the result first", "y\ry\r", "yes", "a\tb", "s\x1b[A", "\x1b[200~y\x1b[201~", "\x1b[200~x\x1b[201~y", "pip install x"} {
		t.Run(pasted, func(t *testing.T) {
			t.Parallel()
			b := newFake(nil)
			answered := make(chan desk.Reply, 1)
			b.turn = func(context.Context, string, func(agent.Event)) error {
				answered <- ask(b, desk.Question{Tool: "run_command", Input: json.RawMessage(`{"command":"rm x"}`)})
				return nil
			}
			s := sit(t, b, 80, 24, nil)
			s.wait("›")
			s.press("go\r")
			s.wait("y yes, once")
			s.press(pasted)
			for { // it counts when nothing was typed for a while
				s.press("n")
				select {
				case r := <-answered:
					if r.Choice != desk.Deny {
						t.Errorf("%q was taken as %+v", pasted, r)
					}
					s.press("\x03\x03\x04")
					s.over()
					return
				case <-time.After(2 * calmDown):
				}
			}
		})
	}
}

// TestCalm: emoji that models write stay readable, and nothing else is left out.
func TestCalm(t *testing.T) {
	for given, want := range map[string]string{
		"⚠\ufe0f careful": "⚠ careful", "1\ufe0f\u20e3 first": "1 first", "👨\u200d👩\u200d👧": "👨👩👧", "a\u200db": "a[U+200D]b", "a\ufe0f": "a[U+FE0F]", "x\tz": "x    z", "\xff": "\ufffd",
	} {
		if got := visible(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
