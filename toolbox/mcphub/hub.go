// Package mcphub gathers MCP servers: each configured server is a toolbox of
// its own. A server is started when it is first called and ended when it is
// idle; what it offers is listed from a cached manifest meanwhile. Every
// definition is pinned: one that has changed since it was approved is kept back
// until a person has seen the difference.
//
// It is for whoever wires up a crib. Its one invariant: what a server says
// about itself is a claim; it can be shown, and it can tighten, and it widens
// nothing.
package mcphub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/watch"
	"github.com/toolcrib/toolcrib/model"
)

// Server is one configured server: a program with Command, or an address with URL.
type Server struct {
	Command string
	Args    []string
	Env     map[string]string
	Dir     string

	URL       string
	Transport string // http or sse; empty: http, and sse if the server has nothing else
	Headers   map[string]string
	OAuth     OAuth

	Timeout  time.Duration // of one call, without the time that people take; default 1 min
	Starting time.Duration // of starting it; default 30 s
	Idle     time.Duration // without a call it is ended; default 10 min, negative: never
	Eager    bool          // it is started at once and not at its first call
	Instance Instance

	Enabled  []string // tools, or patterns; empty: all
	Disabled []string
	Effects  map[string]toolcrib.Effects // by tool or pattern: what the owner of this machine knows about them

	// Bare: its tools are called by their own names, without the server's.
	Bare bool

	Sandbox string // where its program runs; what the names mean is the business of Needs.Start
	Image   string // what a container is made of, for a program that runs in one
	Network string // what it reaches from a sandbox: as granted, off, or all; empty: as granted
	// Grant is what its program may touch, and nothing else: no directory and no host
	// that calls are granted comes besides. Nil: what they are granted.
	Grant *toolcrib.Grant
	// Tools are directories that its program sees besides its Grant, read-only: those
	// of the interpreter that runs it, and its own code.
	Tools []string
	// Own: a person of this machine wrote it or put it here, and says what it does.
	// What Effects say of its tools counts for what they answer, too.
	Own bool
	// Shown is what people are told that it is; empty: its command or its address.
	Shown string
	// Group is what profiles and rules know its tools by; empty: mcp.
	Group    string
	Sampling Consent // it wants an answer of the caller's model
	// SamplingModel is the model of ours that answers it where the caller's client has none.
	// Empty: nobody does.
	SamplingModel string
	Elicitation   Consent // it wants to ask the caller's person something
	// Mark tells one content of its program's file from another, where the file is a
	// person's own: with another mark it is a new server, which is asked anew.
	Mark string
	// Unpinned lets definitions change without a person's word.
	Unpinned bool
	// Approve has a person approve the first definitions too.
	Approve bool
}

// Where says what the server is. What is written as a reference stays one.
func (s Server) Where() string {
	if s.Shown != "" {
		return s.Shown
	}
	// What looks like a password was written where everybody sees it; here it is not
	// said again.
	shown, found := clientfiles.Secrets(clientfiles.Server{Command: s.Command, Args: s.Args, URL: s.URL}, nil)
	where := shown.URL
	if where == "" {
		where = strings.Join(append([]string{shown.Command}, shown.Args...), " ")
	}
	for _, f := range found {
		where = strings.ReplaceAll(where, "${secret:"+f.Name+"}", "[redacted]")
	}
	if s.Image != "" {
		where += " (in a container of " + s.Image + ")"
	}
	return where
}

// OAuth says how to get a token from a server's authorization server. The zero
// value finds out when the server asks for one.
type OAuth struct {
	ClientID, ClientSecret string
	Issuer                 string // whom they are for; empty: the first one that takes them
	Scopes                 []string
	Redirect               string // the loopback address that the login page answers to; empty: a free port
	ClientCredentials      bool   // a token for the program itself, no person asked
	Off                    bool
}

// Instance says who shares a running server.
type Instance string

// The instances. With PerSession each conversation has its own; clients without
// sessions, those of the modern era, have one for each person, as all have with
// PerPerson.
const (
	Shared     Instance = "shared"
	PerSession Instance = "session"
	PerPerson  Instance = "person"
	PerProject Instance = "project"
)

// Consent says what becomes of something that a server wants from a client.
type Consent string

// The consents. The zero value is what the field's server setting defaults to.
const (
	ConsentDeny Consent = "deny" // the server is told that it cannot be had
	ConsentAsk  Consent = "ask"  // a person is asked here first
	ConsentPass Consent = "pass" // the client gets it, and asks as it likes
)

// Launch is a program to start.
type Launch struct {
	Server  string
	Command string
	Args    []string
	Env     map[string]string // what is listed; the environment is the starter's business
	Dir     string
	Sandbox string
	Image   string
	Network string
	Grant   *toolcrib.Grant // exactly this, where there is one
	Tools   []string        // directories that it sees besides that, read-only
	Stderr  io.Writer
	Person  string // a word for whom it is; empty: for everybody
}

// Seals makes files that nobody else can write, and knows which there should be.
type Seals = pinned.Seals

// Needs is what the hub is given by whoever opens it.
type Needs struct {
	// Start starts a program. Its context is only for the start.
	Start func(ctx context.Context, l Launch) (client.Process, error)
	// Ready says why a program could not be started now, and starts nothing. Nil: that
	// shows when it starts.
	Ready func(ctx context.Context, l Launch) error
	// Lacks says what a reference in a text lacks that Expand would put in. Nil: that
	// shows when a server starts.
	Lacks func(ctx context.Context, text string) error
	// HTTP is the client for a server's requests.
	HTTP func(server, url string) *http.Client
	// Login is how tokens are got for servers that want one.
	Login Login
	// Expand puts in what ${secret:NAME} and ${VAR} stand for. Nil: as it is.
	Expand func(ctx context.Context, text string) (string, error)
	// State keeps manifests and pins. Nil: nothing is kept, and every server is
	// asked anew.
	State *os.Root
	// Seals keeps pins and manifests from being changed or removed behind our
	// back. Nil: they are as safe as State.
	Seals Seals
	// ReadOnly: State is only looked at and no server is started. It is for
	// listing.
	ReadOnly bool
	// Redact takes secrets out of what is logged and told of servers that fail.
	// Nil: as it is.
	Redact func(text string) string
	// Harmless makes a JSON value of a server safe to read, for models and for
	// people: what cannot be seen is written out, and nothing in it looks like a
	// turn of a conversation. Results of tools do not need it, the crib vets them.
	// Nil: as it is.
	Harmless func(value json.RawMessage) (json.RawMessage, error)
	// Hide takes the values of the vault out of a JSON value of a server, from
	// names of members too. False: they are not known now. Nil: there are none.
	Hide func(value json.RawMessage) (json.RawMessage, bool)
	// Hiding is a word that changes when Hide would hide something else. It is
	// asked at every start, and must not open the vault. Nil: it is not known.
	Hiding func() string
	// Model gives a model of ours, whose requests are made as this caller for the parent call.
	// Nil: there is none.
	Model func(ctx context.Context, name string, caller toolcrib.Caller, parent string) (model.Model, error)
	// Missing says what a server with a command does not get that it may need to start,
	// with the command that changes it. Empty: nothing is known. Nil: nobody knows.
	Missing func(s Server) string
	// TellsFailures: whoever opened the hub tells people which servers are down, so a start
	// that fails is no warning in the log.
	TellsFailures bool
	// Most is how many bytes one message of a server may have. Zero: 16 MiB.
	Most    int
	Version string // of this program, told to servers
	// Observer hears of the requests that calls make. Nil: nobody does.
	Observer mcp.Observer
	Log      *slog.Logger
	Now      func() time.Time
}

// Hub is the configured servers.
type Hub struct {
	needs Needs
	store *pinned.Store

	mu      sync.Mutex
	boxes   map[string]*Box
	closed  bool
	watched watch.List[func(Notice)]
	changed watch.List[func()]
}

// Open makes the hub. No server is started yet.
func Open(_ context.Context, servers map[string]Server, needs Needs) (*Hub, error) {
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	if needs.Redact != nil {
		needs.Log = slog.New(redactingHandler{needs.Log.Handler(), needs.Redact})
	}
	if needs.Now == nil {
		needs.Now = time.Now
	}
	h := &Hub{needs: needs, store: &pinned.Store{Root: needs.State, Seals: needs.Seals, ReadOnly: needs.ReadOnly, Most: pinned.MostKept, What: "an MCP server", Under: "hub/", Sealed: []string{"pins-", "manifest-"}}, boxes: map[string]*Box{}}
	return h, h.Set(servers)
}

// Set makes these the servers: new ones come, those that are set up otherwise
// are ended and begin anew, and those that are not among them go. One that makes
// no sense is left out and told.
func (h *Hub) Set(servers map[string]Server) error {
	var errs []error
	var gone []*Box
	h.mu.Lock()
	next := map[string]*Box{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s, err := servers[name].filled(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if b := h.boxes[name]; b != nil && reflect.DeepEqual(b.server, s) {
			next[name] = b
			continue
		}
		if !h.closed {
			next[name] = newBox(h, name, s)
		}
	}
	for name, b := range h.boxes {
		if next[name] != b {
			gone = append(gone, b)
		}
	}
	h.boxes = next
	h.mu.Unlock()
	for _, b := range gone {
		b.end()
	}
	return errors.Join(errs...)
}

// Notify calls changed after what any server offers has changed, until stop is
// called.
func (h *Hub) Notify(changed func()) (stop func()) { return h.changed.Add(changed) }

func (h *Hub) notify() { h.changed.Each(func(changed func()) { changed() }) }

// filled checks a server and puts the defaults in.
func (s Server) filled(name string) (Server, error) {
	bad := func(format string, args ...any) (Server, error) {
		return s, fmt.Errorf("mcp server %s: %s", name, fmt.Sprintf(format, args...))
	}
	switch {
	case s.Command == "" && s.URL == "":
		return bad("it has neither a command nor a url")
	case s.Command != "" && s.URL != "":
		return bad("it has both a command and a url; one server is one of them")
	case s.Transport != "" && s.Transport != "http" && s.Transport != "sse":
		return bad("the transport %q is not known: want http or sse", s.Transport)
	case s.Instance != "" && s.Instance != Shared && s.Instance != PerSession && s.Instance != PerPerson && s.Instance != PerProject:
		return bad("the instance %q is not known: want shared, session, person or project", s.Instance)
	}
	for _, p := range slices.Concat(s.Enabled, s.Disabled, slices.Collect(maps.Keys(s.Effects))) {
		if err := checkPattern(p); err != nil {
			return bad("the pattern %q: %v", p, err)
		}
	}
	s.Instance = cmp.Or(s.Instance, Shared)
	if s.Instance != PerPerson && s.Instance != PerSession && slices.ContainsFunc(append(slices.Collect(maps.Values(s.Env)), append(s.Args, s.Dir)...), namesPerson) {
		return bad("${person} stands for whom it runs, and it runs for everybody: set instance: person")
	}
	s.Timeout = cmp.Or(s.Timeout, time.Minute)
	s.Starting = cmp.Or(s.Starting, 30*time.Second)
	s.Idle = cmp.Or(s.Idle, 10*time.Minute)
	s.Sampling = cmp.Or(s.Sampling, ConsentAsk)
	s.Elicitation = cmp.Or(s.Elicitation, ConsentPass)
	return s, nil
}

// Boxes are the servers, by name.
func (h *Hub) Boxes() []*Box {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Box, 0, len(h.boxes))
	for _, name := range slices.Sorted(maps.Keys(h.boxes)) {
		out = append(out, h.boxes[name])
	}
	return out
}

// Box is the server of a name.
func (h *Hub) Box(name string) (*Box, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.boxes[name]
	return b, ok
}

// Watch tells what servers notify of, until stop is called.
func (h *Hub) Watch(hear func(Notice)) (stop func()) { return h.watched.Add(hear) }

func (h *Hub) tell(n Notice) { h.watched.Each(func(hear func(Notice)) { hear(n) }) }

// Close ends every server. All are told at once, and then waited for.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	var all sync.WaitGroup
	for _, b := range h.Boxes() {
		all.Go(func() { b.end() })
	}
	all.Wait()
	return nil
}
