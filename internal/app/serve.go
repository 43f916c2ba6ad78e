package app

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/httpauth"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
)

// Serve answers HTTP on the listener until ctx ends: MCP at /mcp and the
// server's health at /healthz. Calls under way get a few seconds to finish.
func (a *App) Serve(ctx context.Context, ln net.Listener, version string) error {
	gate, err := a.newGate(version)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer gate.Close()
	watched, leave := context.WithCancel(ctx)
	defer leave()
	go gate.Watch(watched)
	mux := http.NewServeMux()
	mux.Handle("/mcp", gate)
	mux.HandleFunc("GET /healthz", a.health(version, gate.Knows))
	srv := &http.Server{Handler: httpauth.OwnNameOnly(mux), ReadHeaderTimeout: 10 * time.Second}
	srv.RegisterOnShutdown(gate.Close) // streams end at once
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return srv.Close() // event streams never end by themselves
}

// newGate is the way in over HTTP: each caller has an MCP server of their own.
func (a *App) newGate(version string) (*httpauth.Gate, error) {
	return httpauth.New(httpauth.Config{
		State: a.state, Log: a.Crib.Log, Access: a.policy.guests.Load,
		Serve: func(holder httpauth.Holder) httpauth.Frontend {
			cfg := a.MCP(version)
			if answers := holder.Answers(); answers != nil {
				cfg.Desk, cfg.Answers = a.Desk, answers
			}
			return server.New(cfg, holder.Caller)
		},
	})
}

// health tells whether calls can be made now. That much every program of this
// machine may ask, so that it can be watched; what there is here and what is
// wrong with it is told to those who have a token.
func (a *App) health(version string, knows func(authorization []string) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		known := knows(r.Header.Values("Authorization"))
		status, code := "ok", http.StatusOK
		if a.Journal.Degraded() {
			status, code = "degraded: the journal cannot write", http.StatusServiceUnavailable
		}
		if broken := a.policy.broken.Load(); broken != nil && code == http.StatusOK {
			status = "the settings are broken, older rules are in force"
			if known {
				status += ": " + *broken
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		told := map[string]any{"status": status, "version": version}
		if known {
			told["tools"], told["faults"] = len(a.Shown(toolcrib.Caller{})), len(a.Faults)
			if servers := a.serverHealth(); servers != nil {
				told["servers"] = servers
			}
		}
		_ = json.NewEncoder(w).Encode(told) // who asked has gone, if this fails
	}
}

// serverHealth tells how the MCP servers are doing; nil: there are none. What
// went wrong with one is for the log.
func (a *App) serverHealth() map[string]any {
	if a.Hub == nil || len(a.Hub.Boxes()) == 0 {
		return nil
	}
	out := map[string]any{}
	for _, b := range a.Hub.Boxes() {
		s := b.Status()
		out[s.Name] = map[string]int{"tools": s.Tools, "held": s.Held, "running": s.Running, "failures": s.Failures}
	}
	return out
}
