package shelf

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// listWait is how long a list waits for the servers of a caller that were never
// asked; what comes later is told as a change.
const listWait = 5 * time.Second

// view is what servers list for one caller: of those servers whose tool for it the
// caller has.
type view struct {
	boxes   []string
	lists   map[string]mcphub.Listing
	readers map[string]string // see [Shelf.readers]
}

// everyOne asks every server; see [Shelf.view].
func everyOne(string) bool { return true }

// view gives what servers list of which a caller has a certain tool. Those whose
// list is not known are started to be asked for it if asks says so.
func (s Shelf) view(ctx context.Context, c toolcrib.Caller, native string, asks func(box string) bool) view {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	v := view{lists: map[string]mcphub.Listing{}, readers: s.readers(c)}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, b := range s.Hub.Boxes() {
		if v.readers[b.Name()+"/"+native] == "" {
			continue
		}
		v.boxes = append(v.boxes, b.Name())
		all.Go(func() {
			list := b.ListingFor(ctx, c, func() bool {
				return asks(b.Name()) && s.MayStart != nil && s.MayStart(ctx, c, b.Name()) == nil
			})
			mu.Lock()
			defer mu.Unlock()
			v.lists[b.Name()] = list
		})
	}
	all.Wait()
	return v
}

// seek looks for what a client names, and asks no more servers than it has to, so
// that a slow one keeps nobody from the others: first in the lists that are known
// and in that of the server whose name stands in front, then in those of all. Look
// says whether it has found it.
func (s Shelf) seek(ctx context.Context, c toolcrib.Caller, native string, k kind, name string, look func(view) (bool, error)) (view, error) {
	// The address of a resource with a server in front says all that has to be known.
	first := func(box string) bool {
		_, _, split := k.split(name, func(known string) bool { return known == box })
		return split && k.key == "name"
	}
	v := s.view(ctx, c, native, first)
	if found, err := look(v); found || err != nil {
		return v, err
	}
	v = s.view(ctx, c, native, everyOne)
	_, err := look(v)
	return v, err
}

// offered is one thing of one server.
type offered struct {
	box, name string
	text      json.RawMessage
}

// list gives what there is of a kind that the caller can read.
func (v view) list(k kind) []offered {
	type thing struct{ box, name string }
	seen := map[thing]bool{}
	var out []offered
	for _, box := range v.boxes {
		if v.readers[box+"/"+k.reader] == "" {
			continue
		}
		for _, text := range k.of(v.lists[box]) {
			name := member(text, k.key)
			t := thing{box, name}
			if name == "" || seen[t] || strings.HasPrefix(name, skillScheme) || strings.HasPrefix(name, noteScheme) { // those are ours
				continue
			}
			seen[t] = true
			out = append(out, offered{box, name, text})
		}
	}
	return out
}
