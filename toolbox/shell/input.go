package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	typing sync.Mutex // held while a line is typed: the next one comes after it

	mu     sync.Mutex
	typed  []string
	size   int
	count  int            // of lines typed, also of those not remembered
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
	in.judged[call.ID] = in.count
	return j.line, j.dir, slices.Clone(in.typed), true
}

// enter types a line into a job, after those before it.
func (j *job) enter(ctx context.Context, call, text string, last bool) error {
	in := &j.input
	in.typing.Lock()
	defer in.typing.Unlock()
	if err := in.take(call, text); err != nil {
		return err
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
		return fmt.Errorf("the job %s does not read now; it will find what was typed when it does", j.id)
	}
}

// take remembers a line that is about to be typed, unless it was judged over
// something else.
func (in *input) take(call, text string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if at, ok := in.judged[call]; in.watch && (!ok || at != in.count) {
		return errors.New("something else was typed meanwhile, so this line may mean something else now; look at the output and try again")
	}
	delete(in.judged, call)
	in.count++
	if in.size <= maxTyped { // the one that goes beyond is the last
		in.typed = append(in.typed, text)
		in.size += len(text) + 1
	}
	return nil
}
