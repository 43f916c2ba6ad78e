package frame

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	var wire bytes.Buffer
	s := New(&wire, &wire, 1<<20, nil)
	for _, m := range []string{`{}`, `{"a":"é👋"}`, strings.Repeat("x", 100_000), ""} {
		if err := s.Write(t.Context(), []byte(m)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(); err != nil || string(got) != m {
			t.Errorf("%.20q: %.20q, %v", m, got, err)
		}
	}
	if _, err := s.Read(); !errors.Is(err, io.EOF) || errors.Is(err, ErrFraming) {
		t.Errorf("an end between messages is %v", err)
	}
}

// TestOtherHeaders: names in any case, further headers, and plain newlines are taken.
func TestOtherHeaders(t *testing.T) {
	s := New(strings.NewReader("content-length: 2\nContent-Type: application/vscode-jsonrpc; charset=utf-8\n\n{}Content-Length:2\r\n\r\n[]"), io.Discard, 100, nil)
	for _, want := range []string{"{}", "[]"} {
		if got, err := s.Read(); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestNobodyReads: who writes to a server that does not read waits no longer than it
// wants to.
func TestNobodyReads(t *testing.T) {
	_, to := io.Pipe()
	s := New(strings.NewReader(""), to, 100, to.Close)
	for range 2 { // the second waits for the first
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.Write(ctx, []byte("{}")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestWithoutEnd: a server that was asked once may not send for ever.
func TestWithoutEnd(t *testing.T) {
	s := New(strings.NewReader(strings.Repeat("Content-Length: 2\r\n\r\n{}", 3)), io.Discard, 100, nil)
	s.taken.Store(flood - 3)
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(); !errors.Is(err, ErrFraming) {
		t.Error(err)
	}
	s = New(strings.NewReader("Content-Length: 2\r\n\r\n{}"), io.Discard, 100, nil)
	s.taken.Store(flood)
	s.Asked()
	if _, err := s.Read(); err != nil {
		t.Errorf("after a question: %v", err)
	}
}

// FuzzRead: whatever comes, reading ends, and what was read is what a length said.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"Content-Length: 2\r\n\r\n{}", "Content-Length: 2\n\n{}Content-Length: 3\r\n\r\nabc", "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n",
		"\r\n\r\n", "A: b\r\nContent-Length: 0\r\n\r\n", "Content-Length: 5\r\n\r\n{}", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", strings.Repeat("x", MaxHeader+1), "\x00\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := New(bytes.NewReader(data), io.Discard, 1<<16, nil)
		total := 0
		for {
			m, err := s.Read()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, ErrFraming) {
					t.Fatalf("it ended with %v", err)
				}
				break
			}
			if len(m) > 1<<16 || !bytes.Contains(data, m) {
				t.Fatalf("%q was never sent", m)
			}
			if total += len(m); total > len(data) {
				t.Fatal("more was read than was sent")
			}
			var wire bytes.Buffer
			again := New(&wire, &wire, 1<<16, nil)
			if err := again.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if got, err := again.Read(); err != nil || !bytes.Equal(got, m) {
				t.Fatalf("it does not come back: %v", err)
			}
		}
	})
}
