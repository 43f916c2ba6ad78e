package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// A client that does not read makes no tool wait; what there is room for comes
// in order, and before the end.
func TestCourier(t *testing.T) {
	read := make(chan struct{})
	var got []string
	c := &messageWriter{write: func(text []byte) error {
		<-read
		got = append(got, string(text))
		return nil
	}}
	for i := range 10 * waiting {
		c.tell(&mcp.Message{Method: fmt.Sprintf("m%04d", i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.send(ctx, &mcp.Message{Method: "must"}); !errors.Is(err, context.Canceled) {
		t.Errorf("there is no room, and yet %v", err)
	}
	close(read)
	if !c.close() {
		t.Error("nothing was told")
	}
	if n := len(got); n < waiting || n > waiting+1 {
		t.Errorf("%d messages came", n)
	}
	if !slices.IsSorted(got) {
		t.Errorf("out of order: %v", got)
	}
	c.tell(&mcp.Message{Method: "late"})
	if err := c.send(t.Context(), &mcp.Message{Method: "late"}); !errors.Is(err, errAnswered) {
		t.Errorf("after the end: %v", err)
	}
	if !c.close() || len(got) > waiting+1 {
		t.Error("it came after the end")
	}
}

// One that has gone is not written to again.
func TestCourierBroken(t *testing.T) {
	writes := 0
	c := &messageWriter{write: func([]byte) error {
		writes++
		return errors.New("gone")
	}}
	for range 5 {
		if err := c.send(t.Context(), &mcp.Message{Method: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	if c.close(); writes != 1 {
		t.Errorf("written %d times", writes)
	}
	if (&messageWriter{}).close() {
		t.Error("nothing was told")
	}
}

// A change that is told twice before it is fetched is told once, and there is a
// bound on what is kept.
func TestOutbox(t *testing.T) {
	l := newListener(toolcrib.Caller{}, nil)
	for i := range 3 * maxNotes {
		l.add(note{noteKey: noteKey{method: "a"}})
		l.add(note{noteKey: noteKey{"b", fmt.Sprint(i)}, params: []byte(fmt.Sprint(i))})
	}
	notes := l.drain()
	if len(notes) > maxNotes || string(notes[len(notes)-1].params) != fmt.Sprint(3*maxNotes-1) {
		t.Errorf("%d notes, the last %s", len(notes), notes[len(notes)-1].params)
	}
	a := 0
	for _, n := range notes {
		if n.method == "a" {
			a++
		}
	}
	if a != 1 || l.drain() != nil {
		t.Errorf("told %d times", a)
	}
}
