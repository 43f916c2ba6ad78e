package mcphub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// instance is one running server, or the place for one. It is started when it
// is needed, by whoever needs it first; the others wait, each as long as they
// can. A server that keeps failing is left alone for a while.
type instance struct {
	box    *Box
	key    string
	stderr *tail

	asked   atomic.Int64 // how often it was asked what it offers
	learned int64        // of these, whose answer counts; under the box's learning

	mu       sync.Mutex
	session  *client.Session
	since    time.Time     // of the session
	starting chan struct{} // closed when the attempt under way is over; nil: none is
	startErr error         // of the last attempt
	uses     int
	idle     *time.Timer
	fails    int // in a row
	retry    time.Time
	ended    bool
	dropped  bool   // another has its place: it starts nothing more
	logs     string // the level of messages that a legacy server was told to send
}

const (
	// failsMost is how often in a row a server may fail before it is left alone.
	failsMost = 3
	// livedShort: a server that ends sooner has failed, and not merely ended.
	livedShort = 10 * time.Second
	restLeast  = time.Second
	restMost   = 2 * time.Minute
)

// errNotNow is told while a server is left alone.
type errNotNow struct {
	server string
	fails  int
	left   time.Duration
	err    error
}

func (e *errNotNow) Error() string {
	return fmt.Sprintf("the MCP server %s failed %d times in a row and is left alone for %v: %v", e.server, e.fails, e.left.Round(time.Second), e.err)
}

func (e *errNotNow) Unwrap() error { return e.err }

// acquire gives a running session. It must be released after use, and is not
// ended for idleness before that.
func (i *instance) acquire(ctx context.Context) (*client.Session, error) {
	for {
		i.mu.Lock()
		switch {
		case i.ended:
			i.mu.Unlock()
			return nil, i.box.overError()
		case i.dropped:
			i.mu.Unlock()
			return nil, errDropped
		case i.session != nil:
			s := i.session
			i.uses++
			if i.idle != nil {
				i.idle.Stop()
			}
			i.mu.Unlock()
			return s, nil
		}
		if i.starting == nil {
			if err := i.notNow(); err != nil {
				i.mu.Unlock()
				return nil, err
			}
			i.starting = make(chan struct{})
			go i.start(i.starting)
		}
		attempt := i.starting
		i.mu.Unlock()
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the MCP server %s to start: %w", i.box.name, ctx.Err())
		}
		i.mu.Lock()
		failed := i.session == nil && !i.ended
		err := i.startErr
		i.mu.Unlock()
		if failed && err != nil {
			return nil, err
		}
	}
}

// release ends the use of a session, and the last one starts the clock.
func (i *instance) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.uses--
	if i.uses == 0 && i.session == nil {
		i.abandon()
	}
	if i.uses > 0 || i.box.server.Idle < 0 || i.ended || i.session == nil {
		return
	}
	i.startIdleTimer(i.box.server.Idle)
}

// startIdleTimer starts the clock at the end of which nobody has used it; the lock is
// held.
func (i *instance) startIdleTimer(after time.Duration) {
	if i.idle == nil {
		i.idle = time.AfterFunc(after, i.endIfUnused)
		return
	}
	i.idle.Reset(after)
}

// endIfUnused ends a server that nobody uses.
func (i *instance) endIfUnused() {
	i.mu.Lock()
	if i.uses > 0 || i.session == nil {
		i.mu.Unlock()
		return
	}
	s := i.session
	i.session = nil
	i.abandon()
	i.mu.Unlock()
	i.closed(s)
}

func (i *instance) closed(s *client.Session) {
	if err := s.Close(); err != nil {
		i.box.hub.needs.Log.Debug("an MCP server did not end well", "server", i.box.name, "err", err)
	}
}

// notNow says that a server has failed too often to be tried again at once. It is
// called with the lock.
func (i *instance) notNow() error {
	if left := i.retry.Sub(i.box.now()); i.session == nil && i.starting == nil && left > 0 && i.fails >= failsMost {
		return &errNotNow{i.box.name, i.fails, left, i.startErr}
	}
	return nil
}

// start is one attempt, for all who wait for it: it goes on if they leave.
func (i *instance) start(attempt chan struct{}) {
	b := i.box
	ctx, cancel := context.WithTimeout(b.ctx, b.server.Starting)
	defer cancel()
	// Who does not come up is not asked to leave, but ended, when its time is over
	// or the hub is closed.
	young := &startingPrograms{ctx: ctx}
	s, err := b.connect(ctx, i, young)
	if err == nil {
		if _, err = b.learn(ctx, i, s); err != nil {
			i.closed(s)
			err = fmt.Errorf("asking the MCP server %s what it offers: %w", b.name, err)
		}
	}
	if err == nil {
		b.listen(ctx, i, s)
		young.release()
	}
	i.mu.Lock()
	if err == nil && i.ended {
		err = errors.New("the hub is closed")
		defer i.closed(s)
	}
	if err != nil {
		i.failed("the MCP server "+b.name+" did not start: ", err)
	} else {
		b.starts.Add(1)
		i.session, i.since, i.startErr, i.logs = s, b.now(), nil, ""
		go i.watch(s)
		if i.uses == 0 && b.server.Idle > 0 && !b.server.Eager {
			i.startIdleTimer(max(b.server.Idle, time.Second)) // whoever asked for it has the time to take it
		}

	}
	i.starting = nil
	i.mu.Unlock()
	close(attempt)
}

// failed counts a failure; the lock is held. An attempt that ends because the hub is closed
// has not failed. Lead is how the error begins.
func (i *instance) failed(lead string, err error) {
	if i.box.ctx.Err() != nil {
		i.startErr = i.box.overError()
		return
	}
	err = i.startError(lead, err)
	i.startErr = err
	i.box.failures.Add(1)
	i.fails++
	i.retry = i.box.now().Add(min(restLeast<<min(i.fails, 10), restMost))
	level := slog.LevelWarn
	if i.box.hub.needs.TellsFailures {
		level = slog.LevelInfo
	}
	i.box.hub.needs.Log.Log(context.Background(), level, "an MCP server failed", "server", i.box.name, "err", err, "times", i.fails)
}

// watch notices the end of a session.
func (i *instance) watch(s *client.Session) {
	<-s.Done()
	i.mu.Lock()
	if i.session != s { // it was ended here
		i.mu.Unlock()
		return
	}
	i.session = nil
	i.died(s)
	i.abandon()
	i.mu.Unlock()
	i.closed(s) // for what is left of it
}

// died counts the end of a session that nobody here ended; the lock is held.
func (i *instance) died(s *client.Session) {
	if lived := i.box.now().Sub(i.since); lived < livedShort {
		i.failed(fmt.Sprintf("the MCP server %s ended after %v: ", i.box.name, lived.Round(time.Millisecond)), s.Err())
	} else {
		i.fails = 0
	}
}

// lost forgets a session that a call found dead, before the watch does.
func (i *instance) lost(s *client.Session, err error) {
	if !errors.Is(err, mcp.ErrClosed) {
		return
	}
	select {
	case <-s.Done():
	case <-time.After(time.Second):
		return // it is said to be dead and is not: the watch will tell
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == s {
		i.session = nil
		i.died(s)
		go i.closed(s)
	}
}

// works notes that a call came through: what failed before does not count.
func (i *instance) works() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fails = 0
}

// restart ends what runs; the next call starts it anew.
func (i *instance) restart() {
	i.mu.Lock()
	s := i.session
	i.session, i.fails, i.retry = nil, 0, time.Time{}
	i.mu.Unlock()
	if s != nil {
		i.closed(s)
	}
}

// end ends it for good.
func (i *instance) end() {
	i.mu.Lock()
	s := i.session
	i.session, i.ended = nil, true
	if i.idle != nil {
		i.idle.Stop()
	}
	attempt := i.starting
	i.mu.Unlock()
	if attempt != nil {
		<-attempt // its context has ended
	}
	if s != nil {
		i.closed(s)
	}
}
