package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// listening is what a session has subscribed to.
type listening struct {
	turn sync.Mutex // one Listen after another

	mu        sync.Mutex
	resources []string
	cancel    context.CancelFunc       // of the subscription of a modern server
	waiting   map[string]chan struct{} // for the acknowledgment of one, by ID
	running   map[string]context.CancelFunc
}

// subscriptionFilter is the filter of a subscription.
type subscriptionFilter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

func (w subscriptionFilter) none() bool {
	return !w.Tools && !w.Prompts && !w.Resources && len(w.URIs) == 0
}

// listenable is what a server says it can tell of.
type listenable struct {
	Tools, Prompts struct {
		ListChanged bool `json:"listChanged"`
	}
	Resources struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe"`
	}
}

// Listen has Changed hear of changes of the server's lists, and of these
// resources instead of those of an earlier Listen. What a server cannot tell of
// is left out; it returns when the server has begun to tell. A subscription
// that breaks off is taken up again, and everything counts as changed then.
func (s *Session) Listen(ctx context.Context, resources []string) error {
	s.listening.turn.Lock()
	defer s.listening.turn.Unlock()
	capabilities, _, _ := s.Server()
	var o listenable
	if capabilities != nil {
		if err := json.Unmarshal(capabilities, &o); err != nil {
			return fmt.Errorf("reading what the server can do: %w", err)
		}
	}
	resources = slices.Compact(slices.Sorted(slices.Values(resources)))
	if !o.Resources.Subscribe {
		resources = nil
	}
	if mcp.IsModern(s.Version()) {
		w := subscriptionFilter{Tools: o.Tools.ListChanged, Prompts: o.Prompts.ListChanged, Resources: o.Resources.ListChanged, URIs: resources}
		return s.subscribe(ctx, w)
	}
	return s.watchResources(ctx, resources)
}

// watchResources subscribes to resources of a legacy server, which tells of its lists
// unasked.
func (s *Session) watchResources(ctx context.Context, resources []string) error {
	l := &s.listening
	change := func(method, uri string) error {
		params, err := json.Marshal(map[string]string{"uri": uri})
		if err != nil {
			return fmt.Errorf("writing the address of a resource: %w", err)
		}
		_, err = s.Do(ctx, Call{Method: method, Params: params})
		return err
	}
	for _, uri := range slices.Clone(l.resources) {
		if slices.Contains(resources, uri) {
			continue
		}
		if err := change(mcp.MethodUnsubscribe, uri); err != nil {
			return err
		}
		l.resources = slices.DeleteFunc(l.resources, func(old string) bool { return old == uri })
	}
	for _, uri := range resources {
		if slices.Contains(l.resources, uri) {
			continue
		}
		if err := change(mcp.MethodSubscribe, uri); err != nil {
			return err
		}
		l.resources = append(l.resources, uri)
	}
	return nil
}

// subscribe replaces the subscription of a modern server.
func (s *Session) subscribe(ctx context.Context, w subscriptionFilter) error {
	l := &s.listening
	l.mu.Lock()
	old := l.cancel
	l.cancel = nil
	l.mu.Unlock()
	defer func() {
		if old != nil {
			old() // after the new one has begun, so that nothing is missed
		}
	}()
	if w.none() {
		return nil
	}
	filter, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("writing a subscription: %w", err)
	}
	o := requestExtras{version: s.Version(), info: s.config.Info}
	params, err := o.params(fmt.Appendf(nil, `{"notifications":%s}`, filter))
	if err != nil {
		return err
	}
	flow, cancel := context.WithCancel(s.ctx)
	begun, ended := make(chan struct{}), make(chan error, 1)
	if !s.background(func() {
		ended <- s.subscribed(flow, params, w, begun)
		cancel()
	}) {
		cancel()
		return mcp.ErrClosed
	}
	select {
	case <-begun:
		l.mu.Lock()
		l.cancel = cancel
		l.mu.Unlock()
		return nil
	case err := <-ended:
		cancel()
		if fault, ok := errors.AsType[*mcp.Error](err); ok && fault.Code == mcp.CodeMethodNotFound {
			return nil
		}
		return err
	case <-ctx.Done():
		cancel()
		return context.Cause(ctx)
	}
}

// subscribed holds a subscription until ctx ends. Begun is closed when the
// server has acknowledged it; an error before that ends it.
func (s *Session) subscribed(ctx context.Context, params json.RawMessage, w subscriptionFilter, begun chan struct{}) error {
	l := &s.listening
	first := true
	for broken := 0; ; broken++ {
		acknowledged := make(chan struct{})
		var id string
		round, cancel := context.WithCancel(ctx)
		r := request{method: mcp.MethodListen, params: params, version: s.Version(), id: func(given json.RawMessage) {
			id = string(given)
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.waiting == nil {
				l.waiting, l.running = map[string]chan struct{}{}, map[string]context.CancelFunc{}
			}
			l.waiting[id], l.running[id] = acknowledged, cancel
		}}
		heard := make(chan bool, 1)
		if !s.background(func() { heard <- s.awaitAcknowledgment(round, acknowledged, first, begun, w) }) {
			cancel()
			return mcp.ErrClosed
		}
		_, err := s.link.request(round, nil, &r)
		l.mu.Lock()
		delete(l.waiting, id)
		delete(l.running, id)
		l.mu.Unlock()
		cancel()
		if <-heard {
			s.config.Log.Debug("an MCP server has ended a subscription", "error", err)
			broken, first = 0, false
		} else if first {
			if err == nil {
				err = fmt.Errorf("%w: the subscription was not acknowledged", errAnswer)
			}
			return err
		}
		select {
		case <-s.link.done():
			return s.link.err()
		default:
		}
		if err := pause(ctx, time.Second<<min(broken, 6)); err != nil {
			return err
		}
	}
}

// awaitAcknowledgment waits for the acknowledgment of a subscription.
func (s *Session) awaitAcknowledgment(ctx context.Context, acknowledged <-chan struct{}, first bool, begun chan struct{}, w subscriptionFilter) bool {
	select {
	case <-acknowledged:
	case <-ctx.Done():
		select {
		case <-acknowledged: // and ended at once
		default:
			return false
		}
	}
	if first {
		close(begun)
		return true
	}
	if s.config.Changed == nil {
		return true
	}
	tell := func(yes bool, method string, params json.RawMessage) {
		if yes {
			s.config.Changed(method, params)
		}
	}
	tell(w.Tools, mcp.NotifyTools, nil)
	tell(w.Prompts, mcp.NotifyPrompts, nil)
	tell(w.Resources, mcp.NotifyResources, nil)
	for _, uri := range w.URIs {
		params, err := json.Marshal(map[string]string{"uri": uri})
		tell(err == nil, mcp.NotifyResource, params)
	}
	return true
}

// acknowledged hears that a subscription has begun.
func (s *Session) acknowledged(params json.RawMessage) {
	id := string(jsontext.Lookup(jsontext.Lookup(params, "_meta"), mcp.MetaSubscription))
	l := &s.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	if waiting := l.waiting[id]; waiting != nil {
		delete(l.waiting, id)
		close(waiting)
	}
}

// unsubscribed hears that a modern server has ended a subscription.
func (s *Session) unsubscribed(id json.RawMessage) {
	if !mcp.IsModern(s.Version()) {
		return // it means a request of its own that has ended
	}
	s.listening.mu.Lock()
	defer s.listening.mu.Unlock()
	if cancel := s.listening.running[string(id)]; cancel != nil {
		cancel()
	}
}
