package mcphub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/mcphub/internal/oauth"
)

// Box is one server as a toolbox. It is a [toolcrib.Notifier].
type Box struct {
	hub    *Hub
	name   string
	server Server

	ctx    context.Context // ends with the hub
	cancel context.CancelFunc
	again  chan struct{} // the lists have changed
	done   chan struct{} // the goroutine that lists again has ended

	learning sync.Mutex // one at a time

	mu        sync.Mutex
	manifest  *manifest
	approved  map[string]string // tool → hash of the definition that may be called
	tools     []toolcrib.Tool
	held      []Held
	faults    []toolcrib.Fault
	instances map[string]*instance
	watchers  map[int]func()
	login     *oauth.Handler // nil: not needed so far
	wanted    map[string]int // resources that somebody wants to hear of, and how many do
	next      int
}

func newBox(h *Hub, name string, s Server) *Box {
	b := &Box{hub: h, name: name, server: s, instances: map[string]*instance{}, watchers: map[int]func(){}, again: make(chan struct{}, 1), done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.recall()
	go b.keep()
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

func (b *Box) knownVersion() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return ""
	}
	return b.manifest.Version
}

// Tools lists what is known, and starts nothing.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return nil, errors.New("this MCP server was not listed yet: toolcrib hub test " + b.name + " does it")
	}
	return slices.Clone(b.tools), nil
}

// Faults tells what the server offers and is not listed.
func (b *Box) Faults() []toolcrib.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.faults)
	for _, h := range b.held {
		out = append(out, toolcrib.Fault{Box: b.name, Tool: h.Tool, Err: fmt.Errorf("it is kept back: %s; see toolcrib hub show %s, and toolcrib hub approve %s", h.Why, b.name, b.name)})
	}
	return out
}

// Held are the definitions that wait for a person.
func (b *Box) Held() []Held {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.held)
}

// Notify calls changed after what the server offers has changed.
func (b *Box) Notify(changed func()) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := b.next
	b.next++
	b.watchers[id] = changed
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, id)
	}
}

// relist has the server asked again soon.
func (b *Box) relist() {
	select {
	case b.again <- struct{}{}:
	default: // it will be
	}
}

// relistWait gathers changes that come one after another.
const relistWait = 50 * time.Millisecond

// keep asks a running server again when it says that its lists have changed.
func (b *Box) keep() {
	defer close(b.done)
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.again:
		}
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(relistWait):
		}
		ctx, cancel := context.WithTimeout(b.ctx, b.server.Starting)
		if err := b.askRunning(ctx); err != nil && b.ctx.Err() == nil {
			b.hub.needs.Log.Warn("an MCP server says that its lists have changed, and does not tell how", "server", b.name, "err", err)
		}
		cancel()
	}
}

// askRunning asks whichever instance runs.
func (b *Box) askRunning(ctx context.Context) error {
	for _, i := range b.running() {
		i.mu.Lock()
		s := i.session
		i.mu.Unlock()
		if s != nil {
			err := b.learn(ctx, s)
			b.hub.tell(b.name, mcp.NotifyTools, nil)
			return err
		}
	}
	return nil
}

func (b *Box) running() []*instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.instances))
}

// Refresh starts the server if need be and asks it what it offers.
func (b *Box) Refresh(ctx context.Context) error {
	if b.hub.needs.ReadOnly {
		return errors.New("servers are only looked at here")
	}
	i, err := b.instance("")
	if err != nil {
		return err
	}
	s, err := i.acquire(ctx)
	if err != nil {
		return err
	}
	defer i.release()
	return b.learn(ctx, s)
}

// Recheck takes what another process has approved, or kept.
func (b *Box) Recheck() error {
	b.mu.Lock()
	m := b.manifest
	b.mu.Unlock()
	if m == nil {
		b.recall()
		b.hub.notify()
		return nil
	}
	err := b.put(m, false)
	b.hub.notify()
	return err
}

// instancesMost bounds how many conversations have a server of their own.
const instancesMost = 64

// instance gives the place of a caller's server.
func (b *Box) instance(session string) (*instance, error) {
	key := ""
	if b.server.Instance == PerSession {
		key = session
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.instances[key]; i != nil {
		return i, nil
	}
	if b.ctx.Err() != nil {
		return nil, errors.New("the hub is closed")
	}
	if len(b.instances) >= instancesMost {
		return nil, fmt.Errorf("%d conversations have an MCP server %s of their own already; wait until one of them is idle", len(b.instances), b.name)
	}
	i := &instance{box: b, key: key, stderr: &tail{}}
	b.instances[key] = i
	return i, nil
}

// drop forgets the place of a conversation whose server is idle.
func (b *Box) drop(i *instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i.key != "" && b.instances[i.key] == i {
		delete(b.instances, i.key)
	}
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
	var all sync.WaitGroup
	for _, i := range b.running() {
		all.Go(i.end)
	}
	all.Wait()
}
