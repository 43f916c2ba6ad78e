package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/text"
)

// plainLog writes the log as sentences, for somebody who reads a conversation: without
// times, and with what a record is about in brackets.
type plainLog struct {
	out   io.Writer
	mu    *sync.Mutex
	level slog.Level
	attrs []slog.Attr
}

func newPlainLog(out io.Writer, level slog.Level) plainLog {
	return plainLog{out: out, mu: &sync.Mutex{}, level: level}
}

func (p plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= p.level }

func (p plainLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	p.attrs = append(slices.Clip(p.attrs), attrs...)
	return p
}

// WithGroup leaves groups out: a sentence has none.
func (p plainLog) WithGroup(string) slog.Handler { return p }

func (p plainLog) Handle(_ context.Context, r slog.Record) error {
	var about []string
	why := ""
	add := func(a slog.Attr) bool {
		switch value := text.ShowLine(a.Value.Resolve().String()); a.Key {
		case "err", "error", "why":
			why = ": " + value
		default:
			about = append(about, a.Key+" "+value)
		}
		return true
	}
	for _, a := range p.attrs {
		add(a)
	}
	r.Attrs(add)
	line := "toolcrib: " + strings.ToLower(levelName(r.Level)) + ": " + text.ShowLine(r.Message)
	if len(about) > 0 {
		line += " (" + strings.Join(about, ", ") + ")"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := fmt.Fprintln(p.out, line+why)
	return err
}

func levelName(l slog.Level) string {
	if l == slog.LevelWarn {
		return "warning"
	}
	return l.String()
}
