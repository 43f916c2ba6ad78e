package node

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// load puts tools on the shelves anew.
type load = func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)

// HostNeeds is what [Hosted.Serve] takes besides the settings.
type HostNeeds struct {
	Crib         *toolcrib.Crib
	Desk         *desk.Desk
	Organisation string                                                 // of callers of this machine
	Expand       func(ctx context.Context, text string) (string, error) // puts in the secrets
	Boxes        func() []string                                        // of this program that belong on a bus, as they are now
	// Field tells of boxes that are toolboxes of the field, with their id on the bus:
	// they word their failures themselves. Nil: none is.
	Field func(box string) (id string, is bool)
	// Sections gives what a mycroft.conf tells toolboxes, by their entry points. Nil:
	// there is none.
	Sections func(on settings.Bus) (map[string]json.RawMessage, error)

	Load    load // without asking a bus
	Reload  load
	Started func(url string)
	Talk    talk // with an agent, for bus.voice
}

// Serve hosts the tools on a bus until ctx ends. Toolboxes that the settings switch
// off are on the bus meanwhile, and say that they are off.
func (h *Hosted) Serve(ctx context.Context, cfg settings.Config, on settings.Bus, needs HostNeeds) error {
	if _, ok := cfg.Agents[on.Agent]; on.Agent != "" && !ok {
		return settings.Bad(fmt.Errorf("bus.agent: there is no agent %q", on.Agent))
	}
	client, err := Client(ctx, on, needs.Expand)
	if err != nil {
		return err
	}
	own, err := server(on, client.Token)
	if err != nil {
		return err
	}
	secret, err := needs.Expand(ctx, on.Approvals.Secret)
	if err != nil {
		return fmt.Errorf("bus.approvals.secret: %w", err)
	}
	service, wait := around(on)
	id := "toolcrib-" + strings.ToLower(rand.Text()[:8]) // its own, so that another one on the bus is noticed
	var of *host.Host
	speaker, err := speaks(cfg, on, needs, func(call string) (bus.Message, bool) { return of.About(call) }, id)
	if err != nil {
		return err
	}
	var speaking sync.WaitGroup
	started := func(url string) {
		if speaker != nil {
			var secure *tls.Config
			if own != nil {
				secure = own.TLS
			}
			speaking.Go(func() { speak(ctx, *speaker, client, secure, url) })
		}
		if needs.Started != nil {
			needs.Started(url)
		}
	}
	of, err = host.New(host.Config{
		Crib:      needs.Crib,
		ID:        id,
		Caller:    toolcrib.Caller{Subject: on.Subject, Agent: on.Agent, Organisation: needs.Organisation},
		Contract:  func(s toolcrib.Entry) any { return dialect.OVOSContract(s, h.boxID(s.Box)) },
		ErrorText: func(e *toolcrib.Error, box string) string { return dialect.OVOSError(e, h.boxID(box)) },
		BoxID:     h.boxID,
		Boxes:     needs.Boxes,
		Hide: func(box string) bool {
			_, clash := h.clash(box, needs.Boxes())
			return clash || box == BoxName
		},
		Off: h.IsOff, Worded: h.worded, Speech: speech(on.Lang, needs.Crib),
		Service: service, Around: wait,
		Load: needs.Load, Reload: needs.Reload,
		Bus: client, Serve: own, Calls: on.Calls,
		Approvals: host.Approvals{Desk: needs.Desk, Secret: secret, Anyone: on.Approvals.Anyone},
		Log:       needs.Crib.Log, Started: started,
	})
	if err != nil {
		return settings.Bad(err)
	}
	reload := func(ctx context.Context) {
		_, faults := needs.Load(ctx)
		for _, f := range faults {
			needs.Crib.Log.Warn("left out on the bus", "err", f)
		}
	}
	h.begin(id, needs.Boxes, map[string]bool{"shell": !cfg.Toolboxes.Shell.AllowShell, "web": !cfg.Toolboxes.Web.Enabled}, needs.Field)
	reload(ctx)
	h.tellStart(cfg, on, needs)
	defer func() {
		h.end()
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the program may be about to end
		defer cancel()
		reload(short)
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer speaking.Wait()
	defer cancel()
	return of.Serve(ctx)
}
