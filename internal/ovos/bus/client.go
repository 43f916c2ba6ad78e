package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"
)

var (
	// ErrClosed is returned when the client has been closed.
	ErrClosed = errors.New("the bus client is closed")
	// ErrNotConnected is returned when there is no bus. The message was not sent.
	ErrNotConnected = errors.New("the bus is not there")
	// ErrUncertain is returned when the connection broke while sending: the
	// message may have arrived, and is not sent again.
	ErrUncertain = errors.New("the connection broke while sending; the message may or may not have arrived")
	// ErrTooLarge is returned for a message over the size limit of the bus,
	// which would cost the connection.
	ErrTooLarge = errors.New("the message is over the size limit of the bus")
	// ErrOverflow is returned when more came than a subscription holds.
	ErrOverflow = errors.New("messages were lost because they were not taken in time")
)

// ClientConfig says which bus a client uses and how.
type ClientConfig struct {
	// URL is the bus; empty is the one of this machine at its usual place.
	URL string
	// Token is shown to the bus if not empty.
	Token string
	// TLS is for wss URLs; nil trusts what the system trusts.
	TLS *tls.Config
	// Session is the id of the session that messages get which have none;
	// empty is [DefaultSession].
	Session string
	// Source is the name this client gives as the source of messages that have
	// none; empty gives none.
	Source string
	// MaxFrame is the size limit of a frame, in and out; 0 is [DefaultMaxFrame].
	MaxFrame int
	// BackoffMin and BackoffMax bound the pause before connecting again, which
	// doubles each time; 0 is 200 ms and 30 s.
	BackoffMin, BackoffMax time.Duration
	// ConnectWait is how long sending waits for a bus that is not there;
	// 0 is 10 s, as long as the original waits.
	ConnectWait time.Duration
	// WriteTimeout is how long the bus may take to accept a frame; 0 is 20 s.
	WriteTimeout time.Duration
	// PingEvery is how often a silent connection is tested; 0 is 30 s.
	PingEvery time.Duration
	// AnswerTimeout is how long [Client.Ask] waits under a context without a
	// deadline; 0 is 60 s.
	AnswerTimeout time.Duration
	// QueueFrames and QueueBytes are how much a subscription holds that nobody
	// takes; 0 is 1024 messages and 64 MiB.
	QueueFrames int
	QueueBytes  int64
	// Changed, if not nil, is told whenever the bus comes and goes, with the
	// reason for the latter. It must return soon.
	Changed func(connected bool, cause error)
	// Log gets what goes wrong in the background; nil is nowhere.
	Log *slog.Logger
}

// Client is a program on the bus. It connects in the background, and again
// whenever the connection breaks; subscriptions stay. All methods may be used
// by many goroutines.
type Client struct {
	cfg    ClientConfig
	url    *url.URL
	log    *slog.Logger
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{} // closed when the background has ended
	slot   chan struct{} // full while someone writes

	mu      sync.Mutex
	link    *link         // nil while there is no bus
	changed chan struct{} // closed when link changes
	lost    uint64        // how often a connection broke
	cause   error         // why there is no bus

	switchboard
}

// Open makes a client and begins to connect. It does not wait for the bus; see
// [Client.Ready].
func Open(cfg ClientConfig) (*Client, error) {
	cfg.URL = cmp.Or(cfg.URL, "ws://"+DefaultAddr+DefaultPath)
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("reading the URL of the bus: %w", err)
	}
	if u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return nil, fmt.Errorf("reading the URL of the bus: %s is not like ws://host:port%s", u.Redacted(), DefaultPath)
	}
	cfg.Session = cmp.Or(cfg.Session, DefaultSession)
	cfg.MaxFrame = cmp.Or(cfg.MaxFrame, DefaultMaxFrame)
	cfg.BackoffMin = cmp.Or(cfg.BackoffMin, 200*time.Millisecond)
	cfg.BackoffMax = max(cmp.Or(cfg.BackoffMax, 30*time.Second), cfg.BackoffMin)
	cfg.ConnectWait = cmp.Or(cfg.ConnectWait, 10*time.Second)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 20*time.Second)
	cfg.PingEvery = cmp.Or(cfg.PingEvery, 30*time.Second)
	cfg.AnswerTimeout = cmp.Or(cfg.AnswerTimeout, 60*time.Second)
	cfg.QueueFrames = cmp.Or(cfg.QueueFrames, 1024)
	cfg.QueueBytes = cmp.Or(cfg.QueueBytes, 64<<20)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		cfg: cfg, url: u, log: cfg.Log,
		done: make(chan struct{}), slot: make(chan struct{}, 1), changed: make(chan struct{}),
		cause: errors.New("not connected yet"),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.run()
	return c, nil
}

// Close leaves the bus. Waiting calls end with [ErrClosed].
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	return nil
}

// Ready waits until the client is connected.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.connected(ctx)
	return err
}

// connected waits for a connection as long as the context lasts.
func (c *Client) connected(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, changed := c.link, c.changed
		c.mu.Unlock()
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w: %w", ErrNotConnected, context.Cause(ctx), c.absence())
		}
	}
}

// absence is why there is no bus.
func (c *Client) absence() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.cause, errors.New("it has just come back"))
}

// run keeps the client connected until it is closed.
func (c *Client) run() {
	defer close(c.done)
	defer c.switchboard.close()
	pause := c.cfg.BackoffMin
	for c.ctx.Err() == nil {
		began := time.Now()
		l, err := c.dial(c.ctx)
		if err == nil {
			c.set(l, nil)
			err = c.serve(l)
			c.set(nil, err)
			c.log.Info("bus connection ended", "url", c.url.Host, "cause", err)
		} else {
			c.set(nil, err)
			c.log.Debug("bus not reached", "url", c.url.Host, "cause", err)
		}
		// A connection that held for longer than the pause was a good one; one
		// that breaks at once must not be tried in a tight loop.
		if time.Since(began) > pause {
			pause = c.cfg.BackoffMin
		}
		// Not all clients of a bus that restarts should come back at once.
		wait := time.NewTimer(pause/2 + rand.N(pause/2+1))
		select {
		case <-wait.C:
		case <-c.ctx.Done():
			wait.Stop()
		}
		pause = min(2*pause, c.cfg.BackoffMax)
	}
}

// set changes what senders see.
func (c *Client) set(l *link, cause error) {
	c.mu.Lock()
	was := c.link
	c.link, c.cause = l, cause
	if was != nil {
		c.lost++
	}
	if was != l {
		close(c.changed)
		c.changed = make(chan struct{})
	}
	c.mu.Unlock()
	if was != l && c.cfg.Changed != nil {
		c.cfg.Changed(l != nil, cause)
	}
}
