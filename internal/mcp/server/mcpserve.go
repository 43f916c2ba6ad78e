// Package server is the MCP frontend: it shows a crib's tools, and what else
// is on its shelf, to MCP clients over stdio and streamable HTTP, in both eras
// of the protocol, and turns what they ask for into Calls. It decides nothing:
// what a client sees and may do is the crib's word alone.
//
// Only internal/app and internal/cli import it. Its one invariant: whatever a
// client sends is answered, and nothing is done for it but by a Call.
package server

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// Config is what a server needs.
type Config struct {
	Crib    *toolcrib.Crib
	Name    string // of the program; empty: Toolcrib
	Version string
	Log     *slog.Logger // nil: slog.Default
	// Instructions tells a model what it has here.
	Instructions string
	// MoreInstructions tells a caller more, as it is when a client comes. Nil: nothing.
	MoreInstructions func(toolcrib.Caller) string
	// TextOnly are patterns for the names of further clients that show their model
	// the value of a result instead of its texts: they get texts only.
	TextOnly []string
	// Lenient is set for callers whose dialect expects coercion.
	Lenient bool
	// Desk is where the crib asks people. A client that says that it can ask the
	// person who uses it is a screen of it, for the calls it makes itself. Nil:
	// clients are not asked.
	Desk *desk.Desk
	// Answers are those that its clients may give to an approval. Nil: all.
	Answers []desk.Choice

	// Harmless makes words of others safe to read for a model: the errors of
	// servers behind tools, which no vetter sees. Nil: they stay as they are.
	Harmless func(text string) string
	// HarmlessJSON does the same with the strings and the keys of a value.
	HarmlessJSON func(value json.RawMessage) (json.RawMessage, error)
	// Shelf is what there is besides tools. Nil: nothing.
	Shelf Shelf
	// Hidden tells the tools that are not listed though they can be called: those
	// that read the shelf. Nil: none.
	Hidden func(toolcrib.Entry) bool
	// Follow tells what happens in a call until stop is called. Its events reach
	// the client as progress and log messages. Nil: nothing is told.
	Follow func(call toolcrib.Call, hear func(toolcrib.Event)) (stop func())
	// Search gives the few tools that are listed instead of all. It is asked
	// whenever the catalog has changed. Nil, or a nil result: all are listed.
	Search func(toolcrib.Caller) *Search
	// MaxDescription is how many characters of a tool's description are shown.
	// Zero: all.
	MaxDescription int
	// Key signs what a client is handed to come back with. Nil: a random one.
	Key []byte
	// Observer hears of every request, for metrics and traces. Nil: nobody does.
	Observer mcp.Observer
	// Definition gives what else the supplier of a tool says of it: icons, a
	// title for people, _meta. Nil, or a nil result: nothing.
	Definition func(toolcrib.Entry) json.RawMessage
}

// Server serves one crib to one kind of caller.
type Server struct {
	cfg    Config
	caller toolcrib.Caller
	info   []byte // who we are, as JSON
	screen *clientScreen
	stops  []func()
	done   chan struct{} // closed by Close

	reading, requests, listens httpapi.Limiter
	tooSoon                    time.Duration // answers before that are no person's

	mu          sync.Mutex
	shown       *toolList
	listeners   map[*listener]struct{}
	subs        map[string]*subscription
	sessions    map[string]*session    // of the legacy era, over HTTP
	roundsCalls map[string]*roundsCall // calls whose clients are asked in rounds
	parked      int                    // how many of them wait for their client to come back

	parkedBytes int
	closed      bool
}

// New makes a server for calls by this caller. Close ends its watch on the
// catalog.
func New(cfg Config, caller toolcrib.Caller) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Key == nil {
		cfg.Key = make([]byte, 32)
		_, _ = rand.Read(cfg.Key) // it never fails: since Go 1.24 it ends the process instead
	}
	s := &Server{
		cfg: cfg, caller: caller, done: make(chan struct{}), tooSoon: tooSoon,
		listeners: map[*listener]struct{}{}, subs: map[string]*subscription{}, sessions: map[string]*session{}, roundsCalls: map[string]*roundsCall{},
	}
	var info object
	if cfg.Name != "" {
		info.text("name", cfg.Name)
	} else {
		info.text("name", "toolcrib")
		info.text("title", "Toolcrib")
	}
	info.text("version", cfg.Version)
	s.info = info.end()
	if cfg.Desk != nil {
		s.screen = newClientScreen(cfg.Desk, cfg.Log)
	}
	s.stops = append(s.stops, cfg.Crib.Catalog.Watch(func(toolcrib.Diff) { s.refresh() }))
	if cfg.Shelf != nil {
		s.stops = append(s.stops, cfg.Shelf.Watch(s.announce))
	}
	s.refresh()
	return s
}

// Close stops following the catalog, and ends what waits for a client.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.done)
	sessions := s.sessions
	var parked []*roundsCall
	for _, f := range s.roundsCalls {
		if f.parked {
			parked = append(parked, f)
		}
	}
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	for _, stop := range s.stops {
		stop()
	}
	for _, sess := range sessions {
		sess.end()
	}
	for _, f := range parked {
		f.timer.Stop()
		s.forget(f)
		f.cancel()
	}
	if s.screen != nil {
		s.screen.close()
	}
}

// refresh brings the list in line with the catalog, and tells clients if it is
// another one now.
func (s *Server) refresh() {
	next := s.toolList()
	s.mu.Lock()
	was := s.shown
	s.shown = next
	s.mu.Unlock()
	if was != nil && !was.same(next) {
		s.announce(mcp.NotifyTools, nil, nil)
	}
}

func (s *Server) list() *toolList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

func (s *Server) now() time.Time {
	if s.cfg.Crib.Now != nil {
		return s.cfg.Crib.Now()
	}
	return time.Now()
}

// maxMessage leaves room above the largest input, so that the crib itself says
// what is too long wherever it can.
func (s *Server) maxMessage() int {
	return 2*max(s.cfg.Crib.Limits.Input, 4<<20) + 1<<20
}
