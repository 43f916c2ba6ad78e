package telemetry

import (
	"time"

	"github.com/toolcrib/toolcrib/internal/trace"
)

// The kinds of spans, by their numbers in OTLP.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
)

// span is something that took a while, as it will be sent.
type span struct {
	at     trace.Context
	parent [8]byte
	link   trace.Context // another place that it has to do with
	name   string
	kind   int
	start  time.Time
	end    time.Time
	attrs  []attr
	events []event
	failed bool
	why    string // of one that failed; may be empty
}

// attr says one thing of a span. Its value is a string, an int64 or a bool.
type attr struct {
	key   string
	value any
}

// event is something in a span that took no time.
type event struct {
	name  string
	at    time.Time
	attrs []attr
}

// say adds an attribute, unless there is nothing to say.
func (s *span) say(key, value string) {
	if value != "" {
		s.attrs = append(s.attrs, attr{key, value})
	}
}

// fail notes what kind of error it was.
func (s *span) fail(kind string) {
	if kind != "" {
		s.failed = true
		s.attrs = append(s.attrs, attr{"error.type", kind})
	}
}

// size is about how many bytes a span takes.
func (s *span) size() int {
	n := 300 + len(s.name) + len(s.why) + sizeOf(s.attrs)
	for i := range s.events {
		n += 100 + sizeOf(s.events[i].attrs)
	}
	return n
}

func sizeOf(attrs []attr) (n int) {
	for _, a := range attrs {
		n += 60 + len(a.key)
		if text, ok := a.value.(string); ok {
			n += len(text)
		}
	}
	return n
}
