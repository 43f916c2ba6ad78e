package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestEveryCodeHasAStatus: a new code must not be answered as something else.
func TestEveryCodeHasAStatus(t *testing.T) {
	seen := map[int]toolcrib.Code{}
	for _, code := range cribtest.Codes() {
		status, ok := statusOf(code)
		if !ok {
			t.Errorf("the code %s has no status", code)
		}
		if other, twice := seen[status]; twice {
			t.Errorf("%s and %s share the status %d", code, other, status)
		}
		seen[status] = code
	}
	if status, ok := statusOf("made-up"); ok || status != 500 {
		t.Errorf("an unknown code is answered with %d, %v", status, ok)
	}
}

// demo is a crib with tools that do everything a tool can do.
func demo(t *testing.T) (*Server, *cribtest.Memory) {
	t.Helper()
	c := cribtest.Open(t, cribtest.Setup{
		Guards: []cribtest.GuardSetup{{Decision: toolcrib.Allow}, {Decision: toolcrib.Deny, Tools: []string{"note"}, Reason: "no notes here"}},
		Limits: cribtest.LimitsSetup{Timeout: "50ms", Grace: "50ms"},
	})
	journal := &cribtest.Memory{}
	c.Journal = journal
	return &Server{Crib: c, Caller: toolcrib.Caller{Subject: "ann", Frontend: "lines"}}, journal
}

func (s *Server) say(t *testing.T, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := s.Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestServe(t *testing.T) {
	s, journal := demo(t)
	for _, c := range []struct{ name, line, want string }{
		{"a call", `{"id":"1","tool":"echo","input":{"text":"hi"}}`, `{"id":"1","result":{"value":{"text":"hi"}}}`},
		{"the same ID again", `{"id":"1","tool":"echo","input":{"text":"hi"}}`, `{"id":"1","result":{"value":{"text":"hi"}}}`},
		{"the same ID for another call", `{"id":"1","tool":"echo","input":{"text":"ho"}}`, `"status":409,"code":"conflict"`},
		{"a failed tool is a result", `{"id":"2","tool":"fail","input":{"text":"closed"}}`, `{"id":"2","result":{"content":[{"type":"text","text":"closed"}],"failed":true}}`},
		{"bad fields", `{"id":"3","tool":"echo","input":{}}`, `"status":400,"code":"invalid","message":"text: is required but missing; give a string (required)","bad":[{"path":"text","rule":"required"`},
		{"no such tool", `{"id":"4","tool":"ecco","input":{}}`, `"status":404,"code":"not_found"`},
		{"denied", `{"id":"5","tool":"note","input":{"text":"x"}}`, `"status":403,"code":"denied","message":"fake: no notes here"`},
		{"too slow", `{"id":"6","tool":"sleep","input":{"millis":60000}}`, `"status":504,"code":"timeout"`},
		{"a panic", `{"id":"7","tool":"explode","input":{"text":"secret path"}}`, `{"id":"7","error":{"status":500,"code":"internal","message":"the tool broke down; this is a fault in the tool, not in the call"}}`},
		{"no JSON", `hello`, `"status":400,"code":"invalid","message":"not a request:`},
		{"two values", `{"tool":"echo"} {"tool":"echo"}`, `there is more behind it`},
	} {
		got := s.say(t, c.line)
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: the answer is\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), c.want)
		}
	}
	for _, r := range journal.Records() {
		if want := s.Caller; r.Caller != want {
			t.Errorf("call %s was recorded as made by %+v, want %+v", r.ID, r.Caller, want)
		}
	}
}

// TestNobodySaysWhoTheyAre: a client that names its own caller is refused,
// and nothing is called.
func TestNobodySaysWhoTheyAre(t *testing.T) {
	s, journal := demo(t)
	for _, line := range []string{
		`{"tool":"echo","input":{"text":"hi"},"caller":{"subject":"root"}}`,
		`{"tool":"echo","input":{"text":"hi"},"Caller":{"Subject":"root"}}`,
		`{"tool":"echo","input":{"text":"hi"},"lenient":true}`,
	} {
		if got := s.say(t, line); !strings.Contains(got[0], `"code":"invalid"`) {
			t.Errorf("%s\nwas answered with %s", line, got[0])
		}
	}
	if n := len(journal.Records()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestServeEnds(t *testing.T) {
	s, _ := demo(t)
	s.Line = 64
	var out strings.Builder
	err := s.Serve(t.Context(), strings.NewReader(`{"tool":"`+strings.Repeat("a", 100)+"\n"), &out)
	if toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(out.String(), `"message":"a line is longer than 64 bytes"`) {
		t.Errorf("a line that is too long: %v, answered %s", err, out.String())
	}
	broken := errors.New("broken pipe")
	if err := s.Serve(t.Context(), iotest.ErrReader(broken), &out); !errors.Is(err, broken) {
		t.Errorf("a broken input gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out.Reset()
	line := `{"tool":"echo","input":{"text":"hi"}}` + "\n"
	if err := s.Serve(ctx, strings.NewReader(line+line), &out); err != nil || out.Len() != 0 {
		t.Errorf("after the end it gave %v and answered %s", err, out.String())
	}
}

func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var out strings.Builder
	in := "{\"tool\":\"greet\",\"input\":{\"name\":\"Ada\"}}\n\n{\"tool\":\"greet\",\"input\":{}}\n"
	if err := run(ctx, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"result":{"value":{"text":"Good day, Ada."}}}
{"error":{"status":400,"code":"invalid","message":"name: is required but missing; give a string (required)","bad":[{"path":"name","rule":"required","message":"is required but missing; give a string"}]}}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzServe: whatever a line holds, it is answered with one line.
func FuzzServe(f *testing.F) {
	f.Add(`{"id":"1","tool":"greet","input":{"name":"Ada"}}`)
	f.Add(`{"tool":"greet","input":{"name":1,"name":2}}`)
	f.Add("\x00[\"")
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.NewReplacer("\n", " ", "\r", " ").Replace(line)
		if line == "" {
			return
		}
		var out strings.Builder
		s := &Server{Crib: crib(t.Context()), Caller: toolcrib.Caller{Subject: "ann"}}
		if err := s.Serve(t.Context(), strings.NewReader(line), &out); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), `"result"`) == strings.Contains(out.String(), `"error":{`) {
			t.Errorf("the line %q was answered with %q", line, out.String())
		}
	})
}
