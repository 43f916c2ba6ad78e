package app

import (
	"context"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
)

const (
	// lookEvery is how often the files of settings are looked at.
	lookEvery = time.Second
	// maxSettingsFile bounds what is read to notice a change; more is no file of
	// settings, and is refused when it is read as one.
	maxSettingsFile = 2 << 20
)

// Settings is one reading of the configuration.
type Settings struct {
	Files []string // what it is read from, and what would count if it were there
	// Load reads it and has use put it up, if need be without what use cannot do with.
	Load func(use func(settings.Config, *settings.Layers) error) error
}

// FollowPolicy puts the policy up anew whenever the files of settings change:
// modes, profiles, rules, agents, MCP servers. Settings that make no sense are told loudly,
// and what held before goes on to hold. The function it gives ends it.
func (a *App) FollowPolicy(read func() Settings) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	a.policy.notice.Store(&notice{read: read})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		// Hashed first and read afterwards: what was written since the program
		// started is not missed.
		first := read()
		seen := plainfile.Contents(maxSettingsFile, first.Files...)
		a.take(ctx, first)
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := read()
			if is := plainfile.Contents(maxSettingsFile, now.Files...); is != seen {
				if seen = is; a.take(ctx, now) {
					a.Crib.Log.Warn("the rules were read anew: modes, profiles, permissions, agents, MCP servers and OpenAPI documents hold from now on, other settings from the next start")
				}
			}
		}
	}()
	return func() {
		a.policy.notice.Store(nil)
		cancel()
		<-ended
	}
}

// notice sees at a request that the files of settings have changed, so that a token
// that was taken away opens nothing from then on, and not a second later.
type notice struct {
	read func() Settings

	mu    sync.Mutex
	files []string
	marks string
}

// changed reports whether the files are others than when it was last asked. The
// first time they are.
func (n *notice) changed() bool {
	if n.files == nil {
		n.files = n.read().Files
	}
	marks := plainfile.Marks(n.files...)
	same := marks == n.marks
	n.marks = marks
	return !same
}

// guestsNow is who may come in over HTTP by the settings as they are. What else
// they say is taken up within a second, and what is wrong with them is told then.
func (a *App) guestsNow() *httpapi.Access {
	if n := a.policy.notice.Load(); n != nil {
		n.mu.Lock() // who comes while they are read waits for what they say
		defer n.mu.Unlock()
		if n.changed() {
			cfg, _, err := a.takePolicy(n.read())
			switch was := a.settings.Load(); {
			case err != nil:
				a.Crib.Log.Debug("the settings have changed, and the rules before stay in force", "err", err)
			case was != nil && was.SeveralPeople() != cfg.SeveralPeople():
				a.takeServers(context.Background(), cfg) // nobody comes in to a server that one person had for himself
			}
		}
	}
	return a.policy.guests.Load()
}

// takePolicy reads settings and puts up who may use what. Fault is what is wrong with a
// project's file and keeps nothing else from counting.
func (a *App) takePolicy(now Settings) (cfg settings.Config, fault, err error) {
	a.policy.taking.Lock()
	defer a.policy.taking.Unlock()
	err = now.Load(func(read settings.Config, layers *settings.Layers) error {
		read, layers, left := a.withBundles(read, layers)
		if left != nil {
			a.Crib.Log.Warn("left out of the bundles that are installed", "faults", left)
		}
		cfg, fault = read, nil
		if layers != nil {
			fault = layers.Fault
		}
		return a.setPolicy(read, layers)
	})
	return cfg, fault, err
}

// take puts settings up, or says why not.
func (a *App) take(ctx context.Context, now Settings) bool {
	cfg, fault, err := a.takePolicy(now)
	if err != nil {
		text := err.Error()
		a.policy.broken.Store(&text)
		a.Crib.Log.Error("the settings are broken; the rules before the change stay in force", "err", err)
		return false
	}
	a.policy.broken.Store(nil)
	if fault != nil {
		a.Crib.Log.Warn("a project's file is broken; all other settings count as they are now", "err", fault)
	}
	a.takeServers(ctx, cfg)
	a.Crib.Catalog.Announce() // other tools may exist for callers now
	return true
}
