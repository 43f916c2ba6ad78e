package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// assembledToken is one that only the rules of the scanner know: the core's own
// look at keys does not find it, so that a crib without the scanner is noticed.
const assembledToken = "npm_" + "x7Kd93mQpZ41vB8nRt5WyE2sLc6uJaHf0gTi"

// assembled is a program as Open builds it, and a box of tools for it that stand
// for what people plug in.
type assembled struct {
	*App
	dir, state string

	mu   sync.Mutex
	runs map[string]int // of the tools of the box

	during func() // what happens while peek runs
}

// openAssembled opens a program with the default settings, but for what change
// does to them. The box has tools that read, send and fail.
func openAssembled(t *testing.T, needs Needs, change func(*settings.Config)) *assembled {
	t.Helper()
	s := &assembled{dir: t.TempDir(), state: needs.State, runs: map[string]int{}}
	if s.state == "" {
		s.state = t.TempDir()
	}
	cfg := settings.Defaults()
	if change != nil {
		change(&cfg)
	}
	needs.State, needs.Dir, needs.Home, needs.Unattended = s.state, s.dir, t.TempDir(), desk.Leave
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	a, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	s.App = a
	t.Cleanup(func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	a.shelving.Boxes = append(a.shelving.Boxes, toolcrib.NewBox("plugged", s.tools()...))
	if _, faults := a.Reload(t.Context()); len(faults) > 0 {
		t.Fatal(faults)
	}
	return s
}

func (s *assembled) tools() []toolcrib.Tool {
	tool := func(name string, effects toolcrib.Effects, run func(n int, text string) (*toolcrib.Result, error)) toolcrib.Tool {
		return toolcrib.Tool{
			Spec: toolcrib.Spec{Name: name, Effects: effects, Input: json.RawMessage(`{"type":"object"}`)},
			Run: func(_ context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
				s.mu.Lock()
				s.runs[name]++
				n := s.runs[name]
				s.mu.Unlock()
				return run(n, string(input))
			},
		}
	}
	down := func(int, string) (*toolcrib.Result, error) {
		return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "down, and the token was " + assembledToken}
	}
	repeatable := tool("set", toolcrib.Reads|toolcrib.Writes, func(n int, input string) (*toolcrib.Result, error) {
		if n == 1 {
			return down(n, input)
		}
		return toolcrib.Text("it is set"), nil
	})
	repeatable.Idempotent = true
	return []toolcrib.Tool{
		tool("echo", toolcrib.Reads, func(_ int, input string) (*toolcrib.Result, error) { return toolcrib.Text(input), nil }),
		tool("send", toolcrib.Network, func(int, string) (*toolcrib.Result, error) { return toolcrib.Text("sent"), nil }),
		tool("add", toolcrib.Writes, down),
		tool("long", toolcrib.Reads, func(int, string) (*toolcrib.Result, error) {
			return toolcrib.Text(strings.Repeat("a line of a long text\n", 8000) + "the end\n"), nil
		}),
		tool("peek", toolcrib.Reads, func(int, string) (*toolcrib.Result, error) {
			s.during()
			return toolcrib.Text("seen"), nil
		}),
		repeatable,
	}
}

// ran is how often a tool of the box has run.
func (s *assembled) ran(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[tool]
}

// session is a caller with a conversation of its own.
func session(name string) toolcrib.Caller {
	return toolcrib.Caller{Subject: "ann", Session: name, Frontend: "mcp"}
}

// call gives all that a model gets of an answer, as text.
func (s *assembled) call(t *testing.T, who, tool string, input map[string]any) (string, error) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: session(who)})
	if err != nil {
		return "", err
	}
	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all), nil
}

func (s *assembled) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// verdict is what a guard said to the newest call; the zero one: nothing.
func (s *assembled) verdict(t *testing.T, guard string) toolcrib.Verdict {
	t.Helper()
	for _, v := range newest(t, s.App).Verdicts {
		if v.Guard == guard {
			return v
		}
	}
	return toolcrib.Verdict{}
}

// TestAssembled looks at the program that a person gets who has set nothing:
// every part of the safety layer is in it, in its place.
func TestAssembled(t *testing.T) {
	s := openAssembled(t, Needs{}, nil)
	t.Run("token in a result", func(t *testing.T) {
		s.put(t, "npmrc.txt", "//registry.example/:_authToken="+assembledToken+"\n")
		out, err := s.call(t, "result", "read_file", map[string]any{"path": "npmrc.txt"})
		if err != nil || strings.Contains(out, assembledToken) || !strings.Contains(out, "[redacted]") {
			t.Errorf("%s, %v", out, err)
		}
	})
	t.Run("token in the arguments", func(t *testing.T) {
		out, err := s.call(t, "arguments", "echo", map[string]any{"text": "use " + assembledToken})
		if err != nil || strings.Contains(out, assembledToken) {
			t.Errorf("%s, %v", out, err)
		}
		if v := s.verdict(t, "secrets"); !v.Note || v.Decision != toolcrib.Allow || !strings.Contains(v.Reason, "args.text") {
			t.Errorf("the call is not noted: %+v", v)
		}
	})
	t.Run("token in a refusal", func(t *testing.T) {
		s.Crib.Approver = &person{says: toolcrib.Allow}
		defer func() { s.Crib.Approver = s.keeper.Approver(s.Desk) }()
		if _, err := s.call(t, "refusal", "add", map[string]any{}); err == nil || strings.Contains(err.Error(), assembledToken) {
			t.Errorf("%v", err)
		}
		if n := s.ran("add"); n != 1 {
			t.Errorf("what cannot be repeated ran %d times", n)
		}
	})
	t.Run("token in a question", func(t *testing.T) {
		if _, err := s.call(t, "question", "send", map[string]any{"text": assembledToken}); err == nil {
			t.Error("it was sent unasked")
		}
		list, err := s.Desk.Questions(t.Context(), desk.Filter{})
		shown, _ := json.Marshal(list)
		if err != nil || strings.Contains(string(shown), assembledToken) || !strings.Contains(string(shown), "[redacted]") || !strings.Contains(string(shown), "args.text") {
			t.Errorf("%s, %v", shown, err)
		}
	})
	t.Run("mark of redaction", func(t *testing.T) {
		if _, err := s.call(t, "mark", "set", map[string]any{"text": "token=[redacted]"}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("%v", err)
		}
	})
	t.Run("repeatable tool", func(t *testing.T) {
		s.Crib.Approver = &person{says: toolcrib.Allow}
		defer func() { s.Crib.Approver = s.keeper.Approver(s.Desk) }()
		out, err := s.call(t, "retry", "set", map[string]any{})
		if err != nil || !strings.Contains(out, "it is set") || s.ran("set") != 2 {
			t.Errorf("%s, %v after %d runs", out, err, s.ran("set"))
		}
	})
	t.Run("loop", func(t *testing.T) {
		for i := 1; i <= 10; i++ {
			out, err := s.call(t, "loop", "echo", map[string]any{"text": "again"})
			if (toolcrib.CodeOf(err) == toolcrib.CodeDenied) != (i == 10) || strings.Contains(out, "times in a row") != (i >= 5 && i < 10) {
				t.Errorf("call %d: %s, %v", i, out, err)
			}
		}
	})
	t.Run("words from outside", func(t *testing.T) {
		out, err := s.call(t, "outside", "echo", map[string]any{"text": "hello\u200b"})
		if err != nil || !strings.Contains(out, "[untrusted: ") || strings.Contains(out, "\u200b") {
			t.Errorf("%s, %v", out, err)
		}
	})
	t.Run("large result", func(t *testing.T) { s.pages(t) })
	t.Run("deep arguments", func(t *testing.T) {
		deep := json.RawMessage(`{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`)
		_, err := s.Crib.Call(t.Context(), toolcrib.Call{Tool: "echo", Input: deep, Caller: session("deep")})
		if toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
			t.Errorf("%v", err)
		}
	})
	t.Run("private read before a public write", func(t *testing.T) {
		s.put(t, "plan.txt", "the merger is on Friday\n")
		_, _ = s.call(t, "flow", "send", map[string]any{"text": "hello"})
		if v := s.verdict(t, "flow"); v.Guard != "" {
			t.Errorf("nothing was read yet: %+v", v)
		}
		if _, err := s.call(t, "flow", "read_file", map[string]any{"path": "plan.txt"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.call(t, "flow", "send", map[string]any{"text": "hello"}); err == nil {
			t.Error("it was sent")
		}
		if v := s.verdict(t, "flow"); v.Decision != toolcrib.Ask || v.Note || !strings.Contains(v.Reason, "files/read_file") {
			t.Errorf("%+v", v)
		}
	})
	t.Run("journal", func(t *testing.T) {
		if file, err := vaulttest.FileWith(s.state, assembledToken); file != "" || err != nil {
			t.Errorf("the token is in %s, %v", file, err)
		}
		records, err := s.Journal.List(t.Context(), store.Filter{})
		if err != nil || !slices.ContainsFunc(records, func(r toolcrib.Record) bool { return strings.Contains(string(r.Input), "[redacted]") }) {
			t.Errorf("%d records, none has an input without its token, %v", len(records), err)
		}
	})
}

// pages: of a long result a model gets the ends, and the rest page by page; it
// is another conversation's business.
func (s *assembled) pages(t *testing.T) {
	t.Helper()
	out, err := s.call(t, "long", "long", map[string]any{})
	_, id, found := strings.Cut(out, `read_artifact {\"id\":\"`)
	if !found {
		_, id, found = strings.Cut(out, `read_artifact {\\\"id\\\":\\\"`)
	}
	if err != nil || len(out) > 120_000 || !found {
		t.Fatalf("%d bytes, %v: %.300s", len(out), err, out)
	}
	id = id[:26]
	whole := map[string]any{"id": id, "offset": 160_000, "limit": 1 << 20}
	if out, err = s.call(t, "long", "read_artifact", whole); err != nil || !strings.Contains(out, "the end") {
		t.Errorf("the last page: %.300s, %v", out, err)
	}
	if out, err = s.call(t, "another", "read_artifact", whole); err != nil || !strings.Contains(out, "there is no such artifact") {
		t.Errorf("another conversation: %.300s, %v", out, err)
	}
}

// person says the same to whatever is asked, and counts.
type person struct {
	says  toolcrib.Decision
	asked int
}

func (p *person) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	p.asked++
	return toolcrib.Answer{Decision: p.says, By: "test"}, nil
}
