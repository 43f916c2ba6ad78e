package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Trial starts servers through Toolcrib, to see whether they answer.
type Trial struct {
	// Start starts a server, asks it what it offers, and writes down what its tools may do
	// where there is no doubt. Several are started at once. Why one does not start is a
	// *Failure, if it is known.
	Start func(ctx context.Context, server string) (Tools, error)
	// Fetches is what a server may have to fetch before it runs, such as a package. Empty:
	// nothing is known.
	Fetches func(server string) string
	Close   func(context.Context)
}

// Tools is what a server offers.
type Tools struct {
	Count     int // how many there are
	Confirmed int // what they may do was written down
	Doubted   int // that a person has to look at
	Held      int // kept back until a person approves them
}

// Failure is a server that did not start through Toolcrib.
type Failure struct {
	Server string   `json:"server"`
	Why    string   `json:"why"`
	Wrote  []string `json:"wrote,omitempty"` // the last lines of its program's standard error
	Help   string   `json:"help,omitempty"`  // what may have kept it from starting
	Files  []string `json:"files,omitempty"` // of clients that still have it; none: it was taken out
}

func (f *Failure) Error() string { return f.Why }

// atOnce is how many servers are started side by side: each may be a package manager that
// installs, and a machine has other work to do.
const atOnce = 6

// tried is what became of one server.
type tried struct {
	server  string
	started bool // else it is over
	tools   Tools
	err     error
}

// startAll starts servers side by side and gives what became of them in the order of the
// list. Meanwhile it tells which ones are waited for.
func (s *Setup) startAll(ctx context.Context, t *Trial, list []string) []tried {
	news, places := make(chan tried), make(chan struct{}, atOnce)
	// Two package managers that fetch the same package at once write to the same directory.
	same := map[string]*sync.Mutex{}
	for _, name := range list {
		if what := t.Fetches(name); what != "" && same[what] == nil {
			same[what] = &sync.Mutex{}
		}
	}
	for _, name := range list {
		go func() {
			if mu := same[t.Fetches(name)]; mu != nil {
				mu.Lock()
				defer mu.Unlock()
			}
			places <- struct{}{}
			defer func() { <-places }()
			news <- tried{server: name, started: true}
			tools, err := t.Start(ctx, name)
			news <- tried{server: name, tools: tools, err: err}
		}()
	}
	out := map[string]tried{}
	var waiting []string
	began := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for len(out) < len(list) {
		select {
		case n := <-news:
			if n.started {
				waiting = append(waiting, n.server)
				break
			}
			out[n.server] = n
			waiting = slices.DeleteFunc(waiting, func(name string) bool { return name == n.server })
		case <-tick.C:
		}
		if len(waiting) > 0 {
			s.Tell(Event{Working, fmt.Sprintf("%d of %d are done after %d s, waiting for %s", len(out), len(list), int(time.Since(began).Seconds()), strings.Join(waiting, ", "))})
		}
	}
	var results []tried
	for _, name := range list {
		results = append(results, out[name])
	}
	return results
}

// tryAll starts servers through Toolcrib and notes which ones answered.
func (s *Setup) tryAll(ctx context.Context, list []string) (done, warn []string, err error) {
	t, err := s.Trial(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	results := s.startAll(ctx, t, list)
	t.Close(ctx)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	tools, confirmed, works := 0, 0, 0
	for _, r := range results {
		if r.err != nil {
			f, ok := errors.AsType[*Failure](r.err)
			if !ok {
				f = &Failure{Why: r.err.Error()}
			}
			f.Server = r.server
			s.failed[r.server] = f
			warn = append(warn, fmt.Sprintf("%s did not start: %s", r.server, f.Why))
			continue
		}
		works++
		s.answered[r.server] = true
		tools, confirmed = tools+r.tools.Count, confirmed+r.tools.Confirmed
		if n := r.tools.Doubted; n > 0 {
			warn = append(warn, fmt.Sprintf("%s has %s to look at: toolcrib hub classify %s", r.server, counted(n, "tool"), r.server))
		}
		if n := r.tools.Held; n > 0 {
			warn = append(warn, fmt.Sprintf("%s has %s kept back until you approve them: toolcrib hub approve %s", r.server, counted(n, "definition"), r.server))
		}
	}
	if works > 0 {
		done = append(done, fmt.Sprintf("Servers that work: %d of %d, with %s; the effects of %d are recorded.", works, len(list), counted(tools, "tool"), confirmed))
	}
	return done, warn, nil
}

// failures are the servers that did not start, with the files that still have them.
func (s *Setup) failures() (list []*Failure) {
	for _, f := range s.failed {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *Failure) int { return cmp.Compare(a.Server, b.Server) })
	return list
}
