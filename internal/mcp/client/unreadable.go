package client

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/toolcrib/toolcrib/internal/text"
)

// UnreadableOutput is in the chain of a failed start if the program wrote lines that
// are no messages: most often it is no MCP server, or it prints its log there.
type UnreadableOutput struct {
	Line string // the first of them, as the program wrote it, and not too long
	err  error
}

// How much of such a line is kept.
const (
	unreadableMost  = 300 // characters
	unreadableBytes = 4 * unreadableMost
)

func (e *UnreadableOutput) Error() string {
	return fmt.Sprintf("%v; it wrote lines to its standard output that are not MCP messages", e.err)
}

func (e *UnreadableOutput) Unwrap() error { return e.err }

// explainOutput adds to a failed start that the program wrote something else than
// messages.
func (p *sharedLink) explainOutput(err error) error {
	line := p.unreadable.Load()
	if err == nil || line == nil {
		return err
	}
	return &UnreadableOutput{*line, err}
}

// lastRead is the beginning of the message that was read last. Faults are told by several
// goroutines.
type lastRead struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastRead) keep(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text[:0], text[:min(len(text), unreadableBytes)]...)
}

func (l *lastRead) beginning() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text)
}

// keepUnreadable keeps the first line that is no message.
func (p *sharedLink) keepUnreadable(line []byte) {
	if len(line) == 0 {
		return // it was too long, which has an error of its own
	}
	shown := text.ClipRunes(string(line), unreadableMost)
	p.unreadable.CompareAndSwap(nil, &shown)
}
