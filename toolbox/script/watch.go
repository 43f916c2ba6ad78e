package script

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// Ran is how a program of a tool was run, for a person who tries the tool. It has no values of variables: some are secrets.
type Ran struct {
	Words          []string // the program and its arguments
	Dir            string
	Variables      []string // their names
	Grant          toolcrib.Grant
	Exit           toolcrib.Exit
	Err            error  // why it was not run
	Stdout, Stderr string // the beginning of what it printed
}

type watchKey struct{}

// Watch has tell called for every program that a call under this context has run. It changes nothing about them.
func Watch(ctx context.Context, tell func(Ran)) context.Context {
	return context.WithValue(ctx, watchKey{}, tell)
}

// Watched runs a program, and tells who watches the call.
func Watched(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant, run func(toolcrib.Cmd) (toolcrib.Exit, error)) (toolcrib.Exit, error) {
	tell, ok := ctx.Value(watchKey{}).(func(Ran))
	if !ok {
		return run(cmd)
	}
	var out, errs beginning
	cmd.Stdout, cmd.Stderr = tee(cmd.Stdout, &out), tee(cmd.Stderr, &errs)
	exit, err := run(cmd)
	ran := Ran{Words: append([]string{cmd.Path}, cmd.Args...), Dir: cmd.Dir, Grant: grant, Exit: exit, Err: err, Stdout: out.text(), Stderr: errs.text()}
	for _, v := range cmd.Env {
		name, _, _ := strings.Cut(v, "=")
		ran.Variables = append(ran.Variables, name)
	}
	tell(ran)
	return exit, err
}

func tee(w io.Writer, b *beginning) io.Writer {
	if w == nil {
		return b
	}
	return io.MultiWriter(w, b)
}

// watchedMost is how much of a stream is shown to who watches.
const watchedMost = 64 << 10

// beginning is the first part of a stream.
type beginning struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more bool
}

func (b *beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(p), watchedMost-b.b.Len())
	b.b.Write(p[:n])
	b.more = b.more || n < len(p)
	return len(p), nil
}

func (b *beginning) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := strings.ToValidUTF8(b.b.String(), "\uFFFD")
	if b.more {
		s += "\n[there was more]"
	}
	return s
}
