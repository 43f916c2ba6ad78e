package chatui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// hostile are texts that would do something to a terminal, or show something else than
// what is there.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b[H", "\x1b]52;c;ZXZpbA==\x07", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x1bP+q544e\x1b\\", "\x1b[6n", "\x1b[?1049h", "\x1b[31mred",
		"\u009b31m", "\u009d52;c;x\u009c", "a\rb", "a\bb", "\a", "\v\f", "\x7f", "\u202eevil\u202c", "\u2066x\u2069", "a\u200bb", "\ufeff", "\U000e0041\U000e0042", "\u2028", "\x00", "\xff\xfe", "\u3164",
	}
}

// TestNothingSteersTheTerminal sends hostile texts by every way that text comes in.
func TestNothingSteersTheTerminal(t *testing.T) {
	i := 0
	for some := range slices.Chunk(hostile(), 4) {
		i++
		bad, ascii := strings.Join(some, " "), i%2 == 1
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := newFake(nil)
			b.todo = []Todo{{Text: bad, Status: bad}}
			b.past = []model.Message{model.Text(model.User, bad), {Role: model.Assistant, Parts: []model.Part{{Text: bad}}, Calls: []model.ToolCall{{ID: "0", Name: bad, Arguments: json.RawMessage(bad)}}}}
			b.status.Model, b.status.Agent, b.status.Session = "m"+bad, bad, bad
			raw, err := json.Marshal(map[string]string{"path": bad, bad: bad})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			b.turn = func(_ context.Context, _ string, emit func(agent.Event)) error {
				emit(says(bad + "\n```" + bad + "\n" + bad + "\n```\n# " + bad + "\n- `" + bad + "` **" + bad + "**"))
				emit(agent.Event{Kind: agent.Stage, Text: agent.Thinking, Thought: bad})
				emit(agent.Event{Kind: agent.Stage, Text: bad})
				emit(call("1", bad, string(raw)))
				ask(b, desk.Question{Tool: bad, Input: raw, Preview: "+" + bad + "\n-" + bad, Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: bad, Reason: bad}}, Parts: []string{bad}, Changed: []string{bad}, Caller: toolcrib.Caller{Subject: bad, Agent: bad, Client: bad, Frontend: bad}})
				value, _ := json.Marshal(map[string]string{"diff": "+" + bad, "x": bad})
				emit(result("1", bad, string(raw), &toolcrib.Result{Value: value}))
				emit(result("2", bad, bad, &toolcrib.Result{Value: json.RawMessage(`{"stdout":` + quoted(bad) + `,"y":` + quoted(bad) + `}`)}))
				emit(result("3", bad, bad, toolcrib.Failed(bad)))
				no := result("4", bad, bad, nil)
				no.Error = &toolcrib.Error{Message: bad}
				emit(no)
				close(done)
				return &model.Error{Message: bad + " TURNOVER"}
			}
			notes := make(chan string, 1)
			notes <- bad
			s := sit(t, b, 60, 30, func(term *Terminal, o *Options) {
				term.ASCII, o.Notes, o.Past = ascii, notes, b.past
				o.History = []string{bad}
			})
			s.wait(strings.TrimSpace(signsFor(ascii).prompt))
			s.press("go\r")
			s.wait("y yes, once")
			s.press("dm")
			s.wait("to the model")
			s.press("\x1b[200~" + bad + "\x1b[201~\r")
			<-done
			s.wait("TURNOVER")
			s.press("/todos\r/mode " + strings.ReplaceAll(strings.ReplaceAll(bad, "\r", ""), "\x1b", "") + "\r/tools\r\x0f\x0f\x0f\x1b[A\x1b[A\x1b[A\x03/quit\r")
			s.over() // it looks for what the terminal did not understand
			if at := strings.IndexFunc(s.screen.All(), func(r rune) bool { return r != '\n' && text.Invisible(r) }); at >= 0 {
				t.Errorf("%q: something invisible is on the screen: %q", bad, s.screen.All()[at:])
			}
		})
	}
}

func quoted(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

// TestStreamCutsNoSequence: a sequence that comes in pieces is no other.
func TestStreamCutsNoSequence(t *testing.T) {
	b := newFake(func(_ context.Context, _ string, emit func(agent.Event)) error {
		for _, bad := range hostile() {
			for i := range len(bad) {
				emit(says(bad[i : i+1]))
			}
		}
		emit(says("\nFINISHED"))
		return nil
	})
	s := sit(t, b, 80, 24, nil)
	s.wait("›")
	s.press("go\r")
	s.wait("FINISHED")
	s.press("\x04")
	s.over()
}

// FuzzScreen: whatever is said, in whatever pieces, the terminal is not steered, and no
// row runs over.
func FuzzScreen(f *testing.F) {
	for _, bad := range hostile() {
		f.Add(bad, 3, 20)
	}
	f.Add("日本語のテキスト 🎉👨‍👩‍👧 ⚠️ wide\n```diff\n+a\n", 5, 10)
	f.Fuzz(func(t *testing.T, given string, piece, wide int) {
		if piece < 1 || wide < 4 || wide > 500 || len(given) > 600 {
			return
		}
		var st stream
		var rows []line
		for at := 0; at < len(given); at += piece {
			code := st.fence != ""
			done := st.add(given[at:min(at+piece, len(given))], wide)
			rows = append(rows, done...)
			rows = append(rows, st.live(wide)...)
			for _, l := range append(done, st.live(wide)...) {
				if !code && st.fence == "" && l.width() > wide && !strings.Contains(given, "``") {
					t.Fatalf("%q is wider than %d", l, wide)
				}
			}
		}
		rows = append(rows, st.end(wide)...)
		s := &screen{colour: false}
		for _, l := range rows {
			if at := strings.IndexFunc(s.write(l), text.Invisible); at >= 0 {
				t.Fatalf("%q has something invisible", l.String())
			}
		}
	})
}

// FuzzKeys: no bytes make the reader lose its way: what follows is read as it is.
func FuzzKeys(f *testing.F) {
	for _, bad := range append(hostile(), "\x1b[200~a\r\nb\x1b[201~", "\x1b[1;5C", "\x1b[13;2u", "\x1b\r", "\x1bOA", "é日") {
		f.Add([]byte(bad), 1)
	}
	f.Fuzz(func(t *testing.T, given []byte, cut int) {
		if cut < 0 || cut > len(given) || len(given) > 600 {
			return
		}
		var whole, parts keyReader
		a := whole.read(given)
		b := append(parts.read(given[:cut]), parts.read(given[cut:])...)
		if len(merge(a)) != len(merge(b)) && string(whole.rest) != string(parts.rest) {
			t.Errorf("%q cut at %d is read as %v and %v", given, cut, a, b)
		}
		whole.flush()
		if whole.paste {
			whole.read([]byte(pasteEnd))
		}
		keys := whole.read([]byte("\x03"))
		if len(keys) == 0 || keys[len(keys)-1].name != "ctrl-c" {
			t.Errorf("after %q ctrl-c is read as %v", given, keys)
		}
		var e editor
		for _, k := range a {
			e.press(k)
			if rows, at := e.rows(line{{plain, "> "}}, 20); at.row >= len(rows) || at.column > 20 {
				t.Errorf("%q: the cursor is at %v of %d rows", given, at, len(rows))
			}
		}
	})
}
