package oidc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How long keys are used, and how often the issuer is asked.
const (
	freshFor = 15 * time.Minute // after that they are got again,
	staleFor = time.Hour        // and used until then while the issuer cannot be asked
	askAfter = 20 * time.Second // between two questions, whoever causes them
)

// keySet is the keys of an issuer. They are got when they are needed: the first
// time, when they have become old, and when a token names one that is not there.
type keySet struct {
	fetch func(context.Context) ([]publicKey, error)
	now   func() time.Time

	mu    sync.Mutex
	keys  []publicKey
	got   time.Time     // when they were got; zero: never
	asked time.Time     // when the issuer was asked last
	err   error         // what came of it
	wait  chan struct{} // closed when the question under way is answered; nil: there is none
}

// choose gives the keys that a token may be signed with.
func (s *keySet) choose(ctx context.Context, alg, kid string) ([]publicKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := s.now()
		usable := !s.got.IsZero() && now.Sub(s.got) < staleFor
		var found []publicKey
		if usable {
			found = s.fitting(alg, kid)
		}
		if len(found) > 0 && now.Sub(s.got) < freshFor {
			return found, nil
		}
		// A key that is not there yet, or keys that are too old: the issuer is asked,
		// but strangers who make up names of keys cannot have it asked again and again.
		if s.wait == nil && !s.asked.IsZero() && now.Sub(s.asked) < askAfter {
			switch {
			case len(found) > 0:
				return found, nil
			case usable && s.err == nil:
				return nil, errors.New("it is signed with a key that the issuer does not publish")
			}
			return nil, fmt.Errorf("%w, so no token of it is taken: %w", ErrIssuer, s.err)
		}
		if s.wait == nil {
			s.ask()
		}
		if len(found) > 0 {
			return found, nil // nobody waits for keys that are there
		}
		wait := s.wait
		s.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ErrIssuer, ctx.Err())
		}
	}
}

// ask begins to get the keys. It belongs to no request: one that goes away must not
// keep the others from an answer.
func (s *keySet) ask() {
	done := make(chan struct{})
	s.wait = done
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		keys, err := s.fetch(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wait, s.asked, s.err = nil, s.now(), err
		if err == nil {
			s.keys, s.got = keys, s.asked
		}
		close(done)
	}()
}

// fitting finds the keys of a name. A token without one may be of any, if there
// are few.
func (s *keySet) fitting(alg, kid string) (found []publicKey) {
	const few = 4
	for _, k := range s.keys {
		if k.fits(alg) && (kid == "" || k.kid == kid) {
			found = append(found, k)
		}
	}
	if len(found) > few {
		return nil
	}
	return found
}
