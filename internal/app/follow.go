package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// start is what is done last, when the tools are there.
func (a *App) start(ctx context.Context, _ settings.Config, needs Needs) (err error) {
	if a.stateKey, err = server.StateKey(needs.State); err != nil {
		return fmt.Errorf("the key for MCP clients: %w", err)
	}
	if err := a.bounds.Recall(ctx, a.Journal, a.Crib, time.Now()); err != nil {
		return err
	}
	a.follow()
	return nil
}

// Reload reads every box again, looks for plugins, and gives what changed and
// what was left out.
func (a *App) Reload(ctx context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
	return a.reload(ctx, true)
}

// reload is Reload; anew: interpreters are asked again what is installed, whatever they
// said before.
func (a *App) reload(ctx context.Context, anew bool) (toolcrib.Diff, []toolcrib.LoadError) {
	faults := a.findServers(ctx, anew)
	if a.APIs != nil {
		left, err := a.APIs.Update(ctx, *a.settings.Load())
		if faults = append(faults, left...); err != nil {
			faults = append(faults, toolcrib.LoadError{Box: "openapi", Err: err})
		}
	}
	diff, more := a.load(ctx, a.shelving)
	return diff, append(faults, more...)
}

// load puts the boxes and the MCP servers of now on the shelves.
func (a *App) load(ctx context.Context, s toolcrib.Contents) (toolcrib.Diff, []toolcrib.LoadError) {
	diff, faults := a.hosted.Load(ctx, a.Crib.Catalog, a.hubShelving(s))
	return diff, slices.Concat(faults, boxFaults(a.APIs.Shelve(s).Boxes), a.hubFaults())
}

// hostsEvery is how often it is looked whether a file of tools was saved.
const hostsEvery = 300 * time.Millisecond

// pluginSettles is how long a plugin may take to be copied. A program that somebody
// still writes cannot be started, and nothing tells when it can.
const pluginSettles = time.Minute

// follow reloads when a box says that its tools have changed. Several changes
// at once are one reload.
func (a *App) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	a.changed = make(chan struct{}, 1)
	ended := make(chan struct{})
	var stops []func()
	changed := func() {
		select {
		case a.changed <- struct{}{}:
		default: // one is waiting already
		}
	}
	if a.Hub != nil {
		stops = append(stops, a.Hub.Notify(changed), a.Hub.Follow(hubEvery))
	}
	if a.APIs != nil {
		stops = append(stops, a.APIs.Notify(changed))
	}
	for _, box := range a.shelving.Boxes {
		if n, ok := box.(interface {
			Notify(changed func()) (stop func())
		}); ok {
			stops = append(stops, n.Notify(changed))
		}
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(hubEvery)
		defer tick.Stop()
		saved := time.NewTicker(hostsEvery)
		defer saved.Stop()
		plugins, files := a.marks, a.looked
		var again time.Time // until when plugins that did not start are tried again
		var logged hub.FaultLog
		for {
			var faults []toolcrib.LoadError
			told := false
			select {
			case <-ctx.Done():
				return
			case <-a.changed:
				_, faults = a.load(ctx, a.shelving)
			case <-saved.C:
				now := a.hosts.Marks(*a.settings.Load())
				if now == files {
					continue
				}
				files = now
				_, faults = a.reload(ctx, false)
			case <-tick.C:
				now := hub.PluginMarks(a.plugins)
				if told = now == plugins; told && time.Now().After(again) {
					continue
				}
				if !told {
					plugins, again = now, time.Now().Add(pluginSettles)
				}
				if _, faults = a.reload(ctx, false); faults == nil {
					again = time.Time{}
				}
			}
			if news := logged.News(faults); len(news) > 0 && !told && a.Crib.Log != nil && ctx.Err() == nil {
				a.Crib.Log.Warn("left out at a reload", "faults", news)
			}
		}
	}()
	a.stop = func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
		<-ended
	}
}
