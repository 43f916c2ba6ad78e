package watching

import (
	"encoding/json"
	"net/http"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Metrics answers with the numbers. They name tools that the profile of a caller may
// hide, so they are for the person whose program this is and those who watch over it;
// and for whoever comes in without a token, if there is nobody to hide anything from.
func (w *Watching) Metrics(alone func() bool) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		if w == nil || w.Numbers == nil {
			httpapi.Fail(out, http.StatusNotFound, "telemetry.metrics: true in the settings switches this on")
			return
		}
		caller, known := httpapi.CallerOf(r.Context())
		if !known || !caller.SeesAll() && !(caller.Anyone() && alone()) {
			httpapi.Fail(out, http.StatusForbidden, "the numbers name every tool that was called: they are for the owner's own token, and for tokens with watches: true ('toolcrib token new NAME --watches')")
			return
		}
		w.Numbers.ServeHTTP(out, r)
	}
}

// Health is what the answer about a program's health is made of.
type Health struct {
	Crib    *toolcrib.Crib
	Journal *store.Journal
	Hub     *mcphub.Hub
	// Broken is what is wrong with the settings; nil: nothing is.
	Broken func() *string
	// Tools and Faults count what is on the shelves and what was left out.
	Tools, Faults func() int
	Version       string
}

// ServeHTTP tells whether calls can be made now. That much every program of this
// machine may ask, so that it can be watched; what there is here is told to those who
// have a token, and what is wrong with it to those who may know all of it.
func (h Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller, known := httpapi.CallerOf(r.Context())
	known = known && !caller.Anyone()
	status, code := "ok", http.StatusOK
	if h.Journal.Degraded() {
		status, code = "degraded: the journal cannot write", http.StatusServiceUnavailable
	}
	if broken := h.Broken(); broken != nil && code == http.StatusOK {
		status = "the settings are broken, older rules are in force"
		if known && caller.SeesAll() { // it quotes them
			status += ": " + *broken
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	told := map[string]any{"status": status, "version": h.Version}
	if known {
		told["tools"], told["faults"] = h.Tools(), h.Faults()
		if servers := h.Servers(caller.Caller, caller.Own()); servers != nil {
			told["servers"] = servers
		}
	}
	_ = json.NewEncoder(w).Encode(told) // who asked has gone, if this fails
}

// Servers tells how the MCP servers are doing that a caller has tools of; nil:
// there are none. One that failed makes nothing else unhealthy. People have
// instances of their own, and an error may quote what one of them said there: only
// the person whose program this is hears more than the state.
func (h Health) Servers(caller toolcrib.Caller, own bool) map[string]any {
	if h.Hub == nil || len(h.Hub.Boxes()) == 0 {
		return nil
	}
	theirs := map[string]bool{}
	for spec := range h.Crib.Tools(caller) {
		theirs[spec.Box] = true
	}
	out := map[string]any{}
	for _, b := range h.Hub.Boxes() {
		switch health := b.Health(); {
		case own:
			out[b.Name()] = health
		case theirs[b.Name()]:
			out[b.Name()] = map[string]string{"state": health.State}
		}
	}
	return out
}
