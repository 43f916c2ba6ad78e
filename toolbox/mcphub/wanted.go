package mcphub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// What is subscribed to is counted by who wants it, so that nobody ends what
// another wants, and nobody takes all the room.
const (
	wantedMost    = 256  // by one conversation
	wantedMostOne = 1024 // by all conversations of one person
	wantedMostAll = 4096 // of one server
)

// conversation is one conversation.
type conversation struct{ organisation, subject, session string }

func (c conversation) place() string {
	return placeOf(toolcrib.Caller{Organisation: c.organisation, Subject: c.subject, Session: c.session})
}

// followedResources are the resources that a conversation wants to hear of, and how often.
type followedResources struct {
	uris  map[string]int
	since int // the smaller, the earlier it began
}

// subscribe has the server tell when a resource changes, or no longer. What is
// told goes to those who follow the hub and whom this server is for, and they know
// who wanted it.
func (b *Box) subscribe(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
	var in struct {
		URI string `json:"uri"`
		On  bool   `json:"on"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	who := conversation{env.Call.Caller.Organisation, env.Call.Caller.Subject, env.Call.Caller.Session}
	i, s, err := b.acquire(ctx, placeOf(env.Call.Caller))
	if err != nil {
		return nil, err
	}
	defer i.release()
	did, err := b.follow(who, in.URI, in.On)
	if err != nil {
		return nil, err
	}
	clock := newClock(ctx, b.server.Timeout, patience)
	defer clock.stop()
	if err := s.Listen(clock.ctx, b.followed(i.key)); err != nil {
		if did {
			_, undone := b.follow(who, in.URI, !in.On)
			if undone != nil {
				b.hub.needs.Log.Debug("a subscription cannot be taken back", "server", b.name, "err", undone)
			}
		}
		return nil, b.failure(ctx, clock, err, false)
	}
	return &toolcrib.Result{Value: json.RawMessage(`{}`)}, nil
}

// follow notes that a conversation wants to hear of a resource once more, or
// once less; false: it did not want to before either.
func (b *Box) follow(who conversation, uri string, on bool) (did bool, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.wanted[who]
	if !on {
		if w == nil || w.uris[uri] == 0 {
			return false, nil
		}
		if w.uris[uri]--; w.uris[uri] == 0 {
			delete(w.uris, uri)
		}
		if len(w.uris) == 0 {
			delete(b.wanted, who)
		}
		return true, nil
	}
	if w != nil && w.uris[uri] > 0 {
		w.uris[uri]++
		return true, nil
	}
	if w != nil && len(w.uris) >= wantedMost {
		return false, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("at most %d resources of a server can be subscribed to", wantedMost)}
	}
	if !b.roomFor(who) {
		return false, unavailable(fmt.Errorf("%d resources of the MCP server %s are subscribed to already", wantedMostAll, b.name))
	}
	if w == nil {
		w = &followedResources{uris: map[string]int{}, since: b.next}
		b.next++
		b.wanted[who] = w
	}
	w.uris[uri]++
	return true, nil
}

// roomFor makes room for one more, if need be at the cost of the oldest other
// conversation of the same person; the lock is held.
func (b *Box) roomFor(who conversation) bool {
	all, own := 0, 0
	var oldest conversation
	var least *followedResources
	for other, w := range b.wanted {
		all += len(w.uris)
		if other.organisation != who.organisation || other.subject != who.subject {
			continue
		}
		own += len(w.uris)
		if other != who && (least == nil || w.since < least.since) {
			oldest, least = other, w
		}
	}
	if own < wantedMostOne && all < wantedMostAll {
		return true
	}
	delete(b.wanted, oldest)
	return least != nil
}

// followed are the resources that those whom the server of key is for want to hear
// of. What another person follows is not told to it.
func (b *Box) followed(key string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]bool{}
	for who, w := range b.wanted {
		if b.keyOf(who.place()) != key {
			continue
		}
		for uri := range w.uris {
			all[uri] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// listen has the server tell of changes. One that does not is none the worse:
// it is asked again when it starts the next time.
func (b *Box) listen(ctx context.Context, i *instance, s *client.Session) {
	if err := s.Listen(ctx, b.followed(i.key)); err != nil {
		b.hub.needs.Log.Debug("an MCP server does not tell of changes", "server", b.name, "err", err)
	}
}
