package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/artifact"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// openTelemetry has the crib watched, if that is switched on. All that it watches
// but the servers is there by then.
func (a *App) openTelemetry(_ context.Context, cfg settings.Config, needs Needs) error {
	on := cfg.Telemetry
	var sender *telemetry.Exporter
	if on.Traces.Enabled {
		to, err := a.traceTarget(on.Traces, needs)
		if err != nil {
			return settings.Bad(err)
		}
		a.traces = &to
	}
	if needs.For != ToCall || !on.Metrics && !on.Traces.Enabled {
		return nil
	}
	if a.traces != nil {
		sender = telemetry.NewExporter(*a.traces)
	}
	if on.Metrics {
		a.numbers = telemetry.NewMetrics(a.sources(needs))
	}
	a.telemetry = telemetry.New(a.numbers, sender, telemetry.Config{
		Sample: on.Traces.Sample, Content: on.Traces.Content, Locked: a.keeper.Locked, Known: a.isTool, Redact: a.redactText,
	})
	a.telemetry.Watch(a.Crib, vetterName)
	a.closers = append(a.closers, a.telemetry)
	return nil
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
func (a *App) isTool(name string) bool {
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	_, ok := shelves.Tool(toolcrib.Caller{}, name)
	return ok || name == finder.CallTool().Name || name == models.Tool
}

// traceTarget is where traces go. Nothing is sent yet.
func (a *App) traceTarget(on settings.Traces, needs Needs) (telemetry.Target, error) {
	getenv := needs.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	to, fixed, err := telemetry.Settings{Endpoint: on.Endpoint, Headers: on.Headers, Service: on.Service, Content: on.Content, Getenv: getenv}.Target()
	if err != nil {
		return to, err
	}
	to.Version, to.Log, to.Client = needs.Version, cmp.Or(needs.Log, slog.Default()), telemetry.Client(http.DefaultTransport.(*http.Transport).Clone())
	to.Headers = func(ctx context.Context) (http.Header, error) {
		h := maps.Clone(fixed)
		for name, value := range on.Headers {
			text, err := a.keeper.Setting(ctx, value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			h.Set(name, text)
		}
		return h, nil
	}
	return to, nil
}

// CheckTraces asks the collector whether it takes traces, and says where it is;
// empty: none are sent.
func (a *App) CheckTraces(ctx context.Context) (where string, err error) {
	if a.traces == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return a.traces.URL, a.traces.Check(ctx)
}

// sources is what the numbers are read from when somebody asks.
func (a *App) sources(needs Needs) telemetry.Sources {
	dir := filepath.Join(needs.State, "journal")
	return telemetry.Sources{
		Version: needs.Version, Started: time.Now(), Budgets: a.bounds.Used,
		Tools: func() int { return len(a.Specs()) },
		Questions: func(ctx context.Context) int {
			list, err := a.Desk.Questions(ctx, desk.Filter{State: desk.Open})
			if err != nil {
				return -1
			}
			return len(list)
		},
		Journal: func() (int64, bool) { return telemetry.SizeOf(dir), !a.Journal.Degraded() },
		Servers: func() (out []telemetry.Server) {
			if a.Hub == nil {
				return nil
			}
			for _, b := range a.Hub.Boxes() {
				h := b.Health()
				out = append(out, telemetry.Server{Name: b.Name(), State: h.State, Running: h.Running, Tools: h.Tools, Starts: int(h.Starts), Failures: int(h.Failed)})
			}
			return out
		},
	}
}

// metrics answers with the numbers. They name tools that the profile of a caller may
// hide, so they are for the person whose program this is and those who watch over it;
// and for whoever comes in without a token, if there is nobody to hide anything from.
func (a *App) metrics(w http.ResponseWriter, r *http.Request) {
	if a.numbers == nil {
		httpapi.Fail(w, http.StatusNotFound, "telemetry.metrics: true in the settings switches this on")
		return
	}
	caller, known := httpapi.CallerOf(r.Context())
	if !known || !caller.SeesAll() && !(caller.Anyone() && a.guestsNow().Alone()) {
		httpapi.Fail(w, http.StatusForbidden, "the numbers name every tool that was called: they are for the owner's own token, and for tokens with watches: true ('toolcrib token new NAME --watches')")
		return
	}
	a.numbers.ServeHTTP(w, r)
}
