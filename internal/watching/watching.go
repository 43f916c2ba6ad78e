// Package watching joins the telemetry to a running crib: what is counted and traced
// of it, who may read the numbers, and what its health is. It decides nothing about
// calls.
package watching

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/artifact"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Needs is what is watched, and what that takes.
type Needs struct {
	Crib    *toolcrib.Crib
	Journal *store.Journal
	Desk    *desk.Desk
	// Tools counts the tools there are, and Hub gives the servers, nil before there
	// are any: both are asked when the numbers are read.
	Tools func() int
	Hub   func() *mcphub.Hub
	// Budgets tells which share of each budget is used.
	Budgets func() map[string]float64

	Locked func() error                                  // the vault is locked: contents are not sent
	Expand func(context.Context, string) (string, error) // puts secrets into headers
	Redact func(string) string                           // takes them out of what is told
	Getenv func(string) string

	State, Version string
	Log            *slog.Logger
	Calls          bool // calls are made here; else only where traces go is found out
}

// Watching is what watches. Its zero value watches nothing.
type Watching struct {
	Telemetry *telemetry.Telemetry // nil: nobody watches
	Numbers   *telemetry.Metrics   // nil: there are none
	Traces    *telemetry.Target    // nil: they go nowhere
}

// Open has the crib watched, if that is switched on.
func Open(on settings.Telemetry, n Needs) (*Watching, error) {
	w := &Watching{}
	var sender *telemetry.Exporter
	if on.Traces.Enabled {
		to, err := n.target(on.Traces)
		if err != nil {
			return nil, settings.Bad(err)
		}
		w.Traces = &to
	}
	if !n.Calls || !on.Metrics && !on.Traces.Enabled {
		return w, nil
	}
	if w.Traces != nil {
		sender = telemetry.NewExporter(*w.Traces)
	}
	if on.Metrics {
		w.Numbers = telemetry.NewMetrics(n.sources())
	}
	w.Telemetry = telemetry.New(w.Numbers, sender, telemetry.Config{
		Sample: on.Traces.Sample, Content: on.Traces.Content, Locked: n.Locked, Known: n.isTool, Redact: n.Redact,
	})
	w.Telemetry.Watch(n.Crib, vetterName)
	return w, nil
}

// Observer is who hears of requests; nil: nobody does.
func (w *Watching) Observer() *telemetry.Telemetry {
	if w == nil {
		return nil
	}
	return w.Telemetry
}

// vetterName is what the numbers call the work of a vetter.
func vetterName(v toolcrib.Vetter) string {
	switch v.(type) {
	case safety.SecretVetter:
		return "secrets"
	case *safety.Inject:
		return "injection"
	case *artifact.Cutter:
		return "size"
	}
	return ""
}

// isTool reports whether a name is that of a tool on the shelves, or of one that
// finds and calls them.
func (n Needs) isTool(name string) bool {
	shelves := toolcrib.Crib{Catalog: n.Crib.Catalog}
	_, ok := shelves.Tool(toolcrib.Caller{}, name)
	return ok || name == finder.CallTool().Name || name == models.Tool
}

// target is where traces go. Nothing is sent yet.
func (n Needs) target(on settings.Traces) (telemetry.Target, error) {
	to, fixed, err := telemetry.Settings{Endpoint: on.Endpoint, Headers: on.Headers, Service: on.Service, Content: on.Content, Getenv: n.Getenv}.Target()
	if err != nil {
		return to, err
	}
	to.Version, to.Log, to.Client = n.Version, n.Log, telemetry.Client(http.DefaultTransport.(*http.Transport).Clone())
	to.Headers = func(ctx context.Context) (http.Header, error) {
		h := maps.Clone(fixed)
		for name, value := range on.Headers {
			text, err := n.Expand(ctx, value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			h.Set(name, text)
		}
		return h, nil
	}
	return to, nil
}

// Check asks the collector whether it takes traces, and says where it is; empty:
// none are sent.
func (w *Watching) Check(ctx context.Context) (where string, err error) {
	if w == nil || w.Traces == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return w.Traces.URL, w.Traces.Check(ctx)
}

// sources is what the numbers are read from when somebody asks.
func (n Needs) sources() telemetry.Sources {
	dir := filepath.Join(n.State, "journal")
	return telemetry.Sources{
		Version: n.Version, Started: time.Now(), Budgets: n.Budgets, Tools: n.Tools,
		Questions: func(ctx context.Context) int {
			list, err := n.Desk.Questions(ctx, desk.Filter{State: desk.Open})
			if err != nil {
				return -1
			}
			return len(list)
		},
		Journal: func() (int64, bool) { return telemetry.SizeOf(dir), !n.Journal.Degraded() },
		Servers: func() (out []telemetry.Server) {
			hub := n.Hub()
			if hub == nil {
				return nil
			}
			for _, b := range hub.Boxes() {
				h := b.Health()
				out = append(out, telemetry.Server{Name: b.Name(), State: h.State, Running: h.Running, Tools: h.Tools, Starts: int(h.Starts), Failures: int(h.Failed)})
			}
			return out
		},
	}
}
