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
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/mcpserve"
)

// gate finds out who calls over HTTP and hands each caller to a server of
// their own: a session begun under one token cannot be used with another. It
// goes by the tokens of the settings that hold now.
type gate struct {
	app     *App
	version string

	mu      sync.Mutex
	open    map[tokenHolder]http.Handler
	servers []*mcpserve.Server
}

// tokenHolder is who has a token, and the token's hash. The zero value is anyone
// on this machine.
type tokenHolder struct {
	caller   toolcrib.Caller
	sum      [sha256.Size]byte
	approves bool
}

// tokens reads the settings of tokens. One that both layers have is the
// machine's.
func (l *Layers) tokens() ([]tokenHolder, error) {
	all := maps.Clone(l.User.Tokens)
	if all == nil {
		all = map[string]Token{}
	}
	maps.Copy(all, l.Admin.Tokens)
	var out []tokenHolder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("tokens.%s.sha256: want the 64 hexadecimal digits of a SHA-256", name)
		}
		out = append(out, tokenHolder{
			// Prefixed, so that nobody takes the place of a person of this machine.
			caller: toolcrib.Caller{Subject: "token:" + name, Token: name, Agent: t.Agent, Organisation: t.Organisation, Via: "mcp-http"},
			sum:    [sha256.Size]byte(sum), approves: t.Approves,
		})
	}
	return out, nil
}

func (a *App) newGate(version string) *gate {
	return &gate{app: a, version: version, open: map[tokenHolder]http.Handler{}}
}

// ServeHTTP lets a request through to the server of its caller.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	holder, ok := g.holder(r.Header.Get("Authorization"))
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	g.handler(holder).ServeHTTP(w, r)
}

// holder finds out who sends a request.
func (g *gate) holder(authorization string) (found tokenHolder, ok bool) {
	known := *g.app.policy.tokens.Load()
	if len(known) == 0 {
		return tokenHolder{caller: toolcrib.Caller{Subject: "loopback", Via: "mcp-http"}, approves: true}, true
	}
	token, sent := strings.CutPrefix(authorization, "Bearer ")
	sum := sha256.Sum256([]byte(token))
	for _, k := range known { // all are compared, so that the time tells nothing
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 && sent && token != "" {
			found, ok = k, true
		}
	}
	return found, ok
}

// handler is the server of a caller, made when they first come.
func (g *gate) handler(holder tokenHolder) http.Handler {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h, ok := g.open[holder]; ok {
		return h
	}
	cfg := g.app.MCP(g.version)
	if holder.approves {
		cfg.Desk = g.app.Desk
	}
	s := mcpserve.New(cfg, holder.caller)
	g.servers = append(g.servers, s)
	g.open[holder] = s.Handler()
	return g.open[holder]
}

// Close ends the sessions.
func (g *gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.servers {
		s.Close()
	}
}
