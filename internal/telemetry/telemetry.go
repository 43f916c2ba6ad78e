package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/trace"
)

// Telemetry is what watches one crib. What is nil in it is off.
type Telemetry struct {
	metrics *Metrics
	traces  *Exporter
	Config
	places places
}

// Config is what traces take besides where they go.
type Config struct {
	Sample float64 // the share of traces begun here that are recorded
	// Content: arguments, results and the words of refusals are recorded as well.
	Content bool
	// Locked says why nothing that may hold a secret can be recorded now. Nil, or
	// an answer of nil: it can.
	Locked func() error
	// Known reports whether a name is that of a tool on the shelves: others can be
	// anything, and are not repeated.
	Known func(tool string) bool
	// Redact takes secrets out of a text. It is asked about words of clients.
	Redact func(string) string
	Now    func() time.Time
}

// New watches with what is not nil.
func New(m *Metrics, traces *Exporter, cfg Config) *Telemetry {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if m != nil && traces != nil {
		m.spans.Store(traces)
	}
	return &Telemetry{metrics: m, traces: traces, Config: cfg, places: newPlaces(cfg.Sample)}
}

// Close sends what is left.
func (t *Telemetry) Close() error {
	if t.traces == nil {
		return nil
	}
	return t.traces.Close()
}

// Watch hangs itself on a crib: vetters says how the work of each of its vetters
// is called in the numbers; empty: it is not counted.
func (t *Telemetry) Watch(c *toolcrib.Crib, vetters func(toolcrib.Vetter) string) {
	c.OnEnd = append(c.OnEnd, t.onEnd)
	if c.Approver != nil {
		c.Approver = &approver{t, c.Approver}
	}
	if t.traces != nil {
		c.Around = append(c.Around, t.around)
	}
	if t.metrics == nil {
		return
	}
	if c.Journal != nil {
		c.Journal = timed(c.Journal, t.metrics.journalTime)
	}
	for i, v := range c.Vetters {
		if by := vetters(v); by != "" {
			c.Vetters[i] = &vetter{v, t.metrics.changed, by}
		}
	}
}

// WatchAlso has a crib watched that shares its journal and its approver with one that is
// watched.
func (t *Telemetry) WatchAlso(c *toolcrib.Crib) {
	if t == nil {
		return
	}
	c.OnEnd = append(c.OnEnd, t.onEnd)
	if t.traces != nil {
		c.Around = append(c.Around, t.around)
	}
}

// inside is in the context of a tool that runs: what it does belongs to its call,
// and what it calls is made by that.
type inside struct {
	id, subject, organisation string
	at                        trace.Context
}

type insideKey struct{}

// placeOf is the span of a call and the one above it, before and while it runs.
func (t *Telemetry) placeOf(ctx context.Context, id string, c *toolcrib.Caller) (own, parent trace.Context) {
	if in, ok := ctx.Value(insideKey{}).(inside); ok && in.id == id && in.subject == c.Subject && in.organisation == c.Organisation {
		return in.at, trace.Context{}
	}
	return t.places.ofCall(ctx, id, c)
}

// around puts the span of a call into the context that its tool runs in.
func (t *Telemetry) around(_ toolcrib.Entry, tool toolcrib.Tool) toolcrib.Tool {
	run := tool.Run
	tool.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		c := &env.Call
		own, _ := t.placeOf(ctx, c.ID, &c.Caller)
		ctx = context.WithValue(ctx, insideKey{}, inside{c.ID, c.Caller.Subject, c.Caller.Organisation, own})
		return run(trace.With(ctx, own), env, input)
	}
	return tool
}

// content reports whether texts of calls may be recorded now.
func (t *Telemetry) content() bool {
	return t.Content && (t.Locked == nil || t.Locked() == nil)
}
