package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/oauth"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Box is one server as a toolbox. It tells of changes by Notify.
type Box struct {
	hub    *Hub
	name   string
	server Server

	ctx    context.Context // ends with the hub
	cancel context.CancelFunc
	again  chan struct{} // the lists have changed
	done   chan struct{} // the goroutine that lists again has ended

	starts, failures atomic.Int64 // of its instances, since it was set up

	learning sync.Mutex     // one at a time
	pinned   bool           // pins were there once; under learning
	doubted  bool           // they could not be believed, and that was told; under learning
	asking   sync.WaitGroup // who lists a server that nobody waits for

	mu       sync.Mutex
	manifest *manifest
	approved map[string]string     // tool → hash of the definition that may be called
	names    map[string]definition // by the names that approved tools have here
	tools    []toolcrib.Tool
	held     []Held
	unwanted []string // tools that settings switch off
	faults   []toolcrib.LoadError
	listing  Listing   // what it offers besides tools, fit to be read
	leftOut  []Warning // what is not in it

	instructions json.RawMessage // as approved; nil: none
	instances    map[string]*instance
	watchers     watch.List[func()]
	login        *oauth.Handler // nil: not needed so far
	wanted       map[conversation]*followedResources
	next         int
	offers       map[string]*offer // by the key of the instance; what is for everybody is listing
	stale        map[string]bool   // keys of instances whose lists have changed
}

func newBox(h *Hub, name string, s Server) *Box {
	b := &Box{hub: h, name: name, server: s, instances: map[string]*instance{}, wanted: map[conversation]*followedResources{}, offers: map[string]*offer{}, stale: map[string]bool{}, again: make(chan struct{}, 1), done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.learning.Lock()
	b.loadManifest()
	b.learning.Unlock()
	go b.relistOnChange()
	return b
}

// Name is the server's name.
func (b *Box) Name() string { return b.name }

// Server is how it was set up.
func (b *Box) Server() Server { return b.server }

func (b *Box) now() time.Time { return b.hub.needs.Now() }

// listed reports whether it is known what the server offers.
func (b *Box) listed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.manifest != nil
}

// Known lists the tools that the server offers, by its own names for them, used
// or not. False: it was never listed.
func (b *Box) Known() (names []string, listed bool) {
	for _, d := range b.definitions() {
		names = append(names, d.Name)
	}
	return names, b.listed()
}

func (b *Box) knownVersion() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return ""
	}
	return b.manifest.Version
}

// ErrUnlisted says that it is not known yet what a server offers.
var ErrUnlisted = errors.New("this MCP server was not listed yet")

// unusable says what is wrong with a person's own file.
type unusable struct{ text string }

func (e *unusable) Error() string { return e.text }

// Is makes it the same as a server that was not listed.
func (e *unusable) Is(other error) bool { return other == ErrUnlisted }

// Tools lists what is known, and starts nothing.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.mu.Lock()
	tools, listed := slices.Clone(b.tools), b.manifest != nil
	b.mu.Unlock()
	if listed {
		return tools, nil
	}
	if was, failed := b.failed(); failed && b.server.Own {
		return nil, &unusable{was.Err}
	} else if failed {
		return nil, fmt.Errorf("%w: it failed: %s; toolcrib hub test %s tries again", ErrUnlisted, was.Err, b.name)
	}
	if b.server.Shown != "" { // no MCP server to whoever wrote it
		return nil, &unusable{"it has not run yet, so nobody knows its tools: 'toolcrib hub test " + b.name + "' starts it, and so does the next call or client"}
	}
	return nil, fmt.Errorf("%w: toolcrib hub test %s does it", ErrUnlisted, b.name)
}

// Faults tells what the server offers and is not listed.
func (b *Box) Faults() []toolcrib.LoadError {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.faults)
	for _, h := range b.held {
		out = append(out, toolcrib.LoadError{Box: b.name, Tool: h.Tool, Err: fmt.Errorf("it is kept back: %s; see toolcrib hub show %s, and toolcrib hub approve %s", h.Why, b.name, b.name)})
	}
	return out
}

// LeftOut is a tool that cannot be used, and why.
type LeftOut struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// LeftOut tells which tools of the server cannot be used.
func (b *Box) LeftOut() []LeftOut {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []LeftOut
	for _, f := range b.faults {
		out = append(out, LeftOut{f.Tool, f.Err.Error()})
	}
	return out
}

// Held are the definitions of these tools that wait for a person; of all of them,
// if none is named.
func (b *Box) Held(tools ...string) []Held {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.held), func(h Held) bool { return len(tools) > 0 && !slices.Contains(tools, h.Tool) })
}

// Added reports whether a tool is not the server's own, but one that reads what it
// offers besides tools.
func (b *Box) Added(tool string) bool { return ownName(tool) }

// Notify calls changed after what the server offers has changed.
func (b *Box) Notify(changed func()) (stop func()) { return b.watchers.Add(changed) }

// relist has the server of key asked again soon.
func (b *Box) relist(key string) {
	b.mu.Lock()
	b.stale[key] = true
	b.mu.Unlock()
	select {
	case b.again <- struct{}{}:
	default: // it will be
	}
}

// relistWait gathers changes that come one after another. It doubles as long as
// they go on: a server that always has one more keeps nobody busy.
const (
	relistWait = 50 * time.Millisecond
	relistMost = 5 * time.Second
)

// relistOnChange asks a running server again when it says that its lists have changed.
func (b *Box) relistOnChange() {
	defer close(b.done)
	wait := relistWait
	var last time.Time
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.again:
		}
		if wait = min(2*wait, relistMost); last.IsZero() || time.Since(last) > wait+time.Second {
			wait = relistWait
		}
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(wait):
		}
		select {
		case <-b.again: // what came meanwhile is asked for now
		default:
		}
		ctx, cancel := context.WithTimeout(b.ctx, b.server.Starting)
		if err := b.askStale(ctx); err != nil && b.ctx.Err() == nil {
			b.hub.needs.Log.Warn("an MCP server says that its lists have changed, and does not tell how", "server", b.name, "err", err)
		}
		cancel()
		last = time.Now()
	}
}

// askStale asks the instances that said that their lists have changed, as far as
// they run.
func (b *Box) askStale(ctx context.Context) error {
	b.mu.Lock()
	var list []*instance
	for _, key := range slices.Sorted(maps.Keys(b.stale)) {
		if i := b.instances[key]; i != nil {
			list = append(list, i)
		}
	}
	clear(b.stale)
	b.mu.Unlock()
	var errs []error
	for _, i := range list {
		i.mu.Lock()
		s := i.session
		i.mu.Unlock()
		if s == nil {
			continue
		}
		_, err := b.learn(ctx, i, s)
		errs = append(errs, err)
		// Told also if it is all as before by now: the server said that it
		// changed, and how often it says so is bounded here.
		b.tell(i.key, mcp.NotifyTools, nil)
	}
	return errors.Join(errs...)
}

func (b *Box) running() []*instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.instances))
}

// Refresh starts the server if need be and asks it what it offers. That it fails is
// kept, so that lists can say why it is not there.
func (b *Box) Refresh(ctx context.Context) error {
	err := b.refresh(ctx)
	if err != nil && ctx.Err() == nil && b.ctx.Err() == nil {
		was, _ := b.failed()
		b.remember(was, err, false)
	}
	return err
}

func (b *Box) refresh(ctx context.Context) error {
	if b.hub.needs.ReadOnly {
		return errors.New("servers are only looked at here")
	}
	i, err := b.instance("")
	if err != nil {
		return err
	}
	i.mu.Lock()
	before := i.session
	i.mu.Unlock()
	s, err := i.acquire(ctx)
	if err != nil {
		return err
	}
	defer i.release()
	if s != before {
		return nil // it was asked when it started
	}
	_, err = b.learn(ctx, i, s)
	return err
}

// Recheck takes what another process has approved, or kept.
func (b *Box) Recheck() error {
	defer b.hub.notify()
	b.learning.Lock() // before the manifest is read: a newer one must not be replaced by it
	defer b.learning.Unlock()
	b.mu.Lock()
	m := b.manifest
	b.mu.Unlock()
	if m == nil {
		b.loadManifest()
		return nil
	}
	_, err := b.useManifest(m, false)
	return err
}

// Restart ends the server; the next call starts it anew.
func (b *Box) Restart() {
	for _, i := range b.running() {
		i.restart()
	}
}

// end ends everything of the server and waits for it.
func (b *Box) end() {
	b.cancel()
	<-b.done
	left := b.running() // after its lock, nobody begins to ask any more
	b.asking.Wait()
	var all sync.WaitGroup
	for _, i := range left {
		all.Go(i.end)
	}
	all.Wait()
}
