package bus

import (
	"slices"
	"sync"
)

// feed is the one queue of the server: the frames that at least one client has
// not got yet, in the order in which they came. Each client has a place in it.
// That bounds the memory of all queues together, keeps publishing cheap
// however many clients there are, and gives all of them the same order. A
// client that falls behind by more than the feed holds loses its place, and
// nobody else notices.
type feed struct {
	maxFrames int
	maxBytes  int64

	mu    sync.Mutex
	queue []*frame
	base  uint64 // the number of queue[0]
	bytes int64  // in the queue
	total int64  // bytes ever published
	peers map[*peer]*queuePlace
	idle  []*queuePlace // places that wait for the next frame
}

// frame is what goes to every client: header and payload in one piece.
type frame struct {
	wire    []byte
	end     int64 // feed.total after it
	pending int   // how many clients have yet to get it
}

// queuePlace is where a client stands. Its fields belong to the feed's lock.
type queuePlace struct {
	next  uint64 // the frame it gets next
	sent  int64  // feed.total before that frame
	gone  bool
	idle  bool
	held  bool          // its own publishing waits until it has read more
	wake  chan struct{} // something came
	leave chan struct{} // closed when the place is gone
	room  chan struct{} // no longer held
}

func newFeed(maxFrames int, maxBytes int64) *feed {
	return &feed{maxFrames: maxFrames, maxBytes: maxBytes, peers: map[*peer]*queuePlace{}}
}

// join gives a client a place: it gets everything published from now on.
func (f *feed) join(p *peer) *queuePlace {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := &queuePlace{
		next: f.base + uint64(len(f.queue)), sent: f.total,
		wake: make(chan struct{}, 1), leave: make(chan struct{}), room: make(chan struct{}, 1),
	}
	f.peers[p] = at
	return at
}

// leaveQueue takes a client's place away; it may have none.
func (f *feed) leaveQueue(p *peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(p)
	f.trim()
}

func (f *feed) remove(p *peer) {
	at, ok := f.peers[p]
	if !ok {
		return
	}
	delete(f.peers, p)
	for _, fr := range f.queue[at.next-f.base:] {
		fr.pending--
	}
	if at.idle {
		f.idle = slices.DeleteFunc(f.idle, func(other *queuePlace) bool { return other == at })
	}
	at.gone = true
	close(at.leave)
}

// publish queues a frame for every client and returns those that were too far
// behind to keep their place.
func (f *feed) publish(wire []byte) (slow []*peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.peers) == 0 {
		return nil
	}
	size := int64(cap(wire))
	f.total += size
	f.bytes += size
	f.queue = append(f.queue, &frame{wire: wire, end: f.total, pending: len(f.peers)})
	for len(f.queue) > 1 && (len(f.queue) > f.maxFrames || f.bytes > f.maxBytes) {
		for p, at := range f.peers {
			if at.next == f.base {
				f.remove(p)
				slow = append(slow, p)
			}
		}
		f.trim()
	}
	for i, at := range f.idle {
		at.idle = false
		signal(at.wake)
		f.idle[i] = nil
	}
	f.idle = f.idle[:0]
	return slow
}

// trim lets go of the frames that everyone has got.
func (f *feed) trim() {
	n := 0
	for n < len(f.queue) && f.queue[n].pending == 0 {
		f.bytes -= int64(cap(f.queue[n].wire))
		f.queue[n] = nil
		n++
	}
	f.queue = f.queue[n:]
	f.base += uint64(n)
}

// peek waits for frames and returns some, in order: at least one, and no more
// than about the given number of bytes. They keep their place in the queue,
// and so count against its bounds, until they are done. It returns nil when
// the place is gone.
func (f *feed) peek(at *queuePlace, into []*frame, bytes int) []*frame {
	for {
		f.mu.Lock()
		if at.gone {
			f.mu.Unlock()
			return nil
		}
		into = into[:0]
		for _, fr := range f.queue[at.next-f.base:] {
			if bytes -= len(fr.wire); bytes < 0 && len(into) > 0 || len(into) == cap(into) {
				break
			}
			into = append(into, fr)
		}
		if len(into) == 0 && !at.idle {
			at.idle = true
			f.idle = append(f.idle, at)
		}
		f.mu.Unlock()
		if len(into) > 0 {
			return into
		}
		select {
		case <-at.wake:
		case <-at.leave:
		}
	}
}

// done says that a client has got its next n frames.
func (f *feed) done(at *queuePlace, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.gone {
		return
	}
	for _, fr := range f.queue[at.next-f.base:][:n] {
		fr.pending--
		at.sent = fr.end
	}
	at.next += uint64(n)
	if at.held && !f.behind(at, 4) {
		at.held = false
		signal(at.room)
	}
	f.trim()
}

// pace holds a publisher whose own echoes it has not read for half a queue,
// until it has caught up to a quarter. So a client that sends in a tight loop
// is slowed down by its own socket instead of pushing others out. Only its own
// place counts: nobody is held by somebody else's slowness.
func (f *feed) pace(at *queuePlace) {
	f.mu.Lock()
	if at.gone || !f.behind(at, 2) {
		f.mu.Unlock()
		return
	}
	at.held = true
	f.mu.Unlock()
	select {
	case <-at.room:
	case <-at.leave:
	}
}

// behind tells whether a place is further back than a fraction of the queue.
func (f *feed) behind(at *queuePlace, fraction int) bool {
	return int(f.base+uint64(len(f.queue))-at.next) > f.maxFrames/fraction || f.total-at.sent > f.maxBytes/int64(fraction)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
