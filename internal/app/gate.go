package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/mcpserve"
)

// gate finds out who calls over HTTP and hands each caller to a server of
// their own: a session begun under one token cannot be used with another. It
// goes by the tokens of the settings that hold now.
type gate struct {
	app     *App
	version string

	mu     sync.Mutex
	open   map[tokenHolder]*door
	known  *[]tokenHolder // the tokens that open was last compared with
	closed bool
}

// door is the way in of one holder of a token. It is shut, with everything that
// goes on behind it, when the token is taken away.
type door struct {
	server  *mcpserve.Server
	handler http.Handler
	ctx     context.Context
	cancel  context.CancelFunc
}

func (d *door) shut() {
	d.cancel()
	d.server.Close()
}

// tokenHolder is who has a token, and the token's hash.
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
	return &gate{app: a, version: version, open: map[tokenHolder]*door{}}
}

// lookAfter is how often it is looked whether tokens were taken away whose
// holders are inside and send nothing.
const lookAfter = 2 * time.Second

// watch shuts the doors of tokens that were taken away, until ctx ends.
func (g *gate) watch(ctx context.Context) {
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.mu.Lock()
			_, gone := g.compareLocked()
			g.mu.Unlock()
			for _, d := range gone {
				d.shut()
			}
		case <-ctx.Done():
			return
		}
	}
}

// ServeHTTP lets a request through to the server of its caller.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := g.enter(r.Header.Values("Authorization"))
	if d == nil {
		// A stranger's message is not waited for; not every reader has deadlines.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lookAfter))
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	d.handler.ServeHTTP(w, r.WithContext(ctx))
}

// enter finds the door of who sends a request; nil: it is nobody who may come in.
func (g *gate) enter(authorization []string) *door {
	g.mu.Lock()
	known, gone := g.compareLocked()
	var d *door
	if holder, ok := holderOf(known, authorization); ok {
		d = g.doorLocked(holder)
	}
	g.mu.Unlock()
	for _, old := range gone {
		old.shut()
	}
	return d
}

// anyone is who comes in where there are no tokens: anyone on this machine.
func anyone() tokenHolder {
	return tokenHolder{caller: toolcrib.Caller{Subject: "loopback", Via: "mcp-http"}, approves: true}
}

// compareLocked gives the tokens of now, and takes out the doors of those who
// may not any more. They have to be shut, without the lock.
func (g *gate) compareLocked() (known []tokenHolder, gone []*door) {
	now := g.app.policy.tokens.Load()
	known = *now
	if now == g.known {
		return known, nil
	}
	g.known = now
	for holder, d := range g.open {
		if !slices.Contains(known, holder) && (len(known) > 0 || holder != anyone()) {
			delete(g.open, holder)
			gone = append(gone, d)
		}
	}
	return known, gone
}

// holderOf finds out who sends a request.
func holderOf(known []tokenHolder, authorization []string) (found tokenHolder, ok bool) {
	if len(known) == 0 {
		return anyone(), true
	}
	if len(authorization) != 1 {
		return found, false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	token = strings.TrimLeft(token, " ")
	sent := strings.EqualFold(scheme, "Bearer") && token != ""
	sum := sha256.Sum256([]byte(token))
	for _, k := range known { // all are compared, so that the time tells nothing
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 && sent {
			found, ok = k, true
		}
	}
	return found, ok
}

// doorLocked is the door of a caller, made when they first come.
func (g *gate) doorLocked(holder tokenHolder) *door {
	if d := g.open[holder]; d != nil {
		return d
	}
	cfg := g.app.MCP(g.version)
	if holder.approves {
		cfg.Desk = g.app.Desk
	}
	d := &door{server: mcpserve.New(cfg, holder.caller)}
	d.handler = d.server.Handler()
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if g.closed {
		d.server.Close()
	}
	g.open[holder] = d
	return d
}

// Close ends the sessions. Calls under way may finish.
func (g *gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, d := range g.open {
		d.server.Close()
	}
}
