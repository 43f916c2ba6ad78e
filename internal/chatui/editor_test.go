package chatui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// TestLinesTypedAhead: lines that were there before the question was answer nothing.
func TestLinesTypedAhead(t *testing.T) {
	b := newFake(nil)
	got := make(chan desk.Reply, 1)
	in, keys := io.Pipe()
	b.turn = func(context.Context, string, func(agent.Event)) error {
		if _, err := io.WriteString(keys, "y\nyes\na\n"); err != nil { // two of them wait to be taken, and are read already
			t.Error(err)
		}
		if _, err := io.WriteString(keys, "s\n"); err != nil {
			t.Error(err)
		}
		got <- ask(b, desk.Question{Tool: "run_command"})
		return nil
	}
	out := &prompted{seen: make(chan struct{})}
	go func() {
		_, _ = io.WriteString(keys, "go\n")
		<-out.seen
		_, _ = io.WriteString(keys, "n\n")
		_ = keys.Close()
	}()
	if err := Lines(t.Context(), in, out, true, b, Options{}); err != nil {
		t.Error(err)
	}
	if r := <-got; r.Choice != desk.Deny || !strings.Contains(out.shown.String(), "typed before the question") {
		t.Errorf("%+v:\n%s", r, out.shown.String())
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
