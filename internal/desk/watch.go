package desk

import (
	"context"
	"errors"
	"time"
)

// Screen is a place where questions are shown to somebody who can answer them.
type Screen struct {
	Name string
	// Sees chooses the questions that are shown here, such as those of one
	// session. It must not block. Nil: all.
	Sees func(Question) bool
	// Buffer is how many events may wait to be fetched. 0: 64.
	Buffer int
	// Looks: what is shown here nobody answers here, so that nobody waits for it.
	Looks bool
}

// Event tells a screen that a question was asked, has changed or was settled:
// Question.State says which. The screen knows by the ID whether it is new.
type Event struct {
	Question Question
	// Missed is how many events before this one were lost because the screen
	// did not fetch them; it then has to look at Questions again.
	Missed int
}

type screen struct {
	Screen
	events chan Event
	missed int
}

// Watch registers a screen: from now on somebody is there to be asked. It is
// told first of what is open, and then of everything that changes, in whatever
// process. stop ends it and closes the channel; it may be called twice.
func (d *Desk) Watch(ctx context.Context, s Screen) (events <-chan Event, stop func(), err error) {
	if err := d.startFeed(ctx); err != nil {
		return nil, nil, err
	}
	if s.Buffer <= 0 {
		s.Buffer = 64
	}
	var open []Question
	d.mu.Lock() // the feed tells nothing meanwhile
	defer d.mu.Unlock()
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		open, err = tx.Questions(Filter{State: Open})
		return err
	})
	if err != nil {
		d.releaseLocked()
		return nil, nil, err
	}
	w := &screen{Screen: s, events: make(chan Event, s.Buffer)}
	d.screens[w] = struct{}{}
	for _, q := range open {
		if q.Rev <= d.seen { // the feed comes to the others
			w.tell(q)
		}
	}
	return w.events, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, there := d.screens[w]; there {
			delete(d.screens, w)
			close(w.events)
			d.releaseLocked()
		}
	}, nil
}

// tell hands an event to a screen, or counts it as missed if it is not
// fetching. The desk's lock is held.
func (s *screen) tell(q Question) {
	if s.Sees != nil && !s.Sees(q) {
		return
	}
	select {
	case s.events <- Event{Question: q.clone(), Missed: s.missed}:
		s.missed = 0
	default:
		s.missed++
	}
}

// attended reports whether somebody sees a question.
func (d *Desk) attended(q *Question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := range d.screens {
		if !s.Looks && (s.Sees == nil || s.Sees(*q)) {
			return true
		}
	}
	return false
}

// startFeed starts the feed for whoever waits or watches.
func (d *Desk) startFeed(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users == 0 {
		// Before anything is asked: what changes from here on is told.
		err := d.cfg.Store.View(ctx, func(tx Tx) (err error) {
			d.seen, err = tx.Rev()
			return err
		})
		if err != nil {
			return err
		}
		var life context.Context
		life, d.stop = context.WithCancel(context.WithoutCancel(ctx))
		go d.feed(life)
	}
	d.users++
	return nil
}

func (d *Desk) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.releaseLocked()
}

func (d *Desk) releaseLocked() {
	if d.users--; d.users == 0 {
		d.stop()
	}
}

// lookNow has the feed look at once.
func (d *Desk) lookNow() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// feed tells waiting calls and screens of what changes, until ctx ends.
func (d *Desk) feed(ctx context.Context) {
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for failing := false; ; {
		err := d.tellNews(ctx)
		if err == nil && d.sweepDue() {
			err = d.Sweep(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			d.cfg.Log.Error("looking for changes of questions", "err", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-d.kick:
		case <-poll.C:
		}
	}
}

// errEnded: another feed has taken over.
var errEnded = errors.New("the feed has ended")

// tellNews tells of all that has changed since the last time.
func (d *Desk) tellNews(ctx context.Context) error {
	d.mu.Lock()
	seen := d.seen
	d.mu.Unlock()
	var news []Question
	err := d.cfg.Store.View(ctx, func(tx Tx) (err error) {
		news, err = tx.Questions(Filter{After: seen})
		return err
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return errEnded // d.seen may be that of the next feed
	}
	for _, q := range news {
		if q.Rev <= d.seen {
			continue
		}
		d.seen = q.Rev
		if q.State != Open {
			d.tellWaiters(q.ID)
		}
		for s := range d.screens {
			s.tell(q)
		}
	}
	return nil
}
