// Package ovosbox is the toolbox of what lives on an OpenVoiceOS message bus:
// it finds the toolboxes that hosts there announce and calls their tools.
//
// It is for whoever wires up a crib, who hands it the bus; other toolboxes
// never import it. Its one invariant: what a host says of its tools is a claim.
// It is bounded, cleaned and shown, and it widens nothing: the effects of a
// tool are undeclared unless the owner of this program declares them.
package ovosbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Config sets up the box. The zero value of each field is its default.
type Config struct {
	Name string // of the box; default ovos
	// Only and Skip choose toolboxes by id, or by pattern such as ovos-*. No
	// Only: all. Skip has the last word; it has to name the toolboxes that this
	// program itself serves on the bus.
	Only, Skip []string

	Window  time.Duration // how long hosts have to announce themselves; default 2 s
	Refresh time.Duration // how often they are asked again; default 10 min, as some hosts do much work each time; negative: never
	Watch   time.Duration // how often it is looked whether a service for tools came or went; default 5 s; negative: never
	Fresh   time.Duration // how long what they said counts as new; default 5 s

	Timeout    time.Duration // how long a tool has; default 60 s
	MaxTimeout time.Duration // how long one has that is told its own timeout; default 10 min
	// Timeouts and Effects are what the owner of this program knows about
	// single toolboxes ("id") and tools ("id/name").
	Timeouts map[string]time.Duration
	Effects  map[string]toolcrib.Effects

	MaxBoxes  int // toolboxes listed; default 64
	MaxTools  int // tools listed, of all of them; default 512
	MaxSchema int // bytes of a schema; default 128 KiB
	MaxResult int // bytes of an answer; default 4 MiB

	Now func() time.Time // nil: the system's
	Log *slog.Logger     // nil: nowhere
}

func (c Config) filled() Config {
	c.Name = cmp.Or(c.Name, "ovos")
	c.Window = cmp.Or(c.Window, 2*time.Second)
	c.Refresh = cmp.Or(c.Refresh, 10*time.Minute)
	c.Watch = cmp.Or(c.Watch, 5*time.Second)
	c.Fresh = cmp.Or(c.Fresh, 5*time.Second)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.MaxTimeout = cmp.Or(c.MaxTimeout, 10*time.Minute)
	c.MaxBoxes = cmp.Or(c.MaxBoxes, 64)
	c.MaxTools = cmp.Or(c.MaxTools, 512)
	c.MaxSchema = cmp.Or(c.MaxSchema, 128<<10)
	c.MaxResult = cmp.Or(c.MaxResult, 4<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) check() error {
	if c.Window < 0 || c.Fresh < 0 || c.Timeout < 0 || c.MaxTimeout < 0 || c.MaxBoxes < 0 || c.MaxTools < 0 || c.MaxSchema < 0 || c.MaxResult < 0 {
		return errors.New("a bound is negative")
	}
	for _, p := range slices.Concat(c.Only, c.Skip) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("the pattern %q: %w", p, err)
		}
	}
	return nil
}

// wants reports whether a toolbox is to be listed. One with the name of this
// box is another program's list of what is on the bus: two that took over each
// other's would never end.
func (c Config) wants(id string) bool {
	if id == c.Name {
		return false
	}
	match := func(p string) bool { ok, err := path.Match(p, id); return ok && err == nil }
	return (len(c.Only) == 0 || slices.ContainsFunc(c.Only, match)) && !slices.ContainsFunc(c.Skip, match)
}

// Box is the toolbox. It tells of changes by Notify, and is an io.Closer.
type Box struct {
	cfg Config
	bus Bus

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	done    chan struct{} // the background work has ended
	watched chan struct{} // and the watch for services
	later   chan struct{} // full while somebody who joined has time to begin
	deaf    func()        // stops listening
	turn    chan struct{} // held by who asks the hosts
	look    chan struct{} // somebody wants them to be asked

	mu       sync.Mutex
	remotes  map[string]*remote // by id
	faults   []toolcrib.LoadError
	asked    time.Time       // when they last were; zero: never
	tried    map[string]bool // ids that were heard of and asked for
	watchers watch.List[func()]
}

// Open makes the box. Hosts are asked when the tools are first listed.
func Open(_ context.Context, cfg Config, bus Bus) (*Box, error) {
	if bus == nil {
		return nil, errors.New("opening toolbox ovos: there is no bus")
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("opening toolbox ovos: %w", err)
	}
	b := &Box{
		cfg: cfg.filled(), bus: bus, done: make(chan struct{}), watched: make(chan struct{}), later: make(chan struct{}, 1), turn: make(chan struct{}, 1), look: make(chan struct{}, 1),
		remotes: map[string]*remote{}, tried: map[string]bool{},
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.deaf = bus.Listen([]string{topicDiscover + answerSuffix, topicReload + answerSuffix, topicJoined}, b.onMessage)
	go b.askRegularly()
	go b.watchServices()
	return b, nil
}

// Name is the box's name.
func (b *Box) Name() string { return b.cfg.Name }

// Tools lists the tools of all toolboxes on the bus. It asks for them unless
// that was done just now. It fails if there is no bus.
func (b *Box) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	if b.ctx.Err() != nil {
		return nil, errors.New("the toolbox is closed")
	}
	if !b.fresh() {
		if _, err := b.discover(ctx); err != nil {
			b.Look()
			return nil, fmt.Errorf("asking for the toolboxes on the bus: %w", err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list(), nil
}

// Faults tells what hosts announced last and is not listed, and why. Schemas
// that do not compile are listed, and reported by the catalog.
func (b *Box) Faults() []toolcrib.LoadError {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// Look has the hosts asked again soon, in the background. It is for when the
// bus has come back.
func (b *Box) Look() {
	select {
	case b.look <- struct{}{}:
	default: // it will be done anyway
	}
}

// Notify calls changed after hosts came, went or changed, until stop is called.
func (b *Box) Notify(changed func()) (stop func()) { return b.watchers.Add(changed) }

// Close ends the background work. The bus stays open: it is not ours.
func (b *Box) Close() error {
	b.cancel()
	b.deaf()
	<-b.done
	<-b.watched
	return nil
}

func (b *Box) fresh() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.asked.IsZero() && b.cfg.Now().Sub(b.asked) < b.cfg.Fresh
}

// retryAfter is when a bus that was not there is tried again, besides when it
// is told to be back.
const retryAfter = 15 * time.Second

// askRegularly asks the hosts again from time to time and when there is a reason, and
// never more often than they can be expected to have something new to say.
func (b *Box) askRegularly() {
	defer close(b.done)
	var next <-chan time.Time
	wait := b.cfg.Refresh
	for {
		if next = nil; wait > 0 {
			next = time.After(wait)
		}
		select {
		case <-b.ctx.Done():
			return
		case <-b.look:
		case <-next:
			b.mu.Lock()
			clear(b.tried)
			b.mu.Unlock()
		}
		wait = b.cfg.Refresh
		changed, err := b.discover(b.ctx)
		if err != nil && b.ctx.Err() == nil {
			b.cfg.Log.Warn("the toolboxes on the bus cannot be asked for", "box", b.cfg.Name, "err", err)
			if wait <= 0 || wait > retryAfter {
				wait = retryAfter
			}
		}
		if changed {
			b.notifyWatchers()
		}
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(b.cfg.Fresh):
		}
	}
}

func (b *Box) notifyWatchers() { b.watchers.Each(func(changed func()) { changed() }) }

// maxTried bounds what is remembered of ids that were heard of.
const maxTried = 1024

// onMessage notices toolboxes that announce themselves to somebody else, hosts that
// load theirs anew, and whoever joins. It asks for itself: what was said to others is not
// ours to believe. Each id is a reason once, so that two programs which listen
// to each other come to rest.
func (b *Box) onMessage(m Message) {
	switch m.Type {
	case topicDiscover + answerSuffix:
	case topicJoined:
		b.lookLater()
		return
	default:
		b.Look()
		return
	}
	id, err := announcedBy(m.Data)
	if err != nil || !b.cfg.wants(id) {
		return
	}
	b.mu.Lock()
	_, known := b.remotes[id]
	reason := !known && !b.tried[id] && len(b.tried) < maxTried && !b.asked.IsZero()
	if reason {
		b.tried[id] = true
	}
	b.mu.Unlock()
	if reason {
		b.Look()
	}
}
