package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Service says whether a host answers ovos.tools.*, which one program on a bus does.
type Service int

const (
	ServiceAuto Service = iota // as long as nobody else does
	ServiceOn                  // always, whoever else does
	ServiceOff                 // never
)

// theService is what a host claims besides toolboxes, whose ids are never empty.
const theService = ""

// shared is the claim of a toolbox on the topic that all toolboxes share: hosts of
// today do not hear it.
func shared(id string) string { return sharedMark + id }

const sharedMark = "\x00"

// rivals is what is known of other hosts on the bus that answer for the same.
//
// A bus tells neither who joins nor who leaves, and everybody hears everything. So
// before a request is answered the others are asked, after it came: whoever had it
// has that question too, and answers it at once. Silence is the only sign of being
// alone. A question runs nothing and costs its hearers next to nothing.
type rivals struct {
	host     *Host
	self     string        // tells its questions from those of others
	around   time.Duration // how long others have to speak up, at least; negative: they are not asked
	patience time.Duration // how long one has that is known to be there
	every    time.Duration // how often one that is there is looked for, and a service
	seldom   time.Duration // how often others are
	settle   time.Duration // how long after joining a host may begin to answer
	nudge    chan struct{} // there is a reason to look for others now

	mu     sync.Mutex
	claims map[string]*claim
	greet  bool      // the others are to be told that we are here
	last   time.Time // when a client joined, as far as it is known
	alive  time.Time // when any other host was heard last
	held   int       // requests that wait
	bytes  int64     // of them
}

// claim is one thing that only one host on the bus may answer for.
type claim struct {
	key     string
	yielded bool      // another host answers for it
	held    bool      // others were asked and kept silent: who comes later yields
	missed  int       // how often in a row the other did not speak up
	alive   time.Time // when the other was heard last
	asking  bool      // a round is under way
	looking bool      // somebody is looked for in the background
	looked  time.Time // when that was last
	next    []waiting // for the round after
}

// waiting is a request that is answered if it is ours.
type waiting struct {
	safe  bool // answering it twice does nothing twice
	size  int64
	epoch uint64
	came  time.Time
	then  func()
}

// Times that go together. Genuine plugins look at all their toolboxes for each question, which
// takes seconds where one of them tries a server: one who is
// known to be there is given up after that, so that a question can be answered here.
const (
	defaultAround = 150 * time.Millisecond
	patience      = 6 * time.Second
	lookEvery     = 10 * time.Second
	lookSeldom    = time.Minute
	settleIn      = 30 * time.Second
	maxMissed     = 2
	maxMissedBusy = 6
	tooLate       = 2700 * time.Millisecond
	maxWaiting    = 1024
)

func newRivals(h *Host) *rivals {
	around := h.cfg.Around
	if around == 0 {
		around = defaultAround
	}
	// The others follow from it, so that whoever is in a hurry is so in everything.
	return &rivals{
		host: h, self: rand.Text(), around: around,
		patience: max(min(40*around, patience), around), every: min(64*around, lookEvery),
		seldom: min(400*around, lookSeldom), settle: min(200*around, settleIn),
		nudge: make(chan struct{}, 1), claims: map[string]*claim{},
	}
}

// claim gives the claim of a key; mu is held. Only keys of ours get here, so that
// they stay few.
func (v *rivals) claim(key string) *claim {
	c := v.claims[key]
	if c == nil {
		c = &claim{key: key}
		v.claims[key] = c
	}
	return c
}

// yields reports whether another host answers for a key.
func (v *rivals) yields(key string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.claims[key]
	return c != nil && c.yielded
}

// ours calls then, once others had the time to say that the key is theirs and did
// not. A request that is not ours is forgotten.
func (v *rivals) ours(key string, r request, safe bool, then func()) {
	if v.around < 0 {
		then()
		return
	}
	v.mu.Lock()
	if c := v.claim(key); v.alone(c) {
		v.mu.Unlock()
		then()
		return
	}
	defer v.mu.Unlock()
	if v.held >= maxWaiting || v.held > 0 && v.bytes+r.size > v.host.cfg.Bytes {
		v.host.cfg.Log.Warn("too many requests at once; one is not answered", "key", text.ShowLine(key))
		return
	}
	v.held++
	v.bytes += r.size
	c := v.claim(key)
	c.next = append(c.next, waiting{safe, r.size, r.epoch, time.Now(), then})
	if !c.asking {
		c.asking = true
		v.host.working.Go(func() { v.rounds(c) })
	}
}

// alone reports whether it is certain that nobody else answers for a claim: the bus
// is our own, and tells who joins; mu is held.
func (v *rivals) alone(c *claim) bool {
	return v.host.cfg.Serve != nil && c.held && time.Since(v.last) > v.settle
}

// rounds asks around for a claim as long as requests wait. Each round is for the
// requests that came before it began.
func (v *rivals) rounds(c *claim) {
	for {
		v.mu.Lock()
		batch := c.next
		c.next = nil
		if len(batch) == 0 {
			c.asking = false
			v.mu.Unlock()
			return
		}
		wait := v.around
		if c.yielded {
			wait = v.patience
		}
		calls := c.yielded && c.key != theService
		v.mu.Unlock()
		was := theirs
		if !calls || !v.answers(v.host.life, c) {
			was = v.look(v.host.life, c, wait)
		}
		v.mu.Lock()
		var now []func()
		epoch := v.host.intake.now()
		for _, w := range batch {
			switch {
			case w.epoch != epoch: // who had it too may have lost the bus since
			case was != alone && time.Since(w.came) > tooLate: // its answer would be taken for that to something else
			case was == silent && w.safe: // not given up yet; a call is not for us, whatever comes out
				c.next = append(c.next, w)
				continue
			case was == unheard: // so they are asked once more
				c.next = append(c.next, w)
				continue
			case was == alone, was == left && w.safe:
				now = append(now, w.then)
			}
			v.held--
			v.bytes -= w.size
		}
		v.mu.Unlock()
		for _, then := range now {
			then()
		}
	}
}

// answers waits for the one that a claim was left to to answer something. A call that
// is left to it is carried out there or nowhere, so that nobody has to be asked.
func (v *rivals) answers(ctx context.Context, c *claim) bool {
	began := time.Now()
	tick := time.NewTicker(max(v.patience/32, time.Millisecond))
	defer tick.Stop()
	for {
		v.mu.Lock()
		heard, yielded := c.alive.After(began), c.yielded
		v.mu.Unlock()
		if heard || !yielded || time.Since(began) >= v.patience {
			return heard
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// verdict is what asking around brought.
type verdict int

const (
	broken  verdict = iota // nothing is known: the bus went away
	unheard                // nothing is known: the bus took too long to pass on the question
	silent                 // one that was there did not speak up, this time
	theirs                 // somebody spoke up
	left                   // who was there does not speak up any more; it may have had what came before
	alone                  // nobody is there
)

// look asks around once, and takes over what comes out.
func (v *rivals) look(ctx context.Context, c *claim, wait time.Duration) verdict {
	v.mu.Lock()
	held, there := c.held, c.yielded
	v.mu.Unlock()
	epoch, began := v.host.intake.now(), time.Now()
	answered, err := v.ask(ctx, c.key, held, there, wait)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case answered:
		v.yield(c)
		return theirs
	case errors.Is(err, errNoEcho) && epoch == v.host.intake.now():
		return unheard
	case err != nil || epoch != v.host.intake.now():
		return broken // those who would have spoken up may not have been asked
	case !c.yielded:
		c.held = true
		return alone
	case wait < v.patience: // it was yielded meanwhile
		return silent
	case c.alive.After(began): // it has much to do, and answers what came before
		c.missed = 0
		return silent
	}
	most := maxMissed
	if v.alive.After(began) { // the same host may have much to do elsewhere
		most = maxMissedBusy
	}
	if c.missed++; c.missed < most {
		return silent
	}
	c.yielded, c.missed, c.held = false, 0, true
	v.tell(c)
	return left
}

// yield leaves a claim to somebody else; mu is held.
func (v *rivals) yield(c *claim) {
	was := c.yielded
	c.yielded, c.held, c.missed = true, false, 0
	if !was {
		v.tell(c)
	}
}

// tell says that a claim was yielded or came back; mu is held. Whoever came or left
// may have come or left with more.
func (v *rivals) tell(c *claim) {
	log := v.host.cfg.Log
	switch off := c.key != theService && v.host.off(c.key); {
	case strings.HasPrefix(c.key, sharedMark): // told with the toolbox itself
	case c.key == theService && c.yielded:
		log.Info("another program answers ovos.tools.* on this bus, so this one does not; its tools can be called through ovos.persona.tools.*")
	case c.key == theService:
		log.Info("the other program no longer answers ovos.tools.* on this bus: this one does now")
	case !c.yielded:
		log.Info("the other host no longer serves the toolbox: this program does now", "toolbox_id", c.key)
	case off:
		log.Info("a toolbox that is switched off here is left to another host on the bus", "toolbox_id", c.key)
	default:
		log.Warn("another host on the bus serves the same toolbox: calls are left to that host, so that none is carried out twice", "toolbox_id", c.key)
	}
	for _, c := range v.claims {
		c.looked = time.Time{}
	}
	v.lookSoon()
}

// lookSoon has the background look for others soon.
func (v *rivals) lookSoon() {
	select {
	case v.nudge <- struct{}{}:
	default:
	}
}

// heard notes that another host answered something that we answer for as well. If
// it was only somebody who says so, the claim comes back when they are looked for.
func (v *rivals) heard(key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.claim(key)
	c.alive = time.Now()
	switch {
	case c.yielded:
	case v.around >= 0:
		v.yield(c)
	case !c.looking: // once
		c.looking = true
		v.host.cfg.Log.Error("another host on the bus serves the same toolbox, and bus.ask_around is 0: both carry out each call", "toolbox_id", text.ShowLine(key))
	}
}

// busy notes that another host answered something.
func (v *rivals) busy() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.alive = time.Now()
}

// responder gives the key that an answer of the field is about.
func responder(m bus.Message, data map[string]json.RawMessage) (key string, ok bool) {
	typ, isAnswer := strings.CutSuffix(m.Type, responseSuffix)
	if !isAnswer {
		return "", false
	}
	switch typ {
	case typeList, typeGet, typeInvoke, typeReload:
		return theService, true
	case typeDiscover, typeCall:
		ok = json.Unmarshal(data["toolbox_id"], &key) == nil && key != ""
		if typ == typeCall {
			return shared(key), ok
		}
		return key, ok
	}
	id, isCall := strings.CutSuffix(strings.TrimPrefix(typ, personaPrefix), callSuffix)
	return id, isCall && id != ""
}
