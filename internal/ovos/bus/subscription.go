package bus

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
)

// Filter chooses messages.
type Filter struct {
	// Types are the types wanted; none means all.
	Types []string
	// Prefixes are beginnings of types that are wanted too. With them, no Types
	// means none besides.
	Prefixes []string
	// Match, if not nil, has the last word. It runs between two frames of the
	// bus, so it has to be quick.
	Match func(Message) bool
}

// Subscription gets the messages that a filter chooses, from the moment it was
// made, and keeps them until they are taken.
type Subscription struct {
	board     *switchboard
	filter    Filter
	id        string // if not empty, only messages with this correlation
	maxFrames int
	maxBytes  int64

	mu     sync.Mutex
	queue  []queued
	bytes  int64
	lost   int
	closed bool
	wake   chan struct{} // something came, or it was closed
}

type queued struct {
	message Message
	size    int64 // of its frame
}

// switchboard knows who wants what.
type switchboard struct {
	subs   sync.RWMutex
	byType map[string][]*Subscription
	byID   map[string]*Subscription
	some   []*Subscription // those with prefixes
	all    []*Subscription
	closed bool
}

// Subscribe begins to collect messages. It works without a connection too.
func (c *Client) Subscribe(f Filter) *Subscription { return c.subscribe(f, "") }

func (c *Client) subscribe(f Filter, id string) *Subscription {
	s := &Subscription{
		board: &c.switchboard, filter: f, id: id,
		maxFrames: c.cfg.QueueFrames, maxBytes: c.cfg.QueueBytes, wake: make(chan struct{}, 1),
	}
	c.add(s)
	return s
}

func (b *switchboard) add(s *Subscription) {
	b.subs.Lock()
	defer b.subs.Unlock()
	if b.byType == nil {
		b.byType, b.byID = map[string][]*Subscription{}, map[string]*Subscription{}
	}
	switch {
	case b.closed:
		s.end()
	case s.id != "":
		b.byID[s.id] = s
	case len(s.filter.Prefixes) > 0:
		b.some = append(b.some, s)
	case len(s.filter.Types) == 0:
		b.all = append(b.all, s)
	default:
		for _, t := range s.filter.Types {
			b.byType[t] = append(b.byType[t], s)
		}
	}
}

func (b *switchboard) remove(s *Subscription) {
	b.subs.Lock()
	defer b.subs.Unlock()
	without := func(list []*Subscription) []*Subscription {
		return slices.DeleteFunc(slices.Clone(list), func(other *Subscription) bool { return other == s })
	}
	delete(b.byID, s.id)
	b.all, b.some = without(b.all), without(b.some)
	for _, t := range s.filter.Types {
		if rest := without(b.byType[t]); len(rest) > 0 {
			b.byType[t] = rest
		} else {
			delete(b.byType, t)
		}
	}
}

// close ends every subscription.
func (b *switchboard) close() {
	b.subs.Lock()
	defer b.subs.Unlock()
	b.closed = true
	for _, s := range slices.Concat(b.all, b.some) {
		s.end()
	}
	for _, s := range b.byID {
		s.end()
	}
	for _, list := range b.byType {
		for _, s := range list {
			s.end()
		}
	}
}

// dispatch gives a frame to those who want it. The frame's memory is copied if
// somebody does.
func (b *switchboard) dispatch(frame []byte) error {
	s := scanner{text: frame, mend: true}
	env, err := s.envelope(false)
	if err != nil {
		return err
	}
	b.subs.RLock()
	defer b.subs.RUnlock()
	typ := s.typ(env)
	lists := [3][]*Subscription{b.byType[typ], b.all, b.begins(typ)}
	asked := len(b.byID) > 0 && bytes.Contains(s.cut(env.context), []byte(CorrelationKey))
	if len(lists[0]) == 0 && len(lists[1]) == 0 && len(lists[2]) == 0 && !asked {
		return nil
	}
	if !s.own {
		s.text = bytes.Clone(s.text)
	}
	m := s.message(env)
	for _, list := range lists {
		for _, sub := range list {
			sub.offer(m, int64(len(frame)))
		}
	}
	if asked {
		if sub := b.byID[m.Text(CorrelationKey)]; sub != nil && slices.Contains(sub.filter.Types, m.Type) {
			sub.offer(m, int64(len(frame)))
		}
	}
	return nil
}

// begins finds the subscriptions with prefixes that want a type.
func (b *switchboard) begins(typ string) (list []*Subscription) {
	for _, s := range b.some {
		wanted := func(prefix string) bool { return strings.HasPrefix(typ, prefix) }
		if slices.Contains(s.filter.Types, typ) || slices.ContainsFunc(s.filter.Prefixes, wanted) {
			list = append(list, s)
		}
	}
	return list
}

// offer queues a message that the filter wants, if there is room.
func (s *Subscription) offer(m Message, size int64) {
	if s.filter.Match != nil && !s.filter.Match(m) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case len(s.queue) >= s.maxFrames || len(s.queue) > 0 && s.bytes+size > s.maxBytes:
		s.lost++
	default:
		s.queue = append(s.queue, queued{m, size})
		s.bytes += size
		signal(s.wake)
	}
}

// Next takes the oldest message, waiting for one if need be. It returns
// [ErrClosed] when the subscription or its client has been closed and nothing
// is left.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	for {
		m, ok, err := s.pop()
		if ok || err != nil {
			return m, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		}
	}
}

func (s *Subscription) pop() (m Message, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		first := s.queue[0]
		s.queue[0] = queued{} // the memory behind it may be large
		s.queue = s.queue[1:]
		s.bytes -= first.size
		m, ok = first.message, true
	} else if s.closed {
		err = ErrClosed
	}
	if len(s.queue) > 0 || s.closed {
		signal(s.wake) // for the next who waits
	}
	return m, ok, err
}

// Lost counts the messages that found no room.
func (s *Subscription) Lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Close ends the subscription. What it holds can still be taken.
func (s *Subscription) Close() {
	s.board.remove(s)
	s.end()
}

func (s *Subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	signal(s.wake)
}
