package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Listen opens the address to serve on. It must name a loopback host: tokens
// cross the connection as they are, so only this machine may reach it. An empty
// host would mean every interface and is refused for that.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w: write host:port, such as 127.0.0.1:7717", err)
	}
	if host != "localhost" {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("serve.listen: %q is not a loopback address; use 127.0.0.1, [::1] or localhost", address)
		}
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

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
	go gate.watch(watched)
	mux := http.NewServeMux()
	mux.Handle("/mcp", gate)
	mux.HandleFunc("GET /healthz", a.health(version, gate.knows))
	srv := &http.Server{Handler: ownNameOnly(mux), ReadHeaderTimeout: 10 * time.Second}
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

// ownNameOnly refuses requests made under another name than this machine's: a
// web page can make a name of its own point here (DNS rebinding).
func ownNameOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "this server is called localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
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
