package code

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

// key says whose session it is. All of it but the name and the language comes from authentication, so nobody gets the
// variables of another.
type key struct{ organisation, subject, token, agent, session, language, name string }

func keyOf(c toolcrib.Caller, language, name string) key {
	if language == "typescript" {
		language = "javascript" // one interpreter, one memory
	}
	return key{c.Organisation, c.Subject, c.Token, c.Agent, c.Session, language, name}
}

// owner is whose session it is, whatever agents and conversations there are.
func (k key) owner() key {
	return key{organisation: k.organisation, subject: k.subject, token: k.token}
}

// session gives the session of a call, and whether it was begun for it. The caller has it for itself until it gives it back.
func (b *Box) session(ctx context.Context, call toolcrib.Call, language, name string, risk Risk) (s *session, fresh bool, err error) {
	place, err := b.needs.Place(language, risk)
	if err != nil {
		return nil, false, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error()}
	}
	k := keyOf(call.Caller, language, name)
	for {
		if s, fresh, err = b.find(k, place, call); err != nil {
			return nil, false, err
		}
		if !fresh && s.place != place {
			return nil, false, fmt.Errorf("the session %q runs in %s, and this call has to run in %s: bring the files into a new session", name, s.place, place)
		}
		if err := s.take(ctx); err != nil {
			return nil, false, err
		}
		if fresh || s.alive() {
			break
		}
		s.give() // it has ended while it was waited for
		b.forget(k, s)
	}
	if fresh {
		if err := s.ready(ctx, b.cfg.Start); err != nil {
			s.give()
			b.forget(k, s)
			return nil, false, err
		}
	}
	return s, fresh, nil
}

// find gives the session of a key, begun now or before.
func (b *Box) find(k key, place string, call toolcrib.Call) (*session, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, false, errors.New("the sessions were ended: the program is closing")
	}
	now := time.Now()
	if s, ok := b.list[k]; ok && s.alive() {
		s.used = now
		return s, false, nil
	}
	delete(b.list, k)
	if err := b.makeRoom(k); err != nil {
		return nil, false, err
	}
	s := begin(b.ctx, b.cfg, b.needs, k.language, place, call)
	s.used = now
	b.list[k] = s
	time.AfterFunc(b.cfg.Idle, func() { b.idle(k, s) })
	return s, true, nil
}

// makeRoom ends the session that was not used for the longest time, if there are too many. Who has some makes room with
// those: nobody loses a session because another one begins many.
func (b *Box) makeRoom(who key) error {
	for len(b.list) >= b.cfg.Sessions {
		var oldest key
		var found *session
		for k, s := range b.list {
			if len(s.busy) > 0 {
				continue
			}
			own, before := k.owner() == who.owner(), found != nil && oldest.owner() == who.owner()
			if found == nil || own && !before || own == before && s.used.Before(found.used) {
				oldest, found = k, s
			}
		}
		if found == nil {
			return fmt.Errorf("%d sessions are running code already: wait for one of them", len(b.list))
		}
		found.stop()
		delete(b.list, oldest)
	}
	return nil
}

// idle ends a session that nobody used for a while, or looks again later.
func (b *Box) idle(k key, s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.list[k] != s || b.closed {
		return
	}
	rest := b.cfg.Idle - time.Since(s.used)
	if len(s.busy) > 0 {
		rest = b.cfg.Idle
	}
	if rest > 0 {
		time.AfterFunc(rest, func() { b.idle(k, s) })
		return
	}
	s.stop()
	delete(b.list, k)
}

// done gives a session back after a call.
func (b *Box) done(k key, s *session) {
	b.mu.Lock()
	s.used = time.Now()
	b.mu.Unlock()
	s.give()
	if !s.alive() {
		b.forget(k, s)
	}
}

// forget takes a session off the list.
func (b *Box) forget(k key, s *session) {
	s.stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.list[k] == s {
		delete(b.list, k)
	}
}

// there gives a session that runs already.
func (b *Box) there(ctx context.Context, k key) (*session, error) {
	b.mu.Lock()
	s, ok := b.list[k]
	b.mu.Unlock()
	if !ok || !s.alive() {
		return nil, fmt.Errorf("there is no session %q of %s: run_code makes one, and its files end with it", k.name, k.language)
	}
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	return s, nil
}
