package mcphub

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// Where each person, or each conversation, has a server of their own, what it
// lists besides tools is theirs too: the address of a resource can be the name of a
// file, or hold what they wrote. Tools are different. A person approves their
// definitions once, for all.

// offer is what the server of one person lists.
type offer struct {
	listing Listing
	size    int
	since   int // the smaller, the earlier it was listed
}

// These bound what is kept of the lists of all people. Who is forgotten is asked
// again.
const (
	offersMost = 2 * instancesMost
	offersSize = 4 * mostOffered
)

// split takes what belongs to one person out of a manifest and keeps it; what was
// known to everybody before stays in its place. B.learning is held.
func (b *Box) split(key string, m *manifest) {
	o := &offer{}
	o.listing, _ = b.listingOf(m)
	for _, list := range [...][]json.RawMessage{o.listing.Prompts, o.listing.Resources, o.listing.Templates} {
		for _, text := range list {
			o.size += len(text)
		}
	}
	b.mu.Lock()
	was := b.manifest
	old := b.offers[key]
	o.since = b.next
	b.next++
	b.offers[key] = o
	b.forgetOffers(key)
	b.mu.Unlock()
	m.LeftOut = slices.DeleteFunc(m.LeftOut, func(l leftOut) bool { return l.Kind != kindTool })
	m.Prompts, m.Resources, m.Templates = nil, nil, nil
	if was != nil {
		m.Prompts, m.Resources, m.Templates = was.Prompts, was.Resources, was.Templates
		m.Instructions, m.InstructionsSum = was.Instructions, was.InstructionsSum // or what it tells one person would reach the models of all
		m.LeftOut = append(m.LeftOut, slices.DeleteFunc(slices.Clone(was.LeftOut), func(l leftOut) bool { return l.Kind == kindTool })...)
	}
	if old == nil || !old.listing.same(o.listing) {
		b.tell(key, mcp.NotifyPrompts, nil)
		b.tell(key, mcp.NotifyResources, nil)
	}
}

// forgetOffers makes room, at the cost of those that were listed first and whose
// server does not run, if there are such; the lock is held.
func (b *Box) forgetOffers(but string) {
	for {
		size, oldest, rank := 0, "", 0
		for key, o := range b.offers {
			size += o.size
			r := o.since
			if b.instances[key] != nil {
				r += b.next // after all that do not run
			}
			if key != but && (oldest == "" || r < rank) {
				oldest, rank = key, r
			}
		}
		if oldest == "" || len(b.offers) <= offersMost && size <= offersSize {
			return
		}
		delete(b.offers, oldest)
	}
}

// ListingFor gives what the server lists for a caller besides tools. If each person
// has a server of their own and theirs has not said it yet, it is started for that,
// if mayStart allows it and as long as ctx does; who comes later is told of a change.
func (b *Box) ListingFor(ctx context.Context, c toolcrib.Caller, mayStart func() bool) Listing {
	place := placeOf(c)
	key := b.keyOf(place)
	if key == "" {
		return b.Listing()
	}
	if l, known := b.offered(key); known || b.hub.needs.ReadOnly || !mayStart() {
		return l
	}
	i, _, err := b.acquire(ctx, place)
	if err != nil {
		b.hub.needs.Log.Debug("an MCP server cannot be asked what it lists for a caller", "server", b.name, "err", err)
		return Listing{}
	}
	i.release()
	l, _ := b.offered(key)
	return l
}

func (b *Box) offered(key string) (Listing, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.offers[key]
	if o == nil {
		return Listing{}, false
	}
	return o.listing.clone(), true
}

// Notice is what a server notifies of beside any call.
type Notice struct {
	Server, Method string
	Params         []byte

	key string
	box *Box // nil: it is for everybody
}

// For reports whether a caller may hear of it: what the server of one person says
// is for that person.
func (n Notice) For(c toolcrib.Caller) bool {
	return n.box == nil || n.key == "" && !n.box.personal() || n.box.keyOf(placeOf(c)) == n.key
}

// tell passes on what the server of key says.
func (b *Box) tell(key, method string, params []byte) {
	b.hub.tell(Notice{Server: b.name, Method: method, Params: params, key: key, box: b})
}
