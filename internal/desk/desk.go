package desk

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// Unattended says what becomes of a question that no screen sees. The zero
// value refuses.
type Unattended string

// The ways.
const (
	Refuse Unattended = ""      // nobody to ask: the call is refused, and nothing is kept
	Leave  Unattended = "leave" // the call is refused with the ID of a question that is kept for later
	Await  Unattended = "await" // the call waits: somebody may answer from another process
)

// Config is what a desk works with. Store, RedactJSON and RedactText are needed.
type Config struct {
	Store Store
	// RedactJSON and RedactText take secrets out of what is kept and shown.
	RedactJSON func(json.RawMessage) json.RawMessage
	RedactText func(string) string
	Mark       string // what they put in place of a secret; empty: [redacted]

	Terms      func(toolcrib.Question) Terms // nil: no floor, no rules
	Project    string                        // the directory of "for this project"; empty: there is none
	Unattended Unattended
	// Watched tells whether a person watches in another process: calls wait for them
	// as under Await. Nil: nobody does.
	Watched func() bool

	Wait      time.Duration // how long a call waits for an answer; 0: as long as its context
	Alone     time.Duration // how long it waits, under Await, if no screen sees its question; 0: as long as any
	Expire    time.Duration // how long a question can be answered; 0: 1 h
	AnswerFor time.Duration // how long an answer waits for its call to be repeated; 0: 1 h
	Keep      time.Duration // how long settled questions and ended grants are kept to look at; 0: 7 days

	SessionFor time.Duration // how long a grant lasts; 0: 24 h
	ProjectFor time.Duration // 0: 90 days
	AlwaysFor  time.Duration // 0: until it is revoked

	MaxOpen    int           // open questions of one subject; 0: 32
	MaxSession int           // of one session, so that it does not silence the others; 0: half of MaxOpen
	MaxTotal   int           // open questions of all; 0: 1000
	MaxInput   int           // bytes of arguments that are shown; 0: 1 MiB
	MaxPreview int           // bytes of a preview that are kept; 0: 256 KiB
	Poll       time.Duration // how often other processes' changes are looked for; 0: 250 ms

	// How tells a model how a person can answer a question later, by its ID:
	// half a sentence. own: it is a tool's own question. Nil: it is not told.
	How func(id string, own bool) string
	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: silent
}

// Desk puts questions to people. All its methods may be used by many
// goroutines at once.
type Desk struct {
	cfg    Config
	digest func(parts ...string) string
	kick   chan struct{} // something of ours changed: look at once
	busy   atomic.Int64  // calls that are asked about now

	// In hand before the question can be seen, and therefore while the store
	// keeps others out: nothing else is locked or called with it.
	ears    sync.Mutex
	waiters map[string]map[*waiter]struct{} // by question; guarded by ears

	mu      sync.Mutex // guards all below
	screens map[*screen]struct{}
	users   int                // who needs the feed
	stop    context.CancelFunc // ends the feed
	seen    int64              // the newest Rev that the feed has told of
	swept   time.Time          // when it was last cleaned up
}

var _ toolcrib.Approver = (*Desk)(nil)

// New makes a desk.
func New(cfg Config) (*Desk, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("a desk needs a store")
	case cfg.RedactJSON == nil || cfg.RedactText == nil:
		return nil, errors.New("a desk needs to be told how secrets are taken out")
	case cfg.Unattended != Refuse && cfg.Unattended != Leave && cfg.Unattended != Await:
		return nil, errors.New("unattended: want nothing, leave or await")
	}
	for _, n := range []time.Duration{cfg.Wait, cfg.Alone, cfg.Expire, cfg.AnswerFor, cfg.Keep, cfg.SessionFor, cfg.ProjectFor, cfg.AlwaysFor, cfg.Poll} {
		if n < 0 {
			return nil, errors.New("a desk's times must not be negative")
		}
	}
	const day = 24 * time.Hour
	cfg.Mark = cmp.Or(cfg.Mark, "[redacted]")
	cfg.Expire = cmp.Or(cfg.Expire, time.Hour)
	cfg.AnswerFor = cmp.Or(cfg.AnswerFor, time.Hour)
	cfg.Keep = cmp.Or(cfg.Keep, 7*day)
	cfg.SessionFor = cmp.Or(cfg.SessionFor, day)
	cfg.ProjectFor = cmp.Or(cfg.ProjectFor, 90*day)
	cfg.MaxOpen = max(cmp.Or(cfg.MaxOpen, 32), 1)
	cfg.MaxSession = max(cmp.Or(cfg.MaxSession, cfg.MaxOpen/2), 1)
	cfg.MaxTotal = max(cmp.Or(cfg.MaxTotal, 1000), 1)
	cfg.MaxInput = max(cmp.Or(cfg.MaxInput, 1<<20), 2)
	cfg.MaxPreview = max(cmp.Or(cfg.MaxPreview, 256<<10), 0)
	cfg.Poll = cmp.Or(cfg.Poll, 250*time.Millisecond)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	// Without a store that keeps a key, what was asked is known as long as this
	// process lives.
	digest := seal.NewDigest(seal.NewKey(), "run").Join
	if keeps, ok := cfg.Store.(Digester); ok {
		digest = keeps.Digest
	}
	return &Desk{
		cfg: cfg, digest: digest, kick: make(chan struct{}, 1),
		screens: map[*screen]struct{}{}, waiters: map[string]map[*waiter]struct{}{},
	}, nil
}

// now has no part that a store would lose.
func (d *Desk) now() time.Time { return d.cfg.Now().UTC().Round(0) }

// newID makes a name that is short enough to be typed and too long to be met
// twice.
func (d *Desk) newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:12]) }

// Question gives a question by its ID.
func (d *Desk) Question(ctx context.Context, id string) (q Question, err error) {
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		q, err = tx.Question(id)
		return err
	})
	return q, err
}

// Questions gives what a filter chooses, oldest change first.
func (d *Desk) Questions(ctx context.Context, f Filter) (list []Question, err error) {
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		list, err = tx.Questions(f)
		return err
	})
	return list, err
}

// Grants gives the remembered grants that a filter chooses, those that no
// longer hold as well.
func (d *Desk) Grants(ctx context.Context, f GrantFilter) (list []Grant, err error) {
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		list, err = tx.Grants(f)
		return err
	})
	return list, err
}

// Revoke ends a grant. It counts for every question from then on; a call that
// was already allowed by it goes on. Revoking twice is no error: the first
// time stands.
func (d *Desk) Revoke(ctx context.Context, id, by string) (g Grant, err error) {
	if by == "" || len(by) > maxBy {
		return Grant{}, errors.New("who revokes it must be said")
	}
	err = d.cfg.Store.Update(ctx, func(tx Tx) error {
		if g, err = tx.Grant(id); err != nil {
			return err
		}
		if !g.Revoked.IsZero() {
			return nil
		}
		g.Revoked, g.RevokedBy = d.now(), by
		return tx.PutGrant(g)
	})
	return g, err
}

// Drain waits until no call is asked about any more, but not for long: whoever
// closes the store must let those who leave say so.
func (d *Desk) Drain(most time.Duration) {
	for end := d.now().Add(most); d.busy.Load() > 0 && d.now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
}
