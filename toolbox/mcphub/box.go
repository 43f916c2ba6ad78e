package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
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

// recall takes what was kept of an earlier run.
func (b *Box) recall() {
	var m manifest
	ok, err := b.hub.store.load("manifest-"+b.name, &m)
	if err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
	}
	if err != nil || !ok || m.Of != b.server.fingerprint() {
		return
	}
	if err := b.put(&m, false); err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
	}
}

// learn asks a running server what it offers and keeps that.
func (b *Box) learn(ctx context.Context, s *client.Session) error {
	m, err := fetch(ctx, s, b.now(), b.server.fingerprint())
	if err != nil {
		return err
	}
	return b.put(m, true)
}

// put makes a manifest the one that counts.
func (b *Box) put(m *manifest, fresh bool) error {
	b.learning.Lock()
	defer b.learning.Unlock()
	var p pins
	if _, err := b.hub.store.load("pins-"+b.name, &p); err != nil {
		return err // nothing is offered by guesswork: a person has to see to it
	}
	list, raw, faults := read(m.Tools, b.name)
	good, held, pinned := b.sift(list, raw, &p)
	if pinned {
		if err := b.hub.store.save("pins-"+b.name, p); err != nil {
			return err
		}
	}
	if fresh {
		if err := b.hub.store.save("manifest-"+b.name, m); err != nil {
			return err
		}
	}
	approved := map[string]string{}
	tools := b.shelfTools(m)
	for _, d := range good {
		if !b.wants(d.Name) {
			continue
		}
		sum, err := d.hash()
		if err != nil {
			continue // sifted before
		}
		t, err := b.tool(d, sum)
		if err != nil {
			faults = append(faults, toolcrib.Fault{Box: b.name, Tool: d.Name, Err: err})
			continue
		}
		approved[d.Name] = sum
		tools = append(tools, t)
	}
	b.mu.Lock()
	changed := b.manifest == nil || !maps.Equal(approved, b.approved) || !sameLists(b.manifest, m) || len(held) != len(b.held)
	b.manifest, b.approved, b.tools, b.held, b.faults = m, approved, tools, held, faults
	watchers := slices.Collect(maps.Values(b.watchers))
	b.mu.Unlock()
	if changed {
		for _, tell := range watchers {
			tell()
		}
		if fresh {
			b.hub.notify()
		}
	}
	return nil
}

// sameLists compares what is offered besides tools.
func sameLists(a, b *manifest) bool {
	same := func(x, y []json.RawMessage) bool {
		return slices.EqualFunc(x, y, func(p, q json.RawMessage) bool { return string(p) == string(q) })
	}
	return same(a.Prompts, b.Prompts) && same(a.Resources, b.Resources) && same(a.Templates, b.Templates)
}

// read takes the definitions of tools apart. One that cannot be read is left
// out, and so is the second of a name.
func read(list []json.RawMessage, box string) (defs []definition, raw map[string]json.RawMessage, faults []toolcrib.Fault) {
	raw = map[string]json.RawMessage{}
	for i, text := range list {
		var d definition
		err := json.Unmarshal(text, &d)
		switch {
		case err != nil:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: fmt.Sprintf("number %d", i+1), Err: fmt.Errorf("its definition cannot be read: %w", err)})
		case d.Name == "" || len(d.Name) > 256:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: fmt.Sprintf("number %d", i+1), Err: errors.New("it has no name, or an endless one")})
		case raw[d.Name] != nil:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: d.Name, Err: errors.New("the server has another tool of this name")})
		default:
			raw[d.Name] = text
			defs = append(defs, d)
		}
	}
	return defs, raw, faults
}

// definitions is everything the server offers, kept back or not.
func (b *Box) definitions() []definition {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return nil
	}
	defs, _, _ := read(b.manifest.Tools, b.name)
	return defs
}

// wants reports whether a tool is to be offered.
func (b *Box) wants(tool string) bool {
	match := func(p string) bool { return matches(p, tool) }
	return (len(b.server.Enabled) == 0 || slices.ContainsFunc(b.server.Enabled, match)) && !slices.ContainsFunc(b.server.Disabled, match)
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == name || ok && err == nil
}

func checkPattern(p string) error {
	_, err := path.Match(p, "")
	return err
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
