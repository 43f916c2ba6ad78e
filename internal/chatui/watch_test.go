package chatui

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/chatui/vttest"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// watchedFake has the questions of everybody.
type watchedFake struct {
	*fake
	came chan string
}

func (w *watchedFake) Line(q *desk.Question) string { return q.ID + " " + q.Tool }
func (w *watchedFake) Came(q *desk.Question)        { w.came <- q.ID }

func watching(t *testing.T) (*watchedFake, *sitting) {
	t.Helper()
	w := &watchedFake{fake: newFake(nil), came: make(chan string, 8)}
	in, keys := io.Pipe()
	s := &sitting{t: t, screen: vttest.New(80, 40), keys: keys, ended: make(chan error, 1)}
	go func() {
		s.ended <- Watch(t.Context(), Terminal{In: in, Out: s.screen, Colour: true, Size: func() (int, int) { return 80, 40 }}, w, Options{})
	}()
	t.Cleanup(func() { keys.Close() })
	return w, s
}

func (w *watchedFake) put(id, tool string) {
	w.questions <- desk.Event{Question: desk.Question{
		ID: id, State: desk.Open, Tool: tool, Waiting: 1, Input: json.RawMessage(`{"path":"` + id + `.txt"}`),
		Preview: "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+" + id + "\n", Caller: toolcrib.Caller{Subject: "ada", Client: "Claude Code 2.1"},
	}}
}

// TestWatch: questions come one after another, each with its difference, and one key
// answers.
func TestWatch(t *testing.T) {
	w, s := watching(t)
	s.wait("Nothing waits for an answer. q leaves.")
	s.press("hello\r") // there is nobody to be told
	w.put("q-1", "edit_file")
	s.wait("? edit_file, for ada, in Claude Code 2.1, would run", "    +q-1\n", "y yes, once")
	w.put("q-2", "write_file")
	s.wait("next: q-2 write_file", "z puts it off")
	if got := <-w.came + <-w.came; got != "q-1q-2" {
		t.Errorf("told of %s", got)
	}
	s.press("z")
	s.wait("Put off.", "? write_file, for ada", "next: q-1 edit_file", "y yes, once")
	s.press("w")
	s.wait("1 allow shell(git *) in this session", "any other key goes back")
	s.press("9")
	s.wait("y yes, once")
	s.press("w")
	s.wait("1 allow shell(git *)")
	s.press("1")
	if r := <-w.settle; r.Choice != desk.AllowSession || r.By != desk.ByRule || r.Calls != 1 {
		t.Errorf("%+v", r)
	}
	s.wait("✓ Allowed", "y yes, once")
	s.press("m")
	s.wait("to the model ›")
	s.press("quietly q\r") // a q in words leaves nothing
	if r := <-w.settle; r.Choice != desk.Deny || r.Message != "quietly q" {
		t.Errorf("%+v", r)
	}
	s.wait("Nothing waits for an answer.")
	w.put("q-3", "delete_file")
	s.wait("? delete_file", "y yes, once")
	s.press("q")
	s.over()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.replies) != 2 {
		t.Errorf("leaving answered: %+v", w.replies)
	}
}

// TestWatchIsNotAnsweredByHaste: keys that were typed before a question was there, and
// several at once, answer nothing.
func TestWatchIsNotAnsweredByHaste(t *testing.T) {
	w, s := watching(t)
	s.wait("Nothing waits")
	w.put("q-1", "edit_file")
	s.press("y")
	s.wait("stop typing to answer it")
	s.wait("y yes, once")
	s.press("yyyy") // as from a paste
	s.wait("stop typing to answer it")
	s.wait("y yes, once")
	s.press("n")
	if r := <-w.settle; r.Choice != desk.Deny {
		t.Errorf("%+v", r)
	}
	s.press("\x03")
	s.over()
}
