package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// input is what was typed into a job. What a further line means depends on all
// before it (an open quote, a program that is reading now), so a guard judges
// the whole; a line judged before another one was typed must not be typed any
// more.
type input struct {
	mu     sync.Mutex
	typed  []string
	size   int
	judged map[string]int // by call ID: how many lines were typed when it was judged
	watch  bool           // a guard has looked, so every line must have been judged
}

// maxTyped bounds what is remembered. A guard reads no line that long, so it
// asks about everything typed after that.
const maxTyped = 256 << 10

// Typed tells a guard what runs as a job and what was typed into it so far, in
// order; ok is false if this caller has no such job. The call that asks is
// then typed only if nothing else was typed meanwhile.
func (b *Box) Typed(call toolcrib.Call, id string) (line, dir string, typed []string, ok bool) {
	j, err := b.jobs.find(call.Caller.Subject, id)
	if err != nil {
		return "", "", nil, false
	}
	in := &j.input
	in.mu.Lock()
	defer in.mu.Unlock()
	in.watch = true
	if in.judged == nil || len(in.judged) > 1000 { // those forgotten are refused
		in.judged = map[string]int{}
	}
	in.judged[call.ID] = len(in.typed)
	return j.line, j.dir, slices.Clone(in.typed), true
}

// enter types a line into a job, after those before it.
func (j *job) enter(ctx context.Context, call, text string, last bool) error {
	in := &j.input
	in.mu.Lock()
	defer in.mu.Unlock()
	if at, ok := in.judged[call]; in.watch && (!ok || at != len(in.typed)) {
		return errors.New("something else was typed meanwhile, so this line may mean something else now; look at the output and try again")
	}
	maps.DeleteFunc(in.judged, func(id string, _ int) bool { return id == call })
	if in.size += len(text) + 1; in.size <= maxTyped || in.size-len(text)-1 <= maxTyped {
		in.typed = append(in.typed, text)
	}
	typed := make(chan error, 1)
	go func() { // a command that does not read must not hold the call
		_, err := io.WriteString(j.stdin, text+"\n")
		if last && err == nil {
			err = j.stdin.Close()
		}
		typed <- err
	}()
	select {
	case err := <-typed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
		return fmt.Errorf("the job %s does not read what is typed", j.id)
	}
}
