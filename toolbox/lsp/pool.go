package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/files"
)

// key is what servers are told apart by. Who was granted other directories gets
// another server: it could tell of what this one may not see.
type key struct{ server, root, grant string }

// pool is the servers that run.
type pool struct {
	mu      sync.Mutex
	closed  bool
	swept   bool // somebody looks for servers that nobody asks
	servers map[key]*server
	faults  map[key]*faults
	stop    chan struct{}
	under   sync.WaitGroup
}

// faults is how often a server has failed in a row.
type faults struct {
	count int
	last  time.Time
	err   error
}

// A server that keeps failing is left alone for a while.
const (
	maxFaults = 3
	leftAlone = 30 * time.Second
)

func (p *pool) open() {
	p.servers, p.faults, p.stop = map[key]*server{}, map[key]*faults{}, make(chan struct{})
}

// take gives a server that is ready, for one question; give ends it.
func (b *Box) take(ctx context.Context, spec Server, program, root string, handle *files.Handle) (*server, error) {
	dirs, denied := handle.Granted()
	for i := range dirs {
		dirs[i].Write = false
	}
	k := key{spec.Name, root, grantOf(dirs, denied)}
	p := &b.pool
	p.mu.Lock()
	s := p.servers[k]
	if s != nil && s.over() {
		delete(p.servers, k)
		s = nil
	}
	if s == nil {
		if err := p.room(b.cfg.Most, k); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		s = newServer(b, spec, k)
		p.servers[k] = s
		if !p.swept {
			p.swept = true
			p.under.Go(b.sweep)
		}
		p.under.Go(func() { s.start(program, dirs, denied) })
	}
	s.users++
	p.mu.Unlock()
	select {
	case <-s.ready:
	case <-ctx.Done():
		b.give(s)
		return nil, ctx.Err()
	}
	if s.failed != nil {
		b.give(s)
		p.failed(s, s.failed)
		return nil, s.failed
	}
	return s, nil
}

// give says that a question is over.
func (b *Box) give(s *server) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	s.users--
	s.used = time.Now()
}

// over reports whether a server has ended or failed to start.
func (s *server) over() bool {
	select {
	case <-s.ready:
		return s.failed != nil || s.dead()
	default:
		return false
	}
}

// room makes room for one more server: of those that nobody asks the one that was asked
// the longest ago has to go. The lock is held.
func (p *pool) room(most int, k key) error {
	if p.closed {
		return errors.New("the language servers are closed")
	}
	if f := p.faults[k]; f != nil && f.count >= maxFaults {
		if wait := leftAlone - time.Since(f.last); wait > 0 {
			return fmt.Errorf("it has failed %d times in a row and is tried again in %d s: %w", f.count, int(wait.Seconds())+1, f.err)
		}
	}
	if len(p.servers) < most {
		return nil
	}
	var oldest *server
	for _, s := range p.servers {
		if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return fmt.Errorf("%d language servers are busy, and no more may run (toolboxes.lsp.max_servers)", len(p.servers))
	}
	p.drop(oldest)
	return nil
}

// drop takes a server out and ends it behind everybody's back. The lock is held.
func (p *pool) drop(s *server) {
	delete(p.servers, s.key)
	p.under.Go(func() {
		<-s.ready
		if s.failed == nil {
			s.leave()
		}
	})
}

// failed counts that a server failed, and takes it out.
func (p *pool) failed(s *server, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers[s.key] != s { // somebody else has told already
		return
	}
	p.drop(s)
	f := p.faults[s.key]
	if f == nil {
		if len(p.faults) > 1000 {
			clear(p.faults)
		}
		f = &faults{}
		p.faults[s.key] = f
	}
	f.count, f.last, f.err = f.count+1, time.Now(), err
}

// worked forgets that a server has failed before.
func (p *pool) worked(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.faults, s.key)
	s.silent = 0
}

// sweep ends servers that nobody asks any more. It ends when there is none.
func (b *Box) sweep() {
	p := &b.pool
	tick := time.NewTicker(max(b.cfg.Idle/4, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		for _, s := range p.servers {
			if s.users == 0 && (time.Since(s.used) > b.cfg.Idle || s.over()) {
				p.drop(s)
			}
		}
		p.swept = len(p.servers) > 0
		left := p.swept
		p.mu.Unlock()
		if !left {
			return
		}
	}
}

// close ends all of them.
func (p *pool) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	for _, s := range p.servers {
		p.drop(s)
	}
	p.mu.Unlock()
	p.under.Wait()
}

// grantOf writes a grant so that equal ones look equal.
func grantOf(dirs []files.Dir, denied []string) string {
	var out strings.Builder
	for _, d := range files.Outermost(dirs) {
		out.WriteString(d.Path + "\x00")
	}
	for _, d := range denied {
		out.WriteString("\x01" + d)
	}
	return out.String()
}
