// Package market finds skills, bundles and MCP servers in registries of others: it asks all
// of them that the settings name, puts what they say into one form, and fetches what a
// person chose. It installs nothing. The command line imports it.
//
// A registry is a stranger. Its names, texts and addresses are checked and bounded here,
// once, before anybody sees them, and it is reached by a client that knows no other host.
//
// The invariant: content that is handed on has the checksum that the registry gave for it,
// and what a signed index says was signed by the key that is pinned for it.
package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/wording"
)

// The kinds of results.
const (
	Skill  = "skill"
	Server = "server"
	Bundle = "bundle"
)

// Result is something that a registry has.
type Result struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Kind        string `json:"kind"`
	Author      string `json:"author,omitempty"`
	Registry    string `json:"registry"`
	// Also names the other registries that have the same.
	Also []string `json:"also,omitempty"`
	// Source is what 'toolcrib bundle install' takes. Empty: it is fetched from the registry,
	// or it is a server.
	Source string `json:"source,omitempty"`
	// Digest is that of what is fetched, as sha256:HEX. Empty: the registry says none here.
	Digest string `json:"digest,omitempty"`
	// Server is how a server is started or reached, and Asks what a person has to give for
	// that. Nil: it is none, or none that can be used here.
	Server *bundle.Server `json:"server,omitempty"`
	Asks   []Ask          `json:"asks,omitempty"`
	// Notes is what a person should know before taking it.
	Notes []string `json:"notes,omitempty"`

	from string // what its registry fetches it by
}

// Ask is something that a person has to give for a server.
type Ask = bundle.Ask

// Status is what became of one registry in a search.
type Status struct {
	Registry string   `json:"registry"`
	Results  int      `json:"results"`
	Error    string   `json:"error,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what of its answer was left out
}

// Found is the outcome of a search.
type Found struct {
	Results    []Result `json:"results"`
	Registries []Status `json:"registries"`
	More       int      `json:"more,omitempty"` // results beyond those that were asked for
}

// ErrNotFound: a registry has nothing of that name.
var ErrNotFound = errors.New("not found")

// Needs is what a market needs besides its settings.
type Needs struct {
	State  string             // the directory of state, where pins are kept. Empty: in memory
	Config string             // the directory of the settings, which relative directories begin in
	Home   string             // what ~ stands for
	HTTP   httpclient.Options // how hosts are reached
	Now    func() time.Time   // nil: time.Now
	// Wait waits, and gives an error if the context ends first. Nil: with a timer.
	Wait func(context.Context, time.Duration) error
	// Time is how long one registry may take in a search. 0: 20 seconds.
	Time time.Duration
}

// registry is one of the places, whatever it speaks. What it gives goes through keep.
type registry interface {
	// search gives what fits a text, best first, most at most; an empty text: anything.
	search(ctx context.Context, query string, most int) (listing, error)
	// show gives everything about one; an empty version: the newest.
	show(ctx context.Context, name, version string) (*Result, error)
	// fetch gets the content of a result that has no source of its own.
	fetch(ctx context.Context, r Result) (*Content, error)
}

// listing is what a registry answered.
type listing struct {
	results []Result
	notes   []string
}

// place is a registry of the settings.
type place struct {
	name string
	registry
	err error // why it cannot be used
}

// Market is the registries of the settings.
type Market struct {
	needs  Needs
	pins   *pins
	places []place
	words  func() wording.Reader
}

const (
	searchTime = 20 * time.Second
	mostEach   = 200 // results of one registry that are looked at
)

// Open makes a market of the registries that are switched on. One that makes no sense is
// told when it is searched. Nothing is asked yet.
func Open(cfg settings.Market, needs Needs) (*Market, error) {
	if needs.Now == nil {
		needs.Now = time.Now
	}
	if needs.Wait == nil {
		needs.Wait = wait
	}
	if needs.Time == 0 {
		needs.Time = searchTime
	}
	pins, err := openPins(needs.State)
	if err != nil {
		return nil, err
	}
	m := &Market{needs: needs, pins: pins, words: sync.OnceValue(wording.New)}
	for _, name := range slices.Sorted(maps.Keys(cfg.Registries)) {
		if s := cfg.Registries[name]; !s.Disabled {
			r, err := m.open(name, s)
			m.places = append(m.places, place{name, r, err})
		}
	}
	return m, nil
}

// Close gives back what is open.
func (m *Market) Close() error { return m.pins.close() }

// Query is what is searched for.
type Query struct {
	Text     string
	Kind     string // empty: any
	Registry string // empty: all
	Most     int    // 0: 20
}

// Search asks all registries at once. One that fails is named, and the others count. The
// error is that there is nobody to ask.
func (m *Market) Search(ctx context.Context, q Query) (*Found, error) {
	places, err := m.chosen(q.Registry)
	if err != nil {
		return nil, err
	}
	lists, status := make([]listing, len(places)), make([]Status, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			status[i].Registry = p.name
			if p.err != nil {
				status[i].Error = p.err.Error()
				return
			}
			ctx, cancel := context.WithTimeout(ctx, m.needs.Time)
			defer cancel()
			list, err := p.search(ctx, text.Head(strings.TrimSpace(q.Text), 200), mostEach)
			lists[i] = m.kept(p.name, list)
			status[i].Results, status[i].Notes = len(lists[i].results), lists[i].notes
			if err != nil {
				status[i].Error = shown(err.Error(), 500)
			}
		})
	}
	all.Wait()
	var results []Result
	for _, l := range lists {
		results = append(results, l.results...)
	}
	if q.Kind != "" {
		results = slices.DeleteFunc(results, func(r Result) bool { return r.Kind != q.Kind })
	}
	results = rank(merged(results), q.Text)
	found := &Found{Results: results, Registries: status}
	if most := cmp.Or(q.Most, 20); len(results) > most {
		found.Results, found.More = results[:most], len(results)-most
	}
	return found, ctx.Err()
}

// chosen are the registries that a search is about.
func (m *Market) chosen(name string) ([]place, error) {
	if len(m.places) == 0 {
		return nil, errors.New("no registry is switched on: 'toolcrib market registry add NAME ADDRESS' adds one")
	}
	if name == "" {
		return m.places, nil
	}
	for _, p := range m.places {
		if p.name == name {
			return []place{p}, nil
		}
	}
	return nil, fmt.Errorf("no registry is called %q, or it is switched off; 'toolcrib market registry list' shows all", shown(name, 80))
}

// Show gives everything about one result. A name that several registries have is refused
// unless they mean the same: the person says which.
func (m *Market) Show(ctx context.Context, name, version, registry string) (*Result, error) {
	places, err := m.chosen(registry)
	if err != nil {
		return nil, err
	}
	if name == "" || len(name) > mostName {
		return nil, errors.New("this cannot be the name of something in a registry")
	}
	got, errs := make([]*Result, len(places)), make([]error, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			if errs[i] = p.err; p.err != nil {
				return
			}
			ctx, cancel := context.WithTimeout(ctx, m.needs.Time)
			defer cancel()
			if got[i], errs[i] = p.show(ctx, name, version); errs[i] == nil {
				errs[i] = m.keep(p.name, got[i])
			}
		})
	}
	all.Wait()
	var results []Result
	var failed []error
	for i, err := range errs {
		switch {
		case err == nil:
			results = append(results, *got[i])
		case !errors.Is(err, ErrNotFound):
			failed = append(failed, fmt.Errorf("%s: %s", places[i].name, shown(err.Error(), 500)))
		}
	}
	results = merged(results)
	switch {
	case len(results) == 1:
		for _, err := range failed {
			results[0].Notes = append(results[0].Notes, "a registry could not be asked: "+err.Error())
		}
		return &results[0], nil
	case len(results) == 0 && len(failed) > 0:
		return nil, fmt.Errorf("%q was not found, and not every registry could be asked: %w", shown(name, 80), errors.Join(failed...))
	case len(results) == 0:
		return nil, notThere(name, version)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Registry)
	}
	return nil, fmt.Errorf("%q is different things in different registries: say which with --registry (%s)", shown(name, 80), strings.Join(names, ", "))
}

// notThere says that no registry has something, or not in this version.
func notThere(name, version string) error {
	name = shown(name, 80)
	if version != "" {
		return fmt.Errorf("%w: no registry has %q in version %s; 'toolcrib market show %s' shows the newest one", ErrNotFound, name, shown(version, 40), name)
	}
	return fmt.Errorf("%w: no registry has %q; search with 'toolcrib market search %s' and write the whole NAME that it shows", ErrNotFound, name, name)
}

// Fetch gets the content of a result that Show gave and that has no source, checked by its
// checksum.
func (m *Market) Fetch(ctx context.Context, r Result) (*Content, error) {
	places, err := m.chosen(r.Registry)
	if err != nil {
		return nil, err
	}
	p := places[0]
	switch {
	case p.err != nil:
		return nil, p.err
	case r.Source != "" || r.Kind == Server:
		return nil, fmt.Errorf("%s is not fetched from its registry", r.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, contentTime)
	defer cancel()
	return p.fetch(ctx, r)
}
