package app

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/mcpserve"
)

// gate finds out who calls over HTTP and hands each caller to a server of
// their own: a session begun under one token cannot be used with another.
type gate struct {
	anyone  http.Handler // where no token is asked for
	known   []tokenHolder
	servers []*mcpserve.Server
}

type tokenHolder struct {
	sum     [sha256.Size]byte
	handler http.Handler
}

func (a *App) newGate(version string) (*gate, error) {
	g := &gate{}
	serve := func(caller toolcrib.Caller) http.Handler {
		s := mcpserve.New(mcpserve.Config{Crib: a.Crib, Version: version, Log: a.Crib.Log, Instructions: a.Instructions(), Desk: a.Desk}, caller)
		g.servers = append(g.servers, s)
		return s.Handler()
	}
	if len(a.tokens) == 0 {
		g.anyone = serve(toolcrib.Caller{Subject: "loopback", Via: "mcp-http"})
		return g, nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.tokens)) {
		t := a.tokens[name]
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != sha256.Size {
			g.Close()
			return nil, BadConfig{fmt.Errorf("tokens.%s.sha256: want the 64 hexadecimal digits of a SHA-256", name)}
		}
		caller := toolcrib.Caller{Subject: name, Token: name, Agent: t.Agent, Organisation: t.Organisation, Via: "mcp-http"}
		g.known = append(g.known, tokenHolder{[sha256.Size]byte(sum), serve(caller)})
	}
	return g, nil
}

// ServeHTTP lets a request through to the server of its caller.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler := g.anyone
	if handler == nil {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(token))
		for _, k := range g.known { // all are compared, so that the time tells nothing
			if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 && ok && token != "" {
				handler = k.handler
			}
		}
	}
	if handler == nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	handler.ServeHTTP(w, r)
}

// Close ends the sessions.
func (g *gate) Close() {
	for _, s := range g.servers {
		s.Close()
	}
}
