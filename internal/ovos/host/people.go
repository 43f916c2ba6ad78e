package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// busScreen is the screen that the clients of the bus together are: what calls
// from the bus ask is shown there, and nothing else.
type busScreen struct {
	host      *Host
	approvals Approvals
	open      map[string]desk.Question // shown, or to be shown when the bus is back
}

// ask begins to show questions on the bus, if that is wanted.
func (h *Host) ask(ctx context.Context) error {
	if !h.cfg.Approvals.on() {
		return nil
	}
	p := &busScreen{host: h, approvals: h.cfg.Approvals, open: map[string]desk.Question{}}
	events, stop, err := p.approvals.Desk.Watch(context.WithoutCancel(ctx), desk.Screen{Name: Via, Sees: p.sees, Buffer: 256})
	if err != nil {
		return fmt.Errorf("watching the desk: %w", err)
	}
	h.people = p
	h.working.Go(func() {
		defer stop()
		p.follow(ctx, events)
	})
	return nil
}

// sees chooses the questions of calls from this bus.
func (p *busScreen) sees(q desk.Question) bool {
	return q.Caller.Frontend == Via && q.Caller.Subject == p.host.cfg.Caller.Subject
}

// follow shows questions until the host stops.
func (p *busScreen) follow(ctx context.Context, events <-chan desk.Event) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.host.back: // clients that were not there have seen nothing
			for _, id := range slices.Sorted(maps.Keys(p.open)) {
				p.show(p.open[id])
			}
		case ev := <-events:
			p.hear(ev.Question)
			if ev.Missed > 0 {
				p.lookAgain(ctx)
			}
		}
	}
}

// hear shows a question that is new, and says when it is settled.
func (p *busScreen) hear(q desk.Question) {
	_, known := p.open[q.ID]
	switch {
	case q.State == desk.Open && !known:
		p.open[q.ID] = q
		p.show(q)
	case q.State != desk.Open && known:
		delete(p.open, q.ID)
		p.say(q, typeSettled, settledData{ID: q.ID, State: string(q.State)})
	}
}

// lookAgain finds what was missed.
func (p *busScreen) lookAgain(ctx context.Context) {
	list, err := p.approvals.Desk.Questions(ctx, desk.Filter{State: desk.Open})
	if err != nil {
		p.host.cfg.Log.Warn("open questions cannot be read", "err", err)
		return
	}
	now := map[string]bool{}
	for _, q := range list {
		if p.sees(q) {
			now[q.ID] = true
			p.hear(q)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.open)) {
		if q, err := p.approvals.Desk.Question(ctx, id); !now[id] && (err == nil || errors.Is(err, desk.ErrNotFound)) {
			q.ID = id
			p.hear(q)
		}
	}
}

// maxText is the most that is shown of a question. The seal covers what is
// shown, and that it was cut is a part of it.
const maxText = 48 << 10

func (p *busScreen) show(q desk.Question) {
	var b strings.Builder
	for _, part := range q.Describe() {
		b.WriteString(part.Title + ":\n")
		for _, line := range part.Lines {
			b.WriteString("  " + line + "\n")
		}
	}
	question := b.String()
	if len(question) > maxText {
		question = text.Clip(question, maxText) + "\nThere is more of it than can be shown here: 'toolcrib approvals show " + q.ID + "' shows it all.\n"
	}
	out := askData{ID: q.ID, Tool: q.Tool, Text: question, Choices: p.approvals.choices(&q), Expires: q.Expires.UTC().Format(time.RFC3339)}
	if q.Box != "" {
		out.ToolboxID = p.host.cfg.BoxID(q.Box)
	}
	if p.approvals.Secret != "" {
		out.Seal = p.approvals.mac(typeAsk, out.ID, strings.Join(out.Choices, ","), out.Text)
	}
	p.say(q, typeAsk, out)
}

// say sends a message about a question in the context of the call that asks, so
// that it reaches the device of the person who speaks.
func (p *busScreen) say(q desk.Question, typ string, data any) {
	raw, err := bus.Object(data)
	if err != nil {
		p.host.cfg.Log.Error("a question cannot be sent over the bus", "question", q.ID, "err", err)
		return
	}
	p.host.mu.Lock()
	about, known := p.host.flights[q.Call]
	p.host.mu.Unlock()
	if !known {
		about = sessionOf(q.Caller)
	}
	if err := p.host.send(about.Reply(p.host.cfg.ID, typ, raw)); err != nil {
		p.host.cfg.Log.Warn("a question may not have reached the bus", "question", q.ID, "err", err)
	}
}

// sessionOf is a message of a caller's session that says nothing.
func sessionOf(c toolcrib.Caller) bus.Message {
	raw, err := json.Marshal(map[string]string{"session_id": c.Session})
	if err != nil || c.Session == "" {
		return bus.Message{} // it belongs to the default session
	}
	return bus.Message{Context: map[string]json.RawMessage{"session": raw}}
}
