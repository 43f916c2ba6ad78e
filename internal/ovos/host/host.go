package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

const (
	// Via is the Caller.Frontend of every call that comes over a bus.
	Via = "ovos-bus"
	// Dialect is the Caller.Dialect of every such call.
	Dialect = "ovos"
)

// Config is what a host needs. Crib, Contract and ErrorText have no default.
type Config struct {
	Crib *toolcrib.Crib
	// Caller is who calls over this bus. An empty Subject is [Via]; Via, Dialect
	// and Session are filled in.
	Caller toolcrib.Caller
	// Contract is a tool's contract as it goes over the bus: name, description,
	// argument_schema, output_schema and toolbox_id.
	Contract func(toolcrib.Entry) any
	// ErrorText words a refusal for a tool of a box. What follows from the
	// refusal's own message is left to the key detail.
	ErrorText func(e *toolcrib.Error, box string) string
	// BoxID is the id of a box on the bus; nil: its name.
	BoxID func(box string) string
	// Boxes lists the boxes there are, so that one without tools is found too.
	// Nil: those that have tools.
	Boxes func() []string
	// Hide keeps boxes off the bus: those that came from it, above all. Nil:
	// none.
	Hide func(box string) bool
	// Service says whether ovos.tools.* is answered.
	Service Service
	// Around is how long other hosts have, at least, to say that a request is theirs,
	// before this one answers it: two that have the same toolbox must not both carry
	// out a call. 0: 150 ms. Negative: nobody is asked.
	Around time.Duration
	// Off tells of boxes that are switched off: their tools are here to say so,
	// as they are on the hosts of the field. While another host answers for one of
	// them, this one does not tell of its tools. Nil: none.
	Off func(box string) bool

	// Worded tells of boxes that are toolboxes of the field themselves: what they
	// say when a tool fails is the answer, and they know their tools by their own
	// names, whatever these are called elsewhere. Nil: none.
	Worded func(box string) bool

	// Speech has refusals and failures told in sentences for people.
	Speech Speech

	// Load reads every box again, before a discovery is answered. Nil: they are
	// shown as they were read last.
	Load func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)
	// Reload does what a person asks for by reloading, such as reading settings
	// and plugins anew. Nil: Load.
	Reload func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)
	// LoadTimeout is how long an answer waits for either; 0: 10 s. What there
	// was before is answered then.
	LoadTimeout time.Duration

	// Bus says where the bus is. Its Changed is called as well.
	Bus bus.ClientConfig
	// Serve, if not nil, has the host serve a bus of its own and connect to it;
	// Bus.URL is not used then.
	Serve *bus.ServerConfig
	// ID is the source of what the host sends; empty: toolcrib.
	ID string

	// Calls is how many calls run at once, and Waiting how many more wait for
	// their turn; 0: 32 and 256. One too many is refused.
	Calls, Waiting int
	// Bytes is how much the requests may hold that are not answered yet; 0: 64
	// MiB.
	Bytes int64
	// Grace is how long calls have to end when the host stops; 0: 5 s.
	Grace time.Duration

	Approvals Approvals
	// Started is told once the host hears the bus, or waits for it to come, with
	// its URL. Nil: nobody is told.
	Started func(url string)
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: slog.Default
}

// Host is a host of toolboxes on a bus.
type Host struct {
	cfg  Config
	back chan struct{} // the bus has come back

	calls, queries, turnedAway *workQueue
	loads, reloads             loader
	working                    sync.WaitGroup

	bus     *bus.Client
	intake  intake
	life    context.Context // of calls
	sending context.Context // of answers
	people  *busScreen      // nil: nobody on the bus is asked

	known  known  // toolboxes of this host
	recent recent // calls
	rivals *rivals

	mu      sync.Mutex
	flights map[string]bus.Message // calls under way, by ID
}

// New makes a host.
func New(cfg Config) (*Host, error) {
	switch {
	case cfg.Crib == nil || cfg.Contract == nil || cfg.ErrorText == nil:
		return nil, errors.New("making a bus host: Crib, Contract and ErrorText are needed")
	case cfg.Calls < 0 || cfg.Waiting < 0 || cfg.Bytes < 0 || cfg.Grace < 0 || cfg.LoadTimeout < 0:
		return nil, errors.New("making a bus host: a bound is negative")
	}
	if err := cfg.Approvals.check(); err != nil {
		return nil, fmt.Errorf("making a bus host: %w", err)
	}
	cfg.Caller.Subject = cmp.Or(cfg.Caller.Subject, Via)
	cfg.Caller.Frontend, cfg.Caller.Dialect = Via, Dialect
	cfg.ID = cmp.Or(cfg.ID, "toolcrib")
	cfg.Grace = cmp.Or(cfg.Grace, 5*time.Second)
	cfg.LoadTimeout = cmp.Or(cfg.LoadTimeout, 10*time.Second)
	cfg.Bytes = cmp.Or(cfg.Bytes, 64<<20)
	if cfg.Reload == nil {
		cfg.Reload = cfg.Load
	}
	if cfg.BoxID == nil {
		cfg.BoxID = func(box string) string { return box }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	h := &Host{cfg: cfg, back: make(chan struct{}, 1), flights: map[string]bus.Message{}}
	h.rivals = newRivals(h)
	// Tools that hang must not keep the host from saying what it has, nor from
	// saying that it is busy.
	calls := cmp.Or(cfg.Calls, 32)
	h.calls = newWorkQueue(&h.working, cfg.Log, calls, calls+cmp.Or(cfg.Waiting, 256), cfg.Bytes)
	h.queries = newWorkQueue(&h.working, cfg.Log, 4, 256, cfg.Bytes)
	h.turnedAway = newWorkQueue(&h.working, cfg.Log, 4, 256, cfg.Bytes)
	h.loads, h.reloads = newLoader(h.known.after(cfg.Load)), newLoader(h.known.after(cfg.Reload))
	return h, nil
}

// Serve answers requests until ctx ends, then lets calls under way come to
// their end for a while. A host serves once.
func (h *Host) Serve(ctx context.Context) (err error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	sending, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	defer hush()
	h.life, h.sending = life, sending

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	url, stop, err := h.embedded(ctx, cancel)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	cfg := h.cfg.Bus
	cfg.Changed = h.changed
	if cfg.Log == nil {
		cfg.Log = h.cfg.Log
	}
	if h.bus, err = bus.Open(cfg); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.bus.Close()) }()

	if shelves := h.cfg.Crib.Catalog; shelves != nil {
		defer shelves.Watch(func(toolcrib.Diff) { h.known.forget() })()
	}
	h.intake.open(h.bus, bus.Filter{
		Types: []string{
			typeList, typeGet, typeInvoke, typeReload, typeAnswer, typeJoined,
			typeList + responseSuffix, typeGet + responseSuffix, typeInvoke + responseSuffix, typeReload + responseSuffix,
		},
		Prefixes: []string{personaPrefix},
		Match:    wanted,
	})
	if err := h.ask(ctx); err != nil {
		return err
	}
	if h.cfg.Started != nil {
		h.cfg.Started(cmp.Or(url, "ws://"+bus.DefaultAddr+bus.DefaultPath))
	}
	h.working.Go(func() { h.rivals.watch(ctx) })
	h.follow(ctx)
	h.intake.close()
	h.drain(kill, hush)
	return nil
}

// follow takes requests as they come. It never waits for anything but them.
func (h *Host) follow(ctx context.Context) {
	lost, of, told := 0, uint64(0), time.Time{}
	for {
		m, epoch, now, err := h.intake.next(ctx)
		if err != nil {
			return // the host stops
		}
		if epoch != of {
			of, lost = epoch, 0
		}
		if now > lost && time.Since(told) > time.Second { // a flood must not fill the log as well
			h.cfg.Log.Warn("requests were lost because they came too fast", "lost", now-lost)
			lost, told = now, time.Now()
		}
		h.route(m, epoch)
	}
}

// drain waits for calls under way, first for their end, then for their being
// told of it.
func (h *Host) drain(kill, hush func()) {
	ended := make(chan struct{})
	go func() {
		h.working.Wait()
		close(ended)
	}()
	grace := time.NewTimer(h.cfg.Grace)
	defer grace.Stop()
	select {
	case <-ended:
		return
	case <-grace.C:
	}
	kill()
	last := time.AfterFunc(lastWord, hush)
	defer last.Stop()
	<-ended
}

// lastWord is how long the answers to calls that were cut off have to get out.
const lastWord = 2 * time.Second

// changed hears that the bus comes and goes.
func (h *Host) changed(connected bool, cause error) {
	if connected {
		h.rivals.came()
		select {
		case h.back <- struct{}{}:
		default:
		}
	} else {
		h.intake.broke()
	}
	if h.cfg.Bus.Changed != nil {
		h.cfg.Bus.Changed(connected, cause)
	}
}

// wanted leaves out the answers of other hosts that are large: they are of use only
// because they tell that there is another host.
func wanted(m bus.Message) bool {
	return !strings.HasSuffix(m.Type, responseSuffix) || m.Type == typeAnswer || len(m.Data) <= maxRival
}
