package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// fuzzed is a server whose tools end by themselves.
func fuzzed(t testing.TB) *Server {
	t.Helper()
	p := newPantry()
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet()}
	load(t, c, []toolcrib.Tool{p.tool(), tools()[0], echo("mirrored", `{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`)})
	s := New(Config{Crib: c, Log: quiet(), Shelf: p}, toolcrib.Caller{Subject: "ann"})
	t.Cleanup(s.Close)
	return s
}

// Whatever comes over HTTP is answered with a status of the protocol, and every
// body is a message or plain text.
func FuzzHTTP(f *testing.F) {
	s := fuzzed(f)
	handler := s.Handler()
	for _, c := range [][2]string{{"tools/list", ""}, {"tools/call", `,"name":"count","arguments":{"n":1}`}, {"tools/call", `,"name":"mirrored","arguments":{"a":"x"}`}, {"resources/read", `,"uri":"test://a"`}, {"prompts/get", `,"name":"asks"`}} {
		h, body := modern(c[0], canAll, c[1])
		f.Add(body, h.Get(headerVersion), h.Get(headerMethod), h.Get(headerName), "", "x")
	}
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`, "", "", "", "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}`, "2025-11-25", "", "", "session", "")
	f.Add(`[[[[`, "2026-07-28", "=?base64?%?=", "\x00", "s", "=?base64?eA==?=")
	f.Fuzz(func(t *testing.T, body, version, method, name, session, mirror string) {
		if session == "session" {
			if sess := s.openSession("session"); sess != nil {
				defer s.dropSession(sess, false)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if strings.Contains(body, mcp.MethodListen) || strings.Contains(body, `\u`) { // it would listen until the time is up
			cancel()
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		for k, v := range map[string]string{headerVersion: version, headerMethod: method, headerName: name, headerSession: session, headerParam + "A": mirror, "Content-Type": "application/json"} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch w.Code {
		case 200, 202, 400, 404:
		default:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m["jsonrpc"] == nil || (m["result"] == nil) == (m["error"] == nil) {
			t.Fatalf("%s: %v", w.Body, err)
		}
	})
}

// Whatever comes over stdio, every line that goes out is a message, and a
// request behind it is still answered.
func FuzzStdio(f *testing.F) {
	s := fuzzed(f)
	_, call := modern("tools/call", `{}`, `,"name":"count","arguments":{"n":1}`)
	f.Add([]byte(call))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\"","method":"tools/call","params":{"name":"x"}}`))
	f.Add([]byte("[[[[\n{}\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, toServer := io.Pipe()
		out := &lineWriter{t: t, want: []byte(`"id":"the end"`), seen: make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(t.Context(), in, out) }()
		_, err := toServer.Write(append(bytes.ReplaceAll(text, []byte("the end"), nil), "\n"+`{"jsonrpc":"2.0","id":"the end","method":"ping"}`+"\n"...))
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-out.seen:
		case <-time.After(20 * time.Second):
			t.Fatalf("no answer after %q", text)
		}
		_ = toServer.Close()
		<-served
	})
}

// lineWriter holds every line to the form of a message.
type lineWriter struct {
	t    testing.TB
	want []byte
	seen chan struct{}
	once bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || !json.Valid(p) {
		w.t.Errorf("wrote %q", p)
	}
	if !w.once && bytes.Contains(p, w.want) {
		w.once = true
		close(w.seen)
	}
	return len(p), nil
}

func (w *lineWriter) Close() error { return nil }

// Text is written so that the standard library reads the same.
func FuzzText(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\u2028<é\xff")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(jsontext.AppendString(nil, s), &got); err != nil || got != string([]rune(s)) { // each byte that is no letter is replaced
			t.Fatalf("%q became %q: %v", s, got, err)
		}
	})
}

// A state that was not signed here opens nothing.
func FuzzState(f *testing.F) {
	s := fuzzed(f)
	j := &job{method: mcp.MethodToolsCall, call: toolcrib.Call{ID: "id", Tool: "count", Caller: s.caller}}
	good := s.state(&roundsCall{key: "k", turn: 1, job: j})
	if at, err := s.readState(good, j); at != (waitingCall{"k", 1, "id"}) || err != nil {
		f.Fatal(at, err)
	}
	f.Add(good)
	f.Add(".")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.readState(text, j); err == nil && strings.NewReplacer("\n", "", "\r", "").Replace(text) != good { // line ends say nothing in it
			t.Fatalf("%q was taken", text)
		}
	})
}

// Changing strings leaves JSON as it is otherwise.
func FuzzEachString(f *testing.F) {
	for _, seed := range []string{`{"a":"b"}`, `["\"x\\",{"a" : "\u0041"}]`, `"x"`, `7`, `{"":{"":""}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		if got := eachString(json.RawMessage(text), func(s string) string { return s }); string(got) != text {
			t.Fatalf("%q became %q", text, got)
		}
		var before, after any
		got := eachString(json.RawMessage(text), func(s string) string { return s + "!" })
		if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("%q became %q", text, got)
		}
		var mark func(any) any
		mark = func(v any) any {
			switch v := v.(type) {
			case string:
				return v + "!"
			case []any:
				for i := range v {
					v[i] = mark(v[i])
				}
			case map[string]any:
				for k := range v {
					v[k] = mark(v[k])
				}
			}
			return v
		}
		if want := mark(before); !reflect.DeepEqual(want, after) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
