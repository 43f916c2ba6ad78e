package mcphub

import (
	"context"
	"fmt"
	"log/slog"
)

// redact takes secrets out of a text: what a program wrote before it failed, and
// an address that failed, may have them.
func (h *Hub) redact(text string) string {
	if h.needs.Redact == nil {
		return text
	}
	return h.needs.Redact(text)
}

// redactingHandler is a log without secrets, whoever writes to it.
type redactingHandler struct {
	slog.Handler
	redact func(string) string
}

func (p redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, p.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(p.attr(a))
		return true
	})
	return p.Handler.Handle(ctx, out)
}

func (p redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, 0, len(attrs))
	for _, a := range attrs {
		out = append(out, p.attr(a))
	}
	return redactingHandler{p.Handler.WithAttrs(out), p.redact}
}

func (p redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{p.Handler.WithGroup(name), p.redact}
}

func (p redactingHandler) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(p.redact(a.Value.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(a.Value.Group()))
		for _, inner := range a.Value.Group() {
			group = append(group, p.attr(inner))
		}
		a.Value = slog.GroupValue(group...)
	case slog.KindAny:
		text := fmt.Sprint(a.Value.Any())
		if clean := p.redact(text); clean != text {
			a.Value = slog.StringValue(clean)
		}
	}
	return a
}
