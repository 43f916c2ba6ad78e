package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// TestHostileFraming: a server that does not keep to the protocol is ended, and what it
// did is told. It takes neither memory nor time.
func TestHostileFraming(t *testing.T) {
	for name, tt := range map[string]struct{ sends, want string }{
		"endless header":   {strings.Repeat("a", 1<<20), "a header of more than"},
		"many headers":     {strings.Repeat("X-A: b\r\n", 10_000), "a header of more than"},
		"no length":        {"X-A: b\r\n\r\n{}", "without Content-Length"},
		"not a number":     {"Content-Length: many\r\n\r\n{}", "Content-Length is"},
		"negative":         {"Content-Length: -5\r\n\r\n{}", "Content-Length is"},
		"two lengths":      {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length is"},
		"huge":             {"Content-Length: 99999999999\r\n\r\n{}", "more than"},
		"overflow":         {"Content-Length: 99999999999999999999999\r\n\r\n{}", "Content-Length is"},
		"large and empty":  {"Content-Length: 60000000\r\n\r\n{}", "ended after 2"},
		"too short":        {"Content-Length: 1\r\n\r\n{\"jsonrpc\":\"2.0\"}", "ended within a header"},
		"a line of a log":  {"Starting up...\n", "is no header"},
		"ends in mid-line": {"Content-Le", "ended within a header"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{begin: func(f *fake, p Program) error {
				_, _ = io.WriteString(p.Stdout, tt.sends)
				return errors.New("the end")
			}}
			r := scripted(t, f)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
			runtime.ReadMemStats(&after)
			if !strings.Contains(failure, tt.want) {
				t.Errorf("it failed with %q", failure)
			}
			if more := after.TotalAlloc - before.TotalAlloc; more > 20<<20 {
				t.Errorf("it took %d bytes", more)
			}
		})
	}
}

// TestBadMessages: what is no message is left out, and the next is read.
func TestBadMessages(t *testing.T) {
	f := &fake{}
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(f *fake, _ json.RawMessage) string {
		for _, bad := range []string{`[]`, `null`, `{`, `{"jsonrpc":"1.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":{},"result":1}`, `{"jsonrpc":"2.0","id":999,"result":{"contents":"forged"}}`, strings.Repeat("[", 100_000), "\xff\xfe"} {
			_, _ = fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n%s", len(bad), bad)
		}
		f.tell("textDocument/publishDiagnostics", `{"uri":7}`)
		f.tell("$/progress", `{"token":{"a":[]},"value":"x"}`)
		f.tell("no/such", `{}`)
		return `{"contents":"good"}`
	}})
	r := scripted(t, f)
	if out := ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); out.Hover != "good" {
		t.Error(out)
	}
}

// TestBadAnswers: an answer of another shape is told as such.
func TestBadAnswers(t *testing.T) {
	for method, call := range map[string]func(r *rig) string{
		"textDocument/hover": func(r *rig) string {
			_, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
			return failure
		},
		"textDocument/definition": func(r *rig) string {
			_, failure := try[definitionOut](t.Context(), r, "lsp_goto_definition", args{"file": "a.x", "line": 1, "column": 1})
			return failure
		},
		"textDocument/documentSymbol": func(r *rig) string {
			_, failure := try[symbolsOut](t.Context(), r, "lsp_symbols", args{"file": "a.x"})
			return failure
		},
		"textDocument/rename": func(r *rig) string {
			_, failure := try[renameOut](t.Context(), r, "lsp_rename", args{"file": "a.x", "line": 1, "column": 1, "new_name": "n"})
			return failure
		},
	} {
		f := &fake{answer: map[string]func(*fake, json.RawMessage) string{method: func(*fake, json.RawMessage) string { return `"seven"` }}}
		if failure := call(scripted(t, f)); !strings.Contains(failure, "cannot be read") {
			t.Errorf("%s: %q", method, failure)
		}
	}
}

// TestFlood: a server that talks without end is heard with bounded memory, and still
// answers.
func TestFlood(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(f *fake, _ json.RawMessage) string {
		for i := range maxFiles + 2000 {
			f.tell("textDocument/publishDiagnostics", fmt.Sprintf(`{"uri":"file:///tmp/%d","diagnostics":[]}`, i))
			if i < 2000 {
				f.tell("$/progress", fmt.Sprintf(`{"token":%d,"value":{"kind":"begin"}}`, i))
			}
		}
		many := strings.TrimSuffix(strings.Repeat(`{"message":"m"},`, 10*maxDiagnostics), ",")
		f.tell("textDocument/publishDiagnostics", `{"uri":"file:///tmp/1","diagnostics":[`+many+`]}`)
		return `{"contents":"` + strings.Repeat("x", 10*maxHover) + `"}`
	}})
	if out := ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); len(out.Hover) > maxHover+10 {
		t.Errorf("%d bytes", len(out.Hover))
	}
	for _, s := range r.box.pool.servers {
		s.mu.Lock()
		if len(s.known) > maxFiles || len(s.working) > maxTokens || len(s.known["/tmp/1"].list) > maxDiagnostics {
			t.Errorf("%d files, %d tokens", len(s.known), len(s.working))
		}
		s.mu.Unlock()
	}
}

// TestNeverAnswers: a question ends with its time, and a server that keeps silent is
// replaced.
func TestNeverAnswers(t *testing.T) {
	f := &fake{silent: []string{"textDocument/hover"}}
	r := scripted(t, f)
	for want := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, failure := try[hoverOut](ctx, r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
		cancel()
		if !strings.Contains(failure, "deadline") {
			t.Errorf("%d: %q", want, failure)
		}
	}
	eventually(t, "it was not started again", func() bool {
		_, failure := try[definitionOut](t.Context(), r, "lsp_goto_definition", args{"file": "a.x", "line": 1, "column": 1})
		return f.started() >= 2 && failure == ""
	})
	if !f.heard("$/cancelRequest") {
		t.Error("it was not told that nobody waits")
	}
}

// TestNeverStarts: who waits for a server that does not greet back learns which setting
// it is.
func TestNeverStarts(t *testing.T) {
	for _, f := range []*fake{
		{silent: []string{"initialize"}},
		{begin: func(*fake, Program) error { select {} }}, // does not even read
	} {
		cfg := config()
		cfg.Start = 50 * time.Millisecond
		end := make(chan struct{})
		if f.begin != nil {
			f.begin = func(*fake, Program) error { <-end; return errors.New("late") }
		}
		r := newRig(t, cfg, f.run)
		r.write("a.x", "one")
		time.AfterFunc(200*time.Millisecond, func() { close(end) })
		if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "start_timeout") {
			t.Error(failure)
		}
	}
}

// TestCrashAtStart: what it complained of is told, and it is not tried for ever.
func TestCrashAtStart(t *testing.T) {
	f := &fake{begin: func(*fake, Program) error { return errors.New("no license") }}
	r := scripted(t, f)
	for range 5 {
		if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "no license") || !strings.Contains(failure, "status 3") {
			t.Error(failure)
		}
	}
	if f.started() != maxFaults {
		t.Errorf("it was started %d times", f.started())
	}
	failing := newRig(t, config(), func(context.Context, Program) (toolcrib.Exit, error) {
		return toolcrib.Exit{}, errors.New("no sandbox holds it")
	})
	failing.write("a.x", "one")
	if _, failure := try[hoverOut](t.Context(), failing, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "no sandbox holds it") {
		t.Error(failure)
	}
}

// TestCrashRecovers: a server that is killed is started again, and the documents are
// opened again.
func TestCrashRecovers(t *testing.T) {
	f := &fake{}
	r := scripted(t, f)
	hover := func() { ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}) }
	hover()
	f.crash()
	hover()
	if f.started() != 2 {
		t.Errorf("it was started %d times", f.started())
	}
	// It dies of a question, once.
	died := false
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(f *fake, _ json.RawMessage) string {
		if !died {
			died = true
			f.crash()
		}
		return `{"contents":"back"}`
	}})
	if out := ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); out.Hover != "back" || f.started() != 3 {
		t.Errorf("%v after %d starts", out, f.started())
	}
	// It dies of every question.
	f.script(map[string]func(*fake, json.RawMessage) string{"textDocument/hover": func(f *fake, _ json.RawMessage) string { f.crash(); return "null" }})
	if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "language server fake") {
		t.Errorf("it failed with %q", failure)
	}
	f.script(nil)
	hover()
}

// TestServerThatReadsNoMoreIsReplaced: where a question cannot be sent because the program
// has ended, a fresh server answers it, although nobody has read the end of its output yet.
func TestServerThatReadsNoMoreIsReplaced(t *testing.T) {
	f := &fake{}
	var first sync.Once
	deaf := make(chan struct{})
	r := newRig(t, config(), func(ctx context.Context, p Program) (toolcrib.Exit, error) {
		ended := make(chan toolcrib.Exit, 1)
		silenced := false
		first.Do(func() { silenced = true })
		inner := p
		if silenced {
			inner.Stdin = &hanging{p.Stdin, ctx.Done()}
		}
		go func() {
			exit, _ := f.run(ctx, inner)
			ended <- exit
		}()
		if !silenced {
			return <-ended, nil
		}
		<-deaf
		_ = p.Stdin.(*io.PipeReader).CloseWithError(io.ErrClosedPipe) // as when its program has ended
		<-ctx.Done()                                                  // its output has no end until it is given up
		return <-ended, nil
	})
	r.write("a.x", "one two\n")
	hover := func() { ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}) }
	hover()
	close(deaf)
	eventually(t, "the pipe to the server is still open", func() bool {
		r.box.pool.mu.Lock()
		defer r.box.pool.mu.Unlock()
		for _, s := range r.box.pool.servers {
			return errors.Is(s.tell(t.Context(), "$/ping", nil), io.ErrClosedPipe)
		}
		return false
	})
	hover()
	if f.started() != 2 {
		t.Errorf("it was started %d times", f.started())
	}
}

// hanging is the input of a server that does not notice its end.
type hanging struct {
	io.Reader
	over <-chan struct{}
}

func (h *hanging) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		<-h.over
	}
	return n, err
}

// TestClosedEndsAll: nothing outlives the box.
func TestClosedEndsAll(t *testing.T) {
	f := &fake{silent: []string{"shutdown"}}
	r := scripted(t, f)
	ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
	if err := r.box.Close(); err != nil {
		t.Fatal(err)
	}
	if _, failure := try[hoverOut](t.Context(), r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1}); !strings.Contains(failure, "closed") {
		t.Error(failure)
	}
}
