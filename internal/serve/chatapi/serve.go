package chatapi

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// The paths.
const (
	ChatPath   = "/v1/chat/completions"
	ModelsPath = "/v1/models"
)

// Named is something that a request may name as its model.
type Named struct {
	Name string // as it is named
	Made time.Time
}

// Config is what the frontend needs. The zero value of each bound is its default.
type Config struct {
	// Models lists what a caller may name.
	Models func(httpapi.Holder) []Named
	// Agent opens what a caller named, for one run, after which it is given back. Its
	// refusal is a [toolcrib.Error]: not_found where there is no such model for this caller.
	Agent func(ctx context.Context, who httpapi.Holder, name string) (_ *agent.Agent, giveBack func(), _ error)
	// Outside hears of tools of the client whose answers stand in a conversation: what they
	// brought came past everything here that looks at results. Nil: nobody wants to know.
	Outside func(caller toolcrib.Caller, tool string)
	// Frontend is how callers come in, as rules and the journal see it.
	Frontend string

	Most      int           // bytes of a request; default 20 MiB
	Runs      int           // how many requests are worked on at once; default 64
	RunsEach  int           // how many of one token; default 16
	KeepAlive time.Duration // how often a stream that has nothing to say says so; default 10 s
}

// server is the frontend while it serves.
type server struct {
	Config
	mu   sync.Mutex
	runs map[string]int // by the caller's subject and token
	all  int
}

// Mount adds the routes.
func (c Config) Mount(api *httpapi.API) {
	c.Most, c.Runs, c.RunsEach = cmp.Or(c.Most, 20<<20), cmp.Or(c.Runs, 64), cmp.Or(c.RunsEach, 16)
	c.KeepAlive = cmp.Or(c.KeepAlive, 10*time.Second)
	s := &server{Config: c, runs: map[string]int{}}
	api.Handle("POST "+ChatPath, http.HandlerFunc(s.chat))
	api.Handle("GET "+ModelsPath, http.HandlerFunc(s.models))
	api.Handle("GET "+ModelsPath+"/{name...}", http.HandlerFunc(s.model))
	api.Handle(ChatPath, only(http.MethodPost))
	api.Handle(ModelsPath, only(http.MethodGet))
	api.Handle(ModelsPath+"/{name...}", only(http.MethodGet))
}

// only refuses other methods than the one there is.
func only(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		httpapi.DropBody(w)
		w.Header().Set("Allow", method)
		fail(w, &refusal{Status: http.StatusMethodNotAllowed, Type: badRequest, Message: "this path takes " + method + " and nothing else"})
	}
}

// enter takes a place for a run of a caller; false: there is none.
func (s *server) enter(who toolcrib.Caller) (leave func(), ok bool) {
	key := who.Subject + "\x00" + who.Token
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.Runs || s.runs[key] >= s.RunsEach {
		return nil, false
	}
	s.all++
	s.runs[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.runs[key]--; s.runs[key] == 0 {
			delete(s.runs, key)
		}
	}, true
}

// chat answers a conversation.
func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	holder, _ := httpapi.CallerOf(r.Context()) // the route lets nobody else in
	leave, ok := s.enter(holder.Caller)
	if !ok {
		httpapi.DropBody(w)
		fail(w, &refusal{Status: http.StatusTooManyRequests, Type: rateLimit, Code: "too_many_runs", Message: "too many requests are being worked on; try again when one has finished", Wait: 2 * time.Second})
		return
	}
	defer leave()
	req, no := s.read(w, r)
	if no != nil {
		fail(w, no)
		return
	}
	who := holder
	who.Caller.Frontend, who.Caller.Client, who.Caller.Session = s.Frontend, r.UserAgent(), req.session(holder.Caller, r.Header)
	a, giveBack, err := s.Agent(r.Context(), who, req.Model)
	if err != nil {
		fail(w, refusalOf(err, req.Model))
		return
	}
	defer giveBack()
	run, no := newRun(a, req)
	if no != nil {
		fail(w, no)
		return
	}
	if s.Outside != nil && len(run.theirs) > 0 {
		s.Outside(a.Caller, run.theirs[0])
	}
	if req.Stream {
		s.stream(w, r, run)
		return
	}
	s.whole(w, r, run)
}

// models lists what the caller may name.
func (s *server) models(w http.ResponseWriter, r *http.Request) {
	holder, _ := httpapi.CallerOf(r.Context())
	list := modelList{Object: "list", Data: []modelEntry{}}
	for _, m := range s.Models(holder) {
		list.Data = append(list.Data, entryOf(m))
	}
	send(w, http.StatusOK, list)
}

// model tells of one of them.
func (s *server) model(w http.ResponseWriter, r *http.Request) {
	holder, _ := httpapi.CallerOf(r.Context())
	for _, m := range s.Models(holder) {
		if m.Name == r.PathValue("name") {
			send(w, http.StatusOK, entryOf(m))
			return
		}
	}
	fail(w, noModel(r.PathValue("name"), ""))
}

type modelList struct {
	Object string       `json:"object"`
	Data   []modelEntry `json:"data"`
}

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func entryOf(m Named) modelEntry {
	e := modelEntry{ID: m.Name, Object: "model", OwnedBy: "toolcrib"}
	if !m.Made.IsZero() {
		e.Created = m.Made.Unix()
	}
	return e
}
