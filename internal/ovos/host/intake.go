package host

import (
	"context"
	"errors"
	"sync"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// intake is where requests come in. It begins anew with each connection to the bus:
// what came by one that broke is known by its epoch. Other hosts may have had it too,
// and to ask them after they lost the bus would find nobody.
type intake struct {
	mu     sync.Mutex
	client *bus.Client // nil: none yet
	filter bus.Filter
	sub    *bus.Subscription
	epoch  uint64
}

// open begins.
func (in *intake) open(client *bus.Client, filter bus.Filter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.client, in.filter = client, filter
	in.sub = client.Subscribe(filter)
}

// broke begins anew. It is called after the last frame of a connection and before
// the first of the next.
func (in *intake) broke() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.epoch++
	if in.client != nil {
		in.sub.Close()
		in.sub = in.client.Subscribe(in.filter)
	}
}

// now is the epoch of the connection there is.
func (in *intake) now() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.epoch
}

// next gives the next message and its epoch, and how many before it found no room.
func (in *intake) next(ctx context.Context) (m bus.Message, epoch uint64, lost int, err error) {
	for {
		in.mu.Lock()
		sub, epoch := in.sub, in.epoch
		in.mu.Unlock()
		m, err := sub.Next(ctx)
		if !errors.Is(err, bus.ErrClosed) || in.is(sub) {
			return m, epoch, sub.Lost(), err
		}
	}
}

func (in *intake) is(sub *bus.Subscription) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.sub == sub
}

func (in *intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sub.Close()
}
