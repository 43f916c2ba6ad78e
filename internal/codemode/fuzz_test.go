package codemode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// frames writes messages as a worker would.
func frames(t testing.TB, messages ...Message) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, m := range messages {
		if err := Write(w, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// replay is a worker that says what it was told to say, whatever it hears.
func replay(said []byte) Starter {
	return func(context.Context) (*Conn, error) {
		from, out := io.Pipe()
		in, to := io.Pipe()
		go io.Copy(io.Discard, in) //nolint:errcheck // nobody reads it
		go func() {
			_, _ = out.Write(said)
			_ = out.Close()
		}()
		return &Conn{To: to, From: from, End: func() { _ = from.Close(); _ = in.Close(); _ = to.Close() }}, nil
	}
}

// FuzzWorker: a worker that says anything does at most what scripts may do, gets
// nothing of this process to break, and ends.
func FuzzWorker(f *testing.F) {
	ready, done := Message{Kind: Ready}, Message{Kind: Done, Body: []byte("1")}
	for _, list := range [][]Message{
		{ready, done},
		{ready, {Kind: Log, Name: "x"}, done},
		{ready, {Kind: Call, ID: 1, Name: "t", Body: []byte("{}"), Waits: true}, done},
		{ready, {Kind: Call, ID: 1, Name: "t", Body: []byte("{}")}, {Kind: Wait, ID: 1}, {Kind: Wait, ID: 1}, done},
		{ready, {Kind: Call, ID: 1}, {Kind: Call, ID: 1}, done},
		{ready, {Kind: Call, ID: 0, Body: []byte("{}")}, done},
		{ready, {Kind: Search, ID: 1, Name: "\xff"}, {Kind: Describe, ID: 2}, done},
		{ready, {Kind: Failed, Body: []byte(`{"name":"E","message":"m","line":2,"column":-9}`)}},
		{ready, {Kind: Failed, Body: []byte(`{"line":9223372036854775807,"column":9223372036854775807}`)}},
		{ready, {Kind: Failed, Body: []byte(`[]`)}},
		{ready, {Kind: Run}, done},
		{ready, {Kind: Reply, ID: 1}, done},
		{ready, {Kind: Done, ID: 1<<32 - 1, Body: []byte("{")}},
		{{Kind: Done}},
	} {
		f.Add(frames(f, list...))
	}
	many := []Message{ready}
	for i := range uint32(20) {
		many = append(many, Message{Kind: Call, ID: i + 1, Body: []byte("{}")})
	}
	f.Add(frames(f, many...))
	f.Add(append(frames(f, ready), 6, 0, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255))
	f.Fuzz(func(t *testing.T, said []byte) {
		p := &Pool{Start: replay(said)}
		defer p.Close()
		var now atomic.Int32
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		got, err := p.Run(ctx, Script{Code: "1\n2\n3", Time: 20 * time.Second}, Host{
			Call: func(_ context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
				if now.Add(1) > Parallel {
					t.Error("more at once than there may be")
				}
				defer now.Add(-1)
				if !json.Valid(args) {
					t.Errorf("%q", args)
				}
				return args, nil
			},
		})
		if ctx.Err() != nil {
			t.Fatal("it did not end")
		}
		if err == nil && !json.Valid(got.Value) {
			t.Errorf("%q", got.Value)
		}
		if len(got.Log) > maxLines || got.Calls > maxCalls+Parallel+1 && err == nil {
			t.Errorf("%d lines, %d calls", len(got.Log), got.Calls)
		}
		if e, ok := errors.AsType[*ScriptError](err); ok && len(e.Error()) > 10_000 {
			t.Errorf("%d bytes", len(e.Error()))
		}
	})
}

// FuzzRead: what was written is read again, and what is cut off is an error.
func FuzzRead(f *testing.F) {
	f.Add(byte(Call), true, uint32(7), "name", []byte("body"), 3)
	f.Fuzz(func(t *testing.T, kind byte, waits bool, id uint32, name string, body []byte, cut int) {
		if kind < byte(Run) || kind > byte(Failed) || len(name) > MaxName || len(body) > MaxValue {
			return
		}
		m := Message{Kind: Kind(kind), Waits: waits, ID: id, Name: name, Body: body}
		text := frames(t, m)
		got, err := Read(bufio.NewReader(bytes.NewReader(text)))
		if err != nil || got.Kind != m.Kind || got.Waits != waits || got.ID != id || got.Name != name || !bytes.Equal(got.Body, body) {
			t.Fatalf("%+v %v", got, err)
		}
		if cut = max(0, min(cut, len(text)-1)); cut < len(text) {
			if _, err := Read(bufio.NewReader(bytes.NewReader(text[:cut]))); err == nil {
				t.Errorf("%d of %d bytes were enough", cut, len(text))
			}
		}
	})
}

// TestSilentWorker: one that says nothing at all ends with the time of its script.
func TestSilentWorker(t *testing.T) {
	from, out := io.Pipe()
	defer out.Close()
	ended := make(chan struct{})
	var ends atomic.Int32
	p := &Pool{Start: func(context.Context) (*Conn, error) {
		go out.Write(frames(t, Message{Kind: Ready})) //nolint:errcheck // it is read, or nobody needs it
		_, to := io.Pipe()                            // nobody reads what it is told
		return &Conn{To: to, From: from, End: func() {
			if ends.Add(1) == 1 {
				_ = from.Close()
				_ = to.Close()
				close(ended)
			}
		}}, nil
	}}
	_, err := p.Run(t.Context(), Script{Code: "1", Time: 50 * time.Millisecond}, Host{})
	if e, ok := errors.AsType[*ScriptError](err); !ok || !strings.Contains(e.Message, "was stopped") {
		t.Error(err)
	}
	<-ended
}

// TestFlood: a worker that never stops talking is heard for the time of its script, and
// fills nothing.
func TestFlood(t *testing.T) {
	for name, m := range map[string]Message{
		"log":   {Kind: Log, Name: strings.Repeat("x", MaxName), Body: make([]byte, 1<<20)},
		"calls": {Kind: Search, ID: 1, Name: "x", Waits: true},
		"waits": {Kind: Wait, ID: 9},
	} {
		p := &Pool{Start: func(context.Context) (*Conn, error) {
			from, out := io.Pipe()
			in, to := io.Pipe()
			go io.Copy(io.Discard, in) //nolint:errcheck // nobody reads it
			go func() {
				said := frames(t, Message{Kind: Ready})
				for {
					if _, err := out.Write(said); err != nil {
						return
					}
					said = frames(t, m)
				}
			}()
			return &Conn{To: to, From: from, End: func() { _ = from.Close(); _ = in.Close(); _ = to.Close() }}, nil
		}}
		got, err := p.Run(t.Context(), Script{Code: "1", Time: 50 * time.Millisecond}, Host{})
		kept := 0
		for _, line := range got.Log {
			kept += len(line)
		}
		if err == nil || kept > maxLog+maxLine {
			t.Errorf("%s: %v, %d bytes", name, err, kept)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
