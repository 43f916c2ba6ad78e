package chatui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/model"
)

func TestAnswerStreams(t *testing.T) {
	more := make(chan string)
	b := newFake(func(_ context.Context, input string, emit func(agent.Event)) error {
		for piece := range more {
			emit(says(piece))
		}
		return nil
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("Toolcrib chat", "›", "scripted · default")
	s.press("hello\r")
	s.wait("› hello", "thinking…", "ctrl-c stops")
	more <- "It is **a"
	s.wait("It is **a", "answering…")
	more <- " fine** day.\n\nSecond paragraph"
	s.wait("It is **a fine** day.", "\n\nSecond paragraph\n")
	close(more)
	s.waitNot("answering")
	s.press("\x04")
	s.over()
	want := "Toolcrib chat\n/help lists what can be typed.\n\n› hello\n\nIt is **a fine** day.\n\nSecond paragraph\n"
	if got := s.screen.All(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLongAnswer: what is longer than the screen is in the scrollback, each line once.
func TestLongAnswer(t *testing.T) {
	b := newFake(func(_ context.Context, _ string, emit func(agent.Event)) error {
		var all strings.Builder
		for i := range 200 {
			fmt.Fprintf(&all, "line %d\n", i)
		}
		emit(says(all.String()))
		emit(says(strings.Repeat("word ", 400) + "end."))
		return nil
	})
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}} {
		s := sit(t, b, size[0], size[1], nil)
		s.wait("›")
		s.press("go\r")
		s.wait("end.", "›")
		s.press("\x04")
		s.over()
		all := s.screen.All()
		for i := range 200 {
			if n := strings.Count(all, fmt.Sprintf("line %d\n", i)); n != 1 {
				t.Fatalf("%v: line %d is there %d times:\n%s", size, i, n, all)
			}
		}
		if n := strings.Count(all, "word"); n != 400 {
			t.Errorf("%v: %d of 400 words", size, n)
		}
	}
}

func call(id, tool, args string) agent.Event {
	return agent.Event{Kind: agent.Call, Call: &model.ToolCall{ID: id, Name: tool, Arguments: json.RawMessage(args)}, Tool: tool}
}

func result(id, tool, args string, r *toolcrib.Result) agent.Event {
	e := call(id, tool, args)
	e.Kind, e.Result = agent.CallResult, r
	return e
}

func TestCards(t *testing.T) {
	b := newFake(func(_ context.Context, _ string, emit func(agent.Event)) error {
		emit(says("I look first."))
		emit(call("1", "read_file", `{"path":"a.txt"}`))
		emit(call("2", "run_command", `{"command":"ls -l"}`))
		emit(result("1", "read_file", `{"path":"a.txt"}`, &toolcrib.Result{Value: json.RawMessage(`{"content":"1\n2\n3\n4\n5\n6\n7\n"}`)}))
		no := result("2", "run_command", `{"command":"ls -l"}`, nil)
		no.Error = &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "a person said no"}
		emit(no)
		emit(call("3", "edit_file", `{"path":"a.txt"}`))
		emit(result("3", "edit_file", `{"path":"a.txt"}`, &toolcrib.Result{Value: json.RawMessage(`{"diff":"--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n"}`)}))
		emit(says("Done."))
		return nil
	})
	s := sit(t, b, 80, 40, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("Done.")
	s.wait("✓ read_file  a.txt · ", "    5\n    … 2 more lines (ctrl-o shows all)\n", "✗ run_command  ls -l · not done · ", "    a person said no\n", "    -old\n    +new\n\nDone.")
	s.press("\x0f\x0f\x0f")
	s.wait("\n    6\n    7\n")
	s.press("\x0f")
	s.wait("There is no earlier result")
	s.press("\x04")
	s.over()
}

func ask(b *fake, q desk.Question) desk.Reply {
	q.ID, q.State, q.Waiting = "q-1", desk.Open, 1
	b.questions <- desk.Event{Question: q}
	return <-b.settle
}

// TestOneKeyApproves, and each of the others does what it says.
func TestOneKeyApproves(t *testing.T) {
	for _, c := range []struct {
		keys []string // what is waited for, and what is pressed then
		want desk.Reply
		then string
	}{
		{[]string{"y yes, once", "y"}, desk.Reply{Choice: desk.AllowOnce, Calls: 1}, "✓ Allowed once."},
		{[]string{"y yes, once", "s"}, desk.Reply{Choice: desk.AllowSession, Calls: 1}, "✓ Allowed"},
		{[]string{"y yes, once", "S"}, desk.Reply{Choice: desk.AllowSession, Calls: 1, By: desk.ByRule}, "✓ Allowed"},
		{[]string{"y yes, once", "n"}, desk.Reply{Choice: desk.Deny}, "✗ You said no."},
		{[]string{"m no, because", "m", "to the model ›", "use git mv\r"}, desk.Reply{Choice: desk.Deny, Message: "use git mv"}, "You said no: use git mv"},
		{[]string{"m no, because", "m", "to the model ›", "\x1b", "y yes, once", "y"}, desk.Reply{Choice: desk.AllowOnce, Calls: 1}, "✓ Allowed once."},
		{[]string{"y yes, once", "zx?\rd", "deny it, with a message", "y"}, desk.Reply{Choice: desk.AllowOnce, Calls: 1}, "✓ Allowed once."},
		{[]string{"o only…", "o", "take only ›", "src \"a b\"\r"}, desk.Reply{Choice: desk.AllowOnce, Calls: 1, Paths: []string{"src", "a b"}}, "✓ Took that part once."},
		{[]string{"o only…", "o", "take only ›", "\r", "no path was named", "\x1b", "y yes, once", "o", "take only ›", "x\r"}, desk.Reply{Choice: desk.AllowOnce, Calls: 1, Paths: []string{"x"}}, "✓ Took that part once."},
		{[]string{"e edit", "e", `"path": "a.txt"`, "\x1b[A\x1b[A\x0b\x1b[B\x15", "{", "\x15{\"path\":\"b\"", "b", "\x0b"}, desk.Reply{}, ""},
	} {
		t.Run(c.keys[1], func(t *testing.T) {
			t.Parallel()
			got := make(chan desk.Reply, 1)
			b := newFake(nil)
			b.turn = func(_ context.Context, _ string, emit func(agent.Event)) error {
				emit(call("1", "edit_file", `{"path":"a.txt"}`))
				got <- ask(b, desk.Question{Tool: "edit_file", ByPath: c.want.Paths != nil, Input: json.RawMessage(`{"path":"a.txt"}`), Preview: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n", Caller: toolcrib.Caller{Subject: "ada", Frontend: "chat"}})
				return nil
			}
			s := sit(t, b, 80, 40, nil)
			s.wait("›")
			s.press("go\r")
			s.wait("? edit_file, for ada, by chat, "+map[bool]string{true: "has run", false: "would run"}[c.want.Paths != nil], "    -old\n", "    +new\n")
			for i := 0; i+1 < len(c.keys); i += 2 {
				s.wait(c.keys[i])
				s.press(c.keys[i+1])
			}
			if c.then == "" {
				s.press("\x1b")
				s.wait("y yes, once")
				s.press("n")
				<-got
			} else if r := <-got; fmt.Sprint(r) != fmt.Sprint(c.want) {
				t.Errorf("%q: %+v, want %+v", c.keys, r, c.want)
			} else {
				s.wait(c.then)
			}
			s.press("\x04")
			s.over()
		})
	}
}

// TestQuestionAfterWhatWasSaid: it comes by another way than what the agent says, and
// stands below it all the same.
func TestQuestionAfterWhatWasSaid(t *testing.T) {
	b := newFake(nil)
	b.turn = func(_ context.Context, _ string, emit func(agent.Event)) error {
		for i := range 50 {
			emit(says(fmt.Sprintf("line %d\n", i)))
		}
		emit(call("1", "run_command", `{}`))
		ask(b, desk.Question{Tool: "run_command"})
		return nil
	}
	s := sit(t, b, 80, 100, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("line 49\n\n? run_command", "y yes, once")
	s.press("n")
	s.wait("You said no.")
	s.press("\x04")
	s.over()
}

// TestTypedAheadIsNoAnswer: who types while a question comes up has not seen it.
func TestTypedAheadIsNoAnswer(t *testing.T) {
	b := newFake(nil)
	answered := make(chan desk.Reply, 1)
	b.turn = func(context.Context, string, func(agent.Event)) error {
		answered <- ask(b, desk.Question{Tool: "run_command", Input: json.RawMessage(`{"command":"rm x"}`)})
		return nil
	}
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("stop typing to answer it")
	s.press("yyy")
	s.wait("n no")
	select {
	case r := <-answered:
		t.Fatalf("typing ahead was taken as %+v", r)
	default:
	}
	s.press("n")
	if r := <-answered; r.Choice != desk.Deny {
		t.Errorf("%+v", r)
	}
	s.wait("› yyy") // what was typed is not lost
	s.press("\x03\x04")
	s.over()
}

// TestLongQuestion: what is not shown is not allowed by a slip of a finger.
func TestLongQuestion(t *testing.T) {
	b := newFake(nil)
	got := make(chan desk.Reply, 1)
	b.turn = func(context.Context, string, func(agent.Event)) error {
		got <- ask(b, desk.Question{Tool: "write_file", Preview: "--- a\n+++ a\n@@ -0,0 +1,400 @@\n" + manyLines(400)})
		return nil
	}
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("y yes, once")
	s.press("y")
	s.wait("d shows all of it first")
	s.press("d")
	s.wait("deny it, with a message")
	s.press("y")
	if r := <-got; r.Choice != desk.AllowOnce {
		t.Errorf("%+v", r)
	}
	s.press("\x04")
	s.over()
	if !strings.Contains(s.screen.All(), "+line 200\n") {
		t.Error("a line in the middle was never shown")
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "+line %d\n", i)
	}
	return b.String()
}

func TestToolsOwnQuestion(t *testing.T) {
	b := newFake(nil)
	got := make(chan desk.Reply, 1)
	b.turn = func(context.Context, string, func(agent.Event)) error {
		got <- ask(b, desk.Question{Tool: "ask_user", Text: "Which colour?", Options: []string{"red", "blue"}})
		return nil
	}
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("Which colour?", "2. blue", "a number chooses")
	s.press("2\r")
	if r := <-got; r.Choice != desk.AllowOnce || r.Message != "blue" {
		t.Errorf("%+v", r)
	}
	s.wait("✓ blue")
	s.press("\x04")
	s.over()
}

// TestControlC stops a turn in mid-stream; twice it leaves.
func TestControlC(t *testing.T) {
	ended := make(chan error, 2)
	b := newFake(func(ctx context.Context, _ string, emit func(agent.Event)) error {
		emit(says("A long story begins\nand goes on"))
		<-ctx.Done()
		emit(agent.Event{Kind: agent.Aborted})
		ended <- ctx.Err()
		return ctx.Err()
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("tell\r")
	s.wait("and goes on")
	s.press("\x03")
	s.wait("and goes on\n\n■ Stopped.")
	if err := <-ended; err == nil {
		t.Error("the turn was not ended")
	}
	s.press("again\r")
	s.wait("› again")
	s.press("\x03")
	<-ended
	s.press("\x03\x03\x03")
	s.over()
	if n := len(b.said()); n != 2 {
		t.Errorf("%d turns", n)
	}
}

// TestControlCAtQuestion refuses it, and ends the turn.
func TestControlCAtQuestion(t *testing.T) {
	b := newFake(nil)
	b.turn = func(ctx context.Context, _ string, _ func(agent.Event)) error {
		r := ask(b, desk.Question{Tool: "run_command"})
		if r.Choice != desk.Deny {
			t.Errorf("%+v", r)
		}
		<-ctx.Done()
		return ctx.Err()
	}
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("y yes, once")
	s.press("\x03")
	s.wait("Stopped.")
	s.press("\x04")
	s.over()
}

func TestTypingWhileItWorks(t *testing.T) {
	more := make(chan struct{})
	b := newFake(func(_ context.Context, input string, emit func(agent.Event)) error {
		<-more
		emit(says("answer to " + input))
		return nil
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("one\r")
	s.wait("thinking")
	s.press("two\r")
	s.wait("next: two")
	s.press("/mode plan\r")
	s.wait("/mode has to wait")
	close(more)
	s.wait("answer to one", "› two", "answer to two")
	s.press("\x04")
	s.over()
}

func TestFailedTurn(t *testing.T) {
	b := newFake(func(context.Context, string, func(agent.Event)) error {
		return &model.Error{Kind: model.BadKey, Status: 401, Message: "the key is \x1b]52;c;aGk=\x07 wrong"}
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("✗ the model's service answered 401: the key is [U+001B]]52;c;aGk=[U+0007] wrong")
	s.press("\x04")
	s.over()
}
